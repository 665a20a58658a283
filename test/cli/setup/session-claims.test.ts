/** What a transcript of Claude Code says about claims: lines as the real program writes them, and hostile ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claimsOfSession, verdictOn } from "../../../src/cli/setup/session-claims.ts";
import { claimText } from "../../../src/model/notifications/follower.ts";
import { createTemporaryRoot } from "../../../src/testing/opencode/home.ts";

let root: string;
beforeAll(async () => {
  root = await createTemporaryRoot();
});
afterAll(() => rm(root, { recursive: true, force: true }));

const told = (claim: string) => `<task-notification>\n${claimText(claim)}. A background task ended.`;
const line = (fields: object) => `${JSON.stringify(fields)}\n`;
const user = (content: unknown) => line({ type: "user", message: { role: "user", content } });
const queued = (operation: string, claim: string, ago = 0) => {
  const timestamp = new Date(Date.now() - ago).toISOString();
  return line({ type: "queue-operation", operation, timestamp, content: told(claim) });
};
const busy = (claim: string) =>
  line({ type: "attachment", attachment: { type: "queued_command", prompt: told(claim) } });

async function found(text: string | Buffer, ...claims: string[]) {
  const path = join(root, `${crypto.randomUUID()}.jsonl`);
  await writeFile(path, text);
  return Object.fromEntries(await claimsOfSession(path, claims));
}

test("an end counts as read where the program put it into the conversation, and as taken while it is queued", async () => {
  const text = [
    queued("enqueue", "ntc_idle") + user(told("ntc_idle")),
    queued("enqueue", "ntc_busy") + queued("remove", "ntc_busy") + busy("ntc_busy"),
    user([{ type: "text", text: told("ntc_blocks") }]),
    queued("enqueue", "ntc_waits"),
  ].join("");
  expect(await found(text, "ntc_idle", "ntc_busy", "ntc_blocks", "ntc_waits", "ntc_never")).toEqual({
    ntc_idle: "read",
    ntc_busy: "read",
    ntc_blocks: "read",
    ntc_waits: "taken",
  });
});

test("what left the queue for nowhere is told again, once it would be in the conversation if it were to come", async () => {
  const minute = 60_000;
  const text = [
    queued("enqueue", "ntc_gone", minute) + queued("remove", "ntc_gone", minute),
    queued("enqueue", "ntc_soon") + queued("remove", "ntc_soon"),
    queued("enqueue", "ntc_again", minute) + queued("remove", "ntc_again", minute) + queued("enqueue", "ntc_again"),
    queued("enqueue", "ntc_read", minute) + queued("remove", "ntc_read", minute) + busy("ntc_read"),
  ].join("");
  const states = await found(text, "ntc_gone", "ntc_soon", "ntc_again", "ntc_read");
  expect(states).toEqual({ ntc_gone: "dropped", ntc_soon: "taken", ntc_again: "taken", ntc_read: "read" });
  expect(verdictOn(states.ntc_gone, { isGone: false, sinceMs: 0 })).toBe("lost");
});

test("what tools answer, models write and broken lines contain counts as nothing, nor do other claims", async () => {
  const quoted = [{ type: "tool_result", tool_use_id: "t", content: told("ntc_a") }];
  const text = [
    user(quoted),
    user([{ type: "tool_result", content: [{ type: "text", text: told("ntc_a") }] }]),
    line({ type: "assistant", message: { content: [{ type: "text", text: told("ntc_a") }] } }),
    line({ type: "user", message: null, toolUseResult: told("ntc_a") }),
    user("ntc_a without the words before it, and asyncagents notice ntc_ab"),
    `{"type":"user","message":{"content":"${claimText("ntc_a")}`,
    "\nnull\n[]\n",
  ].join("");
  expect(await found(text, "ntc_a")).toEqual({});
});

test("large transcripts are read from near their end, and lines of any length do not matter", async () => {
  const large = Buffer.alloc(66 * 1024 * 1024, "x");
  large.write(user(told("ntc_old")), 0);
  for (let at = 1_000; at < large.length; at += 5 * 1024 * 1024) large.write("\n", at);
  const path = join(root, "large.jsonl");
  await writeFile(path, large);
  await appendFile(path, `\n${user(told("ntc_new"))}`);
  expect(Object.fromEntries(await claimsOfSession(path, ["ntc_old", "ntc_new"]))).toEqual({ ntc_new: "read" });
});

test("a transcript that is gone, or is no file, tells nothing", async () => {
  await mkdir(join(root, "folder"));
  for (const path of [join(root, "gone"), join(root, "folder"), ""])
    expect((await claimsOfSession(path, ["a"])).size).toBe(0);
});

test("what was read is never told again; the rest is, once nobody can be about to tell it", () => {
  const alive = { isGone: false, sinceMs: 60_000 };
  expect(verdictOn("read", { isGone: true, sinceMs: 0 })).toBe("read");
  expect(verdictOn("taken", { isGone: true, sinceMs: 0 })).toBe("lost");
  expect(verdictOn(undefined, { isGone: true, sinceMs: 0 })).toBe("lost");
  expect(verdictOn("taken", alive)).toBe("open");
  expect(verdictOn(undefined, alive)).toBe("lost");
  expect(verdictOn(undefined, { ...alive, sinceMs: 5_000 })).toBe("open");
});

test("a pipe in the place of a transcript holds up nobody", async () => {
  const pipe = join(root, "pipe.jsonl");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  expect((await claimsOfSession(pipe, ["ntc_1"])).size).toBe(0);
}, 10_000);
