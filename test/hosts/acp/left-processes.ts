/** Finds what agents under test have left behind: every process whose HOME is that of the test. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function processesOf(root: string): number[] {
  const mark = `HOME=${join(root, "home")}\0`;
  const isOurs = (name: string) => {
    try {
      return readFileSync(`/proc/${name}/environ`, "utf8").includes(mark);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isOurs(name))
    .map(Number);
}

/** A killed process needs a moment to disappear; what is still there after that is returned with its command. */
export async function leftProcesses(root: string): Promise<string[]> {
  for (let round = 0; round < 50 && processesOf(root).length > 0; round++) await Bun.sleep(100);
  return processesOf(root).map((pid) => `${pid} ${commandOf(pid)}`);
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** What they take together, shared pages counted once; in bytes. */
export function memoryOf(pids: readonly number[]): number {
  const sizes = pids.map((pid) => {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
