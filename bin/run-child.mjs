/**
 * Runs one child program in the foreground, as if it had taken this process's place:
 * same terminal, same signals, same end. It never uses a shell.
 */
import { spawn } from "node:child_process";

/** Resolves with the exit code. A child that a signal ended ends this process by the same signal. */
export function runChild(command, args, options = {}) {
  const child = spawn(command, args, { stdio: "inherit", ...options });
  // A terminal sends Ctrl-C to the child too: passing it on would make it two.
  const passOn = (signal) => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    const settle = () => {
      for (const signal of signals) process.off(signal, passOn);
    };
    child.on("error", (error) => {
      settle();
      reject(error);
    });
    child.on("exit", (code, signal) => {
      settle();
      if (signal) process.kill(process.pid, signal);
      else resolve(code ?? 1);
    });
  });
}
