/**
 * Keeps tasks.json up to date with the store: soon after this process wrote, coalesced, with one writer at a time
 * across processes. The progress of the file is a row in `meta`, so that nothing is written twice, and the next process
 * finishes what a killed one left. A failed write is logged and never fails a task: the database is the truth.
 */
import { existsSync } from "node:fs";
import type { Kysely } from "kysely";
import { messageOf } from "../../model/errors.ts";
import type { LineLog } from "../../process/log.ts";
import type { Database } from "../database.ts";
import { readLastSeq } from "../feed.ts";
import { putMeta, readMeta } from "../meta.ts";
import { refuseIfNewer } from "../migrations/migrations.ts";
import { readPruned } from "../pruning/prune.ts";
import type { Schema } from "../schema.ts";
import { tryLock } from "../sqlite/file-lock.ts";
import { writeTasksJson } from "./file.ts";

interface Mirror {
  /** Call this after this process wrote to the store. */
  touch(): void;
  /** Writes what is pending; returns when the file is up to date, or after a time limit with a log line. */
  flush(): Promise<void>;
  /** Writes what this process still has to write, then stops. */
  close(): Promise<void>;
}

interface MirrorOptions {
  database: Database;
  file: string;
  lockFile: string;
  log: LineLog;
}

/** Waits for a quiet moment before a write, but never longer than this after the first change. */
const DEBOUNCE = 400;
const LONGEST_WAIT = 2_000;
/** Minimum time between two writes, in ms. */
const LEAST_GAP = 1_000;
/** A long file is written less often: writing takes at most one part in this many of the time. */
const GAP_PER_DURATION = 20;
/** How long to wait while another process writes the file. */
const LOCKED_PAUSE = 150;
const FLUSH_LIMIT = 5_000;

export function tasksJsonMirror(options: MirrorOptions): Mirror {
  const { log } = options;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let notBefore = 0;
  let firstChange: number | null = null;
  let touched = false;
  let closed = false;
  let running: Promise<boolean> = Promise.resolve(true);

  /** True when nothing is pending, or when retrying soon would not help. */
  const attempt = async (): Promise<boolean> => {
    const began = performance.now();
    touched = false;
    try {
      const outcome = await mirrorOnce(options);
      if (outcome === "locked") touched = true;
      if (outcome === "written") notBefore = performance.now() + gapAfter(performance.now() - began);
      return outcome !== "locked";
    } catch (thrown) {
      log(`store: ${options.file} could not be written: ${messageOf(thrown)}`);
      return true;
    }
  };
  const run = () => {
    running = running.then(attempt);
    return running;
  };
  const schedule = (pause: number) => {
    if (timer !== null || closed) return;
    const wait = Math.max(pause, notBefore - performance.now());
    timer = setTimeout(async () => {
      timer = null;
      firstChange = null;
      if (!(await run()) || touched) schedule(LOCKED_PAUSE);
    }, wait);
    timer.unref();
  };
  const flush = async () => {
    const deadline = performance.now() + FLUSH_LIMIT;
    while (!(await run())) {
      if (performance.now() >= deadline)
        return log(`store: ${options.file} is locked by another process and was not updated`);
      await Bun.sleep(LOCKED_PAUSE);
    }
  };

  // Finishes what a killed process left; normally there is nothing to do.
  schedule(DEBOUNCE);
  return {
    touch() {
      touched = true;
      firstChange ??= performance.now();
      if (timer !== null && performance.now() - firstChange < LONGEST_WAIT - DEBOUNCE) {
        clearTimeout(timer);
        timer = null;
      }
      schedule(DEBOUNCE);
    },
    flush,
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      if (touched) await flush();
    },
  };
}

function gapAfter(duration: number): number {
  return Math.max(LEAST_GAP, duration * GAP_PER_DURATION);
}

async function mirrorOnce({ database, file, lockFile }: MirrorOptions): Promise<"current" | "locked" | "written"> {
  if (await isCurrent(database, file)) return "current";
  const lock = tryLock(lockFile, "mirroring");
  if (lock === null) return "locked";
  try {
    if (await isCurrent(database, file)) return "current";
    await database.read(refuseIfNewer);
    const { seq, pruned } = await database.read(readState);
    await writeTasksJson(database, file);
    await database.write(async (kysely) => {
      await putMeta(kysely, "mirrored_seq", String(seq));
      if (pruned > 0) await putMeta(kysely, "mirrored_pruned", String(pruned));
    });
    return "written";
  } finally {
    lock.release();
  }
}

async function isCurrent(database: Database, file: string): Promise<boolean> {
  const { last, mirrored } = await database.read(async (kysely) => ({
    last: await readState(kysely),
    mirrored: {
      seq: Number((await readMeta(kysely, "mirrored_seq")) ?? 0),
      pruned: Number((await readMeta(kysely, "mirrored_pruned")) ?? 0),
    },
  }));
  if (last.seq === 0) return true;
  return mirrored.seq === last.seq && mirrored.pruned === last.pruned && existsSync(file);
}

/** What the file depends on. Both numbers only increase. */
async function readState(kysely: Kysely<Schema>): Promise<{ seq: number; pruned: number }> {
  return { seq: await readLastSeq(kysely), pruned: (await readPruned(kysely)).tasks };
}
