/**
 * Runs one child program in the foreground as if it replaced this process: same terminal, same signals, same exit.
 * Never uses a shell.
 */
import { spawn } from "node:child_process";

/** The environment of a command line that ends, as with SIGTERM, if this process is killed and cannot pass that on. */
export function endsWithThis() {
  return { ...process.env, ASYNCAGENTS_LAUNCHER: String(process.pid) };
}

/** Resolves with the exit code. If a signal killed the child, this process ends with the same signal. */
export function runChild(command, args, options = {}) {
  const child = spawn(command, args, { stdio: "inherit", ...options });
  // The terminal sends Ctrl-C to the child too; forwarding it would deliver it twice.
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
