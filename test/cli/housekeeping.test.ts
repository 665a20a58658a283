/** `rm`, `export`, `open`, `attach` and `stats`, as the real command, with tasks of the scripted agent. */
import { describe, expect, test } from "bun:test";
import { cliWorld } from "./cli-bed.ts";

const PATIENCE = 60_000;
const world = cliWorld();

async function ended(...lines: string[]): Promise<string> {
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "--wait", lines.join("\n"));
  return id;
}

describe("rm", () => {
  test(
    "removes ended tasks for good, each one reported, and refuses a live one with what to do",
    async () => {
      const [first, second] = [await ended("One\n!say one"), await ended("Two\n!say two")];
      const { id: live } = await world.json<{ id: string }>("run", "--host", "scripted", "Live\n!wait never.txt");
      const { code, out, err } = await world.cli("rm", first, live, second, "no-such-task");
      expect(code).toBe(1);
      expect(out.split("\n").filter((line) => line.startsWith("Removed "))).toHaveLength(2);
      expect(err).toContain("is still running, so it was not removed. Cancel it");
      expect(err).toContain("no-such-task");
      for (const id of [first, second]) expect((await world.cli("show", id)).code).toBe(3);
      expect(await world.json("show", live)).toMatchObject({ status: "running" });
      await world.cli("cancel", live);
      expect(await world.json<object>("rm", live)).toMatchObject({ tasks: [{ id: live, removed: { tasks: 1 } }] });
      expect((await world.json<{ total: number }>("ls")).total).toBe(0);
    },
    PATIENCE,
  );

  test(
    "is for people: an agent's command is refused",
    async () => {
      const id = await ended("Kept\n!say kept");
      world.environment.ASYNCAGENTS_DEPTH = "1";
      const refused = await world.cli("rm", id);
      delete world.environment.ASYNCAGENTS_DEPTH;
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Only people can remove a task")]);
      expect((await world.cli("rm", id)).code).toBe(0);
    },
    PATIENCE,
  );
});
