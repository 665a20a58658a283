/** The names of the tools in the order in which clients see them, written out: clients rely on them. */

export const CORE_TOOLS = [
  "list_projects",
  "list_repos",
  "list_tasks",
  "list_task_attempts",
  "get_task",
  "create_task",
  "update_task",
  "delete_task",
  "start_task_attempt",
  "follow_up",
];
/** What the extended toolset adds. */
export const EXTENDED_TOOLS = [
  "get_attempt",
  "stop_attempt",
  "get_attempt_diff",
  "merge_attempt",
  "answer_question",
  "add_project",
  "add_repo",
  "list_executors",
  "launch_task",
  "wait_tasks",
  "list_inbox",
  "steer_task",
  "lower_budget",
];
