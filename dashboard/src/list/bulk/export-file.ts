/**
 * One file of many tasks, as JSON lines or Markdown, made piece by piece: the browser keeps what is written, on disk if
 * it is much, and the page holds only the tasks that are being read.
 */
import type { BackgroundTask } from "../../../../src/protocol/tasks.ts";
import { taskMarkdown } from "./task-markdown.ts";

export const EXPORT_FORMATS = { jsonl: "JSON lines, for programs", markdown: "Markdown, for people" } as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

const TYPES: Record<ExportFormat, { mime: string; ending: string }> = {
  jsonl: { mime: "application/jsonl", ending: "jsonl" },
  markdown: { mime: "text/markdown", ending: "md" },
};

export class ExportFile {
  readonly #format: ExportFormat;
  /** By place: tasks are read at the same time, and end in any order. */
  readonly #pieces = new Map<number, Blob>();

  constructor(format: ExportFormat) {
    this.#format = format;
  }

  put(place: number, task: BackgroundTask): void {
    const text = this.#format === "jsonl" ? `${JSON.stringify(task)}\n` : taskMarkdown(task);
    this.#pieces.set(place, new Blob([text]));
  }

  /** Gives the file to the person, as a download. */
  save(now: Date): void {
    const { mime, ending } = TYPES[this.#format];
    const places = [...this.#pieces.keys()].sort((one, other) => one - other);
    const file = new Blob(
      places.flatMap((place) => this.#pieces.get(place) ?? []),
      { type: mime },
    );
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `tasks-${now.toISOString().slice(0, 19).replaceAll(":", "-")}.${ending}`;
    link.click();
    // The download has its own reference by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}
