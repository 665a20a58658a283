/**
 * Makes every text parameter storable on its way to the database, as the SQLite adapter does: PostgreSQL rejects NUL.
 * Changes only values, never the query.
 */
import {
  type KyselyPlugin,
  OperationNodeTransformer,
  type PrimitiveValueListNode,
  type RootOperationNode,
  type ValueNode,
} from "kysely";
import { storableText } from "./storable.ts";

class StorableValues extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: storable(node.value) };
  }

  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(storable) };
  }
}

function storable(value: unknown): unknown {
  return typeof value === "string" ? storableText(value) : value;
}

const transformer = new StorableValues();

export const storablePlugin: KyselyPlugin = {
  transformQuery: ({ node }): RootOperationNode => transformer.transformNode(node),
  transformResult: async ({ result }) => result,
};
