/** The board's "not found" errors: what was missing, which id, and where ids are listed. */
import { AsyncAgentsError } from "../model/errors.ts";

const WHERE = {
  project: "list_projects shows them; add_project makes one",
  repo: "list_repos shows those of a project; add_repo adds one",
  task: "list_tasks shows those of a project",
  attempt: "list_task_attempts shows those of a task",
  session: "list_task_attempts shows the latest session of each attempt",
  approval: "list_approvals shows them",
  handle: "launch_task gives handles",
} as const;

export function notFound(what: keyof typeof WHERE, id: string): AsyncAgentsError {
  const message = `There is no ${what} ${id.slice(0, 200)}: ${WHERE[what]}.`;
  return new AsyncAgentsError("not_found", message, { details: { what, id: id.slice(0, 200) } });
}
