/**
 * The real plugin in a process that kills itself (SIGKILL) at the point named in the file `crashFile`. The file is
 * removed first, so that it happens once.
 */
import { readFileSync, rmSync } from "node:fs";
import type { Plugin } from "@opencode-ai/plugin";
import { createPlugin } from "../../src/opencode/plugin.ts";

const crashing: Plugin = (input, options) => {
  const { crashFile, ...rest } = options ?? {};
  const file = String(crashFile);
  return createPlugin(input, rest, {
    reach(point) {
      let wanted = "";
      try {
        wanted = readFileSync(file, "utf8");
      } catch {
        return;
      }
      if (wanted !== point) return;
      rmSync(file);
      process.kill(process.pid, "SIGKILL");
    },
  });
};

export default crashing;
