/** `attempt follow|queue|cancel-queue|diff|merge`: going on with an attempt, and taking its work over. The rules are the board's. */
import type { OperationInput } from "../client/operations.ts";
import { ATTEMPT } from "./attempt-commands.ts";
import { waitForAttempt } from "./attempt-waiting.ts";
import type { Command, Invocation } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { findAttempt } from "./identifiers.ts";
import type { Paint } from "./paint.ts";
import { promptText } from "./prompt-text.ts";
import { counted, shortId } from "./text.ts";

const PROMPT = { name: "prompt", shown: '"prompt"' };
const MAX_DIFF = 1_000_000;

const follow: Command = {
  name: "attempt follow",
  summary: "continue an attempt's session with a prompt, now",
  details: "Refused while the session is busy; `asyncagents attempt queue` keeps the prompt until it is idle.",
  operands: [ATTEMPT, PROMPT],
  options: {
    agent: { value: "name", short: "a", summary: "another agent of the host" },
    wait: { summary: "wait until it has ended" },
    timeout: { value: "time", summary: "with --wait: give up waiting after, for example, 30s or 10m" },
  },
  examples: ['asyncagents attempt follow 9b1deb4d "Add a test for the empty list" --wait'],
  run: (invocation) => followUp(invocation, "send"),
};

const queue: Command = {
  name: "attempt queue",
  summary: "queue a prompt until an attempt's session is idle",
  operands: [ATTEMPT, PROMPT],
  options: { agent: { value: "name", short: "a", summary: "another agent of the host" } },
  examples: ['asyncagents attempt queue 9b1deb4d "Then update the changelog"'],
  run: (invocation) => followUp(invocation, "queue"),
};

const cancelQueue: Command = {
  name: "attempt cancel-queue",
  summary: "remove all prompts that are queued for an attempt",
  operands: [ATTEMPT],
  run: (invocation) => followUp(invocation, "cancel"),
};

async function followUp(invocation: Invocation, action: "send" | "queue" | "cancel"): Promise<number> {
  const { arguments: given, connection, screen } = invocation;
  const timeoutMs = given.duration("timeout");
  const prompt = action === "cancel" ? {} : { prompt: await promptText(given.operand(1)) };
  const variant = given.text("agent");
  const client = await connection.client();
  const attempt_id = await findAttempt(client, given.operand(0));
  const input: OperationInput<"follow_up"> = {
    attempt_id,
    action,
    ...prompt,
    ...(variant === undefined ? {} : { variant }),
  };
  const answer = await screen.during("starting the agent", client.operate("follow_up", input));
  if (given.flag("wait")) return waitForAttempt(invocation, attempt_id, timeoutMs);
  const said = {
    send: `It runs (run ${answer.run ?? "?"}). asyncagents attempt logs -f ${shortId(attempt_id)}`,
    queue: `Queued: ${answer.queued_count} wait for the session to be idle.`,
    cancel: `Nothing is queued any more.`,
  }[action];
  screen.show(answer, () => screen.line(said));
  return EXIT.ok;
}

const diff: Command = {
  name: "attempt diff",
  summary: "show what an attempt changed since its target branch",
  operands: [ATTEMPT],
  options: { stat: { summary: "only how much changed" } },
  examples: ["asyncagents attempt diff 9b1deb4d | less -R", "asyncagents attempt diff 9b1deb4d --stat"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await findAttempt(client, given.operand(0));
    const answer = await client.operate("get_attempt_diff", { attempt_id, max_bytes: MAX_DIFF });
    screen.show(answer, () => {
      for (const repo of answer.repos) {
        const { paint } = screen;
        const changed = `${counted(repo.files, "file")}, ${paint.green(`+${repo.insertions}`)} ${paint.red(`-${repo.deletions}`)}`;
        if (given.flag("stat")) screen.line(`${repo.repo_name}  ${changed}`);
        else for (const line of repo.diff.trimEnd().split("\n")) screen.line(paintedDiff(line, paint));
        if (repo.truncated) screen.hint(`The diff of ${repo.repo_name} is cut after ${MAX_DIFF} bytes.`);
      }
    });
    return EXIT.ok;
  },
};

function paintedDiff(line: string, paint: Paint): string {
  if (/^(diff |index |\+\+\+ |--- |new file|deleted file|rename |similarity )/.test(line)) return paint.bold(line);
  if (line.startsWith("@@")) return paint.cyan(line);
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}

const merge: Command = {
  name: "attempt merge",
  summary: "merge an attempt into its target branch and remove its worktrees",
  details: "What is uncommitted there is committed first. On a conflict nothing is changed.",
  operands: [ATTEMPT],
  options: {
    message: { value: "text", short: "m", summary: "the commit message; the item's title when absent" },
    squash: { summary: "one commit without the attempt's history" },
    keep: { summary: "keep the worktrees and branches" },
  },
  examples: ["asyncagents attempt merge 9b1deb4d --squash -m 'Faster tests'"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await findAttempt(client, given.operand(0));
    const message = given.text("message");
    const merging = client.operate("merge_attempt", {
      attempt_id,
      ...(message === undefined ? {} : { message }),
      ...(given.flag("squash") ? { squash: true } : {}),
      ...(given.flag("keep") ? { keep: true } : {}),
    });
    const answer = await screen.during("merging", merging);
    screen.show(answer, () => {
      for (const { target_branch, commit, changed } of answer.merged) {
        screen.line(
          changed ? `${target_branch} is at ${commit.slice(0, 12)} now.` : `${target_branch} had everything already.`,
        );
      }
      screen.line(`The item is ${answer.task_status}; the worktrees ${answer.removed ? "are removed" : "stay"}.`);
    });
    for (const warning of answer.warnings ?? []) screen.hint(warning);
    return EXIT.ok;
  },
};

export const REVIEW_COMMANDS: readonly Command[] = [follow, queue, cancelQueue, diff, merge];
