/**
 * The OpenCode host: sessions, prompts and messages of one directory instance, over any transport. Talks only to
 * OpenCode and keeps no task state. The caller passes events in (from the plugin's event hook or a stream), so that the
 * in-process path needs no connection.
 */
import type { CondenseLimits } from "../../model/condense.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Evidence } from "../../model/evidence.ts";
import {
  type AgentInfo,
  type ForkInput,
  type Host,
  type HostEvent,
  type HostStatus,
  type MessagePage,
  type NotifyInput,
  type OpenRequest,
  type PromptInput,
  type Reply,
  type StartInput,
  type SteerInput,
  splitModel,
} from "../host.ts";
import { HostListeners } from "../host-listeners.ts";
import { cachedChildRules } from "./child-rules.ts";
import { readEvents, readRecord, type WireRecord } from "./events.ts";
import { evidenceOf } from "./evidence.ts";
import { condenseSession } from "./fork.ts";
import { newOpenCodeId } from "./ids.ts";
import { toMessage } from "./messages.ts";
import { launchIdOf, SeenSessions } from "./sessions.ts";
import { Transcripts } from "./transcript.ts";
import { callOpenCode, type OpenCodeRequest, type OpenCodeSend } from "./transport.ts";
import { retryOf, type WireAgent, type WireMessage, type WireRule, type WireSession, type WireStatus } from "./wire.ts";

/** Messages per request. */
const PAGE = 100;
/** Maximum pages to read for one run or fork, far more than a run produces. */
const MAX_PAGES = 200;
const MAX_DESCENDANTS = 200;
/** Maximum nesting of sessions, far more than agents produce. */
const MAX_DEPTH = 32;

export interface OpenCodeHost extends Host {
  readonly kind: "opencode";
  /** Handles one raw OpenCode event; ignores malformed ones. */
  receive(event: unknown): void;
  /** Reports that events got lost: an answer that was collected from them may lack a part. */
  missed(): void;
  /** Reports that the program behind this host has exited. */
  lose(reason: string): void;
  fork(input: ForkInput): Promise<string>;
  condense(sessionId: string, limits: CondenseLimits): Promise<void>;
  requests(): Promise<OpenRequest[]>;
  answer(sessionId: string, requestId: string, reply: Reply): Promise<boolean>;
  notify(sessionId: string, input: NotifyInput): Promise<void>;
  steer(sessionId: string, input: SteerInput): Promise<void>;
  hasMessage(sessionId: string, messageId: string): Promise<boolean>;
}

export function openCodeHost(options: { send: OpenCodeSend }): OpenCodeHost {
  return new OpenCodeDriver(options.send);
}

class OpenCodeDriver implements OpenCodeHost {
  readonly kind = "opencode";
  readonly defaultAgent = "build";
  readonly #send: OpenCodeSend;
  readonly #listeners = new HostListeners();
  readonly #transcripts = new Transcripts();
  readonly #sessions = new SeenSessions();
  readonly #childRules = cachedChildRules();
  /** Messages that we are sending, by the id of their last part. */
  readonly #arrivals = new Map<string, () => void>();
  /** An OpenCode instance reads its agents once, when it starts; so do we. */
  #knownAgents: WireAgent[] | null = null;

  constructor(send: OpenCodeSend) {
    this.#send = send;
  }

  async start(input: StartInput): Promise<string> {
    const model = splitModel(input.model);
    const body = {
      ...(input.parentSessionId === "" ? {} : { parentID: input.parentSessionId }),
      title: titleOf(input),
      agent: input.agent,
      ...(model ? { model: { id: model.modelID, providerID: model.providerID } } : {}),
      metadata: markOf(input),
      permission: await this.#rulesFor(input),
    };
    // The event arrives before OpenCode's response, which is slow.
    const seen = this.#sessions.launched(input.launchId);
    const answered = callOpenCode(this.#send, { method: "POST", path: "/session", body }).then(({ data }) =>
      sessionIdOf(data),
    );
    return Promise.race([answered, seen]).finally(() => this.#sessions.forgetLaunch(input.launchId));
  }

  async fork(input: ForkInput): Promise<string> {
    const permission = await this.#rulesFor(input);
    const until = input.untilMessageId === "" ? {} : { messageID: input.untilMessageId };
    const answer = await this.#session(input.parentSessionId, "POST", "/fork", until);
    const sessionId = sessionIdOf(answer.data);
    await this.#session(sessionId, "PATCH", "", { title: titleOf(input), metadata: markOf(input), permission });
    return sessionId;
  }

  async condense(sessionId: string, limits: CondenseLimits): Promise<void> {
    const { messages } = await this.#messagesAfter(sessionId, null);
    await condenseSession(this.#send, sessionId, messages, limits);
  }

  async prompt(sessionId: string, input: PromptInput): Promise<void> {
    const model = splitModel(input.model);
    this.#transcripts.begin(sessionId, input.messageId);
    await this.#session(sessionId, "POST", "/prompt_async", {
      messageID: input.messageId,
      agent: input.agent,
      ...(model ? { model } : {}),
      parts: [{ id: partIdOf(input.messageId, 0), type: "text", text: input.text }],
    });
  }

  /** Without a reply, the message starts no turn: the turn at work reads the session's messages before each step. */
  async steer(sessionId: string, input: SteerInput): Promise<void> {
    const model = splitModel(input.model);
    this.#transcripts.steer(sessionId, input.messageId);
    await this.#session(sessionId, "POST", "/message", {
      messageID: input.messageId,
      noReply: true,
      agent: input.agent,
      ...(model ? { model } : {}),
      parts: [{ id: partIdOf(input.messageId, 0), type: "text", text: input.text }],
    });
  }

  async abort(sessionId: string): Promise<void> {
    const open = [sessionId];
    for (let index = 0; index < open.length && index < MAX_DESCENDANTS; index++) {
      const current = open[index] ?? sessionId;
      await this.#session(current, "POST", "/abort");
      const children = (await this.#session(current, "GET", "/children")).data as WireSession[];
      open.push(...children.map((child) => child.id));
    }
  }

  async inspect(sessionId: string, runMessageId: string, steering: readonly string[] = []): Promise<Evidence> {
    const known = this.#transcripts.after(sessionId, runMessageId);
    if (known) {
      const evidence = evidenceOf(known, true, steering);
      // A steering message that is not there yet may have been missed.
      if (evidence.answer && evidence.taken.length === steering.length) {
        // The run has ended: answer later calls from OpenCode.
        this.#transcripts.end(sessionId);
        return evidence;
      }
    }
    const { messages, found } = await this.#messagesAfter(sessionId, runMessageId);
    return evidenceOf(messages, found, steering);
  }

  async statuses(): Promise<Map<string, HostStatus>> {
    const { data } = await callOpenCode(this.#send, { method: "GET", path: "/session/status" });
    const found = new Map<string, HostStatus>();
    for (const [id, status] of Object.entries(data as Record<string, WireStatus>)) {
      if (status.type === "busy") found.set(id, { state: "busy" });
      if (status.type === "retry") found.set(id, { state: "retrying", ...retryOf(status, Date.now()) });
    }
    return found;
  }

  async messages(sessionId: string, request: { limit: number; before: string | null }): Promise<MessagePage> {
    const read = await this.#page(sessionId, request.limit, request.before);
    return { messages: read.messages.map(toMessage), before: read.before };
  }

  exists(sessionId: string): Promise<boolean> {
    return ifThere(this.#session(sessionId, "GET")).then((found) => found !== null);
  }

  async answer(_sessionId: string, requestID: string, reply: Reply): Promise<boolean> {
    const { path, body } = answerTo(reply);
    const sent = callOpenCode(this.#send, { method: "POST", path, parameters: { requestID }, body });
    return (await ifThere(sent)) !== null;
  }

  async requests(): Promise<OpenRequest[]> {
    const read = async (path: string, type: string) => {
      const listed = (await callOpenCode(this.#send, { method: "GET", path })).data as unknown[];
      return listed.flatMap((properties) => readEvents({ type, properties }));
    };
    const asked = [await read("/permission", "permission.asked"), await read("/question", "question.asked")].flat();
    const requests: OpenRequest[] = [];
    for (const event of asked) {
      if (event.type !== "session.asked") continue;
      const { type: _type, ...request } = event;
      requests.push({ ...request, above: await this.#above(request.sessionId) });
    }
    return requests;
  }

  async hasMessage(sessionID: string, messageID: string): Promise<boolean> {
    const path = "/session/{sessionID}/message/{messageID}";
    const read = callOpenCode(this.#send, { method: "GET", path, parameters: { sessionID, messageID } });
    const message = await ifThere(read.then(({ data }) => data as WireMessage));
    return message !== null && message.parts.length > 1;
  }

  async agent(name: string): Promise<AgentInfo | null> {
    const find = (agents: readonly WireAgent[]) => agents.find((agent) => agent.name === name && agent.hidden !== true);
    const known = find(await this.#agents()) ?? find(await this.#readAgents());
    return known ? toAgentInfo(known) : null;
  }

  async agents(): Promise<AgentInfo[]> {
    return (await this.#readAgents()).filter((agent) => agent.hidden !== true).map(toAgentInfo);
  }

  async notify(sessionId: string, input: NotifyInput): Promise<void> {
    const model = splitModel(input.model);
    // A message appears before its parts do: it has arrived only when its last part has.
    const lastPart = partIdOf(input.messageId, 1);
    const arrived = new Promise<void>((resolve) => this.#arrivals.set(lastPart, resolve));
    // OpenCode responds at the end of the turn that this starts. Nothing waits for that, and disconnecting does not
    // stop the turn.
    const answered = this.#session(sessionId, "POST", "/message", {
      messageID: input.messageId,
      noReply: !input.wake,
      ...(input.agent ? { agent: input.agent } : {}),
      ...(model ? { model } : {}),
      ...(input.variant ? { variant: input.variant } : {}),
      parts: [
        { id: partIdOf(input.messageId, 0), type: "text", text: input.visible },
        { id: lastPart, type: "text", text: input.hidden, synthetic: true },
      ],
    });
    await Promise.race([arrived, answered]).finally(() => this.#arrivals.delete(lastPart));
  }

  async findLaunched(launch: { launchId: string; at: number }): Promise<string | null> {
    const query = { start: launch.at, limit: 200 };
    const listed = (await callOpenCode(this.#send, { method: "GET", path: "/session", query })).data as WireSession[];
    return listed.find((candidate) => launchIdOf(candidate) === launch.launchId)?.id ?? null;
  }

  newMessageId(): string {
    return newOpenCodeId("msg");
  }

  onEvent(listener: (event: HostEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  receive(event: unknown): void {
    const record = readRecord(event);
    if (record !== null) this.#remember(record);
    // What we sent is not the agent's work.
    if (record?.kind === "part" && this.#transcripts.isOurs(record.sessionId, record.messageId)) return;
    for (const read of readEvents(event)) this.#listeners.emit(read);
  }

  missed(): void {
    this.#transcripts.clear();
  }

  lose(reason: string): void {
    this.#listeners.emit({ type: "host.ended", reason });
  }

  #session(sessionID: string, method: OpenCodeRequest["method"], tail = "", body?: unknown) {
    return callOpenCode(this.#send, { method, path: `/session/{sessionID}${tail}`, parameters: { sessionID }, body });
  }

  /** Remembers what later calls would otherwise have to request. */
  #remember(record: WireRecord): void {
    if (record.kind === "session") this.#sessions.remember(record.session);
    else if (record.kind === "info") this.#transcripts.addInfo(record.info);
    else if (record.kind === "part") {
      this.#transcripts.addPart(record.sessionId, record.messageId, record.part);
      this.#arrivals.get(record.part.id)?.();
    } else {
      this.#sessions.forget(record.sessionId);
      this.#transcripts.end(record.sessionId);
    }
  }

  async #readAgents(): Promise<WireAgent[]> {
    const agents = (await callOpenCode(this.#send, { method: "GET", path: "/agent" })).data as WireAgent[];
    this.#knownAgents = agents;
    return agents;
  }

  async #agents(): Promise<WireAgent[]> {
    return this.#knownAgents ?? this.#readAgents();
  }

  async #permissionOf(sessionId: string): Promise<readonly WireRule[]> {
    if (sessionId === "") return [];
    const seen = this.#sessions.permissionOf(sessionId);
    return seen ?? ((await this.#session(sessionId, "GET")).data as WireSession).permission ?? [];
  }

  async #above(sessionId: string): Promise<string[]> {
    const above: string[] = [];
    for (let current = sessionId; above.length < MAX_DEPTH; ) {
      const parent = this.#sessions.parentOf(current) ?? (await this.#readParent(current));
      if (parent === "") break;
      above.push(parent);
      current = parent;
    }
    return above;
  }

  async #readParent(sessionId: string): Promise<string> {
    const session = (await this.#session(sessionId, "GET")).data as WireSession;
    this.#sessions.remember(session);
    return session.parentID ?? "";
  }

  async #rulesFor(input: StartInput): Promise<WireRule[]> {
    const [parentSession, agents] = await Promise.all([this.#permissionOf(input.parentSessionId), this.#agents()]);
    const rules = (name: string) => agents.find((agent) => agent.name === name)?.permission ?? [];
    return this.#childRules({
      parentSession,
      parentAgent: input.parentAgent === "" ? null : rules(input.parentAgent),
      childAgent: rules(input.agent),
      denyTools: input.denyTools,
    });
  }

  async #page(sessionID: string, limit: number, before: string | null) {
    const answer = await callOpenCode(this.#send, {
      method: "GET",
      path: "/session/{sessionID}/message",
      parameters: { sessionID },
      query: { limit, ...(before ? { before } : {}) },
    });
    return { messages: answer.data as WireMessage[], before: answer.header("x-next-cursor") };
  }

  /** Messages after `messageId` (all if it is null), oldest first, and whether it was found. */
  async #messagesAfter(sessionId: string, messageId: string | null) {
    const collected: WireMessage[] = [];
    let before: string | null = null;
    for (let count = 0; count < MAX_PAGES; count++) {
      const read: { messages: WireMessage[]; before: string | null } = await this.#page(sessionId, PAGE, before);
      const at = read.messages.findIndex((message) => message.info.id === messageId);
      collected.unshift(...read.messages.slice(at + 1));
      if (at !== -1) return { messages: collected, found: true };
      before = read.before;
      if (before === null) return { messages: messageId === null ? collected : [], found: false };
    }
    throw new AsyncAgentsError(
      "host_failed",
      `The session ${sessionId} has too many messages to read. Launch a new task.`,
    );
  }
}

async function ifThere<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone") return null;
    throw thrown;
  }
}

function answerTo(reply: Reply): { path: string; body?: unknown } {
  if (reply.kind === "permission") {
    const message = reply.message === null ? {} : { message: reply.message };
    return { path: "/permission/{requestID}/reply", body: { reply: reply.decision, ...message } };
  }
  if (reply.answers === null) return { path: "/question/{requestID}/reject" };
  return { path: "/question/{requestID}/reply", body: { answers: reply.answers.map((answer) => [answer]) } };
}

function markOf(input: StartInput): Record<string, unknown> {
  return { asyncagents: { launchId: input.launchId } };
}

/** Part ids are derived from the message id, so that sending a message again replaces its parts. */
function partIdOf(messageId: string, index: number): string {
  return `prt${messageId.slice(3, -1)}${index}`;
}

function titleOf(input: StartInput): string {
  return `${input.title} (@${input.agent} background)`;
}

function toAgentInfo(agent: WireAgent): AgentInfo {
  return {
    name: agent.name,
    description: agent.description ?? null,
    model: agent.model ? `${agent.model.providerID}/${agent.model.modelID}` : null,
  };
}

function sessionIdOf(data: unknown): string {
  const id = (data as WireSession | null)?.id;
  if (typeof id !== "string" || id === "") {
    throw new AsyncAgentsError("host_failed", "OpenCode created a session without an id. Try again.");
  }
  return id;
}
