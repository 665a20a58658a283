/**
 * Whether a process is alive. A process of this machine that can be seen is identified by pid, start time, boot and pid
 * namespace: all must match, so that a reused pid, or one of a container, is not mistaken for it. Any other one is
 * judged by its lease alone, if it has one, otherwise by its heartbeat in the store.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isSameMachine } from "./machine.ts";

/** Identifies a process. Fields that an earlier version did not write are empty, and are not compared. */
export interface ProcessIdentity {
  pid: number;
  processStart: string;
  bootId: string;
  pidNamespace: string;
}

/** A process with its heartbeat, a number that changes, for those who cannot see the process. */
export interface BeatingProcess extends ProcessIdentity {
  id: string;
  beat: number;
}

/** A process with its machine and its lease, for those on other machines. */
export interface LeasedProcess extends BeatingProcess {
  machine: string;
  /** What was left of its lease when it was read, in ms by the database's clock; null: it has none. */
  leaseLeft: number | null;
}

/** A heartbeat that did not change for this long, while this process was checking, has stopped. */
const STALE_MS = 60_000;
/** How much time one check can add: a process that slept has not seen a heartbeat stand still. */
const LONGEST_LOOK_MS = 15_000;
/** How long everybody needs to renew a lease when the database can be reached again. */
const RENEWAL_MS = 15_000;
const MAX_KNOWN = 1_000;

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid);
}

/** Of a process that is alive now. */
export function identityOf(pid: number): ProcessIdentity {
  return {
    pid,
    processStart: startOf(pid) ?? "",
    bootId: bootId(),
    pidNamespace: pidNamespace(),
  };
}

/** Whether the process is alive. False for one that cannot be seen from here. */
export function isAlive(identity: ProcessIdentity): boolean {
  const { pid, processStart } = identity;
  const start = isVisible(identity) ? startOf(pid) : null;
  return start !== null && (processStart === "" || processStart === start);
}

/** Whether the pid of that process means the same here. */
export function isVisible({ bootId: boot, pidNamespace: namespace }: ProcessIdentity): boolean {
  return (boot === "" || boot === bootId()) && (namespace === "" || namespace === pidNamespace());
}

/** Whether it runs, or ran, in another pid namespace of this machine, for example in a container. */
export function isElsewhere(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && !isVisible(identity);
}

/**
 * Makes the judge of instances for a process of that machine; it remembers their heartbeats. An instance that cannot be
 * seen lives as long as the database says that its lease is not over. After a while in which this process could not
 * look, perhaps nobody could reach the database: then leases that are over count only once everybody had the time to
 * renew them. Without a lease an instance counts as alive until repeated checks found its heartbeat unchanged for
 * `staleMs`, by this process's own clock. No wall clock matters.
 */
export function instanceJudge(
  options: { machine?: string; read?: () => number; staleMs?: number; renewalMs?: number } = {},
): (instance: LeasedProcess) => boolean {
  const { machine = "", read = () => performance.now(), staleMs = STALE_MS, renewalMs = RENEWAL_MS } = options;
  const known = new Map<string, { beat: number; lookedAt: number; stillMs: number }>();
  /** Since when this process has looked at leases without a long pause. */
  let steadySince = Number.POSITIVE_INFINITY;
  let leaseReadAt = Number.NEGATIVE_INFINITY;
  return (instance) => {
    const { id, beat, leaseLeft } = instance;
    if (isVisible(instance) && isSameMachine(instance.machine, machine)) return isAlive(instance);
    const now = read();
    if (leaseLeft !== null) {
      if (now - leaseReadAt > LONGEST_LOOK_MS) steadySince = now;
      leaseReadAt = now;
      return leaseLeft > 0 || now - steadySince < renewalMs;
    }
    const before = known.get(id);
    const isStill = before?.beat === beat;
    const stillMs = isStill ? before.stillMs + Math.min(now - before.lookedAt, LONGEST_LOOK_MS) : 0;
    known.set(id, { beat, lookedAt: now, stillMs });
    const oldest = known.keys().next().value;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    return stillMs < staleMs;
  };
}

/** The judge of a process whose store only one machine can use. */
export const isInstanceAlive = instanceJudge();

/** When a process started, as a text that is only compared with itself. Null if there is no such process. */
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

/** For systems without /proc. Language and time zone are fixed, because they may differ between processes. */
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

/** Not the time of the boot: on macOS it changes when the clock is set. */
function readBootId(): string {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  } catch {
    return hostname();
  }
}

let knownNamespace: string | null = null;

/** The same for the whole machine if the system has no namespaces. */
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
