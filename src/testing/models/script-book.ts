/**
 * Owns which script each session follows, and how far it has come.
 * Invariant: every session, and every agent with a context of its own inside one, has a cursor; a marker in a *new* user message starts its script from the beginning, and
 * an old marker that is merely sent again (next request, restart of the client) does not. It sends no answers itself.
 */
import type { ModelRequest } from "./model-request.ts";
import { type Answer, isModifier, type Modifier, type Script, type Step } from "./script.ts";

interface Cursor {
  name: string;
  /** How many markers the last request carried; compaction may lower it. */
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

  /** Takes the next answer of the request's session or agent. Throws when the prompt names a script that nobody registered. */
  next(request: ModelRequest): Planned {
    const cursor = this.#follow(request);
    if (cursor === undefined) return { label: "fallback", modifiers: [], answer: this.#fallback };
    const steps = this.#scripts.get(cursor.name);
    if (steps === undefined)
      throw new Error(`No script "${cursor.name}" is registered. Known: ${[...this.#scripts.keys()].join(", ")}`);
    return this.#take(cursor, steps);
  }

  #follow(request: ModelRequest): Cursor | undefined {
    const marked = request.userTexts.flatMap((text) => [...text.matchAll(markerPattern)].map((match) => match[1]));
    const name = marked.at(-1);
    const cursor = this.#cursors.get(request.speaker);
    // All markers count: Claude's CLI joins a prompt that failed with the next one.
    // Compared by count and name, not by text: OpenCode wraps a queued message in a reminder in some requests and not in others.
    if (name !== undefined && (cursor === undefined || marked.length > cursor.markers || name !== cursor.name)) {
      const fresh: Cursor = { name, markers: marked.length, position: 0, failuresLeft: undefined };
      this.#cursors.set(request.speaker, fresh);
      return fresh;
    }
    if (cursor !== undefined) cursor.markers = marked.length;
    return cursor;
  }

  #take(cursor: Cursor, steps: Script): Planned {
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
        // Delays and gates come before the first of the failures only.
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
