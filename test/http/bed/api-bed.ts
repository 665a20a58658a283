/** Status API servers over engines of `engine-bed.ts`: each on real HTTP, all of one world on one real store. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { remoteOperations } from "../../../src/board/remote-operations.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import { DAEMON_HOST, Desk } from "../../../src/engine/desk.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { CallPerformer } from "../../../src/engine/remote/call-performer.ts";
import type { CallPatience } from "../../../src/engine/remote/remote-calls.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import type { ServerRecord } from "../../../src/http/discovery.ts";
import { callPerformance } from "../../../src/http/handlers/perform-call.ts";
import { type ApiServer, type ApiServerOptions, startApiServer } from "../../../src/http/server.ts";
import type { Task } from "../../../src/model/task.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { isAlive, ownIdentity } from "../../../src/process/liveness.ts";
import { makeId } from "../../../src/process/make-id.ts";
import type { Instance, Store } from "../../../src/store/store.ts";
import { newWorld, type Side, type SideOptions, type World } from "../../engine/engine-bed.ts";

export const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, OPTIONS",
  "access-control-allow-headers": "Content-Type",
};

export interface ApiOptions {
  world?: World;
  side?: SideOptions;
  port?: number;
  origins?: readonly string[];
  heartbeatMs?: number;
  daemon?: ApiServerOptions["daemon"];
  notifier?: ApiServerOptions["notifier"];
  /** How long other processes may take. */
  patience?: CallPatience;
  /** Replaces members of the store, for the server only. */
  store?(store: Store): Partial<Store>;
  /** The engines that the server knows; by default the side's own. */
  engines?(side: Side): readonly Engine[];
}

export interface Api {
  world: World;
  side: Side;
  store: Store;
  server: ApiServer;
  url: string;
  token: string;
  client: Client;
  logged: string[];
  /** Requests a path, with the token unless the init has its own. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

type Ending = () => unknown;

let daemons = 0;

const endings = new WeakMap<World, Ending[]>();

/** Runs before the world's stores are closed, in reverse order. */
export function atEnd(world: World, ending: Ending): void {
  const known = endings.get(world);
  if (known) {
    known.push(ending);
    return;
  }
  const all = [ending];
  endings.set(world, all);
  const close = world.close.bind(world);
  world.close = async () => {
    for (const end of all.reverse()) await end();
    await close();
  };
}

export async function startApi(options: ApiOptions = {}): Promise<Api> {
  const world = options.world ?? newWorld();
  const side = await world.side(options.side);
  const store = { ...side.store, ...options.store?.(side.store) };
  const logged: string[] = [];
  const log = (message: string, details?: Record<string, unknown>) => {
    logged.push(`${message} ${JSON.stringify(details ?? {})}`);
  };
  const engines = options.engines?.(side) ?? [side.engine];
  const known = { ...store, instances: () => instancesOf(side, store, engines) };
  const desk = new Desk({ store: known, engines: () => engines, isAlive });
  const overview = new Overview(store);
  const own = {
    id: `daemon_${++daemons}`,
    ...ownIdentity(),
    beat: 0,
    host: DAEMON_HOST,
    directory: "/",
    startedAt: 1,
    machine: "",
    leaseLeft: null,
  };
  if (options.daemon) await side.store.addInstance(own);
  const instances = () => [own.id, ...engines.map(({ instance }) => instance.id)];
  const calls = { ...systemClock, store: known, log: { info: log, error: log }, instances };
  const { board = null, assertWorkplace = null, assertRepo = null, maxDepth } = options.daemon ?? {};
  const perform = callPerformance({ overview, desk, board, assertWorkplace, assertRepo, maxDepth });
  // On a store of its own: tests count who watches the server's.
  const performer = new CallPerformer({ ...calls, store: side.store, perform });
  performer.start();
  const server = startApiServer({
    overview,
    desk,
    remote: remoteOperations({
      ...calls,
      newId: makeId,
      isAlive,
      machine: "",
      ...(options.patience && { patience: options.patience }),
    }),
    directory: world.directory,
    log: { info: log, error: log },
    port: options.port ?? 0,
    origins: options.origins ?? [],
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
    ...(options.daemon ? { daemon: options.daemon } : {}),
    ...(options.notifier ? { notifier: options.notifier } : {}),
  });
  atEnd(world, () => server.stop());
  atEnd(world, () => performer.stop());
  const { url } = server;
  const { token } = serverRecord(world.directory);
  const ask = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { world, side, store, server, url, token, client: createClient({ url, token }), logged, ask, post };
}

/** The sides of a world have made-up pids; here the side's own is this process. */
async function instancesOf(side: Side, store: Store, engines: readonly Engine[]): Promise<Instance[]> {
  const ofThisProcess = new Set(engines.map(({ instance }) => instance.id).concat(side.id));
  return (await store.instances()).map((each) => (ofThisProcess.has(each.id) ? { ...each, ...ownIdentity() } : each));
}

export function serverRecord(directory: string, file = "server.json"): ServerRecord {
  return JSON.parse(readFileSync(join(directory, file), "utf8"));
}

export async function jsonOf(answer: Response | Promise<Response>) {
  return (await answer).json();
}

export interface Failure {
  status: number;
  code: string;
  message: string;
  details: Record<string, unknown>;
}

const failureSchema = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** An answer that must be an error in the documented form, with the common headers. */
export async function failureOf(answer: Response | Promise<Response>): Promise<Failure> {
  const response = await answer;
  const { error } = failureSchema.parse(await response.json());
  for (const [name, value] of Object.entries(CORS)) {
    if (response.headers.get(name) !== value) throw new Error(`${name} is ${response.headers.get(name)}`);
  }
  return { status: response.status, code: error.code, message: error.message, details: error.details ?? {} };
}

export function corsOf(answer: Response): Record<string, string | null> {
  return Object.fromEntries(Object.keys(CORS).map((name) => [name, answer.headers.get(name)]));
}

/** The stored task of an answer. */
export async function stored(api: Api, id: string): Promise<Task> {
  const task = await api.store.task(id);
  if (!task) throw new Error(`no task ${id}`);
  return task;
}
