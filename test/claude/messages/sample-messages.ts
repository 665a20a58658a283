/**
 * Messages of a Claude session, as a real CLI sends them, with changes that a test wants; and the recorded streams.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Fields = Record<string, unknown>;
export type Sample = Fields & { type: string; subtype?: string; uuid: string };

let made = 0;

const system = (subtype: string, fields: Fields): Sample => ({
  type: "system",
  subtype,
  uuid: `00000000-0000-4000-8000-${String(made++).padStart(12, "0")}`,
  session_id: "2f9343b3-79fc-413d-ab9c-dcb03535433e",
  ...fields,
});

export const started = (task_id: string, run_id?: string, fields: Fields = {}): Sample =>
  system("task_started", {
    task_id,
    run_id,
    tool_use_id: `toolu_${task_id}`,
    description: `Job ${task_id}`,
    is_backgrounded: true,
    subagent_type: "analyzer",
    task_type: "local_agent",
    prompt: "Do it",
    spawn_depth: 1,
    ...fields,
  });

export const progress = (task_id: string, run_id: string | undefined, duration_ms: number): Sample =>
  system("task_progress", {
    task_id,
    run_id,
    description: "Running x",
    last_tool_name: "Bash",
    usage: { total_tokens: 100 + duration_ms, tool_uses: 1, duration_ms },
  });

export const updated = (task_id: string, run_id: string | undefined, patch: Fields): Sample =>
  system("task_updated", { task_id, run_id, patch });

export const notified = (task_id: string, run_id?: string, fields: Fields = {}): Sample =>
  system("task_notification", {
    task_id,
    run_id,
    status: "completed",
    summary: `${task_id} is done`,
    output_file: `/tmp/${task_id}.output`,
    usage: { total_tokens: 120, tool_uses: 1, duration_ms: 1792 },
    ...fields,
  });

/** Pairs of task and run. */
export const listed = (...tasks: [task_id: string, run_id?: string][]): Sample =>
  system("background_tasks_changed", {
    tasks: tasks.map(([task_id, run_id]) => ({ task_id, run_id, task_type: "local_agent", description: "Job" })),
  });

const folder = join(import.meta.dir, "fixtures");

/** The streams recorded from the real CLI, by name. */
export const recorded: Map<string, Sample[]> = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => [file.replace(".jsonl", ""), linesOf(join(folder, file))]),
);

function linesOf(path: string): Sample[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}
