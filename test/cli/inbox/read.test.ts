/** `asyncagents inbox read`: a failed run leaves the inbox without a terminal. */
import { expect, test } from "bun:test";
import type { InboxPage } from "../../../src/protocol/inbox.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { cliWorld } from "../cli-bed.ts";

test("inbox read marks failed runs as read, each of them, and says what is not one", async () => {
  const world = cliWorld();
  const run = async (prompt: string) => {
    await world.cli("run", "--host", "scripted", "--wait", prompt);
    return (await world.json<{ tasks: BackgroundTask[] }>("ls", "--limit", "1")).tasks[0]?.id ?? "";
  };
  const [one, two] = [await run("One\n!fail no"), await run("Two\n!fail no")];
  const listed = await world.cli("inbox");
  expect(listed.err).toContain("asyncagents inbox read <id>");
  const read = await world.cli("inbox", "read", one, "nothing", two.slice(-8));
  expect([read.code, read.err]).toEqual([3, expect.stringContaining("nothing")]);
  expect(read.out).toMatch(/^Marked \S+ "One" as read\.\nMarked \S+ "Two" as read\.\n$/);
  expect((await world.json<InboxPage>("inbox")).entries).toEqual([]);
  expect(await world.json("inbox", "read", one)).toMatchObject({ id: one, resultRetrievedAt: expect.any(String) });
}, 120_000);
