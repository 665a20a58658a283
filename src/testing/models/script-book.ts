/**
 * Tracks which script each session follows, and its position in it. Invariant: every session, and every agent inside
 * one with its own context, has a cursor; a marker in a *new* user message starts its script from the beginning, and an
 * old marker that is sent again (next request, client restart) does not. Sends no answers itself.
 */
import type { ModelRequest } from "./model-request.ts";
import { type Answer, isModifier, type Modifier, type Script, type Step } from "./script.ts";

interface Cursor {
  name: string;
  /** How many markers the last request had; compaction may lower it. */
  markers: number;
  position: number;
  failuresLeft: number | undefined;
}

export interface Planned {
  /** `NAME#position`, or `fallback`, for the record. */
  label: string;
  modifiers: Modifier[];
  answer: Answer;
}

const markerPattern = /\[\[script:([^\]]+)\]\]/g;

export class ScriptBook {
  readonly #scripts = new Map<string, Script>();
  readonly #cursors = new Map<string, Cursor>();
  readonly #fallback: Answer;

  constructor(fallback: Answer) {
    this.#fallback = fallback;
  }

  register(name: string, steps: Script): void {
    this.#scripts.set(name, steps);
  }

  /**
   * Advances to the next answer of the request's session or agent. Throws if the prompt names an unregistered script.
   */
  next(request: ModelRequest): Planned {
    const cursor = this.#follow(request);
    if (cursor === undefined) return { label: "fallback", modifiers: [], answer: this.#fallback };
    const steps = this.#scripts.get(cursor.name);
    if (steps === undefined)
      throw new Error(`There is no script "${cursor.name}". Registered: ${[...this.#scripts.keys()].join(", ")}`);
    return this.#advance(cursor, steps);
  }

  #follow(request: ModelRequest): Cursor | undefined {
    const marked = request.userTexts.flatMap((text) => [...text.matchAll(markerPattern)].map((match) => match[1]));
    const name = marked.at(-1);
    const cursor = this.#cursors.get(request.speaker);
    // All markers count: Claude's CLI joins a failed prompt with the next one. Compared by count and name, not by text:
    // OpenCode wraps a queued message in a reminder in some requests only.
    if (name !== undefined && (cursor === undefined || marked.length > cursor.markers || name !== cursor.name)) {
      const fresh: Cursor = { name, markers: marked.length, position: 0, failuresLeft: undefined };
      this.#cursors.set(request.speaker, fresh);
      return fresh;
    }
    if (cursor !== undefined) cursor.markers = marked.length;
    return cursor;
  }

  #advance(cursor: Cursor, steps: Script): Planned {
    const modifiers: Modifier[] = [];
    let position = cursor.position;
    let step: Step | undefined = steps[position];
    while (step !== undefined && isModifier(step)) {
      modifiers.push(step);
      step = steps[++position];
    }
    const label = step === undefined ? `${cursor.name}#end` : `${cursor.name}#${position}`;
    if (step?.type === "httpFailure") {
      const left: number = (cursor.failuresLeft ?? step.times) - 1;
      if (left > 0) {
        // Delays and gates come only before the first of the failures.
        cursor.failuresLeft = left;
        cursor.position = position;
        return { label, modifiers, answer: step };
      }
    }
    cursor.failuresLeft = undefined;
    cursor.position = Math.min(position + 1, steps.length);
    return { label, modifiers, answer: step ?? this.#fallback };
  }
}
