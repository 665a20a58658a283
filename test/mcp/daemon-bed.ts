/**
 * A real daemon with its own folders and a git repository, and the real clients that reach it: MCP clients of both
 * generations over stdio and HTTP, and the official inspector. `stop` ends every process by pid and removes the
 * folders.
 */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createClient } from "../../src/client/client.ts";
import type { BoardOperationName, OperationInput, OperationOutput } from "../../src/protocol/operations.ts";
import { createProject, createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { errorOf } from "./door-bed.ts";

const ROOT = join(import.meta.dir, "../..");
const MAIN = join(ROOT, "src/cli/main.ts");
const INSPECTOR = join(ROOT, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const CONFORMANCE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The command that starts the command line's MCP server. */
export const COMMAND = process.execPath;
export const mcpArguments = (...more: string[]) => [MAIN, "mcp", ...more];

const AUTHOR = {
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@localhost",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@localhost",
};

/** What a client started by a person sends. */
export const TOP = { "x-asyncagents-depth": "0" };

/** How a server is started on its streams. */
interface Spawned {
  cwd?: string;
  arguments?: string[];
  environment?: Record<string, string>;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A client as the tests use it, of either generation. */
export interface Tools {
  names(): Promise<string[]>;
  /** All definitions, as the client gets them. */
  definitions(): Promise<string>;
  /** The structured answer; throws if the tool failed. */
  call<Name extends BoardOperationName>(name: Name, input: OperationInput<Name>): Promise<OperationOutput<Name>>;
  /** The error of a call that fails; throws if it did not. */
  fails(name: BoardOperationName, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  protocol(): string | undefined;
}

type AnyClient = Pick<Client, "callTool" | "listTools" | "close"> & {
  getNegotiatedProtocolVersion?(): string | undefined;
};

export class DaemonBed {
  readonly root: string;
  /** A repository with one commit on main. */
  readonly repository: string;
  readonly environment: Record<string, string>;
  readonly #clients: AnyClient[] = [];
  #daemon: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;
  /** Everything that tools have answered so far. */
  readonly answers: { name: string; answer: unknown }[] = [];
  url = "";

  private constructor(root: string, repository: string, environment: Record<string, string>) {
    this.root = root;
    this.repository = repository;
    this.environment = environment;
  }

  static async start(environment: Record<string, string> = {}): Promise<DaemonBed> {
    const root = await createTemporaryRoot();
    for (const name of ["home", "data", "tmp"]) await mkdir(join(root, name));
    const repository = await createProject(join(root, "my shop ü"));
    const { PATH = "", LANG = "C.UTF-8" } = process.env;
    const bed = new DaemonBed(root, repository, {
      PATH,
      LANG,
      HOME: join(root, "home"),
      TMPDIR: join(root, "tmp"),
      ASYNCAGENTS_HOME: join(root, "data"),
      ASYNCAGENTS_API_PORT: "0",
      ASYNCAGENTS_SCRIPTED: "1",
      ...AUTHOR,
      ...environment,
    });
    try {
      await bed.startDaemon();
      await bed.person("allow_directory", { directory: root });
    } catch (thrown) {
      await bed.stop();
      throw thrown;
    }
    return bed;
  }

  async startDaemon(): Promise<void> {
    const daemon = Bun.spawn([COMMAND, MAIN, "up", "--foreground", "--json"], {
      cwd: this.root,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#daemon = daemon;
    let text = "";
    for await (const chunk of daemon.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (!text.includes("\n")) continue;
      this.url = JSON.parse(text).url;
      return;
    }
    throw new Error(`The daemon did not start: ${await new Response(daemon.stderr).text()}`);
  }

  async token(): Promise<{ token: string }> {
    const { token } = JSON.parse(await readFile(join(this.root, "data", "server.json"), "utf8"));
    return { token };
  }

  /** A call as the command line and the dashboard make it. */
  async person<Name extends BoardOperationName>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>> {
    return createClient({ url: this.url, ...(await this.token()) }).operate(name, input);
  }

  /** Ends the daemon; `SIGKILL` simulates a crash. */
  async stopDaemon(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#daemon?.kill(signal);
    await this.#daemon?.exited;
    this.#daemon = null;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.splice(0)) await client.close();
    await this.stopDaemon();
    await rm(this.root, { recursive: true, force: true });
  }

  /** A client of the newest protocol with its own server on its streams. */
  async stdio(options: Spawned = {}): Promise<Tools> {
    const client = new Client({ name: "new", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StdioClientTransport(this.#spawned(options)));
    return this.#tools(client);
  }

  async oldStdio(options: Spawned = {}): Promise<Tools> {
    const client = new OldClient({ name: "old", version: "1" });
    const transport = new OldStdio(this.#spawned(options));
    await client.connect(transport);
    return this.#tools(client as never);
  }

  async http(headers: Record<string, string> = TOP): Promise<Tools> {
    const client = new Client({ name: "new", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${this.url}/mcp`), { requestInit: { headers } }));
    return this.#tools(client);
  }

  async oldHttp(headers: Record<string, string> = TOP): Promise<Tools> {
    const client = new OldClient({ name: "old", version: "1" });
    const transport = new OldHttp(new URL(`${this.url}/mcp`), { requestInit: { headers } });
    await client.connect(transport as Parameters<OldClient["connect"]>[0]);
    return this.#tools(client as never);
  }

  /** The official inspector's command line, with its own server or, with `http`, on the daemon's. */
  inspect(args: string[], options: { cwd?: string; http?: boolean } = {}): Promise<Ended> {
    // It passes on nothing else of its environment.
    const environment = Object.entries(this.environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const target = options.http
      ? [`${this.url}/mcp`, "--header", "x-asyncagents-depth: 0"]
      : [...environment, COMMAND, ...mcpArguments()];
    return this.#run([INSPECTOR, "--cli", ...target, ...args], options.cwd);
  }

  /** One scenario of the official conformance suite, on the daemon's `/mcp`. */
  conformance(scenario: string): Promise<Ended> {
    const url = `${this.url.replace("127.0.0.1", "localhost")}/mcp`;
    return this.#run([CONFORMANCE, "server", "--url", url, "--scenario", scenario]);
  }

  async #run(args: string[], cwd = this.root): Promise<Ended> {
    const child = Bun.spawn([COMMAND, ...args], { cwd, env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  #spawned(options: Spawned) {
    const args = mcpArguments(...(options.arguments ?? []));
    const env = { ...this.environment, ...options.environment };
    return { command: COMMAND, args, cwd: options.cwd ?? this.root, env };
  }

  #tools(client: AnyClient): Tools {
    const { answers } = this;
    this.#clients.push(client);
    return {
      definitions: async () => JSON.stringify(await client.listTools()),
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      async call(name, input) {
        const result = await client.callTool({ name, arguments: input as Record<string, unknown> });
        if (result.isError) throw new Error(`${name}: ${JSON.stringify(errorOf(result))}`);
        answers.push({ name, answer: result.structuredContent });
        return result.structuredContent as never;
      },
      async fails(name, input) {
        const result = await client.callTool({ name, arguments: input });
        if (!result.isError) throw new Error(`${name} did not fail: ${JSON.stringify(result.structuredContent)}`);
        return errorOf(result);
      },
      protocol: () => client.getNegotiatedProtocolVersion?.(),
    };
  }
}
