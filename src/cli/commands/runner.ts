/** `runner`: a process that runs queued tasks, of this machine or of a whole fleet, until it is stopped. */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { QueueLimits } from "../../store/queue/run-queue.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { HOSTS, hostNamed } from "../host-names.ts";
import { assertPerson } from "../person-only.ts";

const MAX_RUNS = 4;
const DRAIN_MS = 10 * 60_000;

export const runnerCommand: Command = {
  name: "runner",
  summary: "run queued tasks until it is stopped",
  details:
    "Claims tasks that were launched with --queue and fit its hosts and labels. On SIGTERM or Ctrl-C it claims nothing more and waits for its tasks; a second signal interrupts them. Limits count the queued tasks of all runners that use the same store.",
  options: {
    hosts: {
      value: "names",
      summary: `which hosts it runs, separated by commas (default: ${HOSTS.slice(0, 2).join(",")})`,
    },
    label: { value: "name", multiple: true, summary: "a label that tasks may ask for; may be repeated" },
    max: { value: "number", summary: `how many tasks it runs at once (default: ${MAX_RUNS})` },
    limit: {
      value: "what=number",
      multiple: true,
      summary: "how many tasks all runners together run: total=50, host:claude=5, model:provider/model=3, label:gpu=2",
    },
    drain: { value: "time", summary: "how long it waits for its tasks when it is stopped (default: 10m)" },
  },
  examples: [
    "asyncagents runner",
    "asyncagents runner --hosts opencode,claude --label gpu --max 8",
    "asyncagents runner --limit total=50 --limit host:claude=5",
  ],
  ownsSignals: true,
  async run({ arguments: given, directory, environment, screen }) {
    // Its settings, and with them the rules about what agents may do, come from whoever starts it.
    assertPerson({ environment }, "start a runner");
    const names = given.text("hosts")?.split(",") ?? HOSTS.slice(0, 2);
    const hosts = names.map((name) => hostNamed(name, "--hosts"));
    const labels = [...new Set(given.texts("label"))];
    const { assertLabel } = await import("../../engine/queue/enqueue.ts");
    for (const label of labels) assertLabel(label);
    const { ending, hurry } = signals();
    // Only here: it brings the engine and all hosts, which would double the start of every other command.
    const { runRunnerProcess } = await import("../../daemon/runner-process.ts");
    const say = (says: string) =>
      screen.json ? screen.jsonLine({ at: new Date().toISOString(), says }) : screen.line(says);
    await runRunnerProcess({
      directory,
      environment: { ...environment },
      hosts,
      labels,
      max: given.count("max") ?? MAX_RUNS,
      limits: limitsOf(given.texts("limit")),
      drainMs: given.duration("drain") ?? DRAIN_MS,
      say,
      ending,
      hurry,
    });
    say("The runner has ended.");
    return EXIT.ok;
  },
};

/** The first signal ends it gently, the second one at once. */
function signals(): { ending: AbortSignal; hurry: AbortSignal } {
  const [ending, hurry] = [new AbortController(), new AbortController()];
  const end = () => (ending.signal.aborted ? hurry : ending).abort();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
  return { ending: ending.signal, hurry: hurry.signal };
}

function limitsOf(given: readonly string[]): QueueLimits {
  let limits: QueueLimits = {};
  for (const text of given) {
    const [, kind, name = "", number] = /^(total|host|model|label)(?::(.+))?=([1-9]\d{0,5})$/.exec(text) ?? [];
    if (kind === undefined || (kind === "total") !== (name === "")) {
      const forms = "total=50, host:claude=5, model:provider/model=3 or label:gpu=2";
      throw new AsyncAgentsError("invalid_input", `--limit takes ${forms}, not "${text.slice(0, 60)}".`);
    }
    const value = Number(number);
    if (kind === "total") limits = { ...limits, total: value };
    if (kind === "host") limits = { ...limits, hosts: { ...limits.hosts, [hostNamed(name, "--limit host:")]: value } };
    if (kind === "model") limits = { ...limits, models: { ...limits.models, [name]: value } };
    if (kind === "label") limits = { ...limits, labels: { ...limits.labels, [name]: value } };
  }
  return limits;
}
