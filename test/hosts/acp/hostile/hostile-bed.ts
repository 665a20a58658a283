/** The ACP host with the agent that misbehaves on request, under the strict profile that every untested agent gets. */
import { mkdtempSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AcpHost, acpHost } from "../../../../src/hosts/acp/acp-host.ts";
import type { AgentSettings } from "../../../../src/hosts/acp/agents/agent-settings.ts";
import { AgentTable } from "../../../../src/hosts/acp/agents/agent-table.ts";
import type { HostEvent } from "../../../../src/hosts/host.ts";
import { judge, type Verdict } from "../../../../src/model/evidence.ts";
import { Recorder } from "../../../../src/testing/recorder.ts";

const EVENT_MS = 30_000;
export const AGENT = "hostile";

export class HostileBed {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-hostile-")));
  readonly folder = join(this.root, "transcripts");
  readonly environment = { PATH: process.env.PATH ?? "", HOME: join(this.root, "home") };
  readonly #hosts: AcpHost[] = [];

  async open(): Promise<void> {
    await mkdir(this.environment.HOME, { recursive: true });
  }

  settings(...given: string[]): AgentSettings {
    return { program: process.execPath, arguments: [join(import.meta.dir, "hostile-agent.ts"), ...given] };
  }

  /** Its agent gets these options. */
  stage(options: { silentMs?: number; given?: string[] } = {}): HostileStage {
    const { silentMs = 60_000, given = [] } = options;
    const agents = new AgentTable(this.environment, { [AGENT]: this.settings(...given) });
    const host = acpHost({ directory: this.root, folder: this.folder, agents, silentMs, version: "0.0.0" });
    this.#hosts.push(host);
    return new HostileStage(host);
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
    await rm(this.root, { recursive: true, force: true });
  }
}

export class HostileStage {
  readonly host: AcpHost;
  readonly events = new Recorder<HostEvent>((event) => JSON.stringify(event).slice(0, 160));

  constructor(host: AcpHost) {
    this.host = host;
    host.onEvent((event) => this.events.push(event));
  }

  session(launchId: string = crypto.randomUUID()): Promise<string> {
    const start = { parentSessionId: "", parentAgent: "", title: "Hostile", agent: AGENT, model: null, denyTools: [] };
    return this.host.start({ ...start, launchId });
  }

  async prompt(sessionId: string, ...steps: string[]): Promise<string> {
    const messageId = this.host.newMessageId();
    await this.host.prompt(sessionId, { messageId, text: steps.join("\n"), agent: AGENT, model: null });
    return messageId;
  }

  async event<Type extends HostEvent["type"]>(type: Type, sessionId: string, from = 0): Promise<void> {
    const isWanted = (event: HostEvent) => event.type === type && "sessionId" in event && event.sessionId === sessionId;
    await this.events.waitFor(isWanted, { what: `${type} of ${sessionId}`, from, timeoutMs: EVENT_MS });
  }

  /** The verdict on a run in a session; a new one if none is given. */
  async run(steps: string[], sessionId?: string): Promise<Verdict> {
    const session = sessionId ?? (await this.session());
    const from = this.events.items.length;
    const messageId = await this.prompt(session, ...steps);
    await this.event("session.idle", session, from);
    return judge(await this.host.inspect(session, messageId), null);
  }
}
