/**
 * Runs a part of a benchmark in its own process, called by name over IPC. This file contains both ends. A child is
 * ended by pid when it is stopped, and by its lifeline if the benchmark dies; an error thrown by a call in the child
 * is rethrown here.
 */
import { attachLifeline } from "../src/testing/lifeline.ts";
import { bounded } from "../src/testing/recorder.ts";

/** The calls a child accepts and answers: plain data. */
// biome-ignore lint/suspicious/noExplicitAny: each child's own file says what its calls take.
export type Calls = Record<string, (input: any) => unknown>;

type Input<Call> = Call extends (input: infer Given) => unknown ? Given : never;
type Output<Call> = Call extends (input: never) => infer Given ? Awaited<Given> : never;

export interface Child<Known extends Calls> {
  pid: number;
  call<Name extends keyof Known & string>(name: Name, input: Input<Known[Name]>): Promise<Output<Known[Name]>>;
  stop(): Promise<void>;
}

interface Asked {
  id: number;
  name: string;
  input: unknown;
}

type Answered = { id: number; result: unknown } | { id: number; problem: string };

const PATIENCE_MS = 120_000;

/** `file` is the child's program, relative to this file; `folder` is removed if the benchmark is killed. */
export function startChild<Known extends Calls>(file: string, folder: string): Child<Known> {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  const child = Bun.spawn([process.execPath, Bun.fileURLToPath(import.meta.resolve(file))], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc(message) {
      const answer = message as Answered;
      const waiting = open.get(answer.id);
      open.delete(answer.id);
      if ("problem" in answer) waiting?.reject(new Error(`${file}: ${answer.problem}`));
      else waiting?.resolve(answer.result);
    },
  });
  const release = attachLifeline(child.pid, folder);
  void child.exited.then((code) => {
    release();
    for (const waiting of open.values()) waiting.reject(new Error(`${file} ended with ${code} before it answered.`));
  });
  let calls = 0;
  return {
    pid: child.pid,
    async call(name, input) {
      const id = calls++;
      const waiting = Promise.withResolvers<unknown>();
      open.set(id, waiting);
      child.send({ id, name, input } satisfies Asked);
      return (await bounded(waiting.promise, PATIENCE_MS, () => `${name} of ${file}.`)) as never;
    },
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The child's end: answers one call at a time. */
export function answerCalls(calls: Calls): void {
  let last: Promise<void> = Promise.resolve();
  const answer = async ({ id, name, input }: Asked) => {
    try {
      process.send?.({ id, result: await calls[name]?.(input) });
    } catch (thrown) {
      process.send?.({ id, problem: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) });
    }
  };
  process.on("message", (message) => {
    last = last.then(() => answer(message as Asked));
  });
}

/** Milliseconds on a clock that all processes of this machine share. */
export function sharedNow(): number {
  return performance.timeOrigin + performance.now();
}
