/**
 * `up`, `down`, and the daemon's own process: starts and stops the daemon on request. `src/daemon/find-daemon.ts`
 * finds a running one.
 */

import manifest from "../../../package.json" with { type: "json" };
import { createClient } from "../../client/client.ts";
import type { Configuration } from "../../configuration/sections.ts";
import { runDaemonProcess } from "../../daemon/daemon-process.ts";
import { type DaemonRecord, ensureDaemon, findDaemon, stopDaemon } from "../../daemon/find-daemon.ts";
import { tokenDoorOptions } from "../../daemon/token-door-options.ts";
import { listenSettings, listenUrl } from "../../http/listen-settings.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { isSameMachine, machineOf } from "../../process/machine.ts";
import type { ServerInstance } from "../../protocol/server.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import { openStore } from "../../store/open.ts";
import { storeSetting } from "../../store/store-setting.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { warnOfLeftStore, warnOfOtherStore } from "../other-store.ts";
import { assertPerson } from "../person-only.ts";
import type { Screen } from "../terminal/screen.ts";
import { ago, listed, oneLine } from "../terminal/text.ts";

const STOP_MS = 20_000;
const ASK_MS = 5000;

const DOOR_OPTIONS = {
  port: { value: "number", summary: "the port of the API and the dashboard, or the next free one; 0 for any" },
  listen: { value: "address", summary: "also open a door to other machines, with tokens: 0.0.0.0" },
  "public-url": { value: "url", summary: "what browsers use for that door: https://agents.example.org" },
};

/** Its settings, and with them the rules about what agents may do, come from whoever starts it. */
const START = "start the daemon with their own settings";

export const upCommand: Command = {
  name: "up",
  summary: "start the daemon: runner, status API, dashboard, MCP",
  details:
    "Other commands start it when they need it. It keeps running when the terminal closes; `asyncagents down` stops it.",
  options: { foreground: { short: "f", summary: "stay in this terminal until Ctrl-C" }, ...DOOR_OPTIONS },
  examples: ["asyncagents up", "asyncagents up --foreground --port 0", "asyncagents up --listen 10.0.0.5:8080"],
  ownsSignals: true,
  async run(invocation) {
    assertPerson(invocation, START);
    const port = readPort(invocation);
    const running = findDaemon(invocation.directory);
    if (running && port !== undefined && port !== 0 && running.port !== port) {
      const message = `The daemon is already running, on port ${running.port}. Change that with: asyncagents restart --port ${port}`;
      throw new AsyncAgentsError("request_conflict", message);
    }
    const listen = await readListen(invocation);
    if (running && listen !== null && !listensOn(running, listen)) {
      const where = running.listen === null ? "for this machine only" : `and listens on ${running.listen}`;
      const message = `The daemon is already running, ${where}. Change that with: asyncagents restart --listen ${listen}`;
      throw new AsyncAgentsError("request_conflict", message);
    }
    return invocation.arguments.flag("foreground") ? upInForeground(invocation) : upDetached(invocation);
  },
};

/** Port 0 is any port. */
function listensOn({ listen }: DaemonRecord, wanted: string): boolean {
  const place = listenSettings({ address: wanted, publicUrls: [], trustedProxies: [] });
  if (listen === null || place === null) return false;
  return place.port === 0 ? listen.startsWith(listenUrl(place).slice(0, -1)) : listen === listenUrl(place);
}

/** The daemon reads it from its environment, which it inherits from this process. */
function readPort({ arguments: given }: Invocation): number | undefined {
  const text = given.text("port");
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) {
    throw new AsyncAgentsError("invalid_input", `--port takes a number from 0 to 65535, not "${text.slice(0, 40)}".`);
  }
  process.env.ASYNCAGENTS_API_PORT = text;
  return port;
}

/**
 * The daemon reads these from its environment, too. It would refuse to start without tokens: that is found out here,
 * where the person sees it. Returns what was asked for.
 */
async function readListen({ arguments: given, directory, configuration }: Invocation): Promise<string | null> {
  const listen = given.text("listen");
  const url = given.text("public-url");
  // Judged here, because an error should name the option, not the variable.
  listenSettings({ address: listen, publicUrls: url?.split(",") ?? [], trustedProxies: [] });
  if (listen !== undefined) process.env.ASYNCAGENTS_LISTEN = listen;
  if (url !== undefined) process.env.ASYNCAGENTS_PUBLIC_URL = url;
  const { listen: wanted, store: place } = configuration();
  if (wanted.address === undefined) {
    if (url === undefined) return null;
    throw new AsyncAgentsError("invalid_input", "--public-url is for the door to other machines: add --listen.");
  }
  const store = await openStore({ directory, ...place });
  try {
    await tokenDoorOptions(store, wanted);
  } finally {
    await store.close();
  }
  return listen ?? null;
}

export const restartCommand: Command = {
  name: "restart",
  summary: "stop the daemon and start it again with the current settings",
  details: "Refused while it runs tasks, because they would be interrupted.",
  options: { force: { summary: "even if tasks are running" }, ...DOOR_OPTIONS },
  examples: ["asyncagents restart", "ASYNCAGENTS_MAX_CONCURRENT=4 asyncagents restart"],
  async run(invocation) {
    assertPerson(invocation, START);
    readPort(invocation);
    await readListen(invocation);
    const daemon = findDaemon(invocation.directory);
    if (daemon) await stopIdle(invocation, daemon, "restart");
    return upDetached(invocation, daemon);
  },
};

/** `before`: the daemon that this one replaces. */
async function upDetached(
  { directory, screen, configuration }: Invocation,
  before: DaemonRecord | null = null,
): Promise<number> {
  const { daemon, started } = await screen.during("starting the daemon", ensureDaemon(directory));
  screen.show(shown(daemon, started), () => {
    screen.line(started ? `The daemon is running (pid ${daemon.pid}).` : alreadyRuns(daemon));
    screen.line(`  dashboard  ${daemon.url}`);
    screen.line(`  MCP        ${daemon.url}/mcp`);
    if (daemon.listen !== null) screen.line(`  listens    ${daemon.listen}  (with tokens only)`);
    screen.line(`  data       ${directory}`);
    if (daemon.postgres !== null) screen.line(`  store      ${daemon.postgres}`);
  });
  if (started) warnOfOtherPort(screen, daemon, configuration());
  warnOfOtherStore(screen, daemon, storeSetting(configuration().store)?.shown ?? null);
  if (!started) await warnIfSilent(screen, daemon, configuration());
  if (before) warnOfLeftStore(screen, before, daemon);
  if (before) warnOfClosedDoor(screen, before, daemon);
  warnOfPlainText(screen, daemon, configuration());
  warnOfTelemetry(screen, daemon);
  return EXIT.ok;
}

/** It runs, but does not answer: its store may be away. */
async function warnIfSilent(screen: Screen, daemon: DaemonRecord, configuration: Configuration): Promise<void> {
  // Only here: it loads the store, which would slow down the start.
  const { answering } = await import("../setup/daemon-check.ts");
  const { state, says, remedy } = await answering(daemon, `The daemon, pid ${daemon.pid}`, configuration);
  if (state === "problem") screen.hint(`${says}. ${remedy}`);
}

/** Its address came from a shell whose settings a restart elsewhere does not have. */
function warnOfClosedDoor(screen: Screen, before: DaemonRecord, now: DaemonRecord): void {
  if (before.listen === null || now.listen !== null) return;
  const again = `asyncagents restart --listen ${new URL(before.listen).host}`;
  screen.hint(`The door on ${before.listen} is closed. Open it again: ${again}`);
}

/** It is on, and nothing would be reported. */
function warnOfTelemetry(screen: Screen, { telemetry }: DaemonRecord): void {
  if (!telemetry?.problem) return;
  screen.hint(`${oneLine(telemetry.problem)} Tasks work without telemetry. Correct it, then: asyncagents restart`);
}

/** It took one of the next ports, or any. */
function warnOfOtherPort(screen: Screen, { port }: DaemonRecord, { api }: Configuration): void {
  if (api.port === 0 || api.port === port) return;
  screen.hint(`Port ${api.port} is in use: it took ${port} instead.`);
}

/** Tokens would cross the network readable for everyone on the way. */
function warnOfPlainText(screen: Screen, { listen }: DaemonRecord, { listen: door }: Configuration): void {
  if (listen === null || /^http:\/\/(127\.|\[::1\])/.test(listen)) return;
  if (door.publicUrls[0]?.startsWith("https://")) return;
  screen.hint("That door is not encrypted: put a TLS proxy in front of it (docs/doors.md), or use a private network.");
}

async function upInForeground({ directory, screen, configuration }: Invocation): Promise<number> {
  const other = await runDaemonProcess(directory, {
    onReady: (url) => {
      const daemon = findDaemon(directory);
      if (screen.json && daemon) screen.jsonLine(shown(daemon, true));
      else screen.line(`The daemon is running. Dashboard: ${url}  (Ctrl-C stops it)`);
      if (daemon?.listen && !screen.json) screen.line(`It listens on ${daemon.listen}, with tokens only.`);
      if (daemon) warnOfOtherPort(screen, daemon, configuration());
      if (daemon) warnOfPlainText(screen, daemon, configuration());
      if (daemon) warnOfTelemetry(screen, daemon);
    },
  });
  if (other) screen.show(shown(other, false), () => screen.line(`${alreadyRuns(other)} Dashboard: ${other.url}`));
  return EXIT.ok;
}

function shown({ pid, url, port, version, startedAt, postgres, listen }: DaemonRecord, started: boolean) {
  return { pid, url, mcp: `${url}/mcp`, port, version, startedAt, started, postgres, listen };
}

function alreadyRuns({ pid, startedAt, version }: DaemonRecord): string {
  const other =
    version === manifest.version
      ? ""
      : ` It is version ${version}, this command is ${manifest.version}: asyncagents down && asyncagents up`;
  return `The daemon is already running (pid ${pid}, started ${ago(startedAt, Date.now())}).${other}`;
}

export const downCommand: Command = {
  name: "down",
  summary: "stop the daemon",
  details: "Refused while it runs tasks, because they would be interrupted.",
  options: { force: { summary: "even if tasks are running" } },
  examples: ["asyncagents down", "asyncagents down --force"],
  async run(invocation) {
    assertPerson(invocation, "stop the daemon, which others use");
    const { directory, screen } = invocation;
    const daemon = findDaemon(directory);
    if (!daemon) {
      screen.show({ stopped: false, pid: null }, () => screen.line("No daemon is running."));
      return EXIT.ok;
    }
    await stopIdle(invocation, daemon, "down");
    screen.show({ stopped: true, pid: daemon.pid }, () => screen.line(`Stopped the daemon (pid ${daemon.pid}).`));
    return EXIT.ok;
  },
};

async function stopIdle(
  { arguments: given, screen, directory }: Invocation,
  daemon: DaemonRecord,
  command: "down" | "restart",
): Promise<void> {
  if (!given.flag("force")) await refuseWhileBusy(daemon, machineOf(directory), command);
  if (await screen.during("stopping the daemon", stopDaemon(daemon, STOP_MS))) return;
  const message = `The daemon (pid ${daemon.pid}) did not stop within ${STOP_MS / 1000} s. See ${directory}/asyncagents.log; end it with: kill -9 ${daemon.pid}`;
  throw new AsyncAgentsError("task_timeout", message);
}

/** A daemon that does not respond has no runs worth waiting for. */
async function refuseWhileBusy({ url, token }: DaemonRecord, machine: string, command: string): Promise<void> {
  const client = createClient({ url, token });
  const limit = AbortSignal.timeout(ASK_MS);
  try {
    const [instances, live] = await Promise.all([
      client.instances(limit),
      client.tasks({ status: ["running", "resumed"], limit: 200 }, limit),
    ]);
    // What waits for a runner, or runs on another machine, goes on without this daemon; the next one takes up what is
    // paused.
    const isNear = ({ queue, machine: theirs, phase }: BackgroundTask) =>
      !queue && phase !== "paused" && isSameMachine(theirs ?? "", machine);
    const isOwn = (task: BackgroundTask) => instances.some((instance) => runs(instance, task));
    const own = live.tasks.filter(isNear).filter(isOwn);
    if (own.length === 0) return;
    const names = listed(own.map(({ description }) => `"${oneLine(description)}"`));
    const [what, it] = own.length === 1 ? ["A task is", "it"] : [`${own.length} tasks are`, "them"];
    const message = `${what} running in the daemon: ${names}. Wait for ${it} to end (asyncagents watch), or interrupt ${it}: asyncagents ${command} --force`;
    throw new AsyncAgentsError("task_running", message);
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "task_running") throw thrown;
    const message = `Cannot find out which tasks the daemon is running. Stop it anyway with: asyncagents ${command} --force`;
    throw new AsyncAgentsError("daemon_unavailable", message, { cause: thrown });
  }
}

/** A runner of this machine may have the same folder open. An older daemon does not say who runs a task. */
function runs({ id, host, directory }: ServerInstance, task: BackgroundTask): boolean {
  if (task.instance !== undefined) return task.instance === id;
  return host === task.host && directory === task.directory;
}

/** The command that `ensureDaemon` starts. */
export const daemonCommand: Command = {
  name: "daemon",
  summary: "be the daemon",
  hidden: true,
  ownsSignals: true,
  async run({ directory }) {
    await runDaemonProcess(directory);
    return EXIT.ok;
  },
};
