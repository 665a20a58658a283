/**
 * Everything a command prints: stdout carries data only, stderr carries hints and progress. Every text passes through
 * `terminalText` and every document through `escapeHidden`, so no command can forget to. Colour is used only on a
 * terminal and without NO_COLOR. Knows the width; decides nothing about content.
 */
import type { WriteStream } from "node:tty";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { escapeHidden } from "../../model/text/hidden-characters.ts";
import type { Output, StreamName } from "./output.ts";
import { ownWords } from "./own-words.ts";
import { type Paint, paints, plainPaints, terminalText } from "./paint.ts";
import { cutToWidth, oneLine } from "./text.ts";

/** What the screen needs from a terminal; the output does the writing. */
export type Terminal = Pick<WriteStream, "columns" | "rows" | "on" | "off">;

interface ScreenOptions {
  output: Output;
  /** Null if it is not a terminal. */
  stdout: Terminal | null;
  stderr: Terminal | null;
  json: boolean;
  environment: Readonly<Record<string, string | undefined>>;
}

/** For output that is not a terminal: nothing is cut. */
const WIDE = 10_000;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_MS = 100;
const SLOW_MS = 800;
const ENTER = "\x1b[?1049h\x1b[?25l";
/** Cleared first: a terminal resized in the meantime may leave lines of it on the main screen. */
const LEAVE = "\x1b[H\x1b[2J\x1b[?25h\x1b[?1049l";

export class Screen {
  readonly json: boolean;
  readonly paint: Paint;
  readonly #output: Output;
  readonly #stdout: Terminal | null;
  readonly #stderr: Terminal | null;
  #spinning: { clear(): void } | null = null;
  #isTakenOver = false;

  constructor({ output, stdout, stderr, json, environment }: ScreenOptions) {
    this.json = json;
    this.#output = output;
    this.#stdout = stdout;
    this.#stderr = stderr;
    const coloured = stdout !== null && !environment.NO_COLOR && environment.TERM !== "dumb";
    this.paint = coloured ? paints : plainPaints;
  }

  get isTerminal(): boolean {
    return this.#stdout !== null;
  }

  get width(): number {
    return this.#stdout === null ? WIDE : this.#stdout.columns || 80;
  }

  get height(): number {
    return this.#stdout?.rows || 24;
  }

  /** Listens for terminal resizes; returns a function that stops it. */
  onResize(listener: () => void): () => void {
    this.#stdout?.on("resize", listener);
    return () => this.#stdout?.off("resize", listener);
  }

  /** One line for people. */
  line(text = ""): void {
    this.text(`${text}\n`);
  }

  /** Lines that already end with line breaks. */
  text(text: string): void {
    this.#print("stdout", terminalText(text));
  }

  /** The command's single JSON document, pretty-printed. */
  document(value: unknown): void {
    this.#print("stdout", `${escapeHidden(JSON.stringify(value, null, 2))}\n`);
  }

  /** One of many JSON documents, on its own line. */
  jsonLine(value: unknown): void {
    this.#print("stdout", `${escapeHidden(JSON.stringify(value))}\n`);
  }

  /**
   * Switches to the terminal's alternate screen, so that the main one stays as it was; returns a function that
   * switches back.
   */
  enterAlternateScreen(): () => void {
    this.#isTakenOver = true;
    this.#print("stdout", ENTER);
    return () => {
      this.#isTakenOver = false;
      this.#print("stdout", LEAVE);
    };
  }

  /** Redraws the whole alternate screen. After switching back it draws nothing: it would overwrite the main screen. */
  draw(lines: readonly string[]): void {
    if (!this.#isTakenOver) return;
    const drawn = lines.map((line) => `${terminalText(line).replaceAll("\n", " ")}\x1b[K`).join("\r\n");
    this.#print("stdout", `\x1b[H${drawn}\x1b[J`);
  }

  /** The JSON document, or its human-readable form. */
  show(value: unknown, human: () => void): void {
    if (this.json) this.document(value);
    else human();
  }

  /** A hint: on stderr, for people only. */
  hint(text: string): void {
    if (!this.json) this.#print("stderr", terminalText(`${text}\n`, this.#stderr !== null));
  }

  failure(thrown: unknown): void {
    const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "internal";
    const details = AsyncAgentsError.isInstance(thrown) ? thrown.details : {};
    const message = ownWords(messageOf(thrown));
    const error = { code, message, ...(Object.keys(details).length > 0 ? { details } : {}) };
    const said = this.json
      ? escapeHidden(JSON.stringify({ error }))
      : terminalText(`asyncagents: ${message}`.replaceAll("\n", "\n  "));
    this.#print("stderr", `${said}\n`);
  }

  /** Shows progress once something takes long; a function says how far it is. */
  async during<T>(text: string | (() => string), work: Promise<T>): Promise<T> {
    const done = this.#spin(text);
    try {
      return await work;
    } finally {
      done();
    }
  }

  /** Resolves when everything printed is written: a slow reader delays it. */
  flush(): Promise<void> {
    return this.#output.flush();
  }

  #print(stream: StreamName, text: string): void {
    this.#spinning?.clear();
    this.#output.write(stream, text);
  }

  #spin(text: string | (() => string)): () => void {
    if (this.#stderr === null || this.json || this.#spinning) return () => {};
    const width = this.#stderr.columns || 80;
    const began = performance.now();
    let shown = false;
    const draw = () => {
      const past = performance.now() - began;
      if (past < SLOW_MS) return;
      shown = true;
      const line = `${SPINNER[Math.floor(past / SPIN_MS) % SPINNER.length]} ${typeof text === "string" ? text : text()} ${Math.floor(past / 1000)}s`;
      this.#output.write("stderr", `\r\x1b[2K${cutToWidth(oneLine(line), width - 1)}`);
    };
    const timer = setInterval(draw, SPIN_MS);
    const clear = () => {
      if (shown) this.#output.write("stderr", "\r\x1b[2K");
      shown = false;
    };
    this.#spinning = { clear };
    return () => {
      clearInterval(timer);
      clear();
      this.#spinning = null;
    };
  }
}
