import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudeLedger, type RunEnd } from "../../../src/hosts/claude/ledger.ts";

const identity = { parentSessionId: "", agent: "a", title: "t", model: null, launchId: "l", denyTools: [], at: 1 };
const end = (messageId: string, totalCost: number): RunEnd => ({
  messageId,
  at: 2,
  text: messageId,
  error: null,
  aborted: false,
  cost: 0,
  totalCost,
});

let folder = "";
let ledger: ClaudeLedger;
const file = () => join(folder, "sessions", "s.jsonl");
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "asyncagents-ledger-"));
  ledger = new ClaudeLedger(folder);
  await ledger.create("s", identity);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Replaces the file by a folder, so that it can be neither read nor written. */
function away(): () => void {
  renameSync(file(), join(folder, "away"));
  mkdirSync(file());
  return () => {
    rmdirSync(file());
    renameSync(join(folder, "away"), file());
  };
}

test("an unwritten line counts at once, and is in the file after the next write", async () => {
  const back = away();
  await ledger.begun("s", "one", 2);
  await ledger.ended("s", end("one", 3));
  expect(await ledger.prompted("s", "two", 4).catch((thrown) => thrown.code)).toBe("EISDIR");
  back();
  const known = await ledger.read("s");
  expect([known?.begun.has("one"), known?.ends.get("one")?.text, known?.totalCost]).toEqual([true, "one", 3]);
  expect(known?.prompts.size).toBe(0);
  expect((await new ClaudeLedger(folder).read("s"))?.ends.size).toBe(0);
  await ledger.prompted("s", "three", 5);
  const written = await new ClaudeLedger(folder).read("s");
  expect([[...(written?.prompts.keys() ?? [])], [...(written?.ends.keys() ?? [])]]).toEqual([["three"], ["one"]]);
});

test("a line cut short by a full disk does not swallow the next one", async () => {
  const back = away();
  await ledger.ended("s", end("one", 3));
  back();
  appendFileSync(file(), '{"type":"ended","messageId":"o');
  await ledger.ended("s", end("two", 4));
  expect([...((await new ClaudeLedger(folder).read("s"))?.ends.keys() ?? [])]).toEqual(["one", "two"]);
});

test("concurrent writes keep their order", async () => {
  const names = Array.from({ length: 50 }, (_, i) => `m${i}`);
  await Promise.all(names.map((name, i) => ledger.ended("s", end(name, i))));
  expect([...((await new ClaudeLedger(folder).read("s"))?.ends.keys() ?? [])]).toEqual(names);
});
