/**
 * What the demo prints: phases, timeline entries, notices, a table. It fits the terminal's width, and uses colour
 * only if the terminal wants it. It knows text and columns, but nothing about tasks.
 */

export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

const codes: Record<Colour, number> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const NAME_WIDTH = 20;
/** Indent, time, gap, symbol, gap, name, gap. */
const TEXT_COLUMN = 2 + 6 + 2 + 1 + 1 + NAME_WIDTH + 2;
const NOTICE_LINES = 9;

/** Where the demo prints: standard output, or a test's replacement. */
export interface Terminal {
  write(text: string): void;
  width(): number;
  /** Lines may be overwritten, so progress can be animated. */
  moving: boolean;
  coloured: boolean;
}

export function standardTerminal(): Terminal {
  const out = process.stdout;
  const moving = out.isTTY === true && process.env.TERM !== "dumb";
  return {
    write: (text) => out.write(text),
    width: () => Math.max(50, Math.min(out.columns ?? 100, 140)),
    moving,
    coloured: moving && !process.env.NO_COLOR,
  };
}

export interface Line {
  name: string;
  text: string;
  symbol?: string;
  colour?: Colour;
  nameColour?: Colour;
}

export interface Column {
  title: string;
  right?: boolean;
  /** The width it may be cut to on a narrow terminal; columns without it keep their width. */
  least?: number;
}

export class Screen {
  readonly #terminal: Terminal;
  #since = Date.now();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  title(text: string, aside: string): void {
    this.print(`\n  ${this.#paint(text, "bold")}  ${this.#paint(aside, "dim")}`);
  }

  phase(text: string): void {
    const rule = "─".repeat(Math.max(0, this.#terminal.width() - Bun.stringWidth(text) - 7));
    this.print(`\n${this.#paint("──", "dim")} ${this.#paint(text, "bold")} ${this.#paint(rule, "dim")}`);
  }

  /** A line outside the timeline; wrapped, with the same indent on each line. */
  note(text: string, symbol = " ", colour: Colour = "dim"): void {
    for (const [index, line] of wrap(text, this.#terminal.width() - 6).entries()) {
      this.print(`  ${this.#paint(index === 0 ? symbol : " ", colour)} ${line}`);
    }
  }

  /** A label and its value, never cut, because it is meant to be copied. */
  fact(label: string, value: string): void {
    this.print(`    ${this.#paint(label.padEnd(NAME_WIDTH), "dim")}  ${value}`);
  }

  /** The timeline counts from here. */
  startClock(): void {
    this.#since = Date.now();
  }

  line({ name, text, symbol = "·", colour = "dim", nameColour = "bold" }: Line): void {
    const time = seconds(this.#since).padStart(6);
    const shown = fit(name, NAME_WIDTH).padEnd(NAME_WIDTH);
    const [first = "", ...rest] = wrap(text, this.#terminal.width() - TEXT_COLUMN - 1);
    const head = `  ${this.#paint(time, "dim")}  ${this.#paint(symbol, colour)} ${this.#paint(shown, nameColour)}`;
    this.print(`${head}  ${first}`);
    for (const more of rest) this.print(" ".repeat(TEXT_COLUMN) + more);
  }

  /** The content of a message, line by line with a bar in front; the dimmed kind is not meant for people. */
  quote(text: string, hidden: boolean): void {
    const lines = text.split("\n").map(clean);
    const shown = hidden ? lines.slice(0, NOTICE_LINES) : lines;
    if (lines.length > shown.length) shown.push(`… and ${lines.length - shown.length} more lines`);
    const width = this.#terminal.width() - 15;
    for (const line of shown) {
      const [bar, body] = hidden
        ? ["┊", this.#paint(fit(line, width), "dim")]
        : ["┃", this.#markdown(fit(line, width))];
      this.print(`${" ".repeat(12)}${this.#paint(bar, hidden ? "dim" : "yellow")} ${body}`);
    }
  }

  table(columns: Column[], rows: { text: string; colour?: Colour }[][]): void {
    const widths = columnWidths(columns, rows, this.#terminal.width() - 2);
    const cell = (text: string, index: number) => {
      const width = widths[index] ?? 0;
      return columns[index]?.right ? fit(text, width).padStart(width) : fit(text, width).padEnd(width);
    };
    const heads = columns.map(({ title }, index) => this.#paint(cell(title, index), "dim"));
    this.print(`\n  ${heads.join("  ")}`);
    for (const row of rows) {
      const cells = row.map(({ text, colour }, index) => this.#paint(cell(text, index), colour));
      this.print(`  ${cells.join("  ")}`);
    }
    this.print("");
  }

  /**
   * Shows in the last line that something is in progress, with the elapsed seconds, until the returned function is
   * called.
   */
  busy(text: () => string): () => void {
    if (!this.#terminal.moving) return () => {};
    const begun = Date.now();
    let frame = 0;
    const draw = () => {
      const spinner = this.#paint(frames[frame++ % frames.length] ?? "", "cyan");
      const line = fit(`${text()} … ${seconds(begun)}`, this.#terminal.width() - 5);
      this.#terminal.write(`\r  ${spinner} ${this.#paint(line, "dim")}\x1b[K`);
    };
    const timer = setInterval(draw, 80);
    return () => {
      clearInterval(timer);
      this.#terminal.write("\r\x1b[K");
    };
  }

  /** Like `busy`, with a result at the end. */
  progress(text: string): (result: string, failed?: boolean) => void {
    const begun = Date.now();
    if (!this.#terminal.moving) this.note(`${text} …`);
    const stop = this.busy(() => text);
    return (result, failed = false) => {
      stop();
      this.note(`${result} (${seconds(begun)})`, failed ? "✗" : "✓", failed ? "red" : "green");
    };
  }

  print(line: string): void {
    // Clears what `busy` drew.
    const clear = this.#terminal.moving ? "\r\x1b[K" : "";
    this.#terminal.write(`${clear}${line.trimEnd()}\n`);
  }

  #markdown(line: string): string {
    return line.replace(/\*\*(.+)\*\*/, (marked, inner: string) =>
      this.#terminal.coloured ? this.#paint(inner, "bold") : marked,
    );
  }

  #paint(text: string, colour: Colour | undefined): string {
    return this.#terminal.coloured && colour !== undefined ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text;
  }
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

/** Without characters that would move the cursor or break the line. */
function clean(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

export function fit(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let cut = "";
  for (const character of text) {
    if (Bun.stringWidth(cut + character) >= width) break;
    cut += character;
  }
  return `${cut}…`;
}

/** At most four lines; colours have no width. */
export function wrap(text: string, width: number, most = 4): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.replace(/\s+/g, " ").trim().split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  const shown = lines.slice(0, most).map((each) => fit(each, width));
  if (lines.length > most) shown[most - 1] = fit(`${lines[most - 1]} …`, width);
  return shown;
}

function columnWidths(columns: Column[], rows: { text: string }[][], room: number): number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => Bun.stringWidth(row[index]?.text ?? ""))),
  );
  const total = () => widths.reduce((sum, width) => sum + width, 2 * (widths.length - 1));
  for (const [index, { least }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (least !== undefined) widths[index] = Math.max(Math.min(least, width), width - Math.max(0, total() - room));
  }
  return widths;
}
