/**
 * Requests of agents that a person must answer: permissions, and questions of their own. Invariant: an agent waits
 * until someone answers or its run ends; nothing is answered on a person's behalf. A protocol answer cannot carry a
 * person's words, so a rejection ends the agent's turn, and its run says the words in a prompt. Callers decide who may
 * answer.
 */
import { questionsText } from "../../model/questions.ts";
import type { AskedTool } from "../../model/request-policy.ts";
import { type HostEvent, type OpenRequest, type Reply, replyWord } from "../host.ts";
import { tooLongToShow } from "../permission-input.ts";
import { permissionText, permissionTool } from "./permission-text.ts";
import { type AcpElicitation, type AcpField, type AcpPermission, recordOf } from "./wire.ts";

interface Asked extends OpenRequest {
  settle(reply: Reply | null): void;
}

/** What a run is told about a request of its agent. */
export interface AskingRun {
  sessionId: string;
  /** Where the agent works. */
  directory: string;
  asked(request: { requestId: string; callId: string | null; tool: string; text: string }): void;
  answered(requestId: string, reply: Reply | null): void;
  /** A request was cancelled, and nobody was asked: people read why in the conversation. */
  unasked(request: { callId: string | null; tool: string; why: string }): void;
  /** Ends the turn: a person rejected it, perhaps with words for the agent. Resolves when the agent was told. */
  reject(message: string | null): Promise<void>;
  toolName(asked: AcpPermission["toolCall"]): string;
  asksInPermissions: boolean;
}

/** What one session may ask at the same time; more are cancelled unasked. */
const MOST_OPEN = 50;
/** What people are shown of a question. */
const QUESTION_CHARS = 8_000;

/** The answer to a request that nobody decides. */
export const CANCELLED = { outcome: { outcome: "cancelled" } };

export class AcpRequests {
  readonly #emit: (event: HostEvent) => void;
  readonly #open = new Map<string, Asked>();

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  open(): OpenRequest[] {
    return [...this.#open.values()].map(({ settle: _settle, ...request }) => request);
  }

  isAsking(sessionId: string): boolean {
    return [...this.#open.values()].some((request) => request.sessionId === sessionId);
  }

  /** False if the session has no such open request. */
  answer(sessionId: string, requestId: string, reply: Reply): boolean {
    const found = this.#open.get(requestId);
    if (found === undefined || found.asks !== reply.kind || found.sessionId !== sessionId) return false;
    this.#open.delete(requestId);
    found.settle(reply);
    return true;
  }

  /** Closes all requests of a session without an answer: its turn is being ended. */
  withdraw(sessionId: string): void {
    for (const [requestId, request] of this.#open) {
      if (request.sessionId !== sessionId) continue;
      this.#open.delete(requestId);
      request.settle(null);
    }
  }

  async permission(run: AskingRun, asked: AcpPermission, signal: AbortSignal): Promise<unknown> {
    const questions = run.asksInPermissions ? questionsOf(asked) : null;
    const name = run.toolName(asked.toolCall);
    const text = questions ? questionsText(questions) : permissionText(asked, name);
    const about = questions ? {} : { tool: permissionTool(asked, name, run.directory) };
    const callId = asked.toolCall.toolCallId ?? null;
    const reply = await this.#ask(
      run,
      { asks: questions ? "question" : "permission", text, callId, name, ...about },
      signal,
    );
    if (reply === null || isRejection(reply)) return CANCELLED;
    const wanted = reply.kind === "permission" && reply.decision === "always" ? ALWAYS : ONCE;
    const option = wanted.flatMap((kind) => asked.options.filter((each) => each.kind === kind))[0];
    if (option === undefined) return CANCELLED;
    const outcome = { outcome: "selected", optionId: option.optionId };
    if (reply.kind !== "question") return { outcome };
    return {
      outcome,
      answers: Object.fromEntries((reply.answers ?? []).map((answer, index) => [String(index), answer])),
    };
  }

  async question(run: AskingRun, asked: AcpElicitation, signal: AbortSignal): Promise<unknown> {
    const fields = Object.entries(asked.requestedSchema?.properties ?? {});
    const names = new Set(fields.map(([name]) => name));
    const main = fields.filter(([name]) => !isCustom(name, names));
    const questions = main.map(([name, field]) => field.title ?? field.description ?? name);
    const text = questionsText(questions.length > 1 ? questions : [asked.message ?? questions[0] ?? "a question"]);
    const request = { asks: "question", text, callId: null, name: "question" } as const;
    const reply = await this.#ask(run, request, signal, asked.mode === "url" ? LINK : null);
    if (reply?.kind !== "question" || reply.answers === null) return { action: "cancel" };
    const { answers } = reply;
    const content = main.flatMap(([name, field], index) => filledIn(name, field, answers[index] ?? "", names));
    return { action: "accept", content: Object.fromEntries(content) };
  }

  /** Why people cannot be asked; null if they can. */
  #obstacle(sessionId: string, asks: Reply["kind"], text: string): string | null {
    const open = [...this.#open.values()].filter((each) => each.sessionId === sessionId);
    if (open.length >= MOST_OPEN) return `${MOST_OPEN} other requests of this session wait for an answer`;
    const isTooLong = asks === "question" ? null : tooLongToShow(text);
    return isTooLong && `${isTooLong}. Tell the agent to do it in smaller steps`;
  }

  async #ask(
    run: AskingRun,
    given: { asks: Reply["kind"]; text: string; callId: string | null; name: string; tool?: AskedTool },
    signal: AbortSignal,
    reason: string | null = null,
  ): Promise<Reply | null> {
    const { asks, callId, name, tool } = given;
    const { sessionId } = run;
    const obstacle = reason ?? this.#obstacle(sessionId, asks, given.text);
    if (obstacle !== null) {
      run.unasked({ callId, tool: name, why: `its ${asks} was cancelled, and nobody was asked: ${obstacle}` });
      return null;
    }
    const isLong = asks === "question" && given.text.length > QUESTION_CHARS;
    const text = isLong ? `${given.text.slice(0, QUESTION_CHARS)} …` : given.text;
    const requestId = crypto.randomUUID();
    const about = tool === undefined ? {} : { tool };
    run.asked({ requestId, callId, tool: name, text });
    const reply = await new Promise<Reply | null>((settle) => {
      this.#open.set(requestId, { sessionId, above: [], requestId, asks, text, ...about, settle });
      signal.addEventListener("abort", () => settle(null), { once: true });
      if (signal.aborted) settle(null);
      this.#emit({ type: "session.asked", sessionId, requestId, asks, text, ...about });
    });
    this.#open.delete(requestId);
    run.answered(requestId, reply);
    this.#emit({ type: "session.answered", sessionId, requestId, ...(reply && { reply: replyWord(reply) }) });
    if (reply && isRejection(reply)) await run.reject(reply.kind === "permission" ? reply.message : null);
    return reply;
  }
}

/** We open no pages, and would not know what happened there. */
const LINK = "it is on a web page";

const ONCE = ["allow_once", "allow_always"];
const ALWAYS = ["allow_always", "allow_once"];

function isRejection(reply: Reply): boolean {
  return reply.kind === "permission" ? reply.decision === "reject" : reply.answers === null;
}

/** Null if it is a permission. */
function questionsOf({ _meta, toolCall }: AcpPermission): string[] | null {
  const kinds = [_meta, toolCall._meta].map((meta) => recordOf(meta).qwenInteractionKind);
  if (!kinds.includes("user_question") && recordOf(toolCall._meta).toolName !== "ask_user_question") return null;
  const { questions } = recordOf(toolCall.rawInput);
  const texts = (Array.isArray(questions) ? questions : []).map((each) => String(recordOf(each).question ?? ""));
  return texts.length > 0 ? texts : [toolCall.title ?? "a question"];
}

const CUSTOM = "_custom";

/** A field for an answer in the person's own words, beside one with choices. */
function isCustom(name: string, names: ReadonlySet<string>): boolean {
  return name.endsWith(CUSTOM) && names.has(name.slice(0, -CUSTOM.length));
}

function filledIn(name: string, field: AcpField, answer: string, names: ReadonlySet<string>): [string, unknown][] {
  const choices =
    field.oneOf?.map((each) => ({ value: each.const, label: each.title ?? String(each.const) })) ??
    field.enum?.map((value) => ({ value, label: String(value) }));
  const isMeant = ({ value, label }: { value: unknown; label: string }) =>
    [String(value), label].some((each) => each.trim().toLowerCase() === answer.trim().toLowerCase());
  const chosen = choices?.find(isMeant);
  if (chosen) return [[name, chosen.value]];
  if (names.has(`${name}${CUSTOM}`)) return [[`${name}${CUSTOM}`, answer]];
  if (field.type === "boolean") return [[name, /^(y|yes|true|1)$/i.test(answer.trim())]];
  if (field.type === "number" || field.type === "integer") return [[name, Number(answer)]];
  return [[name, answer]];
}
