/**
 * Owns what a script sees of a request to a scripted model, whatever wire format it came in: texts, tool calls and their results.
 * Invariant: all of it is derived from `turns`, so that a wire format has one thing to translate.
 * It answers nothing and knows no scripts.
 */

export interface ToolCall {
  id: string;
  name: string;
  /** JSON. */
  input: string;
}

export interface ToolResult {
  callId: string;
  text: string;
}

/** One message, in the words that both wire formats share. A message of results alone has no text. */
export interface Turn {
  role: "user" | "assistant" | "other";
  text: string;
  calls: ToolCall[];
  results: ToolResult[];
}

/** All but `turn` are the client's own requests (naming a session, compacting it, trying the key); they never consume a step. */
export type RequestKind = "turn" | "title" | "summary" | "probe";

export abstract class ModelRequest {
  abstract readonly sessionId: string;
  abstract readonly kind: RequestKind;
  abstract readonly turns: readonly Turn[];
  /** The names of the tools that the model is offered. */
  abstract readonly toolNames: string[];

  /** Whose place in a script it is: the session, or an agent inside it that has a context of its own. */
  get speaker(): string {
    return this.sessionId;
  }

  get userTexts(): string[] {
    return this.turns.filter(isPrompt).map(({ text }) => text);
  }

  get lastUserText(): string {
    return this.userTexts.at(-1) ?? "";
  }

  get assistantTexts(): string[] {
    return this.turns.filter(({ role }) => role === "assistant").map(({ text }) => text);
  }

  /** The calls of a tool so far (of all tools when no name is given), oldest first. */
  toolCalls(name?: string): ToolCall[] {
    const all = this.turns.flatMap(({ calls }) => calls);
    return name === undefined ? all : all.filter((call) => call.name === name);
  }

  /** The results of a tool so far (of all tools when no name is given), oldest first. */
  toolResults(name?: string): string[] {
    const own = new Set(this.toolCalls(name).map(({ id }) => id));
    const results = this.turns.flatMap((turn) => turn.results);
    return results.filter(({ callId }) => name === undefined || own.has(callId)).map(({ text }) => text);
  }

  /** The newest result of a tool; throws when there is none, since the script would go on with nothing. */
  toolResult(name?: string): string {
    const result = this.toolResults(name).at(-1);
    if (result === undefined) throw new Error(`The request holds no result of ${name ?? "any tool"}.`);
    return result;
  }

  /** The first capture (or else the whole match) of a pattern in the newest tool result that matches it. */
  fromToolResults(pattern: RegExp, name?: string): string {
    for (const result of this.toolResults(name).reverse()) {
      const match = pattern.exec(result);
      if (match) return match[1] ?? match[0];
    }
    throw new Error(
      `No result of ${name ?? "any tool"} matches ${pattern}. Results: ${JSON.stringify(this.toolResults(name))}`,
    );
  }
}

function isPrompt({ role, text, results }: Turn): boolean {
  return role === "user" && (text !== "" || results.length === 0);
}
