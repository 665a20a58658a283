/**
 * What agents ask for and a person must answer: permissions, and questions of their own.
 * Invariant: an agent waits until somebody answers or its run ends; nothing is answered in a person's name.
 * Who may answer is decided by callers.
 */
import type { HostEvent } from "./host.ts";

/** What the SDK takes as an answer. */
export type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string; interrupt: boolean };

export interface AskingContext {
  signal: AbortSignal;
  toolUseID: string;
  title?: string;
}

export interface ClaudeRequest {
  requestId: string;
  sessionId: string;
  asks: "permission" | "question";
  tool: string;
  input: Record<string, unknown>;
}

export type ClaudeReply =
  /** `answers` by question, where it is one. */
  { accept: true; answers?: Record<string, string> } | { accept: false; reason?: string };

const QUESTION_TOOL = "AskUserQuestion";

export class ClaudeRequests {
  readonly #emit: (event: HostEvent) => void;
  readonly #open = new Map<string, { request: ClaudeRequest; settle: (reply: ClaudeReply | null) => void }>();
  /** Sessions whose run was ended by a refusal. */
  readonly #refused = new Set<string>();

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  get open(): ClaudeRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** False where nothing of that id is open. */
  answer(requestId: string, reply: ClaudeReply): boolean {
    const found = this.#open.get(requestId);
    found?.settle(reply);
    return found !== undefined;
  }

  /** Whether a refusal ended the session's run; asked once, at its end. */
  takeRefusal(sessionId: string): boolean {
    return this.#refused.delete(sessionId);
  }

  async ask(
    sessionId: string,
    tool: string,
    input: Record<string, unknown>,
    context: AskingContext,
  ): Promise<PermissionAnswer> {
    const { toolUseID: requestId, signal } = context;
    const asks = tool === QUESTION_TOOL ? "question" : "permission";
    const reply = await new Promise<ClaudeReply | null>((settle) => {
      this.#open.set(requestId, { request: { requestId, sessionId, asks, tool, input }, settle });
      signal.addEventListener("abort", () => settle(null), { once: true });
      if (signal.aborted) settle(null);
      const text = asks === "question" ? questionsIn(input) : (context.title ?? `${tool} ${JSON.stringify(input)}`);
      this.#emit({ type: "session.asked", sessionId, requestId, asks, text });
    });
    this.#open.delete(requestId);
    this.#emit({ type: "session.answered", sessionId, requestId });
    if (reply?.accept) return { behavior: "allow", updatedInput: withAnswers(input, reply.answers) };
    // Where an agent inside the session asked, the run is the session's.
    if (reply) this.#refused.add(sessionId.split("/")[0] ?? sessionId);
    return { behavior: "deny", message: reply?.reason ?? "refused by a person", interrupt: true };
  }
}

function questionsIn(input: Record<string, unknown>): string {
  const questions = Array.isArray(input.questions) ? (input.questions as { question?: string }[]) : [];
  return questions.map(({ question }) => question ?? "").join("\n") || "a question";
}

function withAnswers(input: Record<string, unknown>, answers: Record<string, string> | undefined) {
  return answers ? { ...input, answers } : input;
}
