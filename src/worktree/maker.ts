/**
 * Which process works on something, as marks and lock files say it, and whether it still does. Earlier versions wrote the
 * pid and the token only: then a pid that was given out again counts as the old process, and others wait longer than
 * they must, which harms nothing. One machine only.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { isAlive, ownIdentity } from "../process/liveness.ts";

export const makerSchema = z.object({
  pid: z.number().int().positive(),
  /** Tells this process from an earlier one with the same pid, as it happens in containers. */
  token: z.string(),
  processStart: z.string().default(""),
  bootId: z.string().default(""),
  pidNamespace: z.string().default(""),
});

export type Maker = z.infer<typeof makerSchema>;

const ownToken = randomUUID();

export function ownMaker(): Maker {
  return { ...ownIdentity(), token: ownToken };
}

export function isRunning(maker: Maker): boolean {
  return maker.pid === process.pid ? maker.token === ownToken : isAlive(maker);
}
