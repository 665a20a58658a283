/** A real terminal for a command: what it shows can be read, and keys can be sent to it. */
import { test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { CliWorld } from "./cli-bed.ts";

/** Without tmux there is no terminal to draw on, and only the other tests remain. */
export const terminalTest = spawnSync("tmux", ["-V"]).status === 0 ? test : () => undefined;

/** A terminal of its own, that ends with `tmux("kill-server")`. */
export function terminal(world: CliWorld) {
  const socket = join(world.folder, "tmux");
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-S", socket, ...args], { env: world.environment, encoding: "utf8", cwd: world.work });
  const shows = async (pattern: RegExp) => {
    for (let looks = 0; looks < 400; looks++) {
      const { stdout } = tmux("capture-pane", "-p");
      if (pattern.test(stdout)) return stdout;
      await Bun.sleep(25);
    }
    throw new Error(`the terminal never showed ${pattern}:\n${tmux("capture-pane", "-p").stdout}`);
  };
  return { tmux, shows };
}
