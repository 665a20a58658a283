/** Finds Claude's program on this machine: on PATH, or the one of the installed SDK. Installs and starts nothing. */

/** The program's path; null if it was not found. */
export function findClaude(environment: Record<string, string | undefined>): string | null {
  return Bun.which("claude", { PATH: environment.PATH ?? "" }) ?? ofSdk();
}

function ofSdk(): string | null {
  const name = process.platform === "win32" ? "claude.exe" : "claude";
  try {
    const sdk = Bun.resolveSync("@anthropic-ai/claude-agent-sdk", import.meta.dir);
    return Bun.resolveSync(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/${name}`, sdk);
  } catch {
    return null;
  }
}
