/**
 * What the scripted model answers to one prompt, as the simulator planned the agent's turn, in the shorter time of a
 * real run. The last text names the prompt, so that a result can be traced to its answer.
 */
import type { TurnPlan } from "../../../simulation/agents/turn-plan.ts";
import { call, empty, fail, gate, pause, type Script, type Step, say } from "../../../src/testing/models/script.ts";

/** OpenCode waits a second before each retry. */
const RETRIES = 2;

export function answerOf(name: string): string {
  return `Done: ${name}`;
}

export function turnScript(name: string, plan: TurnPlan, scale: (ms: number) => number): Script {
  const steps = plan.steps.flatMap((step, index) => [pause(scale(step.ms)), stepOf(step, index)]);
  return [...steps, pause(scale(plan.endMs)), ...endOf(name, plan)];
}

function stepOf(step: TurnPlan["steps"][number], index: number): Step {
  switch (step.does) {
    case "call":
      return call("read", { filePath: step.fails ? "no-such-file.txt" : "README.md", limit: index + 1 });
    case "write":
      return call("read", { filePath: "README.md", limit: index + 1 }, "Something.");
    case "retry":
      return fail(503, step.reason, { times: Math.min(step.count, RETRIES), retryAfter: 1 });
    case "ask":
      return call("bash", { command: `echo ${index}`, description: "Needs a permission" });
  }
}

function endOf(name: string, { end }: TurnPlan): Step[] {
  switch (end) {
    case "answer":
      return [say(answerOf(name))];
    case "error":
    // Nobody waits here until a provider is back.
    case "refused":
    // A model cannot make OpenCode reject a prompt: its error is the nearest to it.
    case "rejected":
      return [fail(400, "The provider failed.")];
    case "nothing":
      return [empty()];
    case "never":
      return [gate(`never: ${name}`), say("This is never said.")];
  }
}
