/**
 * The real CLI with altered messages, as another version might send them. The change is the body of a function that
 * gets a `message` and returns the messages to send.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaudeHome } from "../../../src/testing/claude-home.ts";

export const CLI = join(
  import.meta.dir,
  `../../../node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** The path of the program; it is removed with the home. */
export function alteredCli({ root }: ClaudeHome, change: string): string {
  const filter = join(root, "filter.cjs");
  writeFileSync(
    filter,
    `const alter = (message) => { ${change} };
     const child = require("node:child_process").spawn(${JSON.stringify(CLI)}, process.argv.slice(2), {
       stdio: ["inherit", "pipe", "inherit"],
     });
     require("node:readline").createInterface({ input: child.stdout }).on("line", (line) => {
       const altered = alter(JSON.parse(line));
       if (altered) process.stdout.write(JSON.stringify(altered) + "\\n");
     });
     child.on("close", (code) => { process.exitCode = code ?? 1; });`,
  );
  const path = join(root, "altered-claude");
  writeFileSync(path, `#!/bin/sh\nexec node '${filter}' "$@"\n`, { mode: 0o755 });
  return path;
}
