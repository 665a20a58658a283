/** A batch with a past for `seeded-bed.ts`: runs with calls, waiting and retrying, one of three hours, one at work. */

import { callBegan, callEnded, noSpans, phaseBegan, type WorkSpans } from "../../../src/model/live-run/work-spans.ts";
import { noProgress } from "../../../src/model/progress.ts";
import type { Store } from "../../../src/store/store.ts";
import { newTask } from "../../../src/testing/sample-task.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const HOSTILE_TOOL = "evil\u202e<img src=x onerror=alert(1)>";

type Step = [what: "call" | "fail" | "waiting" | "retrying" | "think", ms: number, name?: string];

export interface StoryTask {
  id: string;
  description: string;
  agoMs: number;
  steps: readonly Step[];
  end: "completed" | "error" | null;
  model?: string | null;
  cost?: number;
  batchId?: string;
  parentSessionId?: string;
}

const READING: Step[] = [
  ["think", 4 * SECOND],
  ["call", 900, "read"],
  ["call", 1_400, "grep"],
  ["think", 9 * SECOND],
];

export const STORY: readonly StoryTask[] = [
  {
    id: "ses_review",
    description: "Review the checkout for mistakes",
    agoMs: 9 * MINUTE,
    steps: [
      ...READING,
      ["call", 48 * SECOND, "bash"],
      ["waiting", 70 * SECOND],
      ["call", 6 * SECOND, "edit"],
      ...READING,
    ],
    end: "completed",
    model: "anthropic/claude-sonnet-4-5",
    cost: 0.84,
  },
  {
    id: "ses_tests",
    description: "Write tests for the cart, with every rounding rule that the tax office has published since 2011",
    agoMs: 8 * MINUTE,
    steps: [
      ...READING,
      ["retrying", 55 * SECOND],
      ["fail", 20 * SECOND, "bash"],
      ["call", 30 * SECOND, "bash"],
      ...READING,
    ],
    end: "error",
    model: "openai/gpt-5.2",
    cost: 0.31,
  },
  {
    id: "ses_one",
    description: "Count the files",
    agoMs: 7 * MINUTE,
    steps: [
      ["think", 2 * SECOND],
      ["call", 40, HOSTILE_TOOL],
      ["think", 3 * SECOND],
    ],
    end: "completed",
    model: "local/qwen3",
    cost: 0,
  },
  {
    id: "ses_many",
    description: "Rename the currency in 500 files",
    agoMs: 7 * MINUTE,
    steps: Array.from({ length: 500 }, (_, index): Step[] => [
      ["call", 90 + (index % 7) * 30, index % 3 ? "edit" : "read"],
      ["think", 200 + (index % 11) * 40],
    ]).flat(),
    end: "completed",
    model: "anthropic/claude-sonnet-4-5",
    cost: 2.1,
  },
  {
    id: "ses_live",
    description: "Prepare the release notes",
    agoMs: 4 * MINUTE,
    steps: [...READING, ["waiting", 60 * SECOND], ["call", 12 * SECOND, "webfetch"], ...READING, ["call", 0, "bash"]],
    end: null,
    model: "anthropic/claude-sonnet-4-5",
    cost: 0.12,
  },
];

/** A run of three hours with calls of 50 ms. */
export const LONG: StoryTask = {
  id: "ses_long",
  description: "Watch the deployment",
  agoMs: 200 * MINUTE,
  steps: Array.from({ length: 2_160 }, (): Step[] => [
    ["call", 50, "bash"],
    ["think", 4_950],
  ]).flat(),
  end: "completed",
  batchId: "long",
  model: "anthropic/claude-sonnet-4-5",
  cost: 1.4,
};

export async function tell(store: Store, story: StoryTask, now = Date.now()): Promise<void> {
  const { id, description, batchId = "release", steps, end, model = null, cost = 0, parentSessionId = "" } = story;
  const startedAt = now - story.agoMs;
  let at = startedAt;
  let spans: WorkSpans = phaseBegan(noSpans(), "starting", at);
  at += 600;
  spans = phaseBegan(spans, "working", at);
  const names: Record<string, number> = {};
  steps.forEach(([what, ms, name = ""], index) => {
    const isOpen = end === null && index === steps.length - 1;
    if (what === "waiting" || what === "retrying") {
      spans = phaseBegan(phaseBegan(spans, what, at), "working", at + ms);
    } else if (what !== "think") {
      names[name] = (names[name] ?? 0) + 1;
      spans = callBegan(spans, `call${index}`, name, at);
      if (!isOpen) spans = callEnded(spans, `call${index}`, what === "fail", at + ms);
    }
    at += ms;
  });
  const toolCalls = Object.values(names).reduce((sum, count) => sum + count, 0);
  const tokens = { input: 18_000 + toolCalls * 90, output: 2_400, reasoning: 0, cacheRead: 40_000, cacheWrite: 900 };
  const progress = {
    ...noProgress(at),
    toolCalls,
    toolCallsByName: names,
    lastTools: Object.keys(names),
    tokens,
    cost,
  };
  const task = newTask(id, { description, batchId, model, parentSessionId, agent: "build", owner: null });
  await store.apply(id, { type: "task.created", at: startedAt, task });
  const working = { type: "run.phased", at: startedAt + 600, run: 0, phase: "working", detail: null } as const;
  await store.apply(id, working);
  await store.apply(id, { type: "run.progressed", at, run: 0, progress }, undefined, spans.list);
  if (end === null) return;
  const ended = phaseBegan(spans, null, at).list;
  if (end === "completed")
    await store.apply(id, { type: "run.completed", at, run: 0, result: "Done.", progress }, undefined, ended);
  else
    await store.apply(
      id,
      { type: "run.failed", at, run: 0, error: "The tests still fail.", progress },
      undefined,
      ended,
    );
}
