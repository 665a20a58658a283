/**
 * The program that runs the host is killed at every step of a run, by its own agent, which knows best when that is.
 * Afterwards nothing is left of the agent, the run is interrupted unless its end was stored, the prompt is never run
 * again, and the session goes on.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { judgeInterrupted } from "../../../../src/model/evidence.ts";
import { leftProcesses } from "../left-processes.ts";
import { AGENT, HostileBed, type HostileStage } from "./hostile-bed.ts";

const bed = new HostileBed();
let stage: HostileStage;
beforeAll(async () => {
  await bed.open();
  stage = bed.stage({ given: ["resume"] });
});
afterAll(() => bed.close());

const check = (title: string, work: () => Promise<void>) => test(title, work, 60_000);

/** Runs a prompt in a program of its own until that is killed; returns its session. */
async function killed(steps: string[], given: string[]): Promise<{ session: string; messageId: string }> {
  const launch = crypto.randomUUID();
  const messageId = stage.host.newMessageId();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "..", "acp-child.ts")], {
    stdin: Buffer.from(
      JSON.stringify({
        directory: bed.root,
        folder: bed.folder,
        agent: AGENT,
        settings: bed.settings("resume", ...given),
        environment: bed.environment,
        text: steps.join("\n"),
        messageId,
        launch,
      }),
    ),
    stdout: "inherit",
    stderr: "inherit",
  });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(await leftProcesses(bed.root)).toEqual([]);
  const session = await stage.host.findLaunched({ launchId: launch });
  return { session: session ?? "", messageId };
}

const points: [title: string, steps: string[], given: string[], begun: boolean][] = [
  ["its agent is asked who it is", ["say unheard"], ["kill:initialize"], false],
  ["a session is opened", ["say unheard"], ["kill:session/new"], false],
  ["the prompt arrives", ["say unheard"], ["kill:session/prompt"], false],
  ["the agent works", ["children 3", "work 0", "say half", "heard", "killhost"], [], true],
];

for (const [title, steps, given, begun] of points)
  check(`killed when ${title}`, async () => {
    const { session, messageId } = await killed(steps, given);
    const evidence = await stage.host.inspect(session, messageId);
    expect(evidence).toMatchObject({ prompted: true, begun, answer: null, error: null });
    expect(judgeInterrupted(evidence)).toMatchObject({
      outcome: "error",
      error: expect.stringContaining("interrupted"),
    });
    const from = stage.events.items.length;
    const next = await stage.prompt(session, "say next");
    await stage.event("session.idle", session, from);
    expect((await stage.host.inspect(session, next)).answer).toEqual({ text: "next" });
    expect(await stage.host.inspect(session, messageId)).toEqual(evidence);
  });

check("killed when the agent has answered, before the end is stored: no answer is invented", async () => {
  const { session, messageId } = await killed(["say done"], ["kill:end"]);
  const evidence = await stage.host.inspect(session, messageId);
  expect(judgeInterrupted(evidence)).toMatchObject({ outcome: "error", error: expect.stringContaining("interrupted") });
});

check("killed while the launch is being written down: there is no session of that launch", async () => {
  await stage.session("launch-cut");
  writeFileSync(join(bed.folder, "launches", "launch-cut"), "");
  expect(await stage.host.findLaunched({ launchId: "launch-cut" })).toBeNull();
});

check("a transcript that ends in half a line is read up to there, and goes on", async () => {
  const session = await stage.session();
  await stage.run(["say whole"], session);
  const file = join(bed.folder, "sessions", `${session}.jsonl`);
  const text = readFileSync(file, "utf8").trimEnd();
  // The end of the run was being written.
  writeFileSync(file, text.slice(0, -40));
  const messages = await stage.host.messages(session, { limit: 10, before: null });
  expect(messages.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(await stage.run(["say after"], session)).toMatchObject({ outcome: "completed" });
});

check("a session that the agent says it has lost goes on in a new one, and its prompt runs once", async () => {
  const losing = bed.stage({ given: ["resume", "lost"] });
  const session = await losing.session();
  expect(await losing.run(["say first"], session)).toMatchObject({ result: "first" });
  expect(await losing.run(["say second"], session)).toMatchObject({ outcome: "completed" });
  const [told] = (await losing.host.messages(session, { limit: 2, before: null })).messages[0]?.parts ?? [];
  expect(told?.type === "text" && told.text).toContain("could not be continued");
});

check("a refusal that only sounds like a lost session ends the run, and the next one has a new session", async () => {
  const losing = bed.stage({ given: ["resume", "vague"] });
  const session = await losing.session();
  expect(await losing.run(["say first"], session)).toMatchObject({ result: "first" });
  const refused = await losing.run(["say second"], session);
  expect(refused).toMatchObject({ outcome: "error", error: expect.stringContaining("Resume the task") });
  expect(await losing.run(["say third"], session)).toMatchObject({ outcome: "completed" });
});
