import { expect, test } from "bun:test";
import { gather } from "../../../src/store/postgres/gathered-reads.ts";

function counted(answer: (id: string) => string | undefined = (id) => `task ${id}`) {
  const queries: string[][] = [];
  const read = gather(async (ids) => {
    queries.push(ids);
    return new Map(ids.flatMap((id) => (answer(id) === undefined ? [] : [[id, answer(id)] as const])));
  });
  return { queries, read };
}

test("reads of one turn are one query, each with its own answer", async () => {
  const { queries, read } = counted((id) => (id === "gone" ? undefined : `task ${id}`));
  const found = await Promise.all(["a", "b", "a", "gone"].map(read));
  expect(found).toEqual(["task a", "task b", "task a", undefined]);
  expect(queries).toEqual([["a", "b", "gone"]]);
});

test("a read that is asked for after a query was sent is a query of its own, which may see more", async () => {
  let version = 1;
  const { queries, read } = counted(() => `version ${version}`);
  expect(await read("a")).toBe("version 1");
  version = 2;
  expect(await read("a")).toBe("version 2");
  expect(queries).toEqual([["a"], ["a"]]);
});

test("an id that no database can hold finds nothing", async () => {
  const { queries, read } = counted(() => undefined);
  expect(await read("a\0b")).toBeUndefined();
  expect(queries.flat().join()).not.toContain("\0");
});

test("more than a hundred are several queries", async () => {
  const { queries, read } = counted();
  const ids = Array.from({ length: 250 }, (_, number) => `t${number}`);
  expect(await Promise.all(ids.map(read))).toEqual(ids.map((id) => `task ${id}`));
  expect(queries.map(({ length }) => length)).toEqual([100, 100, 50]);
});

test("a query that fails rejects all reads in it, and the next one is tried anew", async () => {
  let fails = true;
  const read = gather(async (ids) => {
    if (fails) throw new Error("no connection");
    return new Map(ids.map((id) => [id, id]));
  });
  const settled = await Promise.allSettled([read("a"), read("b")]);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await read("a")).toBe("a");
});
