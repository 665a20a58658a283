/** Programs that use an entry: they name the types that its functions take and return, and misuse some of them. */

/** For each entry: a program of a consumer, and the packages that its types need beside it. */
export const consumerPrograms: { entry: string; installed: string[]; options?: object; program: string }[] = [
  {
    entry: "asyncagents",
    installed: [],
    program: `
import {
  AsyncAgentsError, createEngine, type Engine, type EngineOptions, type Evidence, type Host, type HostEvent, PERSON,
  postgresStore, type PromptInput, sqliteStore, type StartInput, type Store, type Task, type TaskPage,
} from "asyncagents";
const store: Store = await sqliteStore({ directory: "/tmp/data" });
declare const host: Host;
const options: EngineOptions = { store, host };
const engine: Engine = createEngine({ ...options, settings: { maxDepth: 2 }, log: { info() {}, error() {} } });
await engine.start();
const request = { description: "d", prompt: "p", agent: "general", fork: false, batch: null };
const task: Task = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
task.status satisfies "running" | "completed" | "error" | "cancelled" | "resumed";
const page: TaskPage = await store.tasks({ status: ["running"] });
page.tasks[0]?.run.result satisfies string | null | undefined;
const own: Pick<Host, "start" | "prompt" | "inspect" | "onEvent"> = {
  start: async (input: StartInput) => input.launchId,
  prompt: async (_session: string, input: PromptInput) => void input.text,
  inspect: async (): Promise<Evidence> => { throw new AsyncAgentsError("session_gone", "gone"); },
  onEvent: (listener: (event: HostEvent) => void) => { listener({ type: "session.idle", sessionId: "s" }); return () => {}; },
};
// @ts-expect-error: a store is required
createEngine({ host });
// @ts-expect-error: there is no such code
new AsyncAgentsError("no_such_code", "x");
export { own, postgresStore };
`,
  },
  {
    entry: "asyncagents/client",
    installed: [],
    program: `
import {
  AsyncAgentsError, type BackgroundTask, type Client, type ClientOptions, createClient, type ErrorCode, type LaunchBody,
  type LogMessage, type OperationInput, type OperationOutput, type StreamEvent, type TaskList, type BackgroundTaskStatus,
} from "asyncagents/client";
const options: ClientOptions = { url: "http://127.0.0.1:5165", token: "t" };
const client: Client = createClient(options);
const list: TaskList = await client.tasks({ status: ["running"] });
const task: BackgroundTask | undefined = list.tasks[0];
const status: BackgroundTaskStatus | undefined = task?.status;
task?.progress.tokens.input satisfies number | undefined;
const body: LaunchBody = { description: "d", prompt: "p" };
const launched: BackgroundTask = await client.launch(body);
const message: LogMessage | undefined = (await client.logs(launched.id)).messages[0];
message?.parts[0]?.type satisfies "text" | "reasoning" | "tool" | "file" | "other" | undefined;
for await (const event of client.events() as AsyncIterable<StreamEvent>) {
  if (event.type === "task.completed") event.task.result satisfies string | null;
  if (event.type === "reconnecting") event.code satisfies ErrorCode | null;
}
const input: OperationInput<"list_tasks"> = { project_id: "p" };
const output: OperationOutput<"list_tasks"> = await client.operate("list_tasks", input);
output.tasks[0]?.title satisfies string | undefined;
// @ts-expect-error: there is no such status
await client.tasks({ status: ["finished"] });
// @ts-expect-error: an operation that does not exist
await client.operate("list_nothing", {});
try { await client.task("none"); } catch (thrown) { if (AsyncAgentsError.isInstance(thrown)) thrown.code satisfies ErrorCode; }
export { status };
`,
  },
  {
    entry: "asyncagents/claude",
    installed: ["zod"],
    program: `
import {
  type AgentDefinition, type ClaudeOptions, type ClaudeSession, type ErrorCode, isMessage, openClaude, parseMessage,
  type SavedTask, type Task, TaskManager, type TaskOutcome, type TaskStatus, TaskTimeoutError, type WaitOptions,
} from "asyncagents/claude";
const agent: AgentDefinition = { description: "d", prompt: "p", model: "opus" };
const options: ClaudeOptions = { agents: { agent } };
const claude: ClaudeSession = await openClaude(options);
const wait: WaitOptions = { timeout: 5 };
const outcome: TaskOutcome = await claude.tasks.wait("a", wait);
const task: Task = claude.tasks.get("a");
const status: TaskStatus | "" = task.status();
const message = parseMessage({});
if (isMessage(message, "task_notification")) message.summary satisfies string;
declare const saved: SavedTask;
const manager = new TaskManager({ onTaskNotification: ({ status }) => status satisfies TaskStatus });
try { manager.get("a"); } catch (thrown) { if (thrown instanceof TaskTimeoutError) thrown.code satisfies ErrorCode; }
// @ts-expect-error: an id is a string
manager.get(5);
export { outcome, saved, status };
`,
  },
  {
    entry: "asyncagents/testing",
    installed: ["@opencode-ai/sdk", "@types/bun", "@types/node", "bun-types", "undici-types"],
    options: { types: ["bun"], lib: ["esnext"] },
    program: `
import {
  type Absent, agentScript, type AnthropicModel, type Host, type HostBed, hostConformance, modelScript, type OpenStore,
  type ScriptedHost, scriptedHost, startAnthropicModel, type Store, storeConformance,
} from "asyncagents/testing";
const model: AnthropicModel = await startAnthropicModel();
model.script("main", [modelScript.say("done")]);
const host: ScriptedHost = scriptedHost();
host satisfies Host;
const absent: Absent = { fork: "it has no history" };
declare const bed: () => Promise<HostBed>;
hostConformance("mine", bed, absent);
declare const open: () => Promise<OpenStore>;
storeConformance("mine", open);
const script: agentScript.ScriptedScript = [];
declare const store: Store;
// @ts-expect-error: no such member can be left out
const wrong: Absent = { prompt: "no" };
export { script, store, wrong };
`,
  },
];
