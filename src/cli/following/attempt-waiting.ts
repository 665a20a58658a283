/** Waits for an attempt: for its setup through the board, then like for any task. Prints the outcome. */
import type { Client } from "../../client/client.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { ownWords } from "../terminal/own-words.ts";
import { shortId } from "../terminal/text.ts";
import { waitForTasks } from "./task-waiting.ts";

const LOOK_MS = 30_000;

/** The engine's task behind an attempt; null while there is none. */
export async function taskOfAttempt(client: Client, attemptId: string): Promise<BackgroundTask | null> {
  const { handle } = await client.operate("attempt_task", { attempt_id: attemptId });
  return handle === null ? null : client.task(handle);
}

export async function waitForAttempt(invocation: Invocation, attemptId: string, timeoutMs?: number): Promise<number> {
  const { connection, screen, signal } = invocation;
  const client = await connection.client();
  const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  const id = shortId(attemptId);
  screen.hint(`Attempt ${attemptId}`);
  let attempt = await client.operate("get_attempt", { attempt_id: attemptId });
  while (attempt.state === "starting" && performance.now() < until && !signal.aborted) {
    const wait_ms = Math.max(0, Math.min(LOOK_MS, until - performance.now()));
    const looked = client.operate("get_attempt", { attempt_id: attemptId, wait_ms }, { signal });
    attempt = await screen.during("setting up", looked);
  }
  const task = await taskOfAttempt(client, attemptId);
  if (task) {
    const waited = await waitForTasks(invocation, [task], {
      timeoutMs: Number.isFinite(until) ? Math.max(0, until - performance.now()) : undefined,
    });
    if (!waited.ended) return waited.exitCode;
    attempt = await client.operate("get_attempt", { attempt_id: attemptId });
  }
  screen.show(attempt, () => {
    if (attempt.final_message) screen.line(attempt.final_message.trimEnd());
  });
  screen.hint(`The attempt is ${attempt.state}. asyncagents attempt diff ${id} · merge ${id} · follow ${id} "prompt"`);
  if (attempt.error) screen.hint(`  ${ownWords(attempt.error).replaceAll("\n", "\n  ")}`);
  if (attempt.state === "starting") return EXIT.timeout;
  return attempt.state === "completed" || attempt.state === "merged" ? EXIT.ok : EXIT.failed;
}
