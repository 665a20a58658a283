/** Runs a program to its end, without input, and returns what it printed. Does not judge the exit code. */

export interface ProgramOutput {
  code: number;
  out: string;
  err: string;
}

export async function programOutput(
  command: string[],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
): Promise<ProgramOutput> {
  const child = Bun.spawn(command, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}
