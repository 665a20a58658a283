import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileLog } from "../../src/process/file-log.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "asyncagents-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a line contains time, level, pid, message and details, and only its owner can read it", async () => {
  const file = join(folder, "a.log");
  const log = fileLog(file);
  log.error("something broke", { error: "two\nlines" });
  await log.written();
  expect(readFileSync(file, "utf8")).toMatch(
    new RegExp(String.raw`^\d{4}-\S+Z error ${process.pid} something broke \{"error":"two\\nlines"\}\n$`),
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a small file is appended to", async () => {
  const file = join(folder, "a.log");
  for (const words of ["first", "second"]) {
    const log = fileLog(file);
    log.info(words);
    await log.written();
  }
  expect(readFileSync(file, "utf8")).toMatch(/ first .*\n.* second /);
  expect(existsSync(`${file}.1`)).toBe(false);
});

test("it is rotated before it grows large, and one older file is kept", async () => {
  const file = join(folder, "a.log");
  const log = fileLog(file);
  for (let round = 0; round < 4; round++) {
    for (let line = 0; line < 150; line++) log.info("x".repeat(3000));
    log.info(`end of ${round}`);
    await log.written();
    expect(readFileSync(file, "utf8")).toContain(`end of ${round}`);
  }
  expect(statSync(file).size).toBeLessThan(1_000_000);
  expect(statSync(`${file}.1`).size).toBeLessThanOrEqual(1_000_000);
  expect(existsSync(`${file}.2`)).toBe(false);
});

test("a missing folder breaks nothing", async () => {
  const log = fileLog(join(folder, "missing", "a.log"));
  log.info("nobody hears");
  await log.written();
  expect(existsSync(join(folder, "missing"))).toBe(false);
});
