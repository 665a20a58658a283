/**
 * The content of the screenshots: a parent that has several agents work on a small shop at once. Only data; the
 * answers go through the real OpenCode, its tools and our plugin.
 */
import { call, fail, gate, pause, type Script, say } from "../../src/testing/models/script.ts";

export interface Part {
  description: string;
  agent: string;
  prompt: string;
  steps: Script;
}

export const agents = {
  reviewer: { mode: "subagent", description: "Reviews changes for mistakes" },
  tester: { mode: "subagent", description: "Writes and runs tests" },
};

export const files = {
  "README.md": "# Greengrocer\n\nA small shop: a cart, prices, and a receipt.\n",
  "src/cart.ts":
    'import { priceOf } from "./price.ts";\n\n// TODO: reject a negative count\nexport function totalOf(items: { name: string; count: number }[]): number {\n  return items.reduce((sum, item) => sum + item.count * priceOf(item.name), 0);\n}\n',
  "src/price.ts":
    "const prices: Record<string, number> = { apple: 30, pear: 45, plum: 15 };\n\nexport function priceOf(name: string): number {\n  return prices[name] ?? 0;\n}\n",
};

const bash = (command: string, description: string) => call("bash", { command, description });
const read = (filePath: string) => call("read", { filePath });
const search = (word: string) => bash(`grep -rn ${word} src`, `Looks for ${word}`);

const FOUND = `Found **two** mistakes:

| file | line | what |
|---|---|---|
| \`src/cart.ts\` | 4 | a negative count lowers the total |
| \`src/price.ts\` | 4 | an unknown name costs nothing |

\`\`\`ts
if (count < 0) throw new RangeError("count must not be negative");
\`\`\`

Both are small; I would fix the first one today.`;

/** Launched first, all in one message: they form the group of the timeline. */
export const first: Part[] = [
  {
    description: "Find mistakes in the cart",
    agent: "reviewer",
    prompt:
      "Read the cart and the prices. List every mistake with file and line, worst first, and say which one you would fix today.",
    steps: [read("src/cart.ts"), pause(700), read("src/price.ts"), pause(900), search("TODO"), pause(600), say(FOUND)],
  },
  {
    description: "Write tests for totals",
    agent: "tester",
    prompt: "Write tests for totalOf: empty cart, several items, an unknown name.",
    steps: [
      read("src/cart.ts"),
      pause(1500),
      bash("ls src && echo '3 tests written'", "Lists the sources"),
      pause(2200),
      say("Three tests are written; **all pass**."),
      pause(1400),
      say("The fourth test is in: it fails, as expected, until a negative count is rejected."),
    ],
  },
  {
    description: "Translate the README to German",
    agent: "general",
    prompt: "Translate README.md to German.",
    steps: [pause(1200), fail(400, "insufficient credit: add funds to continue")],
  },
  {
    description: "Count lines by folder",
    agent: "explore",
    prompt: "How many lines does each folder have?",
    steps: [bash("wc -l src/*", "Counts the lines"), pause(400), say("`src` has 10 lines in two files.")],
  },
  {
    description: "Look for unused exports",
    agent: "explore",
    prompt: "Which exports are never imported?",
    steps: [search("export"), pause(2600), say("None: each export is used.")],
  },
  {
    description: "Try the shop in a browser",
    agent: "tester",
    prompt: "Open the shop and buy a pear.",
    steps: [pause(900), gate("cancelled"), say("never said")],
  },
];

/** Launched later, and still running when the pictures are taken. */
export const later: Part[] = [
  {
    description: "Reject a negative count",
    agent: "general",
    prompt: "Make totalOf reject a negative count, then run the tests.",
    steps: [
      read("src/cart.ts"),
      pause(800),
      bash("sed -n 1,3p src/cart.ts", "Shows the place"),
      gate("working"),
      say("never said"),
    ],
  },
  {
    description: "Draft the release notes for 1.4",
    agent: "general",
    prompt: "Write the release notes since 1.3.",
    steps: [bash("git log --oneline | head -5", "Reads the history"), gate("working"), say("never said")],
  },
];
