/**
 * The status API's server: a door to this machine only, on the wanted port, one of the next ones, or any; and, if it is
 * wanted, a door to other machines (`token-door.ts`). Announces itself, and stops without cutting off responses in
 * progress. One per process; composition roots start it.
 */
import manifest from "../../package.json" with { type: "json" };
import type { AssertRepo, AssertWorkplace } from "../board/board.ts";
import type { RemoteOperations } from "../board/remote-operations.ts";
import type { TaskWorktrees } from "../board/worktrees/task-worktrees.ts";
import type { Desk } from "../engine/desk.ts";
import type { Notifier } from "../engine/notifications/notifier.ts";
import type { Overview } from "../engine/watching/overview.ts";
import { troublesIn } from "../engine/watching/troubles.ts";
import { messageOf } from "../model/errors.ts";
import { settlesWithin } from "../process/deadline.ts";
import type { Log } from "../process/log.ts";
import type { CallOperation } from "../protocol/operations.ts";
import { LocalGuard } from "./access/local-guard.ts";
import { unknownUser, userOfPeer } from "./access/peer-user.ts";
import { folderToken } from "./access/token-file.ts";
import { announce, type ServerRecord } from "./discovery.ts";
import { type DoorServer, type HandleMcp, openDoor, type SharedContext } from "./door.ts";
import { EventStreams } from "./events/event-streams.ts";
import { listenUrl } from "./listen-settings.ts";
import { Page } from "./page.ts";
import { openTokenDoor, type TokenDoorOptions } from "./token-door.ts";

const ADDRESS = "127.0.0.1";
const PORTS = 10;
/** How long responses in progress may take when the server stops. */
const LAST_ANSWERS_MS = 2000;

export interface ApiServerOptions {
  overview: Overview;
  desk: Desk;
  /** What only other processes can do. */
  remote: RemoteOperations;
  /** The data folder, where the server announces itself. */
  directory: string;
  /** The PostgreSQL database that holds the tasks, as shown to people; SQLite in the data folder when absent. */
  postgres?: string | null;
  /** For those who look for it; off when absent. */
  telemetry?: ServerRecord["telemetry"];
  log: Log;
  /** The first port to try; 0 for any. */
  port: number;
  origins: readonly string[];
  heartbeatMs?: number;
  /** Only the daemon has these: the board's operations, and the MCP server. */
  daemon?: {
    board: CallOperation;
    mcp: HandleMcp;
    maxDepth?: number;
    assertWorkplace?: AssertWorkplace;
    assertRepo?: AssertRepo;
  };
  taskWorktrees?: TaskWorktrees | null;
  /** Tells people outside; it is started and stopped by others. */
  notifier?: Notifier | null;
  /** Opens a second door, to other machines. */
  listen?: TokenDoorOptions | null;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  /** The address of the door to other machines; null if there is none. */
  readonly listen: string | null;
  /** Withdraws the announcement at once, for a process that is about to exit. */
  withdraw(): void;
  stop(): Promise<void>;
}

export function startApiServer(options: ApiServerOptions): ApiServer {
  const { overview, directory, postgres = null, telemetry = null, log, heartbeatMs, daemon } = options;
  const streams = new EventStreams({ overview, log, heartbeatMs });
  const token = folderToken(directory);
  const startedAt = Date.now();
  const context = contextOf(options, { token, startedAt });
  const shared = { context, streams, page: new Page(), mcp: daemon?.mcp ?? null };
  const server = openDoor({
    ...shared,
    address: ADDRESS,
    ports: portsFrom(options.port),
    guard: (bound) => {
      const isOwnUser = (request: Request) => isOfOwnUser(bound(), request);
      return new LocalGuard({ token, origins: options.origins, isOwnUser });
    },
  });
  const doors = [server];
  try {
    if (options.listen) doors.push(openTokenDoor(options.listen, shared));
    const listen = options.listen ? listenUrl({ ...options.listen.settings, port: doors.at(-1)?.port ?? 0 }) : null;
    const port = server.port ?? 0;
    const url = `http://${ADDRESS}:${port}`;
    const kind = daemon ? ("daemon" as const) : ("plugin" as const);
    const { version } = manifest;
    const known = { port, url, token, version, startedAt: new Date(startedAt).toISOString() };
    const { withdraw } = announce(directory, { ...known, kind, postgres, listen, telemetry });
    const stop = async () => {
      withdraw();
      streams.close();
      await Promise.all(doors.map(closeDoor));
    };
    return { url, port, listen, withdraw, stop };
  } catch (thrown) {
    // Nobody could find it.
    for (const door of doors) void door.stop(true);
    throw thrown;
  }
}

/** Without force, stopping waits for responses in progress; a stuck reader must not block it forever. */
async function closeDoor(server: DoorServer): Promise<void> {
  await settlesWithin(server.stop(), { timeout: LAST_ANSWERS_MS });
  await server.stop(true);
}

function portsFrom(first: number): number[] {
  return first === 0 ? [0] : [...Array.from({ length: PORTS }, (_, index) => first + index), 0];
}

/** What all doors share. */
function contextOf(
  {
    overview,
    desk,
    remote,
    directory,
    postgres = null,
    log,
    daemon,
    notifier = null,
    taskWorktrees = null,
  }: ApiServerOptions,
  { token, startedAt }: Pick<SharedContext, "token" | "startedAt">,
): SharedContext {
  // The others are shown all the same.
  const unread = (thrown: unknown) => {
    log.error("whether notifications arrive could not be read", { error: messageOf(thrown) });
    return [];
  };
  return {
    overview,
    desk,
    remote,
    notifier,
    taskWorktrees,
    audit: overview.auditLog({ now: Date.now }),
    log,
    token,
    startedAt,
    version: manifest.version,
    now: Date.now,
    board: daemon?.board ?? null,
    maxDepth: daemon?.maxDepth,
    assertWorkplace: daemon?.assertWorkplace ?? null,
    assertRepo: daemon?.assertRepo ?? null,
    troubles: async () => [
      ...(postgres === null ? troublesIn(directory) : []),
      ...((await notifier?.troubles().catch(unread)) ?? []),
    ],
  };
}

/**
 * True if the caller is certainly the user of this process. The connection must be open before and after the kernel's
 * table is read: only then can nobody else have used its port in between.
 */
function isOfOwnUser(server: DoorServer, request: Request): boolean {
  const self = process.geteuid?.();
  if (self === undefined || self === unknownUser()) return false;
  const before = server.requestIP(request);
  if (before === null) return false;
  const user = userOfPeer(before, { address: ADDRESS, port: server.port ?? 0 });
  const after = server.requestIP(request);
  return user === self && after?.port === before.port && after.address === before.address;
}
