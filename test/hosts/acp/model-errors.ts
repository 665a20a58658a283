/**
 * What every ACP agent does when its model fails, and must never be taken for success: each status for ever, a stream
 * that is always cut, and a failure after a tool call. Agents that retry in silence are ended by the limit for silence.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { judge } from "../../../src/model/evidence.ts";
import * as model from "../../../src/testing/models/script.ts";
import { acpBed } from "./acp-bed.ts";
import type { TestedAgent } from "./agents/tested-agent.ts";
import { leftProcesses } from "./left-processes.ts";

const SILENT_MS = 20_000;
const PATIENCE = 280_000;
const STATUSES = [400, 401, 429, 500];

export function modelErrorSuite(tested: TestedAgent): void {
  test(
    `acp: ${tested.name}: no failure of the model ends as completed`,
    async () => {
      const bed = await acpBed(tested);
      const host = bed.another({ silentMs: SILENT_MS });
      try {
        for (const status of STATUSES) {
          const message = `scripted ${status}`;
          bed.model.script(`status-${status}`, [model.fail(status, message, { times: Number.POSITIVE_INFINITY })]);
        }
        bed.model.script(
          "cut",
          Array.from({ length: 500 }, () => model.cut("half an answer")),
        );
        const failed = model.fail(400, "scripted late", { times: Number.POSITIVE_INFINITY });
        bed.model.script("late", [tested.readMissing(join(bed.directory, "missing.txt")), failed]);
        const cases = [...STATUSES.map((status) => `status-${status}`), "cut", "late"];
        const outcomes: Record<string, string> = {};
        for (const name of cases) {
          const verdict = await verdictOn(host, tested.name, model.scriptMarker(name));
          outcomes[name] = verdict.outcome;
          const said = "error" in verdict ? verdict.error : "";
          console.log(`${tested.name} ${name}: ${verdict.outcome} ${said.replaceAll("\n", " ").slice(0, 140)}`);
        }
        expect(outcomes).toEqual(Object.fromEntries(cases.map((name) => [name, "error"])));
        expect(await leftProcesses(bed.root)).toEqual([]);
      } finally {
        await host.close();
        await bed.close();
      }
    },
    PATIENCE,
  );
}

async function verdictOn(host: Awaited<ReturnType<typeof acpBed>>["host"], agent: string, text: string) {
  const start = { parentSessionId: "", parentAgent: "", title: "Fails", agent, model: null, denyTools: [] };
  const sessionId = await host.start({ ...start, launchId: crypto.randomUUID() });
  const messageId = host.newMessageId();
  const idle = Promise.withResolvers<void>();
  const stop = host.onEvent((event) => {
    if (event.type === "session.idle" && event.sessionId === sessionId) idle.resolve();
  });
  await host.prompt(sessionId, { messageId, text, agent, model: null });
  await idle.promise;
  stop();
  return judge(await host.inspect(sessionId, messageId), null);
}
