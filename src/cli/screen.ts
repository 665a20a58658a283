/**
 * All that a command prints: data on stdout and nothing else there, hints and progress on stderr. Colour only on a terminal
 * and not with NO_COLOR. Knows the width; decides nothing about content.
 */
import type { WriteStream } from "node:tty";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Output } from "./output.ts";
import { cutToWidth, type Paint, paints, plainPaints, safeText } from "./text.ts";

/** What is asked of a terminal; writing to it is the output's work. */
export type Terminal = Pick<WriteStream, "columns" | "rows" | "on" | "off">;

export interface ScreenOptions {
  output: Output;
  /** Null where it is no terminal. */
  stdout: Terminal | null;
  stderr: Terminal | null;
  json: boolean;
  environment: Readonly<Record<string, string | undefined>>;
}

/** For output that is no terminal's: nothing is cut. */
const WIDE = 10_000;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_MS = 100;
const SLOW_MS = 800;

export class Screen {
  readonly json: boolean;
  readonly paint: Paint;
  readonly #output: Output;
  readonly #stdout: Terminal | null;
  readonly #stderr: Terminal | null;
  #spinning: { clear(): void } | null = null;

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

  /** Resizes of the terminal; gives the way to stop. */
  onResize(listener: () => void): () => void {
    this.#stdout?.on("resize", listener);
    return () => this.#stdout?.off("resize", listener);
  }

  /** One line for people. */
  line(text = ""): void {
    this.raw(`${text}\n`);
  }

  raw(text: string): void {
    this.#clearSpinner();
    this.#output.write("stdout", text);
  }

  /** The command's one JSON document, readable. */
  document(value: unknown): void {
    this.raw(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** One JSON document of many, on a line of its own. */
  jsonLine(value: unknown): void {
    this.raw(`${JSON.stringify(value)}\n`);
  }

  /** The JSON document, or what people read in its place. */
  show(value: unknown, human: () => void): void {
    if (this.json) this.document(value);
    else human();
  }

  /** A hint: on stderr, and not for programs. */
  hint(text: string): void {
    if (!this.json) this.#error(`${text}\n`);
  }

  failure(thrown: unknown): void {
    const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "internal";
    const details = AsyncAgentsError.isInstance(thrown) ? thrown.details : {};
    const message = safeText(messageOf(thrown));
    const error = { code, message, ...(Object.keys(details).length > 0 ? { details } : {}) };
    this.#error(this.json ? `${JSON.stringify({ error })}\n` : `asyncagents: ${message}\n`);
  }

  /** Shows that something takes long, once it does. */
  async during<T>(text: string, work: Promise<T>): Promise<T> {
    const done = this.#spin(text);
    try {
      return await work;
    } finally {
      done();
    }
  }

  /** Resolves when all that was printed is written: a slow reader holds up whoever waits for this. */
  flush(): Promise<void> {
    return this.#output.flush();
  }

  #error(text: string): void {
    this.#clearSpinner();
    this.#output.write("stderr", text);
  }

  #clearSpinner(): void {
    this.#spinning?.clear();
  }

  #spin(text: string): () => void {
    if (this.#stderr === null || this.json || this.#spinning) return () => {};
    const width = this.#stderr.columns || 80;
    const began = performance.now();
    let shown = false;
    const draw = () => {
      const past = performance.now() - began;
      if (past < SLOW_MS) return;
      shown = true;
      const line = `${SPINNER[Math.floor(past / SPIN_MS) % SPINNER.length]} ${text} ${Math.floor(past / 1000)}s`;
      this.#output.write("stderr", `\r\x1b[2K${cutToWidth(line, width - 1)}`);
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
