/**
 * Interprets output written for a terminal: colours and weights (SGR) as names, overwritten lines in their final
 * state, and every other escape sequence dropped. Pure.
 */

export interface TerminalRun {
  text: string;
  /** Names such as "red" or "bold". */
  looks: readonly string[];
}

/** A string for the terminal itself, such as a title; its end is required, so that none can swallow what follows. */
const STRING = String.raw`\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)`;
const CONTROL = String.raw`(?:\u001B\[|\u009B)([0-9;:?<=>]*)[ -/]*([@-~])`;
const ESCAPE = new RegExp(`${STRING}|${CONTROL}|\\u001B[ -/]*[0-~]?`, "g");
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const WEIGHTS: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike" };

export function terminalRuns(text: string): TerminalRun[] {
  const runs: TerminalRun[] = [];
  let looks: readonly string[] = [];
  let end = 0;
  const add = (piece: string) => {
    if (piece !== "") runs.push({ text: piece, looks });
  };
  const lasting = withoutOverwritten(text);
  for (const match of lasting.matchAll(ESCAPE)) {
    add(lasting.slice(end, match.index));
    end = match.index + match[0].length;
    const [, codes = "", last] = match;
    if (last === "m" && /^[0-9;:]*$/.test(codes)) looks = changed(looks, codes.split(/[;:]/).map(Number));
  }
  add(lasting.slice(end));
  return runs;
}

/** A carriage return goes back to the start of its line: only the last state of a progress bar was visible. */
function withoutOverwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").replace(/^.*\r/s, ""))
    .join("\n");
}

function changed(looks: readonly string[], codes: readonly number[]): readonly string[] {
  const now = new Set(looks);
  const colour = (name: string | undefined) => {
    for (const each of COLOURS) now.delete(each);
    if (name !== undefined && name !== "white") now.add(name);
  };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const weight = WEIGHTS[code];
    if (code === 0) now.clear();
    else if (weight !== undefined) now.add(weight);
    else if (code === 22) for (const each of ["bold", "dim"]) now.delete(each);
    else if (code === 23) now.delete("italic");
    else if (code === 24) now.delete("underline");
    else if (code === 29) now.delete("strike");
    else if (code >= 30 && code <= 37) colour(COLOURS[code - 30]);
    else if (code >= 90 && code <= 97) colour(COLOURS[code - 90]);
    else if (code === 39) colour(undefined);
    else if (code === 38 || code === 48) {
      // The first sixteen of the 256 colours have names; the others and true colours are ignored.
      if (code === 38) colour(codes[at + 1] === 5 ? COLOURS[namedColour(codes[at + 2])] : undefined);
      at += codes[at + 1] === 5 ? 2 : 4;
    }
  }
  return [...now];
}

function namedColour(code: number | undefined): number {
  return code === undefined || code > 15 ? -1 : code % 8;
}
