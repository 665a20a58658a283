/**
 * `attempt follow|queue|cancel-queue|diff|merge`: continues an attempt, and reviews and merges its work. The board
 * enforces the rules.
 */
import type { OperationInput, OperationOutput } from "../../../protocol/operations.ts";
import type { Command, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { waitForAttempt } from "../../following/attempt-waiting.ts";
import { resolveAttempt } from "../../identifiers.ts";
import { promptText } from "../../prompt-text.ts";
import { ownWords, runForPeople } from "../../terminal/own-words.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { Screen } from "../../terminal/screen.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { oneLine, quantity, shortId } from "../../terminal/text.ts";
import { ATTEMPT } from "./attempt.ts";

const PROMPT = { name: "prompt", shown: '"prompt"' };
const MAX_DIFF = 1_000_000;
const MAX_FILES = 10_000;
const MAX_MARKS = 40;

const follow: Command = {
  name: "attempt follow",
  summary: "continue an attempt's session with a prompt, now",
  details: "Refused while the session is busy; `asyncagents attempt queue` sends the prompt when it is idle.",
  operands: [ATTEMPT, PROMPT],
  options: {
    agent: { value: "name", short: "a", summary: "use another agent of the host" },
    wait: { summary: "wait until it ends" },
    timeout: { value: "time", summary: "with --wait: stop waiting after this time, for example 30s or 10m" },
  },
  examples: ['asyncagents attempt follow 9b1deb4d "Add a test for the empty list" --wait'],
  run: (invocation) => followUp(invocation, "send"),
};

const queue: Command = {
  name: "attempt queue",
  summary: "queue a prompt for when an attempt's session is idle",
  operands: [ATTEMPT, PROMPT],
  options: { agent: { value: "name", short: "a", summary: "use another agent of the host" } },
  examples: ['asyncagents attempt queue 9b1deb4d "Then update the changelog"'],
  run: (invocation) => followUp(invocation, "queue"),
};

const cancelQueue: Command = {
  name: "attempt cancel-queue",
  summary: "remove all queued prompts of an attempt",
  operands: [ATTEMPT],
  run: (invocation) => followUp(invocation, "cancel"),
};

async function followUp(invocation: Invocation, action: "send" | "queue" | "cancel"): Promise<number> {
  const { arguments: given, connection, screen } = invocation;
  const timeoutMs = given.duration("timeout");
  const prompt = action === "cancel" ? {} : { prompt: await promptText(given.operand(1)) };
  const variant = given.text("agent");
  const client = await connection.client();
  const attempt_id = await resolveAttempt(client, given.operand(0));
  const input: OperationInput<"follow_up"> = {
    attempt_id,
    action,
    ...prompt,
    ...(variant === undefined ? {} : { variant }),
  };
  const answer = await screen.during("starting the agent", client.operate("follow_up", input));
  if (given.flag("wait")) return waitForAttempt(invocation, attempt_id, timeoutMs);
  const said = {
    send: `It is running (run ${runForPeople(answer.run ?? 0)}). asyncagents attempt logs -f ${shortId(attempt_id)}`,
    queue: `Queued: ${answer.queued_count} waiting until the session is idle.`,
    cancel: `The queue is empty.`,
  }[action];
  screen.show(answer, () => screen.line(said));
  return EXIT.ok;
}

const diff: Command = {
  name: "attempt diff",
  summary: "show what an attempt changed since its target branch",
  operands: [ATTEMPT],
  options: { stat: { summary: "show only the changed lines per file" } },
  examples: ["asyncagents attempt diff 9b1deb4d | less -R", "asyncagents attempt diff 9b1deb4d --stat"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await resolveAttempt(client, given.operand(0));
    const answer = await client.operate("get_attempt_diff", { attempt_id, max_bytes: MAX_DIFF, max_files: MAX_FILES });
    screen.show(answer, () => {
      for (const [index, repo] of answer.repos.entries()) {
        // Diffs of several repositories may repeat file names.
        if (answer.repos.length > 1) {
          if (index > 0) screen.line();
          screen.line(screen.paint.bold(screen.paint.cyan(`▌ ${oneLine(repo.repo_name)}`)));
        }
        if (given.flag("stat")) showStat(repo, screen);
        else if (repo.diff !== "") {
          for (const line of repo.diff.replace(/\n$/, "").split("\n")) screen.line(paintedDiff(line, screen.paint));
        } else if (repo.complete) screen.hint("No changes.");
        for (const hint of given.flag("stat") ? [] : incompleteHints(repo)) screen.hint(hint);
      }
    });
    return EXIT.ok;
  },
};

type RepoDiff = OperationOutput<"get_attempt_diff">["repos"][number];

/** What the diff left out. */
function incompleteHints({ repo_name, truncated, unread, changed_files }: RepoDiff): string[] {
  const name = oneLine(repo_name);
  const cut = changed_files.filter(({ shown }) => shown !== "whole");
  return [
    ...(truncated
      ? [`The diff of ${name} is cut after ${MAX_DIFF} bytes; ${quantity(cut.length, "file")} incomplete.`]
      : []),
    ...(unread === null ? [] : [`Git could not read all of ${name}: ${oneLine(unread)}`]),
  ];
}

type ChangedFile = RepoDiff["changed_files"][number];

/** Like `git diff --stat`: the marks are scaled when a file has more changed lines than there is room for. */
function showStat(repo: RepoDiff, screen: Screen): void {
  const { paint, width } = screen;
  const marked = ({ insertions, deletions }: ChangedFile) => {
    const scale = Math.min(1, MAX_MARKS / Math.max(1, insertions + deletions));
    return "+".repeat(Math.ceil(insertions * scale)) + "-".repeat(Math.ceil(deletions * scale));
  };
  const columns: Column<ChangedFile>[] = [
    { title: "", cell: ({ path, from }) => (from === null ? path : `${from} → ${path}`), least: 16 },
    { title: "", cell: (file) => (file.binary ? "binary" : String(file.insertions + file.deletions)), right: true },
    {
      title: "",
      cell: marked,
      paint: (text) => paint.green(text.replaceAll(/[^+]/g, "")) + paint.red(text.replaceAll(/[+]/g, "")),
      least: 5,
    },
  ];
  for (const line of tableLines(columns, repo.changed_files, { width, paint }).slice(1)) screen.line(line);
  if (repo.files_left_out > 0) screen.line(paint.dim(`and ${quantity(repo.files_left_out, "more file")}`));
  const changed = `${paint.green(`+${repo.insertions}`)} ${paint.red(`-${repo.deletions}`)}`;
  screen.line(`${quantity(repo.files, "file")}, ${changed}`);
}

function paintedDiff(line: string, paint: Paint): string {
  if (/^(diff |index |\+\+\+ |--- |new file|deleted file|rename |similarity )/.test(line)) return paint.bold(line);
  if (line.startsWith("@@")) return paint.cyan(line);
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}

const merge: Command = {
  name: "attempt merge",
  summary: "merge an attempt into its target branch and remove its worktrees",
  details: "Uncommitted work is committed first. If there is a conflict, nothing is changed.",
  operands: [ATTEMPT],
  options: {
    message: { value: "text", short: "m", summary: "the commit message (default: the item's title)" },
    squash: { summary: "merge as one commit, without the attempt's history" },
    keep: { summary: "keep the worktrees and branches" },
  },
  examples: ["asyncagents attempt merge 9b1deb4d --squash -m 'Faster tests'"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await resolveAttempt(client, given.operand(0));
    const message = given.text("message");
    const merging = () =>
      client.operate("merge_attempt", {
        attempt_id,
        ...(message === undefined ? {} : { message }),
        ...(given.flag("squash") ? { squash: true } : {}),
        ...(given.flag("keep") ? { keep: true } : {}),
      });
    const { repos } = await client.operate("get_attempt", { attempt_id });
    const answer = await screen.during("merging", merging());
    screen.show(answer, () => {
      for (const { repo_id, target_branch, commit, changed } of answer.merged) {
        const repo = repos.find((each) => each.repo_id === repo_id);
        const branch = repos.length > 1 && repo ? `${oneLine(repo.repo_name)}: ${target_branch}` : target_branch;
        screen.line(changed ? `${branch} is now at ${commit.slice(0, 12)}.` : `${branch} already had everything.`);
      }
      screen.line(
        `The item is ${answer.task_status}; the worktrees ${fateOfWorktrees(answer.removed, given.flag("keep"))}.`,
      );
    });
    for (const warning of answer.warnings ?? []) screen.hint(oneLine(ownWords(warning)));
    return EXIT.ok;
  },
};

function fateOfWorktrees(isRemoved: boolean, isKept: boolean): string {
  if (isRemoved) return "are removed";
  return isKept ? "are kept, because of --keep" : "stay";
}

export const REVIEW_COMMANDS: readonly Command[] = [follow, queue, cancelQueue, diff, merge];
