/**
 * kill -9 at random moments with five running tasks, again and again, on the real OpenCode: nothing is lost, nothing
 * runs forever, each end is announced exactly once.
 */
import { expect, test } from "bun:test";
import { call, pause, say } from "../../src/testing/models/script.ts";
import { World } from "../scenarios/world.ts";

const KILLS = Number(process.env.ASYNCAGENTS_CHAOS_KILLS ?? 30);

test(
  `${KILLS} kills at random moments with 5 tasks running`,
  async () => {
    const world = await World.start();
    try {
      const parent = await world.parent();
      const moments: string[] = [];
      for (let round = 0; round < KILLS; round++) {
        const before = (await world.store.tasks({ parentSessionId: parent.sessionId, limit: 1 })).total;
        const calls = Array.from({ length: 5 }, (_, index) => {
          const steps = [call("read", { filePath: "README.md" }), pause(index * 120), say(`answer ${round}.${index}`)];
          const input = {
            description: `round ${round}, ${index}`,
            prompt: `${world.script(...steps)} work`,
            agent: "general",
          };
          return { name: "asyncagents_task", input };
        });
        await world.opencode.promptAsync(
          parent.sessionId,
          `${world.script({ type: "toolCalls", text: "", calls }, say("ok"))} go`,
        );
        const begun = 1 + Math.floor(Math.random() * 5);
        const moment = Math.floor(Math.random() * 1200);
        moments.push(`${moment} ms after task ${begun}`);
        await world.launched(parent.sessionId, before + begun);
        await Bun.sleep(moment);
        await world.opencode.kill("SIGKILL");
        await world.opencode.restart();
        await world.settled();
      }
      const where = `kills: ${moments.join(", ")}`;
      const sessions = (await world.opencode.client.children(parent.sessionId)).map((session) => session.id).sort();
      const { tasks, total } = await world.store.tasks({ parentSessionId: parent.sessionId, limit: 200 });
      expect(tasks.map((task) => task.id).sort(), where).toEqual(sessions);
      expect(total, where).toBeGreaterThanOrEqual(KILLS);
      const told = await parent.told();
      for (const task of tasks) {
        expect(["completed", "error"], where).toContain(task.status);
        expect(told.get(task.id), `${where}: ${task.id} ${task.status}`).toBe(1);
        expect(world.model.requestsOf(task.id).length, where).toBeLessThanOrEqual(2);
      }
      for (const notice of await parent.notices()) expect(parent.turnsOf(notice), where).toBeLessThanOrEqual(1);
    } finally {
      await world.stop();
    }
  },
  60_000 + KILLS * 60_000,
);
