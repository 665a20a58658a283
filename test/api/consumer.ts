/**
 * A project that has installed the package: its manifest, what was built, and the named packages beside it. Its
 * programs are compiled strictly, with the declarations of the libraries checked as well.
 */
import { onTestFinished } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../ground/repository.ts";

export function consumer(files: Record<string, string>, installed: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-consumer-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, "node_modules", "asyncagents");
  for (const part of ["package.json", "dist"]) cpSync(join(root, part), join(own, part), { recursive: true });
  for (const name of installed) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

export const STRICT = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: false,
  types: [] as string[],
  lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
};

/** What the compiler says about a program; empty when it is content. */
export async function compile(folder: string, program: string, options: object = {}): Promise<string> {
  const config = { compilerOptions: { ...STRICT, ...options }, files: ["program.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(join(folder, "program.ts"), program);
  const [out, errors] = await run([process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", "."], folder);
  return out + errors;
}

/** Standard output, standard error and the exit code. */
export async function run(
  command: string[],
  cwd: string,
  env?: Record<string, string>,
): Promise<[string, string, number]> {
  const child = Bun.spawn(command, { cwd, stdio: ["ignore", "pipe", "pipe"], ...(env && { env }) });
  return Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
}
