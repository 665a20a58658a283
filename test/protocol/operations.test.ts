/** The table of operations, and what is bound to it: addresses, routes, methods of the client. */
import { expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { addressOf, STATUS_ADDRESSES } from "../../src/protocol/addresses.ts";
import { endOperations } from "../../src/protocol/board/ends.ts";
import { BOARD_OPERATIONS, OPERATIONS } from "../../src/protocol/operations.ts";

const names = Object.keys(OPERATIONS);

test("every operation has an address of its own, and its input travels as the address says", () => {
  const addresses = names.map((name) => `${addressOf(name).method} ${addressOf(name).path}`);
  expect(new Set(addresses).size).toBe(names.length);
  expect(ROUTES.map(({ method, path }) => `${method} ${path}`)).toEqual(addresses);
  for (const [name, { input }] of Object.entries(OPERATIONS)) {
    const { method, sends } = addressOf(name);
    expect([name, input !== undefined]).toEqual([name, sends !== null]);
    if (sends !== null) expect([name, sends]).toEqual([name, method === "GET" ? "query" : "body"]);
  }
});

test("an operation is for models, as a tool, for people, or for what tells ends, and what changes something needs the token", () => {
  for (const [name, operation] of Object.entries(BOARD_OPERATIONS)) {
    const isForTelling = Object.hasOwn(endOperations, name);
    expect([name, operation.toolset === undefined]).toEqual([name, isForTelling || operation.peopleOnly === true]);
  }
  for (const [name, { access }] of Object.entries(OPERATIONS)) {
    expect([name, access === "token"]).toEqual([name, addressOf(name).method === "POST"]);
  }
});

test("the client has a method for each operation of the status API, which asks at its address", async () => {
  const asked: string[] = [];
  const client = createClient({
    url: "http://host:1",
    fetch: async (url, init = {}) => {
      asked.push([init.method, url, init.body ?? ""].join(" "));
      return Response.json({});
    },
  });
  expect(Object.keys(client).sort()).toEqual([...Object.keys(STATUS_ADDRESSES), "operate"].sort());
  await client.stats();
  await client.history({ buckets: 3, from: "2026-11-16T00:00:00Z" });
  await client.launch({ description: "d", prompt: "p" });
  await client.tell("$& $1");
  await client.resume("a", "again");
  await client.logs("a", { limit: 2 });
  await client.operate("list_projects", {});
  expect(asked).toEqual([
    "GET http://host:1/v1/stats ",
    "GET http://host:1/v1/stats/history?buckets=3&from=2026-11-16T00%3A00%3A00Z ",
    'POST http://host:1/v1/tasks {"description":"d","prompt":"p"}',
    "POST http://host:1/v1/tasks/%24%26%20%241/tell {}",
    'POST http://host:1/v1/tasks/a/resume {"prompt":"again"}',
    "GET http://host:1/v1/tasks/a/logs?limit=2 ",
    "POST http://host:1/v1/board/list_projects {}",
  ]);
});

test("a method gives its signal on, wherever it stands among the arguments", async () => {
  const { signal } = new AbortController();
  const given: unknown[] = [];
  const client = createClient({
    url: "http://host:1",
    fetch: async (_url, init = {}) => {
      given.push(init.signal);
      return Response.json({});
    },
  });
  await client.stats(signal);
  await client.task("a", signal);
  await client.tasks({}, signal);
  await client.fork("a", { prompt: "p" }, signal);
  await client.tasks();
  expect(given).toEqual([signal, signal, signal, signal, undefined]);
});
