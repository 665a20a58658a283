/**
 * The ACP host: any agent that speaks the Agent Client Protocol, as an agent of this host. A session belongs to one
 * agent; at work it has one process, idle it has none. Everything that is known about a session is in our own
 * transcript of it: the protocol gives no message ids, no acknowledgement and no way to ask later. Therefore nothing
 * can be added to or cut from a session: no `notify`, no `steer`, no `fork`, no `condense`.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Evidence } from "../../model/evidence.ts";
import { messageIds } from "../../process/message-ids.ts";
import type {
  AgentInfo,
  Host,
  HostEvent,
  HostStatus,
  MessagePage,
  OpenRequest,
  PromptInput,
  Reply,
  StartInput,
} from "../host.ts";
import { HostListeners } from "../host-listeners.ts";
import { pageOf } from "../message-page.ts";
import type { AcpAgent, AgentTable } from "./agents/agent-table.ts";
import { AcpRequests } from "./requests.ts";
import { AcpRun } from "./run.ts";
import { type AcpSession, acpEvidence, messagesOf, readSession } from "./transcript.ts";
import { TranscriptFiles } from "./transcript-files.ts";
import { AcpWork } from "./work.ts";

const newMessageId = messageIds();

export interface AcpHostOptions {
  /** The working directory of the agents. */
  directory: string;
  /** A dedicated folder for the transcripts. */
  folder: string;
  agents: AgentTable;
  /** How long an agent may send nothing while it works, in milliseconds. */
  silentMs: number;
  /** Of this program, for the agents. */
  version: string;
}

export interface AcpHost extends Host {
  readonly kind: "acp";
  findLaunched(launch: { launchId: string }): Promise<string | null>;
  requests(): Promise<OpenRequest[]>;
  answer(sessionId: string, requestId: string, reply: Reply): Promise<boolean>;
  /** Stops the session and deletes its transcript. The agent's own records stay. */
  deleteSession(sessionId: string): Promise<void>;
  /** Ends all processes. Unfinished runs are left as after a crash. */
  close(): Promise<void>;
}

export function acpHost(options: AcpHostOptions): AcpHost {
  return new AcpDriver(options);
}

class AcpDriver implements AcpHost {
  readonly kind = "acp";
  readonly defaultAgent: string;
  readonly #options: AcpHostOptions;
  readonly #transcripts: TranscriptFiles;
  readonly #listeners = new HostListeners();
  readonly #work = new Map<string, AcpWork>();
  readonly #requests = new AcpRequests((event) => this.#listeners.emit(event));

  constructor(options: AcpHostOptions) {
    this.#options = options;
    this.#transcripts = new TranscriptFiles(options.folder);
    this.defaultAgent = options.agents.installed()[0]?.name ?? options.agents.names[0] ?? "";
  }

  async start(input: StartInput): Promise<string> {
    const { parentSessionId, agent, title, model, launchId, denyTools } = input;
    const { agents } = this.#options;
    const trouble = agents.problem(this.#agentNamed(agent));
    if (trouble !== null) throw new AsyncAgentsError("host_unavailable", trouble);
    if (parentSessionId !== "" && !(await this.exists(parentSessionId))) throw gone(parentSessionId);
    const sessionId = crypto.randomUUID();
    const identity = { parentSessionId, agent, title, model, launchId, denyTools, at: Date.now() };
    await this.#transcripts.create(sessionId, identity);
    if (parentSessionId !== "") this.#listeners.emit({ type: "session.opened", sessionId, parentSessionId });
    return sessionId;
  }

  async findLaunched({ launchId }: { launchId: string }): Promise<string | null> {
    return this.#transcripts.launched(launchId);
  }

  async prompt(sessionId: string, input: PromptInput): Promise<void> {
    if (!(await this.exists(sessionId))) throw gone(sessionId);
    const { messageId, text } = input;
    await this.#transcripts.store(sessionId, { type: "prompted", messageId, at: Date.now(), text });
    this.#listeners.emit({ type: "message.added", sessionId, messageId });
    const work = this.#work.get(sessionId) ?? this.#newWork(sessionId);
    this.#work.set(sessionId, work);
    work.add(input, () => {
      if (!work.isWorking) this.#work.delete(sessionId);
    });
  }

  async abort(sessionId: string): Promise<void> {
    await this.#work.get(sessionId)?.abort();
  }

  async inspect(sessionId: string, runMessageId: string): Promise<Evidence> {
    return acpEvidence(await this.#demand(sessionId), runMessageId);
  }

  async statuses(): Promise<Map<string, HostStatus>> {
    const working = [...this.#work].filter(([, work]) => work.isWorking);
    return new Map(working.map(([sessionId]) => [sessionId, { state: "busy" }]));
  }

  async messages(sessionId: string, page: { limit: number; before: string | null }): Promise<MessagePage> {
    return pageOf(messagesOf(await this.#demand(sessionId)), page);
  }

  async exists(sessionId: string): Promise<boolean> {
    return this.#transcripts.exists(sessionId);
  }

  /** Also one that is not installed, so that a launch can say how to install it. */
  async agent(name: string): Promise<AgentInfo | null> {
    const found = this.#options.agents.find(name);
    return found && infoOf(found);
  }

  async agents(): Promise<AgentInfo[]> {
    const { agents } = this.#options;
    const installed = agents.installed();
    return (installed.length > 0 ? installed : agents.all()).map(infoOf);
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
    await this.#transcripts.remove(sessionId);
    this.#listeners.emit({ type: "session.deleted", sessionId });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#work.values()].map((work) => work.close()));
  }

  #agentNamed(name: string): AcpAgent {
    const { agents } = this.#options;
    const found = agents.find(name === "" ? this.defaultAgent : name);
    if (found) return found;
    const message = `There is no ACP agent ${JSON.stringify(name)}. \`asyncagents agents\` lists them.`;
    throw new AsyncAgentsError("unknown_agent", message);
  }

  async #demand(sessionId: string): Promise<AcpSession> {
    const { agents } = this.#options;
    const lines = await this.#transcripts.read(sessionId);
    const session = readSession(lines, (name) => agents.profile(name === "" ? this.defaultAgent : name));
    if (session === null) throw gone(sessionId);
    return session;
  }

  #newWork(sessionId: string): AcpWork {
    return new AcpWork(sessionId, {
      transcripts: this.#transcripts,
      run: (input) => this.#newRun(sessionId, input),
      emit: (event) => this.#listeners.emit(event),
    });
  }

  async #newRun(sessionId: string, input: PromptInput): Promise<AcpRun> {
    const { directory, agents, silentMs, version } = this.#options;
    const { identity, runs } = await this.#demand(sessionId);
    const agent = this.#agentNamed(identity.agent);
    return new AcpRun(input, {
      sessionId,
      directory,
      identity,
      agent,
      command: agents.command(agent),
      runs: runs.filter(({ messageId }) => messageId !== input.messageId),
      transcripts: this.#transcripts,
      requests: this.#requests,
      emit: (event) => this.#listeners.emit(event),
      silentMs,
      version,
    });
  }
}

function infoOf({ name, description, limits, settings }: AcpAgent): AgentInfo {
  const told = [description ?? name, ...limits].join("; ");
  return { name, description: told, model: settings.model ?? null };
}

function gone(sessionId: string): AsyncAgentsError {
  return new AsyncAgentsError("session_gone", `There is no ACP session ${sessionId}`, { details: { sessionId } });
}
