import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { ROUTES } from "../../src/http/routes.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { jsonOf, startApi } from "./bed/api-bed.ts";

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: Record<string, { content: Record<string, { schema: object }> }>;
  security?: object[];
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

describe("the OpenAPI document", () => {
  test("has every operation of the table, and all its references resolve", async () => {
    const api = await startApi();
    const document = (await jsonOf(api.ask("/v1/openapi.json"))) as Document;
    expect(document.openapi).toBe("3.1.0");
    const operations = ROUTES.map(({ method, path }) => {
      const operation = document.paths[path.replace(":id", "{id}")]?.[method.toLowerCase()];
      expect([path, operation?.operationId]).toEqual([path, expect.stringMatching(/^[a-z][A-Za-z]+$/)]);
      return operation;
    });
    expect(new Set(operations.map((operation) => operation?.operationId)).size).toBe(ROUTES.length);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? "");
    expect(references.length).toBeGreaterThan(10);
    for (const target of new Set(references)) {
      const name = target.replace("#/components/schemas/", "");
      expect([target, typeof document.components.schemas[name]]).toEqual([target, "object"]);
    }
  });

  test("describes the server's answers and errors", async () => {
    const api = await startApi();
    await create(api.store, "one");
    await api.store.apply("one", completed(2000));
    const document = (await jsonOf(api.ask("/v1/openapi.json"))) as Document;
    const schemaOf = (path: string) => {
      const described = document.paths[path]?.get?.responses["200"]?.content["application/json"]?.schema;
      const definitions = JSON.stringify(document.components.schemas).replaceAll("#/components/schemas/", "#/$defs/");
      const own = JSON.parse(JSON.stringify(described).replaceAll("#/components/schemas/", "#/$defs/"));
      return z.fromJSONSchema({ ...own, $defs: JSON.parse(definitions) });
    };
    for (const [path, asked] of [
      ["/v1/tasks", "/v1/tasks"],
      ["/v1/tasks/{id}", "/v1/tasks/one"],
      ["/v1/tasks/{id}/runs", "/v1/tasks/one/runs"],
      ["/v1/task-groups/{id}", "/v1/task-groups/batch"],
      ["/v1/stats", "/v1/stats"],
      ["/v1/stats/history", "/v1/stats/history"],
      ["/v1/health", "/v1/health"],
      ["/v1/instances", "/v1/instances"],
    ] as const) {
      const { success, error } = schemaOf(path).safeParse(await jsonOf(api.ask(asked)));
      expect([path, success, error?.message]).toEqual([path, true, undefined]);
    }
    const statuses = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {});
    expect(statuses("/v1/tasks", "post")).toEqual(expect.arrayContaining(["201", "400", "401", "403", "413", "503"]));
    expect(statuses("/v1/tasks/{id}/cancel", "post")).toEqual(expect.arrayContaining(["200", "401", "404", "409"]));
    expect(statuses("/v1/tasks/{id}/resume", "post")).toEqual(expect.arrayContaining(["404", "409", "410", "413"]));
    expect(statuses("/v1/tasks/{id}/logs", "get")).toEqual(expect.arrayContaining(["400", "404", "410", "503"]));
  });
});
