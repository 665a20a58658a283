/**
 * What agents ask for and a person must answer: permissions, and questions of their own.
 * Invariant: an agent waits until somebody answers or its run ends; nothing is answered in a person's name.
 * Who may answer is decided by callers.
 */
import type { SdkPermissionUpdate } from "../../claude/sdk.ts";
import { type HostEvent, type OpenRequest, type Reply, replyWord } from "../host.ts";

/** What the SDK takes as an answer. */
export type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown>; updatedPermissions?: SdkPermissionUpdate[] }
  | { behavior: "deny"; message: string; interrupt: boolean };

export interface AskingContext {
  signal: AbortSignal;
  toolUseID: string;
  title?: string;
  /** Rules that would have allowed it. */
  suggestions?: SdkPermissionUpdate[];
}

interface Asked extends OpenRequest {
  settle(reply: Reply | null): void;
}

const QUESTION_TOOL = "AskUserQuestion";

export class ClaudeRequests {
  readonly #emit: (event: HostEvent) => void;
  readonly #open = new Map<string, Asked>();
  /** Sessions whose run was ended by a refusal. */
  readonly #refused = new Set<string>();

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  open(): OpenRequest[] {
    return [...this.#open.values()].map(({ settle: _settle, ...request }) => request);
  }

  /** False where the session, and the agents inside it, have nothing of that id open. */
  answer(sessionId: string, requestId: string, reply: Reply): boolean {
    const found = this.#open.get(requestId);
    if (found === undefined || found.asks !== reply.kind || runOf(found.sessionId) !== sessionId) return false;
    this.#open.delete(requestId);
    found.settle(reply);
    return true;
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
    const text =
      asks === "question"
        ? questionsIn(input).join("\n") || "a question"
        : (context.title ?? `${tool} ${JSON.stringify(input)}`);
    const above = runOf(sessionId) === sessionId ? [] : [runOf(sessionId)];
    const reply = await new Promise<Reply | null>((settle) => {
      this.#open.set(requestId, { sessionId, above, requestId, asks, text, settle });
      signal.addEventListener("abort", () => settle(null), { once: true });
      if (signal.aborted) settle(null);
      this.#emit({ type: "session.asked", sessionId, requestId, asks, text });
    });
    this.#open.delete(requestId);
    this.#emit({ type: "session.answered", sessionId, requestId, ...(reply && { reply: replyWord(reply) }) });
    const allowed = reply && allowanceOf(reply, input, context);
    if (allowed) return allowed;
    const said = reply?.kind === "permission" ? reply.message : null;
    if (reply && said === null) this.#refused.add(runOf(sessionId));
    return { behavior: "deny", message: said ?? "refused by a person", interrupt: said === null };
  }
}

/** Where an agent inside the session asked, the run is the session's. */
function runOf(sessionId: string): string {
  return sessionId.split("/")[0] ?? sessionId;
}

/** Null where the reply is a refusal. */
function allowanceOf(
  reply: Reply,
  input: Record<string, unknown>,
  { suggestions = [] }: AskingContext,
): PermissionAnswer | null {
  if (reply.kind === "question") {
    if (reply.answers === null) return null;
    const answers = Object.fromEntries(questionsIn(input).map((question, at) => [question, reply.answers?.[at] ?? ""]));
    return { behavior: "allow", updatedInput: { ...input, answers } };
  }
  if (reply.decision === "reject") return null;
  const rules = reply.decision === "always" ? suggestions.map(forThisProcess) : [];
  return { behavior: "allow", updatedInput: input, ...(rules.length > 0 && { updatedPermissions: rules }) };
}

/** Elsewhere a rule would be written into the settings of the directory where the agent works. */
function forThisProcess(rule: SdkPermissionUpdate): SdkPermissionUpdate {
  return { ...rule, destination: "session" };
}

function questionsIn(input: Record<string, unknown>): string[] {
  const questions = Array.isArray(input.questions) ? (input.questions as { question?: string }[]) : [];
  return questions.map(({ question }) => question ?? "");
}
