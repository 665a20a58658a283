/** All commands as one table, in the order of the help. Nothing else knows which there are. */
import { helpCommand, versionCommand } from "./about-commands.ts";
import { answerCommand, attemptAnswerCommand } from "./answer-commands.ts";
import { approvalsCommand, approveCommand, denyCommand } from "./approval-commands.ts";
import { ATTEMPT_COMMANDS } from "./attempt-commands.ts";
import type { Command } from "./command.ts";
import { completeCommand, completionCommand } from "./completion-commands.ts";
import { daemonCommand, downCommand, restartCommand, upCommand } from "./daemon-commands.ts";
import { doctorCommand } from "./doctor-command.ts";
import { installCommand } from "./install-command.ts";
import { ITEM_COMMANDS } from "./item-commands.ts";
import { linkCommand } from "./link-command.ts";
import { listCommand, showCommand } from "./list-commands.ts";
import { logsCommand } from "./logs-command.ts";
import { mcpCommand } from "./mcp-command.ts";
import { PROJECT_COMMANDS } from "./project-commands.ts";
import { REPO_COMMANDS } from "./repo-commands.ts";
import { REVIEW_COMMANDS } from "./review-commands.ts";
import { runCommand } from "./run-command.ts";
import { cancelCommand, forkCommand, resumeCommand, tellCommand, waitCommand } from "./steer-commands.ts";
import { STORE_COMMANDS } from "./store-commands.ts";
import { watchCommand } from "./watch-command.ts";

export const COMMANDS: readonly Command[] = [
  ...[runCommand, listCommand, showCommand, logsCommand, waitCommand, watchCommand],
  ...[cancelCommand, resumeCommand, forkCommand, tellCommand, answerCommand],
  ...[approvalsCommand, approveCommand, denyCommand],
  ...PROJECT_COMMANDS,
  ...REPO_COMMANDS,
  ...ITEM_COMMANDS,
  ...ATTEMPT_COMMANDS,
  ...REVIEW_COMMANDS,
  attemptAnswerCommand,
  ...[upCommand, downCommand, restartCommand, linkCommand, mcpCommand],
  ...STORE_COMMANDS,
  ...[installCommand, doctorCommand, completionCommand, versionCommand, helpCommand],
  ...[daemonCommand, completeCommand],
];
