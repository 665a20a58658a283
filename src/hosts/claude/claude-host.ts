/**
 * The Claude host: uses sessions of the Claude CLI as task sessions. A working session has one process; an idle one has
 * none. Messages come from Claude's transcript; a ledger beside it stores what a transcript does not (launches, how
 * runs ended). A transcript is append-only, so methods that replace or cut messages are not offered: no `notify`, no
 * `condense`.
 */

import { loadSdk, type SdkModule, type SdkOptions, type SdkUserMessage } from "../../claude/sdk.ts";
import { BoundedStream } from "../../claude/session/bounded-stream.ts";
import { ClaudeProcess } from "../../claude/session/claude-process.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { Evidence } from "../../model/evidence.ts";
import { within } from "../../process/deadline.ts";
import { messageIds } from "../../process/message-ids.ts";
import {
  type AgentInfo,
  type ForkInput,
  type Host,
  type HostEvent,
  type HostStatus,
  type MessagePage,
  type OpenRequest,
  type PromptInput,
  type Reply,
  type StartInput,
  splitModel,
} from "../host.ts";
import { HostListeners } from "../host-listeners.ts";
import { pageOf } from "../message-page.ts";
import { claudeEvidence } from "./evidence.ts";
import { ClaudeLedger, type SessionRecord } from "./ledger.ts";
import { type AskingContext, ClaudeRequests } from "./requests.ts";
import { childSessionId } from "./run-reader.ts";
import { type ClaudeTranscriptMessage, lastEntryBefore, readTranscript, type TranscriptEntry } from "./transcript.ts";
import type { CliMessage, RunningClaude, RunSettings } from "./wire.ts";
import { ClaudeWork } from "./work.ts";

const newMessageId = messageIds();
const AGENTS_MS = 60_000;
/** How long Claude may take to list its agents. */
const START_MS = 30_000;

/** Options of the SDK that the host sets itself. */
export type HostOwnedOption =
  | "abortController"
  | "agent"
  | "canUseTool"
  | "continue"
  | "cwd"
  | "env"
  | "forkSession"
  | "resume"
  | "sessionId";

export interface ClaudeHostOptions {
  /** The working directory of the agents. */
  directory: string;
  /** A dedicated folder for the ledger. */
  folder: string;
  /**
   * The complete environment of the CLI; defaults to that of this process. CLAUDE_CONFIG_DIR must be the same as in
   * this process.
   */
  environment?: Record<string, string | undefined>;
  /** Additional Claude Agent SDK options for every session: permissionMode, allowedTools, agents, settings, … */
  options?: Omit<SdkOptions, HostOwnedOption>;
}

export interface ClaudeHost extends Host {
  readonly kind: "claude";
  findLaunched(launch: { launchId: string }): Promise<string | null>;
  fork(input: ForkInput): Promise<string>;
  requests(): Promise<OpenRequest[]>;
  answer(sessionId: string, requestId: string, reply: Reply): Promise<boolean>;
  /** Stops the session and deletes it with its transcript. */
  deleteSession(sessionId: string): Promise<void>;
  /** Ends all processes. Unfinished runs are left as after a crash. */
  close(): Promise<void>;
}

export function claudeHost(options: ClaudeHostOptions): ClaudeHost {
  return new ClaudeDriver(options);
}

/** Claude without a named agent. */
const CLAUDE: AgentInfo = { name: "claude", description: "Claude itself", model: null };

class ClaudeDriver implements ClaudeHost {
  readonly kind = "claude";
  readonly defaultAgent = CLAUDE.name;
  readonly #options: ClaudeHostOptions;
  readonly #ledger: ClaudeLedger;
  readonly #listeners = new HostListeners();
  readonly #work = new Map<string, ClaudeWork>();
  readonly #requests: ClaudeRequests;
  #knownAgents: AgentInfo[] | null = null;
  #agentsAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<AgentInfo[]> | null = null;

  constructor(options: ClaudeHostOptions) {
    const { CLAUDE_CONFIG_DIR: wanted } = options.environment ?? process.env;
    if (wanted !== process.env.CLAUDE_CONFIG_DIR) {
      const message = `Claude's transcripts are read from the CLAUDE_CONFIG_DIR of this process: set it to ${wanted} here too.`;
      throw new AsyncAgentsError("invalid_input", message);
    }
    this.#options = options;
    this.#ledger = new ClaudeLedger(options.folder);
    this.#requests = new ClaudeRequests((event) => this.#listeners.emit(event), options.directory);
  }

  async start(input: StartInput): Promise<string> {
    await this.#demandParent(input);
    return this.#create(crypto.randomUUID(), input);
  }

  async fork(input: ForkInput): Promise<string> {
    await this.#demandParent(input);
    const upToMessageId = lastEntryBefore(await this.#transcript(input.parentSessionId), input.untilMessageId);
    if (upToMessageId === null) return this.#create(crypto.randomUUID(), input);
    const made = (await loadSdk()).forkSession(input.parentSessionId, { upToMessageId, title: input.title });
    return this.#create((await made.catch(failed)).sessionId, input);
  }

  async findLaunched({ launchId }: { launchId: string }): Promise<string | null> {
    return this.#ledger.launched(launchId);
  }

  async prompt(sessionId: string, input: PromptInput): Promise<void> {
    const record = await this.#ledger.read(sessionId);
    if (record === null || !(await this.exists(sessionId))) throw gone(sessionId);
    await this.#ledger.prompted(sessionId, input.messageId, Date.now());
    this.#listeners.emit({ type: "message.added", sessionId, messageId: input.messageId });
    const work = this.#work.get(sessionId) ?? this.#newWork(sessionId, record);
    this.#work.set(sessionId, work);
    work.add(input, () => {
      if (!work.isWorking) this.#work.delete(sessionId);
    });
  }

  async abort(sessionId: string): Promise<void> {
    const [own = "", agent] = sessionId.split("/");
    const work = this.#work.get(own);
    if (agent === undefined) await work?.abort();
    else await work?.stopTask(agent);
  }

  async inspect(sessionId: string, runMessageId: string): Promise<Evidence> {
    const record = await this.#demand(sessionId);
    const isLive = this.#work.get(sessionId)?.has(runMessageId) === true;
    return claudeEvidence(await this.#transcript(sessionId), runMessageId, record, isLive);
  }

  async statuses(): Promise<Map<string, HostStatus>> {
    return new Map([...this.#work.values()].flatMap((work) => (work.isWorking ? work.statuses() : [])));
  }

  async messages(sessionId: string, page: { limit: number; before: string | null }): Promise<MessagePage> {
    const record = await this.#demand(sessionId);
    const { messages: found, before } = pageOf(await this.#transcript(sessionId), page);
    const messages = found.map(({ entries, isNote, isLast, ...message }) => message);
    const agent = record?.identity.agent ?? null;
    return {
      messages: messages.map((message) => (message.role === "assistant" ? { ...message, agent } : message)),
      before,
    };
  }

  async exists(sessionId: string): Promise<boolean> {
    const record = await this.#ledger.read(sessionId);
    // Before its first run a session exists only in the ledger, since Claude creates none without a prompt.
    if (record !== null && ![...record.ends.values()].some((end) => end.text !== null)) return true;
    return this.#isKnown(sessionId);
  }

  async agent(name: string): Promise<AgentInfo | null> {
    const find = (agents: readonly AgentInfo[]) => agents.find((agent) => agent.name === name) ?? null;
    return find([CLAUDE, ...(this.#knownAgents ?? [])]) ?? find(await this.#askAgents());
  }

  /** This starts a Claude process, which takes a second, so the result is cached for a minute. */
  async agents(): Promise<AgentInfo[]> {
    const isFresh = performance.now() - this.#agentsAt < AGENTS_MS;
    return this.#knownAgents !== null && isFresh ? this.#knownAgents : this.#askAgents();
  }

  #askAgents(): Promise<AgentInfo[]> {
    this.#asking ??= this.#readAgents().finally(() => {
      this.#asking = null;
      this.#agentsAt = performance.now();
    });
    return this.#asking;
  }

  async #readAgents(): Promise<AgentInfo[]> {
    const { query, input, child } = await this.#query({});
    try {
      const late = (ms: number) => new Error(`it did not answer within ${ms / 1000} s`);
      const agents = await within(query.supportedAgents(), { timeout: START_MS }, late);
      const known = agents.map(({ name, description, model }) => ({
        name,
        description: description || null,
        model: model && model !== "inherit" ? `anthropic/${model}` : null,
      }));
      this.#knownAgents = [CLAUDE, ...known.filter(({ name }) => name !== CLAUDE.name)];
      return this.#knownAgents;
    } catch (thrown) {
      throw new AsyncAgentsError("host_unavailable", `Claude did not start: ${messageOf(thrown)}`, { cause: thrown });
    } finally {
      input.end();
      query.close();
      await child.end(1_000);
    }
  }

  newMessageId(): string {
    return newMessageId();
  }

  onEvent(listener: (event: HostEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  async requests(): Promise<OpenRequest[]> {
    return this.#requests.open();
  }

  async answer(sessionId: string, requestId: string, reply: Reply): Promise<boolean> {
    return this.#requests.answer(sessionId, requestId, reply);
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.abort(sessionId);
    const isKnown = await this.#isKnown(sessionId);
    if (isKnown) await (await loadSdk()).deleteSession(sessionId).catch(failed);
    await this.#ledger.remove(sessionId);
    this.#listeners.emit({ type: "session.deleted", sessionId });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#work.values()].map((work) => work.close()));
  }

  async #demandParent({ parentSessionId }: StartInput): Promise<void> {
    if (parentSessionId !== "" && !(await this.exists(parentSessionId))) throw gone(parentSessionId);
  }

  async #demand(sessionId: string): Promise<SessionRecord | null> {
    const [own = ""] = sessionId.split("/");
    if (!(await this.exists(own))) throw gone(sessionId);
    return this.#ledger.read(own);
  }

  async #create(sessionId: string, input: StartInput): Promise<string> {
    const { parentSessionId, agent, title, model, launchId, denyTools } = input;
    await this.#ledger.create(sessionId, { parentSessionId, agent, title, model, launchId, denyTools, at: Date.now() });
    if (parentSessionId !== "") this.#listeners.emit({ type: "session.opened", sessionId, parentSessionId });
    return sessionId;
  }

  async #isKnown(sessionId: string): Promise<boolean> {
    const sdk = await loadSdk();
    return (await sdk.getSessionInfo(sessionId).catch(failed)) !== undefined;
  }

  async #transcript(sessionId: string): Promise<ClaudeTranscriptMessage[]> {
    const [own = "", agent] = sessionId.split("/");
    const sdk = await loadSdk();
    const read = agent ? sdk.getSubagentMessages(own, agent) : sdk.getSessionMessages(sessionId);
    return readTranscript((await read.catch(failed)) as TranscriptEntry[]);
  }

  #newWork(sessionId: string, record: SessionRecord): ClaudeWork {
    return new ClaudeWork(sessionId, {
      ledger: this.#ledger,
      open: (settings) => this.#open(settings, record),
      emit: (event) => this.#listeners.emit(event),
      consumeRefusal: (id) => this.#requests.consumeRefusal(id),
    });
  }

  async #open({ sessionId, agent, model, maxCost }: RunSettings, { identity }: SessionRecord): Promise<RunningClaude> {
    const modelId = splitModel(model ?? identity.model)?.modelID;
    const canUseTool = (tool: string, asked: Record<string, unknown>, context: AskingContext & { agentID?: string }) =>
      this.#requests.ask(
        context.agentID ? childSessionId(sessionId, context.agentID) : sessionId,
        tool,
        asked,
        context,
      );
    const { query, input, child } = await this.#query({
      ...((await this.#isKnown(sessionId)) ? { resume: sessionId } : { sessionId, title: identity.title }),
      ...(agent !== "" && agent !== CLAUDE.name && { agent }),
      ...(modelId !== undefined && { model: modelId }),
      // The CLI reports the cost only at the end, but enforces its own limit meanwhile.
      ...(maxCost !== null && { maxBudgetUsd: Math.min(maxCost, this.#options.options?.maxBudgetUsd ?? maxCost) }),
      disallowedTools: [...(this.#options.options?.disallowedTools ?? []), ...identity.denyTools],
      // In this mode nothing is asked, and the SDK prints a warning about a callback that is never used.
      ...(this.#options.options?.permissionMode !== "bypassPermissions" && { canUseTool }),
    });
    return {
      messages: query as AsyncIterable<CliMessage>,
      send: (uuid, content) =>
        input.push({
          type: "user",
          uuid,
          message: { role: "user", content },
          parent_tool_use_id: null,
        } as SdkUserMessage),
      interrupt: async () => void (await query.interrupt()),
      stopTask: (taskId) => query.stopTask(taskId),
      end: () => input.end(),
      async ended(graceMs) {
        input.end();
        await child.end(graceMs);
        return child.ended;
      },
    };
  }

  async #query(options: Partial<SdkOptions>) {
    const sdk: SdkModule = await loadSdk();
    const child = new ClaudeProcess();
    const input = new BoundedStream<SdkUserMessage>(Number.POSITIVE_INFINITY);
    const query = sdk.query({
      prompt: input,
      options: {
        includePartialMessages: true,
        ...this.#options.options,
        ...options,
        cwd: this.#options.directory,
        // Without this, the end of background agents and of the turns that they cause can only be guessed.
        env: { ...(this.#options.environment ?? process.env), CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" },
        spawnClaudeCodeProcess: (spawning: Parameters<ClaudeProcess["spawn"]>[0]) => child.spawn(spawning),
      } as SdkOptions,
    });
    return { query, input, child };
  }
}

function gone(sessionId: string): AsyncAgentsError {
  return new AsyncAgentsError("session_gone", `Claude has no session ${sessionId}`, { details: { sessionId } });
}

function failed(thrown: unknown): never {
  throw new AsyncAgentsError("host_failed", `Claude's transcripts cannot be read: ${messageOf(thrown)}`, {
    cause: thrown,
  });
}
