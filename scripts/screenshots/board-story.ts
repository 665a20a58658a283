/**
 * The board's content in the screenshots: work items of the same small shop, and what the agents do for them. Only
 * data; the answers go through the real daemon, OpenCode and git.
 */
import type { WORK_ITEM_STATUSES } from "../../src/protocol/fields.ts";
import { call, fail, gate, type Script, say } from "../../src/testing/models/script.ts";

export interface BoardItem {
  title: string;
  description: string;
  /** What its attempt does; absent if it has no attempt. */
  steps?: Script;
  /** Its final status, if the board does not set it by itself. */
  ends?: "merge" | (typeof WORK_ITEM_STATUSES)[number];
}

const write = (filePath: string, content: string) => call("write", { filePath, content });
const bash = (command: string, description: string) => call("bash", { command, description });

const CART = `import { priceOf } from "./price.ts";

export interface Item {
  name: string;
  count: number;
}

/** The sum of all items, in cents. Counts must not be negative. */
export function totalOf(items: readonly Item[]): number {
  for (const { name, count } of items) {
    if (count < 0) throw new RangeError(\`\${name}: count must not be negative, but is \${count}\`);
  }
  return items.reduce((sum, item) => sum + item.count * priceOf(item.name), 0);
}
`;

const TEST = `import { expect, test } from "bun:test";
import { totalOf } from "../src/cart.ts";

test("a negative count is rejected", () => {
  expect(() => totalOf([{ name: "pear", count: -1 }])).toThrow(RangeError);
});
`;

export const REVIEWED = "Reject a negative count";

/** Oldest first. */
export const boardItems: BoardItem[] = [
  { title: "Rewrite the shop in assembler", description: "It would be faster.", ends: "cancelled" },
  {
    title: "Describe how to start the shop",
    description: "One line is enough.",
    steps: [write("START.md", "# Start\n\n    bun src/shop.ts\n"), say("It is in START.md.")],
    ends: "merge",
  },
  { title: "Show the receipt as a PDF", description: "With the shop’s name on top." },
  { title: "A cart that survives a restart", description: "Keep it in a file." },
  {
    title: "Translate the receipt to German",
    description: "Keep the amounts as they are.",
    steps: [bash("ls src", "Lists the sources"), fail(400, "insufficient credit: add funds to continue")],
    ends: "todo",
  },
  {
    title: "Round prices the way the till does",
    description: "Half a cent is rounded up.",
    steps: [write("src/round.ts", "export const round = (cents: number) => Math.floor(cents + 0.5);\n"), say("Done.")],
  },
  {
    title: REVIEWED,
    description: "totalOf accepts any count today.\n\n- Reject counts below zero.\n- Add a test for it.",
    steps: [
      call("read", { filePath: "src/cart.ts" }),
      write("src/cart.ts", CART),
      write("test/cart.test.ts", TEST),
      bash("git status --short", "Shows what changed"),
      say(
        "`totalOf` now **rejects** a negative count with a `RangeError` that names the item. The new test is in `test/cart.test.ts`.",
      ),
    ],
  },
  {
    title: "Draft the release notes for 1.4",
    description: "Since 1.3.",
    steps: [bash("git log --oneline | head -5", "Reads the history"), gate("board"), say("never said")],
  },
  {
    title: "Change the prices for the summer",
    description: "Ask before you do.",
    steps: [
      call("question", {
        questions: [
          {
            question: "Should pears cost more in the summer?",
            header: "Pears",
            options: [
              { label: "Yes", description: "5 cents more" },
              { label: "No", description: "As they are" },
            ],
          },
        ],
      }),
      say("never said"),
    ],
  },
];
