/** Runs another program and captures its output: no shell, no input, with a timeout. */
import { execFile } from "node:child_process";

const LIMIT_MS = 15_000;
const MAX_BYTES = 1_000_000;

/** Code 127 if the program cannot be started, 124 if it timed out. */
export function programOutput(
  command: string,
  args: readonly string[],
  limitMs = LIMIT_MS,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    const options = { timeout: limitMs, maxBuffer: MAX_BYTES, encoding: "utf8" as const };
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const text = stdout + stderr;
      if (!error) return resolve({ code: 0, text });
      const code = typeof error.code === "number" ? error.code : error.killed ? 124 : 127;
      resolve({ code, text: text || error.message });
    });
    child.stdin?.end();
  });
}
