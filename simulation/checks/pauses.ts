/**
 * What is promised about runs that wait for their provider: each goes on once, with a prompt that says so, or ends. The
 * prompts with which runs go on are those that the store knows, and each is sent once.
 */
import type { Task } from "../../src/model/task.ts";
import type { Stage } from "../scenario/stage.ts";

export async function pausedRunsGoOnOnce({ machine, truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const { id } of tasks) {
    const counts = new Map<number, { pauses: number; sent: number }>();
    for (const { event } of await truth.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 5_000)) {
      // Where processes do not see each other, one that was taken for dead may have a prompt on its way.
      if (event.type === "task.adopted" && !machine.areVisible) for (const count of counts.values()) count.pauses++;
      if (event.type !== "run.paused" && event.type !== "run.continued") continue;
      const count = counts.get(event.run) ?? { pauses: 0, sent: 0 };
      counts.set(event.run, count);
      if (event.type === "run.paused") count.pauses++;
      else {
        const { sentBy, begun } = machine.work.of(event.messageId);
        if (sentBy.length > 0) count.sent++;
        if (sentBy.length > 1) found.push(`run ${event.run} of ${id} was told to go on by ${sentBy.join(" and ")}`);
        if (begun > 1) found.push(`run ${event.run} of ${id} went on ${begun} times with one prompt`);
      }
    }
    for (const [run, { pauses, sent }] of counts)
      if (sent > pauses) found.push(`run ${run} of ${id} was paused ${pauses} times, and told to go on ${sent} times`);
  }
  return found;
}
