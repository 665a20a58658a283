/**
 * Which process works on something, and whether it still does. A pid that was given out again is taken for the old
 * process: then others wait longer than they must, which harms nothing. One machine only.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";

/** The token tells this process from an earlier one with the same pid, as it happens in containers. */
export const makerSchema = z.object({ pid: z.number().int().positive(), token: z.string() });

export type Maker = z.infer<typeof makerSchema>;

export const ownMaker: Maker = { pid: process.pid, token: randomUUID() };

export function isRunning({ pid, token }: Maker): boolean {
  if (pid === ownMaker.pid) return token === ownMaker.token;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
