/**
 * The two sides of the comparison: how a model launches a background task on each, and which scripts it follows. Both
 * get the same description, the same prompt and the same answer from the child.
 */
import { call, calls, gate, pause, type Script, say, scriptMarker } from "../../src/testing/models/script.ts";

export type Side = "ours" | "theirs";

export interface Contender {
  side: Side;
  label: string;
  /** The tool that launches. */
  tool: string;
  /** Whether a tool of this name belongs to this side. */
  owns(toolName: string): boolean;
  /** The tool's arguments. */
  input(prompt: string): Record<string, unknown>;
}

export const CHILD_ANSWER =
  "The module has three callers; two of them pass a limit, one relies on the default. ".repeat(5);

const description = "find the callers";
const agent = "general";

export const contenders: Record<Side, Contender> = {
  ours: {
    side: "ours",
    label: "asyncagents",
    tool: "asyncagents_task",
    owns: (name) => name.startsWith("asyncagents_"),
    input: (prompt) => ({ description, prompt, agent }),
  },
  theirs: {
    side: "theirs",
    label: "OpenCode's task",
    tool: "task",
    owns: (name) => name === "task",
    input: (prompt) => ({ description, prompt, subagent_type: agent, background: true }),
  },
};

/** The user's prompt to the parent in one trial; the trial's name identifies its child. */
export function parentPrompt(contender: Contender, trial: string): string {
  return `${scriptMarker(contender.side)} Launch trial <${trial}>.`;
}

export function childPrompt(trial: string): string {
  return `${scriptMarker("child")} Find the callers of the module and how they set the limit (trial <${trial}>).`;
}

/**
 * The idle time before each timed step. A toast follows a launch and an end by 300 ms, and after each HTTP request
 * OpenCode collects garbage repeatedly for about 100 ms; a real task takes longer than both.
 */
export const REST_MS = 600;

/** The number of tasks that one answer of the model launches in the trials with many tasks. */
export const MANY = 60;

/** The user's prompt to the parent in a trial with many tasks. */
export function manyPrompt(contender: Contender, trial: string): string {
  return `${scriptMarker(`many-${contender.side}`)} Launch trial <${trial}>.`;
}

/** The answer of a child in a trial with many tasks; the parent has been notified once a request contains it. */
export function manyAnswer(trial: string, index: number): string {
  return `answer <${trial}/${index}>`;
}

function manyParent({ tool, input }: Contender): Script {
  const launch = (index: number) => ({
    name: tool,
    input: ({ lastUserText }: { lastUserText: string }) =>
      input(`${scriptMarker("quick-child")} Find caller <${trialOf(lastUserText)}/${index}> of the module.`),
  });
  return [pause(REST_MS), calls(Array.from({ length: MANY }, (_, index) => launch(index))), say("Launched. I wait.")];
}

function trialOf(text: string): string {
  return /<([^>]+)>/.exec(text)?.[1] ?? "?";
}

/**
 * The child's answer waits at the gate named after its session; children in trials with many tasks answer
 * immediately.
 */
export function scripts(): Record<string, Script> {
  const parent = ({ tool, input }: Contender): Script => [
    pause(REST_MS),
    call(tool, ({ lastUserText }) => input(childPrompt(trialOf(lastUserText)))),
    say("Launched. I wait."),
    say("Noted."),
  ];
  return {
    ours: parent(contenders.ours),
    theirs: parent(contenders.theirs),
    "many-ours": manyParent(contenders.ours),
    "many-theirs": manyParent(contenders.theirs),
    "quick-child": [say(({ lastUserText }) => `answer <${trialOf(lastUserText)}>`)],
    child: [gate((request) => request.sessionId), say(CHILD_ANSWER)],
  };
}
