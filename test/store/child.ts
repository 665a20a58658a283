/**
 * Real Bun processes that use a store: `const startChild = children()` at the top of a test file. Each is ended by its
 * pid when the file is done, and exits by itself when the test's process is gone.
 */
import { afterAll } from "bun:test";
import { join } from "node:path";
import type { Work } from "./store-process.ts";

export interface Child {
  /** Resolves with the next output of the process; null when it has exited. */
  said(): Promise<string | null>;
  exited: Promise<number>;
  kill(): Promise<void>;
}

export function children(): (work: Work, directory: string, name?: string) => Child {
  const started: Child[] = [];
  afterAll(async () => {
    await Promise.all(started.map((child) => child.kill()));
  });
  return (work, directory, name = "child") => {
    const child = start(work, directory, name);
    started.push(child);
    return child;
  };
}

function start(work: Work, directory: string, name: string): Child {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "store-process.ts"), work, directory, name], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    said: async () => (await lines.read()).value ?? null,
    exited: child.exited,
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
