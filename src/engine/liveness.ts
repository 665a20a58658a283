/**
 * Whether a process lives: its pid, the time it started and the boot it belongs to must all match, so that a pid that
 * was given out again is not taken for the old process, and a machine that slept kills nobody. One machine only.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Instance } from "../store/store.ts";

export type ProcessIdentity = Pick<Instance, "pid" | "processStart" | "bootId">;

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, processStart: startOf(process.pid) ?? "", bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  return startOf(identity.pid) === identity.processStart;
}

/** When a process started, in a form that only has to be equal to itself; null when there is no such process. */
function startOf(pid: number): string | null {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" ? null : (fields[19] ?? null);
    } catch {
      return null;
    }
  }
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
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

function readBootId(): string {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8" }).trim();
  } catch {
    return hostname();
  }
}
