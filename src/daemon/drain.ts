/**
 * The end of a runner that was asked to end: it claims nothing more, and waits for its runs until they have ended, the
 * time is over, or somebody is in a hurry. What is left by then is interrupted by whoever stops the engines.
 */
import type { Claimer } from "../engine/queue/claimer.ts";
import type { Runner } from "../engine/runner.ts";
import type { Clock } from "../process/clock.ts";

/** How often people are told at most, and how late the end of the waiting may be noticed. */
const LOOK_MS = 1000;

export interface DrainContext {
  clock: Pick<Clock, "monotonic" | "after">;
  claimer: Pick<Claimer, "drain" | "load">;
  runner: Pick<Runner, "engines" | "onEntries">;
}

export interface DrainOptions {
  /** How long to wait for runs. */
  drainMs: number;
  /** Gets each line that a person should read. */
  say(line: string): void;
  /** Aborted to end the waiting. */
  hurry: AbortSignal;
}

export async function drained(context: DrainContext, { drainMs, say, hurry }: DrainOptions): Promise<void> {
  const { clock, claimer, runner } = context;
  let claiming: Promise<void> | null = claimer.drain().then(() => {
    claiming = null;
  });
  const deadline = clock.monotonic() + drainMs;
  for (let told = 0; (claiming !== null || claimer.load > 0) && !hurry.aborted; ) {
    const left = deadline - clock.monotonic();
    if (left <= 0) {
      if (claimer.load === 0) return;
      return say(`${counted(claimer.load)} did not end in time and ${claimer.load === 1 ? "is" : "are"} interrupted.`);
    }
    if (told !== claimer.load && claimer.load > 0) {
      const where = runner.engines().filter(({ liveRuns }) => liveRuns > 0);
      const places = where.map(({ instance, liveRuns }) => `${liveRuns} in ${instance.directory}`).join(", ");
      told = claimer.load;
      say(
        `Claims nothing more; waits up to ${Math.ceil(left / 1000)} s for ${counted(told)} (${places || "starting"}).`,
      );
    }
    await pauseUntil(context, { hurry, claiming }, Math.min(left, LOOK_MS));
  }
  if (hurry.aborted && claimer.load > 0) say(`A second signal: ${interrupted(claimer.load)}.`);
}

function interrupted(tasks: number): string {
  return `${counted(tasks)} ${tasks === 1 ? "is" : "are"} interrupted`;
}

function counted(tasks: number): string {
  return tasks === 1 ? "1 task" : `${tasks} tasks`;
}

/** Until something happened to a task, or nothing is being claimed any more, at most that long. */
function pauseUntil(
  { clock, runner }: DrainContext,
  { hurry, claiming }: { hurry: AbortSignal; claiming: Promise<void> | null },
  ms: number,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stop();
      cancel();
      hurry.removeEventListener("abort", done);
      resolve();
    };
    const stop = runner.onEntries(done);
    const cancel = clock.after(ms, done);
    hurry.addEventListener("abort", done, { once: true });
    void claiming?.then(done);
  });
}
