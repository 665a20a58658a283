/**
 * Whether a process lives. One that this process can see is asked for by its pid: pid, start time, boot and pid namespace
 * must all match, so that a pid that was given out again, or a container's, is not taken for it. One in another namespace, or
 * on another boot or machine, is judged by its heartbeat in the store alone.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process it is, and where its pid means something. An empty text is not known: an earlier version wrote less. */
export interface ProcessIdentity {
  pid: number;
  processStart: string;
  bootId: string;
  pidNamespace: string;
}

/** A process with its heartbeat: another number each time, for those who cannot see the process. */
export interface BeatingProcess extends ProcessIdentity {
  id: string;
  beat: number;
}

/** A heartbeat that stands still for so long, while this process looks, has stopped. */
const STALE_MS = 60_000;
/** What a single look counts for at the most: whoever slept, or has not looked, has not seen anything stand still. */
const LONGEST_LOOK_MS = 15_000;
const MAX_KNOWN = 1_000;

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    processStart: startOf(process.pid) ?? "",
    bootId: bootId(),
    pidNamespace: pidNamespace(),
  };
}

/** Whether that process runs, among those that this process can see. */
export function isAlive(identity: ProcessIdentity): boolean {
  const { pid, processStart } = identity;
  const start = isVisible(identity) ? startOf(pid) : null;
  return start !== null && (processStart === "" || processStart === start);
}

/** Whether pids of that process mean the same here. */
export function isVisible({ bootId: boot, pidNamespace: namespace }: ProcessIdentity): boolean {
  return (boot === "" || boot === bootId()) && (namespace === "" || namespace === pidNamespace());
}

/** Whether it is, or was, in another pid namespace of this very machine: a container beside this one. */
export function isElsewhere(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && !isVisible(identity);
}

/**
 * Judges instances, and remembers their heartbeats for that. What cannot be seen counts as living until its heartbeat was
 * found unchanged, look after look, for so long by this process's own clock: nobody's wall clock matters.
 */
export function instanceJudge(
  read: () => number = () => performance.now(),
  staleMs = STALE_MS,
): (instance: BeatingProcess) => boolean {
  const known = new Map<string, { beat: number; lookedAt: number; stillMs: number }>();
  return (instance) => {
    if (isVisible(instance)) return isAlive(instance);
    const { id, beat } = instance;
    const now = read();
    const before = known.get(id);
    const isStill = before?.beat === beat;
    const stillMs = isStill ? before.stillMs + Math.min(now - before.lookedAt, LONGEST_LOOK_MS) : 0;
    known.set(id, { beat, lookedAt: now, stillMs });
    const oldest = known.keys().next().value;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    return stillMs < staleMs;
  };
}

/** The judge of this process. */
export const isInstanceAlive = instanceJudge();

/** When a process started, in a form that only has to be equal to itself; null when there is no such process. */
function startOf(pid: number): string | null {
  return process.platform === "linux" ? startInProc(pid) : startByPs(pid);
}

function startInProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Where there is no /proc. Language and time zone are fixed: those of this process may change, or differ from another's. */
export function startByPs(pid: number): string | null {
  try {
    const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", env });
    return started.trim() || null;
  } catch {
    return null;
  }
}

let knownBoot: string | null = null;

function bootId(): string {
  knownBoot ??= readBootId();
  return knownBoot;
}

/** Not the time of the boot: macOS moves it when the clock is set. */
function readBootId(): string {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  } catch {
    return hostname();
  }
}

let knownNamespace: string | null = null;

/** One for the whole machine where there are no namespaces. */
function pidNamespace(): string {
  knownNamespace ??= readNamespace();
  return knownNamespace;
}

function readNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "machine";
  }
}
