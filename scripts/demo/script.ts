/**
 * The story of the demo: the project that the agents look at, what the user asks, and what the scripted model
 * answers. The scripted answers are built from what the model was really sent (tool results, its own history).
 */
import type { ModelRequest } from "../../src/testing/models/model-request.ts";
import { call, calls, fail, pause, type Script, say, scriptMarker } from "../../src/testing/models/script.ts";
import type { Expected } from "./check.ts";

export interface Story {
  /** The user's prompts: the first launches, the second resumes one task. */
  launch: string;
  followUp: string;
  expected: Expected;
}

export const projectFiles: Record<string, string> = {
  "README.md": "# Greengrocer\n\nA small shop: a cart, prices, and a receipt.\n",
  "src/cart.ts": `import { priceOf } from "./price.ts";

export interface Item {
  name: string;
  count: number;
}

// TODO: refuse a negative count
export function totalOf(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.count * priceOf(item.name), 0);
}
`,
  "src/price.ts": `const prices: Record<string, number> = { apple: 30, pear: 45, plum: 15 };

// TODO: read the prices from a file
export function priceOf(name: string): number {
  // TODO: say which name is unknown
  return prices[name] ?? 0;
}
`,
};

const READER = "Find the TODOs";
const FAILING = "Translate README";
const NAMING = "Suggest a name";

export const scriptedStory: Story = {
  launch: `Find the TODOs, translate the README and suggest a name for the shop. In the background, please. ${scriptMarker("launch")}`,
  followUp: `Ask the one who suggested names which was the second. ${scriptMarker("follow-up")}`,
  expected: {
    kind: "exactly",
    tasks: [
      { description: READER, status: "completed", resumes: 0 },
      { description: FAILING, status: "error", resumes: 0 },
      { description: NAMING, status: "completed", resumes: 1 },
    ],
  },
};

/** For a real model that reads. */
export const wordedStory: Story = {
  launch: `Call the tool asyncagents_task three times in one step, to launch three background agents in this small project:
1. agent "explore", description "${READER}": list every TODO comment under src, with file and line.
2. agent "explore", description "Explain the prices": read src/price.ts and say in two sentences what it does.
3. agent "general", description "${NAMING}": suggest three names for a greengrocer's shop, numbered, without using tools.
Do not wait for them, do not poll, and do not do their work yourself: say in one sentence that they are launched, and stop.
You are told when they end; then answer each time with one short sentence.`,
  followUp: `Call asyncagents_task with resume set to the id of the task "${NAMING}", and this prompt: "Which was your second suggestion?"
Do not wait for it: say in one sentence that it was asked, and stop. When you are told that it ended, repeat its answer.`,
  expected: { kind: "any model", least: 3 },
};

export const scripts: Record<string, Script> = {
  launch: [
    pause(400),
    calls(
      [
        { name: "asyncagents_task", input: job(READER, "explore", "List every TODO under src.", "reader") },
        { name: "asyncagents_task", input: job(FAILING, "general", "Translate README.md into Latin.", "failing") },
        { name: "asyncagents_task", input: job(NAMING, "general", "Suggest three names for the shop.", "naming") },
      ],
      "Three jobs: I hand each to an agent of its own.",
    ),
    say("All three are at work. I am free for something else meanwhile."),
    ...reactions(),
  ],
  "follow-up": [
    pause(300),
    call("asyncagents_task", (request) => ({
      resume: taskIdOf(request, NAMING),
      prompt: `Which was your second suggestion? ${scriptMarker("recall")}`,
    })),
    say("I asked it; it still knows what it said."),
    ...reactions(),
  ],
  reader: [
    pause(500),
    call("read", { filePath: "src" }),
    pause(800),
    call("read", { filePath: "src/cart.ts" }),
    pause(800),
    call("read", { filePath: "src/price.ts" }),
    pause(900),
    say((request) => `src/cart.ts: ${todosIn(request, "cart.ts")}. src/price.ts: ${todosIn(request, "price.ts")}.`),
  ],
  failing: [pause(700), fail(401, "Incorrect API key provided (a failure that the demo's script asks for)")],
  naming: [pause(1800), say("1. The Pear Tree\n2. Plum & Sons\n3. Apple Corner")],
  recall: [pause(1200), say((request) => `My second suggestion was "${secondSuggestion(request)}".`)],
};

function job(description: string, agent: string, prompt: string, script: string): Record<string, unknown> {
  return { description, agent, prompt: `${prompt} ${scriptMarker(script)}` };
}

/** How many notices arrive in one message depends on timing, so there are enough answers for each of them. */
function reactions(): Script {
  return Array.from({ length: 6 }, () => say(reaction));
}

function reaction(request: ModelRequest): string {
  const told = [...request.lastUserText.matchAll(/^([✓✗⊘]) \*\*(?:Agent "(.+)"|(Resume #\d+)) /gm)];
  const words = told.map(([, sign, name, resume]) => `${name ?? resume} ${sign === "✓" ? "is done" : "did not work"}`);
  return words.length > 0 ? `Noted: ${words.join(", ")}.` : "Noted.";
}

/** From the result of the call that launched it: calls and results have the same order. */
function taskIdOf(request: ModelRequest, description: string): string {
  const launches = request.toolCalls("asyncagents_task");
  const position = launches.findIndex(({ input }) => input.includes(description));
  return /ses_\w+/.exec(request.toolResults("asyncagents_task")[position] ?? "")?.[0] ?? "unknown";
}

/**
 * From what the read tool showed of that file. Not from grep: in a fresh HOME, OpenCode would have to download
 * ripgrep first.
 */
function todosIn(request: ModelRequest, file: string): string {
  const content = request.toolResults("read").find((result) => result.includes(`${file}</path>`)) ?? "";
  return [...content.matchAll(/TODO: (.+)/g)].map(([, text]) => text).join(", ") || "nothing to do";
}

function secondSuggestion(request: ModelRequest): string {
  return /^2\. (.+)$/m.exec(request.assistantTexts.join("\n"))?.[1] ?? "nothing: my history is gone";
}
