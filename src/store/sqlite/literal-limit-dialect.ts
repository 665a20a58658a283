/**
 * Kysely's SQLite dialect, with limits written into the statement. SQLite plans a query anew whenever a limit is bound,
 * even to the value it had before: for a short read that takes ten times as long as running it.
 */
import { type LimitNode, SqliteDialect, SqliteQueryCompiler, ValueNode } from "kysely";

export class LiteralLimitDialect extends SqliteDialect {
  override createQueryCompiler(): SqliteQueryCompiler {
    return new LiteralLimitCompiler();
  }
}

class LiteralLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node;
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) {
      this.append(`limit ${limit.value}`);
    } else {
      super.visitLimit(node);
      // A slot of a prepared query is filled in later. The planner does not look into a sum.
      this.append(" + 0");
    }
  }
}
