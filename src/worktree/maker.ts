/**
 * Which process works on something, according to marks and lock files, and whether it still does. Earlier versions
 * wrote only the pid and the token: then a reused pid counts as the old process, and others wait longer than necessary,
 * which is harmless. One machine only.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { isAlive, ownIdentity } from "../process/liveness.ts";

export const makerSchema = z.object({
  pid: z.number().int().positive(),
  /** Distinguishes this process from an earlier one with the same pid, as happens in containers. */
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
