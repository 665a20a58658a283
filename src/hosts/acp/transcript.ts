/**
 * A session as its transcript tells it: who it was created for, its runs, its messages, and the evidence about one run.
 * Pure.
 */
import { type Evidence, noEvidence } from "../../model/evidence.ts";
import type { Message, MessagePart } from "../../model/message.ts";
import { countTool, noProgress, type Progress } from "../../model/progress.ts";
import type { AcpProfile } from "./profiles/profile.ts";
import { type AcpAnswer, RunView } from "./run-view.ts";
import type { AcpIdentity, AcpRunEnd, TranscriptLine } from "./transcript-lines.ts";

export interface AcpSession {
  identity: AcpIdentity;
  /** In order of their prompts. */
  runs: RunView[];
}

/** Null if these are not the lines of a session. `profileOf` gets the name of its agent. */
export function readSession(
  [first, ...lines]: readonly TranscriptLine[],
  profileOf: (agent: string) => AcpProfile,
): AcpSession | null {
  if (first?.type !== "session") return null;
  const profile = profileOf(first.agent);
  const runs = new Map<string, RunView>();
  for (const line of lines) {
    if (line.type === "session") continue;
    if (line.type === "prompted") runs.set(line.messageId, new RunView(line, profile));
    else runs.get(line.messageId)?.read(line);
  }
  return { identity: first, runs: [...runs.values()] };
}

export function messagesOf({ identity, runs }: AcpSession): Message[] {
  return runs.flatMap((run) => [promptOf(run), ...answersOf(run, identity)]);
}

export function answerId(messageId: string, index: number): string {
  return `${messageId}.${String(index).padStart(6, "0")}`;
}

function promptOf({ messageId, at, prompt, opening }: RunView): Message {
  const parts: MessagePart[] = [{ type: "text", text: prompt, hidden: false }];
  if (opening?.account) parts.unshift({ type: "text", text: opening.account, hidden: true });
  return { ...BARE, id: messageId, role: "user", at, parts };
}

function answersOf(run: RunView, { agent, model }: AcpIdentity): Message[] {
  const { end } = run;
  // Only its end is known: it failed before it wrote anything, or what it wrote was left out.
  const bare: AcpAnswer = {
    role: "assistant",
    at: end?.at ?? 0,
    endedAt: end?.at ?? 0,
    agentsId: undefined,
    parts: end?.text ? [{ type: "text", text: end.text, hidden: false }] : [],
  };
  const isBare = (end?.error ?? end?.text ?? "") !== "" && !run.answers.some(({ role }) => role === "assistant");
  const answers = isBare ? [...run.answers, bare] : run.answers;
  const last = answers.findLastIndex(({ role }) => role === "assistant");
  return answers.map((answer, index): Message => {
    const message: Message = {
      ...BARE,
      id: answerId(run.messageId, index),
      role: answer.role,
      at: answer.at,
      parts: shown(answer, run, index === last),
    };
    if (answer.role === "user") return message;
    const isOver = end !== null || index < last;
    const own = index === last && end ? { error: end.error, tokens: end.tokens, cost: end.cost } : {};
    return { ...message, agent, model, endedAt: isOver ? answer.endedAt : null, ...own };
  });
}

const BARE = { endedAt: null, agent: null, model: null, error: null, tokens: null, cost: null };

function shown({ parts }: AcpAnswer, { notes, isFull }: RunView, isLast: boolean): MessagePart[] {
  if (!isLast) return parts;
  const said = notes.map((note): MessagePart => ({ type: "other", raw: { note } }));
  const cut: MessagePart[] = isFull
    ? [{ type: "other", raw: { note: "The transcript reached its limit: what the agent sent after this is missing." } }]
    : [];
  return [...parts, ...said, ...cut];
}

export function acpEvidence({ runs }: AcpSession, runMessageId: string): Evidence {
  const run = runs.find(({ messageId }) => messageId === runMessageId);
  const evidence = noEvidence(run !== undefined);
  if (run === undefined) return evidence;
  const { end } = run;
  evidence.begun = run.hasBegun;
  evidence.unfinished = run.hasBegun && end === null;
  evidence.worked = end?.worked ?? run.hasWorked;
  evidence.answer = end?.text == null ? null : { text: end.text };
  evidence.error = end?.error == null ? null : { message: end.error, aborted: end.aborted };
  evidence.stoppedAt = evidence.answer ? null : run.stoppedAt;
  evidence.progress = progressOf(run, end);
  return evidence;
}

function progressOf(run: RunView, end: AcpRunEnd | null): Progress {
  const at = end?.at ?? run.answers.at(-1)?.endedAt ?? run.at;
  const counted = [...run.calls.values()].reduce((sum, { name }) => countTool(sum, name), noProgress(at));
  const tokens = end?.tokens ?? run.callTokens;
  return { ...counted, ...(tokens && { tokens }), cost: end?.cost ?? 0 };
}
