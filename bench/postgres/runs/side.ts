/**
 * What both sides of the benchmark of runs have in common, so that they differ only in what is behind it: so many
 * senders, each one job after the other, and one worker that has at most so many jobs at once. Every send is a call of
 * its own that returns when the job is stored, and every job is ended on its own as soon as it is done.
 */

export interface Round {
  jobs: number;
  senders: number;
  atOnce: number;
  /** Each side has a variant of its own, which its file describes. */
  kind: "plain" | "variant";
}

/** The calls of each side's process. */
export type SideCalls = {
  open(input: { connectionString: string; schema: string; atOnce: number }): Promise<void>;
  /** Sends jobs and does them. Returns how many in a second, from the first send until all is done. */
  round(input: Round): Promise<number>;
  close(): Promise<void>;
};

/** What a job is about, about as long as a short real one. */
export const PROMPT =
  "Find out why the nightly build is slow and write down the three steps that take longest. ".repeat(5);
export const RESULT = "The slowest steps are the type check, the browser tests and the packing of images. ".repeat(8);

/** All senders at once, each one job after the other. */
export async function sendAll({ jobs, senders }: Round, send: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (next < jobs) await send(next++);
    }),
  );
}

export function perSecond({ jobs }: Round, started: number): number {
  return (jobs * 1_000) / (performance.now() - started);
}
