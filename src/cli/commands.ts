/** The table of all commands, in the order of the help. The only list of them. */

import type { Command } from "./command.ts";
import { answerCommand, attemptAnswerCommand } from "./commands/answer.ts";
import { attachCommand } from "./commands/attach.ts";
import { auditCommand } from "./commands/audit.ts";
import { approvalsCommand, approveCommand, denyCommand } from "./commands/board/approval.ts";
import { ATTEMPT_COMMANDS } from "./commands/board/attempt.ts";
import { ITEM_COMMANDS } from "./commands/board/item.ts";
import { PROJECT_COMMANDS } from "./commands/board/project.ts";
import { REPO_COMMANDS } from "./commands/board/repo.ts";
import { REVIEW_COMMANDS } from "./commands/board/review.ts";
import { daemonCommand, downCommand, restartCommand, upCommand } from "./commands/daemon.ts";
import { exportCommand } from "./commands/export.ts";
import { inboxCommand, inboxReadCommand } from "./commands/inbox.ts";
import { linkCommand } from "./commands/link.ts";
import { listCommand } from "./commands/list.ts";
import { logsCommand } from "./commands/logs.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { openCommand } from "./commands/open.ts";
import { pruneCommand } from "./commands/prune.ts";
import { removeCommand } from "./commands/remove.ts";
import { runCommand } from "./commands/run.ts";
import { runnerCommand } from "./commands/runner.ts";
import { runnersCommand } from "./commands/runners.ts";
import { helpCommand, versionCommand } from "./commands/setup/about.ts";
import { agentsCommand } from "./commands/setup/agents.ts";
import { completeCommand, completionCommand } from "./commands/setup/completion.ts";
import { configCommand } from "./commands/setup/config.ts";
import { doctorCommand } from "./commands/setup/doctor.ts";
import { hookCommand } from "./commands/setup/hook.ts";
import { installCommand } from "./commands/setup/install.ts";
import { NOTIFICATION_COMMANDS } from "./commands/setup/notifications.ts";
import { showCommand } from "./commands/show.ts";
import { BUDGET_COMMANDS } from "./commands/spending/budget.ts";
import { statsCommand } from "./commands/spending/stats.ts";
import {
  cancelCommand,
  editCommand,
  forkCommand,
  resumeCommand,
  steerCommand,
  steeredCommand,
  tellCommand,
  waitCommand,
} from "./commands/steer.ts";
import { STORE_COMMANDS } from "./commands/store.ts";
import { TOKEN_COMMANDS } from "./commands/token.ts";
import { watchCommand } from "./commands/watch.ts";

export const COMMANDS: readonly Command[] = [
  runCommand,
  listCommand,
  showCommand,
  logsCommand,
  exportCommand,
  waitCommand,
  watchCommand,
  statsCommand,
  ...BUDGET_COMMANDS,
  cancelCommand,
  editCommand,
  removeCommand,
  steerCommand,
  steeredCommand,
  resumeCommand,
  forkCommand,
  tellCommand,
  attachCommand,
  inboxCommand,
  inboxReadCommand,
  answerCommand,
  ...NOTIFICATION_COMMANDS,
  approvalsCommand,
  approveCommand,
  denyCommand,
  ...PROJECT_COMMANDS,
  ...REPO_COMMANDS,
  ...ITEM_COMMANDS,
  ...ATTEMPT_COMMANDS,
  ...REVIEW_COMMANDS,
  attemptAnswerCommand,
  upCommand,
  downCommand,
  restartCommand,
  runnerCommand,
  runnersCommand,
  openCommand,
  linkCommand,
  mcpCommand,
  hookCommand,
  ...TOKEN_COMMANDS,
  auditCommand,
  ...STORE_COMMANDS,
  pruneCommand,
  installCommand,
  configCommand,
  doctorCommand,
  agentsCommand,
  completionCommand,
  versionCommand,
  helpCommand,
  daemonCommand,
  completeCommand,
];
