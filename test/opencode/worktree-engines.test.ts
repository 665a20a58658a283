/** What the plugin of a worktree asks the engine of its task; the rest is in test/scenarios/worktree.test.ts. */
import { expect, test } from "bun:test";
import type { Engine } from "../../src/engine/engine.ts";
import { askFor, WorktreeEngines } from "../../src/opencode/worktree-engines.ts";

test("requests in a worktree ask the engine of that worktree, until it stops", async () => {
  const asked: string[] = [];
  const engineOf = (directory: string) => ({
    start: async () => undefined,
    stop: async () => undefined,
    mayRequest: async (sessionId: string) => {
      asked.push(`${directory} ${sessionId}`);
      if (sessionId === "over") throw new Error("over budget");
    },
  });
  const send = () => Promise.reject(new Error("not called"));
  const engines = new WorktreeEngines(send, (_host, directory) => engineOf(directory) as unknown as Engine);
  await engines.open("/tree/a");
  await engines.open("/tree/b");
  await askFor("/tree/a", "one");
  await askFor("/elsewhere", "two");
  expect(await askFor("/tree/b", "over").catch((thrown: Error) => thrown.message)).toBe("over budget");
  await engines.stop();
  await askFor("/tree/a", "three");
  expect(asked).toEqual(["/tree/a one", "/tree/b over"]);
});
