import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { build } from "../../scripts/build.ts";
import { compile, consumer, run } from "./consumer.ts";
import { consumerPrograms } from "./consumer-programs.ts";

setDefaultTimeout(60_000);
beforeAll(() => build());

describe("an entry has every type that its consumers need", () => {
  test.each(consumerPrograms)("$entry", async ({ installed, options, program }) => {
    expect(await compile(consumer({}, installed), program, options)).toBe("");
  });
});

test("the main entry loads on Node without Bun, and only a SQLite store needs it", async () => {
  const program = `
import * as asyncagents from "asyncagents";
const failure = await asyncagents.sqliteStore({ directory: "/nowhere" }).catch((thrown) => thrown);
console.log(JSON.stringify([typeof asyncagents.createEngine, failure.code, failure.message]));
`;
  const [out, errors, code] = await run(["node", "program.js"], consumer({ "program.js": program }));
  expect([errors, code]).toEqual(["", 0]);
  const [kind, failure, message] = JSON.parse(out);
  expect([kind, failure]).toEqual(["function", "store_unavailable"]);
  expect(message).toContain("needs Bun");
  expect(message).toContain("postgresStore");
});
