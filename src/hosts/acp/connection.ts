/**
 * The protocol with one agent process: initializes it, opens its session, prompts and cancels, on the official SDK.
 * Every call has a limit, and fails as soon as the process is gone. Updates are taken from the wire before the SDK sees
 * them, because it drops those it does not know and may deliver them after the response that they belong to. Keeps no
 * transcript and judges nothing.
 */
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { within } from "../../process/deadline.ts";
import { AgentGone, AgentRefusal } from "./connection-errors.ts";
import type { AgentProcess } from "./process.ts";
import {
  type AcpElicitation,
  type AcpInitialized,
  type AcpOpened,
  type AcpPermission,
  type AcpPromptResult,
  elicitationOf,
  initializedOf,
  openedOf,
  permissionOf,
  promptResultOf,
  recordOf,
} from "./wire.ts";

/** A first start may migrate a database or unpack a program. */
const INITIALIZE_MS = 60_000;
const OPEN_MS = 60_000;
const SETTING_MS = 30_000;

/** Whoever follows what the agent sends. */
export interface AgentListener {
  /** In the order of the wire, and before any later response is seen. */
  onUpdate(update: unknown, agentSession: unknown): void;
  /** Returns the protocol's answer. */
  onPermission(asked: AcpPermission, signal: AbortSignal): Promise<unknown>;
  onQuestion(asked: AcpElicitation, signal: AbortSignal): Promise<unknown>;
}

interface Requests {
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

export class AgentConnection {
  readonly initialized: AcpInitialized;
  readonly #agent: Requests;
  readonly #process: AgentProcess;

  private constructor(agent: Requests, process: AgentProcess, initialized: AcpInitialized) {
    this.#agent = agent;
    this.#process = process;
    this.initialized = initialized;
  }

  static async open(process: AgentProcess, listener: AgentListener, version: string): Promise<AgentConnection> {
    // Loaded when it is needed: it takes half a second.
    const { client, ndJsonStream } = await import("@agentclientprotocol/sdk");
    const { readable, writable } = ndJsonStream(process.input, process.output);
    const tap = new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        if (!("method" in message) || message.method !== "session/update") return controller.enqueue(message);
        const { update, sessionId } = recordOf(message.params);
        listener.onUpdate(update, sessionId);
      },
    });
    const connection = client({ name: "asyncagents" })
      .onRequest("session/request_permission", permissionOf, ({ params, signal }) =>
        listener.onPermission(params, signal),
      )
      .onRequest("elicitation/create", elicitationOf, ({ params, signal }) => listener.onQuestion(params, signal))
      .connect({ readable: readable.pipeThrough(tap), writable });
    connection.closed.catch(() => {});
    const agent = connection.agent as unknown as Requests;
    const made = new AgentConnection(agent, process, { protocolVersion: 0 });
    const answer = await made.#call(
      "initialize",
      {
        protocolVersion: 1,
        clientInfo: { name: "asyncagents", version },
        clientCapabilities: { elicitation: { form: {} } },
      },
      INITIALIZE_MS,
    );
    const initialized = initializedOf(answer);
    if (initialized.protocolVersion !== 1) {
      const message = `It speaks version ${initialized.protocolVersion} of the protocol; this program speaks version 1.`;
      throw new AsyncAgentsError("host_unsupported", message);
    }
    return new AgentConnection(agent, process, initialized);
  }

  async newSession(params: Record<string, unknown>): Promise<AcpOpened & { sessionId: string }> {
    const opened = openedOf(await this.#call("session/new", params, OPEN_MS));
    const { sessionId } = opened;
    if (sessionId === undefined) throw new AgentRefusal(0, "it opened a session without an id");
    return { ...opened, sessionId };
  }

  async reopen(method: "session/resume" | "session/load", params: Record<string, unknown>): Promise<AcpOpened> {
    return openedOf(await this.#call(method, params, OPEN_MS));
  }

  async set(method: string, params: Record<string, unknown>): Promise<void> {
    await this.#call(method, params, SETTING_MS);
  }

  /** Has no limit of its own: a turn may take hours. */
  async prompt(sessionId: string, text: string): Promise<AcpPromptResult> {
    const params = { sessionId, prompt: [{ type: "text", text }] };
    return promptResultOf(await this.#call("session/prompt", params, undefined));
  }

  /** Never rejects: the end of the turn says whether it arrived. */
  async cancel(sessionId: string): Promise<void> {
    await this.#agent.notify("session/cancel", { sessionId }).catch(() => {});
  }

  async #call(method: string, params: unknown, timeout: number | undefined): Promise<unknown> {
    const gone = this.#process.exited.then((how): never => {
      throw new AgentGone(how);
    });
    gone.catch(() => {});
    const answer = this.#agent.request(method, params).catch(async (thrown: unknown): Promise<never> => {
      const { code } = recordOf(thrown);
      if (typeof code === "number") throw new AgentRefusal(code, refusalText(thrown));
      // Its output closed, so its process ends as well; how it ended says more.
      return within(gone, { timeout: 1_000 }, () => new AgentGone("it closed its output"));
    });
    const late = (ms: number) => new Error(`it did not answer ${method} within ${ms / 1000} s`);
    return within(Promise.race([answer, gone]), timeout === undefined ? {} : { timeout }, late);
  }
}

/** Agents hide the reason in different places. */
function refusalText(thrown: unknown): string {
  const { data } = recordOf(thrown);
  const { details, message, error } = recordOf(data);
  const reasons = [data, details, message, error].filter((each) => typeof each === "string" && each !== "");
  const said = messageOf(thrown);
  const further = reasons.filter((each) => !said.includes(String(each)));
  return [said, ...further].join(": ");
}
