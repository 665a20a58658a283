/**
 * The agents of this machine by name: the known ones, changed and extended by the configuration, and whether their
 * programs are installed. Starts and installs nothing.
 */
import { AsyncAgentsError } from "../../../model/errors.ts";
import { findProgram } from "../../find-program.ts";
import type { AgentCommand } from "../process.ts";
import { type AcpProfile, STRICT } from "../profiles/profile.ts";
import { profileNamed } from "../profiles/profiles.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { KNOWN_AGENTS, type KnownAgent } from "./known-agents.ts";

export interface AcpAgent {
  name: string;
  title: string;
  description: string | null;
  profile: AcpProfile;
  /** Nobody has tested it: the strict profile applies. */
  isUntested: boolean;
  tested: string | null;
  install: string | null;
  limits: readonly string[];
  settings: AgentSettings;
  /** The path of its program; null if it is not installed. */
  program: string | null;
  /** As it was looked for. */
  wanted: string;
  arguments: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

export class AgentTable {
  readonly #environment: Environment;
  readonly #settings: Readonly<Record<string, AgentSettings>>;

  constructor(environment: Environment, settings: Readonly<Record<string, AgentSettings>> = {}) {
    this.#environment = environment;
    this.#settings = settings;
  }

  get names(): string[] {
    return [...new Set([...Object.keys(this.#settings), ...Object.keys(KNOWN_AGENTS)])];
  }

  all(): AcpAgent[] {
    return this.names.flatMap((name) => this.find(name) ?? []);
  }

  installed(): AcpAgent[] {
    return this.all().filter(({ program }) => program !== null);
  }

  find(name: string): AcpAgent | null {
    const known = Object.hasOwn(KNOWN_AGENTS, name) ? KNOWN_AGENTS[name] : undefined;
    const settings = Object.hasOwn(this.#settings, name) ? (this.#settings[name] ?? {}) : {};
    const wanted = settings.program ?? known?.program;
    if (wanted === undefined) return null;
    return this.#agent(name, wanted, known, settings);
  }

  /** The profile to read its transcripts with; the strict one if the agent is no longer known. */
  profile(name: string): AcpProfile {
    return this.find(name)?.profile ?? STRICT;
  }

  /** Why the agent cannot be used, and what to do; null if it can. */
  problem({ title, wanted, program, install }: AcpAgent): string | null {
    if (program !== null) return null;
    const how = install?.startsWith("see ") ? `To install it, ${install}.` : `Install it with \`${install}\`.`;
    const hint = install === null ? "Correct agents.known in asyncagents.json." : how;
    return `${title} is not installed: there is no program ${JSON.stringify(wanted)}. ${hint}`;
  }

  /** Throws `host_unavailable` if it is not installed. */
  command(agent: AcpAgent): AgentCommand {
    const trouble = this.problem(agent);
    if (trouble !== null || agent.program === null) throw new AsyncAgentsError("host_unavailable", trouble ?? "");
    const environment = { ...this.#environment, ...agent.profile.environment, ...agent.settings.environment };
    return { program: agent.program, arguments: agent.arguments, environment };
  }

  #agent(name: string, wanted: string, known: KnownAgent | undefined, settings: AgentSettings): AcpAgent {
    const profile = settings.like ?? known?.profile;
    const path = settings.environment?.PATH ?? this.#environment.PATH;
    return {
      name,
      title: known?.title ?? name,
      description: settings.description ?? known?.title ?? null,
      profile: profileNamed(profile),
      isUntested: profile === undefined,
      tested: known?.tested ?? null,
      install: known?.install ?? null,
      limits: known?.limits ?? [],
      settings,
      wanted,
      program: findProgram(wanted, path),
      arguments: settings.arguments ?? known?.arguments ?? [],
    };
  }
}
