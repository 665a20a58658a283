/**
 * A copy of the code in a temporary folder, in which one fault at a time is put back and seeds are played. The
 * repository itself is never changed.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "../../src/model/errors.ts";
import type { PutBack } from "./put-back.ts";
import type { FailedSeed } from "./search.ts";

const ROOT = dirname(dirname(import.meta.dirname));
const COPIED = ["src", "simulation", "package.json", "tsconfig.json"];

/** Which edits do not fit the present code any more, in words: their text is gone, or what they make is not code. */
export function misfits(faults: readonly PutBack[]): string[] {
  const found: string[] = [];
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  for (const { name, edits } of faults) {
    for (const { file, old } of edits) {
      const times = readFileSync(join(ROOT, file), "utf8").split(old).length - 1;
      if (times !== 1) found.push(`${name}: its text occurs ${times} times in ${file}: ${JSON.stringify(old)}`);
    }
    for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
      const before = readFileSync(join(ROOT, file), "utf8");
      const after = own.reduce((code, edit) => code.replace(edit.old, () => edit.new), before);
      try {
        transpiler.transformSync(after);
      } catch (thrown) {
        found.push(`${name}: ${file} cannot be read with its fault: ${messageOf(thrown)}`);
      }
    }
  }
  return found;
}

export interface Search {
  /** How many seeds were played. */
  played: number;
  /** It ended early: by an exception, or because its time was over. */
  problem: string | null;
}

export class Workshop {
  readonly #folder = mkdtempSync(join(tmpdir(), "asyncagents-strength-"));

  constructor() {
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.#folder, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(this.#folder, "node_modules"));
  }

  /**
   * Plays seeds with the fault in the code, until one of them convinces `isFound`, or all are played, or the time is
   * over.
   */
  async search(
    fault: PutBack,
    { first, seeds, minutes }: { first: number; seeds: number; minutes: number },
    isFound: (failed: FailedSeed) => Promise<boolean>,
  ): Promise<Search> {
    this.#apply(fault);
    const script = join(this.#folder, "simulation/strength/search.ts");
    const child = Bun.spawn([process.execPath, script, String(first), String(seeds)], {
      cwd: this.#folder,
      stdout: "pipe",
      stderr: "pipe",
    });
    const problems = new Response(child.stderr).text();
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      child.kill();
    }, minutes * 60_000);
    let played = 0;
    try {
      for await (const line of linesOf(child.stdout)) {
        const told = JSON.parse(line) as FailedSeed;
        played = told.seed - first + 1;
        if (told.violations.length > 0 && (await isFound(told))) return { played, problem: null };
      }
      if (isLate) return { played, problem: `after ${minutes} minutes` };
      const code = await child.exited;
      return { played, problem: code === 0 ? null : (await problems).trim().slice(-2_000) };
    } finally {
      clearTimeout(limit);
      child.kill();
      await child.exited;
      this.#restore(fault);
    }
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #apply({ edits }: PutBack): void {
    for (const { file, old, new: replacement } of edits) {
      const path = join(this.#folder, file);
      writeFileSync(
        path,
        readFileSync(path, "utf8").replace(old, () => replacement),
      );
    }
  }

  #restore({ edits }: PutBack): void {
    for (const { file } of edits) cpSync(join(ROOT, file), join(this.#folder, file));
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
