/**
 * Requests of agents that a person must answer: permissions, and questions of their own. Invariant: an agent waits
 * until someone answers or its run ends; nothing is answered on a person's behalf, but what is too long to be shown is
 * refused. Callers decide who may answer.
 */
import type { SdkPermissionUpdate } from "../../claude/sdk.ts";
import { questionsText } from "../../model/questions.ts";
import { type HostEvent, type OpenRequest, type Reply, replyWord } from "../host.ts";
import { tooLongToShow } from "../permission-input.ts";
import { permissionText, permissionTool } from "./permission-text.ts";

/** The SDK's form of an answer. */
type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown>; updatedPermissions?: SdkPermissionUpdate[] }
  | { behavior: "deny"; message: string; interrupt: boolean };

export interface AskingContext {
  signal: AbortSignal;
  toolUseID: string;
  /** Claude's words for it, which may leave out some of it. */
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
  /** Where the agents work. */
  readonly #directory: string;
  readonly #open = new Map<string, Asked>();
  /** Sessions whose run was ended by a rejection. */
  readonly #refused = new Set<string>();

  constructor(emit: (event: HostEvent) => void, directory: string) {
    this.#emit = emit;
    this.#directory = directory;
  }

  open(): OpenRequest[] {
    return [...this.#open.values()].map(({ settle: _settle, ...request }) => request);
  }

  /** False if neither the session nor the agents inside it have such an open request. */
  answer(sessionId: string, requestId: string, reply: Reply): boolean {
    const found = this.#open.get(requestId);
    if (found === undefined || found.asks !== reply.kind || runOf(found.sessionId) !== sessionId) return false;
    this.#open.delete(requestId);
    found.settle(reply);
    return true;
  }

  /** Whether a rejection ended the session's run; can be read once, at its end. */
  consumeRefusal(sessionId: string): boolean {
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
        ? questionsText(questionsIn(input)) || "a question"
        : permissionText(tool, input, context.title ?? tool);
    const isTooLong = asks === "question" ? null : tooLongToShow(text);
    if (isTooLong !== null) {
      const message = `Refused, and nobody was asked: ${isTooLong}. Do it in smaller steps.`;
      return { behavior: "deny", message, interrupt: false };
    }
    const above = runOf(sessionId) === sessionId ? [] : [runOf(sessionId)];
    const about = asks === "permission" ? { tool: await permissionTool(tool, input, this.#directory) } : {};
    const reply = await new Promise<Reply | null>((settle) => {
      this.#open.set(requestId, { sessionId, above, requestId, asks, text, ...about, settle });
      signal.addEventListener("abort", () => settle(null), { once: true });
      if (signal.aborted) settle(null);
      this.#emit({ type: "session.asked", sessionId, requestId, asks, text, ...about });
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

/** If an agent inside the session asked, the run is that of the session. */
function runOf(sessionId: string): string {
  return sessionId.split("/")[0] ?? sessionId;
}

/** Null if the reply is a rejection. */
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

/** Any other destination would write a rule into the settings of the agent's directory. */
function forThisProcess(rule: SdkPermissionUpdate): SdkPermissionUpdate {
  return { ...rule, destination: "session" };
}

function questionsIn(input: Record<string, unknown>): string[] {
  const questions = Array.isArray(input.questions) ? (input.questions as { question?: string }[]) : [];
  return questions.map(({ question }) => question ?? "");
}
