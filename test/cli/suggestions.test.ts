import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseCommand, parseArguments } from "../../src/cli/arguments.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { overallHelp } from "../../src/cli/help.ts";
import { ownWords } from "../../src/cli/terminal/own-words.ts";
import { plainPaints } from "../../src/cli/terminal/paint.ts";
import { BOARD_OPERATIONS } from "../../src/protocol/operations.ts";
import { root } from "../ground/repository.ts";
import { descendants, isStringLiteral, parse, SyntaxKind } from "../ground/syntax.ts";

/** What may follow our name in a message without being a command. */
const PROSE =
  /^(x1|is |started|has |and |completion for|server|plugin|process|status API|into |to work|needs|installed|mcp add)/;

/** Where a sentence continues after a command. */
const END =
  /`| · | && | \|(?= )| > |; |(?<=\S)\.(?= [A-Z]|$)|, or |\), |\) |\)$| #|(?<=x1): | (?:lists|shows|says|tries) /;

/** All texts in the sources of these folders, with `x1` in place of interpolations. */
async function textsOf(...folders: string[]): Promise<{ file: string; text: string }[]> {
  const sources = new Map<string, string>();
  for (const folder of folders) {
    const names = readdirSync(join(root, "src", folder), { encoding: "utf8", recursive: true });
    for (const name of names.filter((each) => each.endsWith(".ts")))
      sources.set(`src/${folder}/${name}`, readFileSync(join(root, "src", folder, name), "utf8"));
  }
  return [...(await parse(sources))].flatMap(([file, tree]) =>
    [...descendants(tree)].flatMap((node) => {
      if (isStringLiteral(node) || node.kind === SyntaxKind.NoSubstitutionTemplateLiteral) {
        return [{ file, text: (node as unknown as { text: string }).text }];
      }
      if (node.kind !== SyntaxKind.TemplateExpression) return [];
      const source = node.getText(tree).slice(1, -1);
      return [{ file, text: withoutHoles(source).replaceAll("\\`", "`").replaceAll("\\n", "\n") }];
    }),
  );
}

/** Interpolations may contain texts with interpolations. */
function withoutHoles(text: string): string {
  const inner = text.replaceAll(/\$\{[^{}]*\}/g, "x1");
  return inner === text ? text : withoutHoles(inner);
}

/** The commands that a text tells people to type, up to where the sentence continues. */
function commandsIn(text: string): string[] {
  const found = [...text.replaceAll(/"[^"]*"|'[^']*'/g, "x1").matchAll(/(?<![\w/.-])asyncagents ([a-z][^\n]*)/g)].map(
    ([, rest = ""]) => rest,
  );
  return found.filter((rest) => !PROSE.test(rest)).map((rest) => rest.split(END)[0] ?? "");
}

function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== "");
}

describe("suggested commands", () => {
  test("exist, with the options and operands shown", async () => {
    const texts = await textsOf("cli", "daemon", "process", "engine", "http", "board", "store", "worktree", "hosts");
    const told = texts.flatMap(({ file, text }) => commandsIn(text).map((line) => ({ file, line })));
    expect(told.length).toBeGreaterThan(60);
    const wrong = told.filter(({ line }) => {
      const words = wordsOf(line);
      const { command, rest } = chooseCommand(COMMANDS, words);
      // A group by itself prints its help.
      if (!command) return !COMMANDS.some(({ name }) => name.startsWith(`${words.join(" ")} `));
      try {
        parseArguments(command, rest);
        return false;
      } catch {
        // `asyncagents wait` by itself, in a sentence about it.
        return rest.length > 0;
      }
    });
    expect(wrong).toEqual([]);
  });

  test("a list that a message points to needs nothing more", async () => {
    for (const { text } of await textsOf("cli")) {
      for (const [, line = ""] of text.matchAll(/(?:See: |"?)asyncagents ([a-z ]+ ls)$/g)) {
        const { command, rest } = chooseCommand(COMMANDS, wordsOf(line));
        if (command) expect(() => parseArguments(command, rest)).not.toThrow();
      }
    }
  });

  test("use the command line's words, whoever says it", async () => {
    const names = new RegExp(`\\b(${Object.keys(BOARD_OPERATIONS).join("|")})\\b`);
    const isMessage = (text: string) => /^[A-Z`x].*[ ].*[.:]/s.test(text);
    const messages = (await textsOf("board", "engine", "worktree", "hosts")).filter(({ text }) => isMessage(text));
    const foreign = messages
      .map(({ file, text }) => ({ file, text: ownWords(text) }))
      .filter(({ text }) => names.test(text) || /\b(force|keep|squash):? true\b|\bUse action\b/.test(text));
    expect(foreign).toEqual([]);
    expect(ownWords("Commit them, or remove it with force: true and lose them.")).toContain("with --force and");
    expect(ownWords("Wait until it has ended (get_attempt with wait_ms), or stop it.")).toContain(
      "asyncagents attempt wait",
    );
  });

  test("the help names every command, and aliases are unique and work", () => {
    const help = overallHelp(COMMANDS, { paint: plainPaints, width: 100 });
    for (const { name, hidden } of COMMANDS) {
      if (hidden) continue;
      for (const word of name.split(" ")) expect(help).toContain(word);
    }
    const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const alias of ["ps", "list", "status", "stop"])
      expect(chooseCommand(COMMANDS, [alias]).command).not.toBeNull();
  });
});
