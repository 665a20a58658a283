/**
 * The plugin of one directory instance: passes OpenCode's hooks to an engine and its tools to OpenCode. Returns
 * immediately: OpenCode waits for it at startup, and cannot be called until it has returned. Prints nothing.
 */
import type { Hooks, PluginInput, ToolContext } from "@opencode-ai/plugin";
import { depthMark } from "../board/launch-depth.ts";
import { applyConfiguration, readConfiguration, valuesOf } from "../configuration/configuration.ts";
import type { CrashPoint } from "../engine/context.ts";
import type { Caller } from "../engine/launch.ts";
import { openCodeHost } from "../hosts/opencode/opencode-host.ts";
import { callOpenCode, type OpenCodeSend, pluginSend } from "../hosts/opencode/transport.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { openLog, storageDirectory } from "../process/data-folder.ts";
import { isPanelKnown, notePanel } from "../process/panel-mark.ts";
import { carriedOver } from "./compaction.ts";
import { newMark, type PluginInstance, startInstance } from "./instance.ts";
import { endToast, launchToast, panelToast, settingsToast, Toasts } from "./toasts.ts";
import { tools } from "./tools.ts";
import { askFor, passOn } from "./worktree-engines.ts";

/** What a test may replace. */
interface PluginSeams {
  reach?(point: CrashPoint): void;
}

type Seen = Pick<Caller, "agent" | "model" | "variant">;

const SEEN = 500;
/** How many tasks are looked at for a summary. */
const CARRIED = 50;

export async function createPlugin(input: PluginInput, given: unknown, seams: PluginSeams = {}): Promise<Hooks> {
  const storage = storageDirectory();
  const log = openLog(storage);
  const sources = { directory: storage, environment: process.env, options: given };
  // The tools have their names for good; everything else is read again when the engine starts.
  const { toolPrefix, toasts: hasToasts } = valuesOf(applyConfiguration(sources)).opencode;
  const send = pluginSend(input.client);
  const host = openCodeHost({ send });
  const toasts = new Toasts((body) => send({ method: "POST", path: "/tui/show-toast", body }), hasToasts);
  const seen = new Map<string, Seen>();
  let running: Promise<PluginInstance> | null = null;
  /** Null until it runs: requests do not wait for that. */
  let started: PluginInstance | null = null;
  let isToastDue = true;
  const open = async (): Promise<PluginInstance> => {
    const configuration = readConfiguration(sources);
    return startInstance({
      storage,
      directory: input.directory,
      worktree: input.worktree,
      log,
      configuration: { ...configuration, opencode: { ...configuration.opencode, toolPrefix } },
      host,
      send,
      reach: seams.reach ?? (() => undefined),
      onEnded: (task) => toasts.show(endToast(task)),
    });
  };
  const start = (): Promise<PluginInstance> => {
    running ??= open().then((instance) => {
      started = instance;
      return instance;
    });
    running.catch((thrown: unknown) => {
      running = null;
      if (isToastDue && isAboutSettings(thrown)) {
        isToastDue = false;
        toasts.show(settingsToast(thrown));
      }
      log.error("the engine did not start; the next call tries again", { error: messageOf(thrown) });
    });
    return running;
  };
  start().catch(() => undefined);

  return {
    tool: tools({
      prefix: toolPrefix,
      engine: async () => (await start()).engine,
      instance: start,
      caller: async (context) => callerOf(context, seen.get(context.sessionID) ?? (await readSeen(send, context))),
      waits: isOneShot(process.argv),
      onLaunched: (task) => {
        toasts.show(launchToast(task));
        if (hasToasts && isInScreen() && !isPanelKnown(storage) && notePanel(storage)) toasts.show(panelToast());
      },
      newMark,
    }),
    event: async ({ event }) => {
      host.receive(event);
      passOn(input.directory, event);
    },
    "chat.message": async (message, output) => {
      const session = seenOf(message, output.message);
      remember(seen, message.sessionID, session);
      const noted = { sessionId: message.sessionID, messageId: output.message.id, ...session };
      start()
        .then(({ engine }) => engine.handles(noted))
        .catch((thrown: unknown) => log.error("a parent could not be noted", { error: messageOf(thrown) }));
    },
    // Before each request to a model. The budget of a task may hold it up, or end the task.
    "chat.params": async ({ sessionID, agent }) => {
      if (agent === "title") return;
      await askFor(input.directory, sessionID);
      await started?.engine.mayRequest(sessionID);
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const tasks = start().then(({ engine }) => engine.list(sessionID, { limit: CARRIED, offset: 0 }));
      const carried = await tasks.then(
        ({ tasks: newest }) => carriedOver(newest, toolPrefix, Date.now()),
        (thrown: unknown) => {
          log.error("a summary does not name its tasks", { error: messageOf(thrown) });
          return null;
        },
      );
      if (carried !== null) output.context.push(carried);
    },
    "shell.env": async ({ sessionID = "" }, output) => {
      const depth = start().then(({ engine }) => engine.depthOf(sessionID));
      // Without the engine there are no tasks.
      Object.assign(output.env, depthMark(await depth.catch(() => 0)));
    },
    dispose: async () => {
      toasts.stop();
      const ending = running;
      running = null;
      started = null;
      await ending?.then(
        (instance) => instance.stop(),
        () => undefined,
      );
    },
  };
}

/**
 * Wrong settings must not keep OpenCode from starting, and nothing is launched with defaults in their place: every call
 * of a tool says what is wrong, until a call finds them corrected.
 */
function isAboutSettings(thrown: unknown): thrown is AsyncAgentsError {
  return AsyncAgentsError.isInstance(thrown) && thrown.code === "configuration_invalid";
}

/** `opencode run` exits after its reply, with everything in the process; its interactive form does not. */
export function isOneShot(argv: readonly string[]): boolean {
  const command = argv.slice(1).find((word) => !word.startsWith("-") && !/[/\\]/.test(word));
  return command === "run" && !argv.includes("-i") && !argv.includes("--interactive");
}

/** OpenCode with a screen runs its plugins in a thread of their own; `opencode serve` does not. */
function isInScreen(): boolean {
  return !Bun.isMainThread;
}

function seenOf(
  message: { agent?: string; variant?: string; model?: { providerID: string; modelID: string } },
  stored: { agent?: string; model?: { providerID: string; modelID: string } },
): Seen {
  const model = stored.model ?? message.model;
  return {
    agent: stored.agent ?? message.agent ?? "",
    model: model ? `${model.providerID}/${model.modelID}` : null,
    variant: message.variant ?? null,
  };
}

function remember(seen: Map<string, Seen>, sessionId: string, session: Seen): void {
  seen.delete(sessionId);
  seen.set(sessionId, session);
  const oldest = seen.keys().next().value;
  if (seen.size > SEEN && oldest !== undefined) seen.delete(oldest);
}

/** What OpenCode stored about a message that arrived before this instance started. */
async function readSeen(send: OpenCodeSend, context: ToolContext): Promise<Seen> {
  const answer = await callOpenCode(send, {
    method: "GET",
    path: "/session/{sessionID}/message/{messageID}",
    parameters: { sessionID: context.sessionID, messageID: context.messageID },
  });
  const { providerID, modelID } = (answer.data as { info: { providerID?: string; modelID?: string } }).info;
  return { agent: context.agent, model: providerID && modelID ? `${providerID}/${modelID}` : null, variant: null };
}

function callerOf(context: ToolContext, session: Seen): Caller {
  return { ...session, sessionId: context.sessionID, messageId: context.messageID, agent: context.agent };
}
