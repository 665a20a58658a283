/**
 * `answer` and `attempt answer`: a person answers a task's question. An answer names the request it is for, so that
 * it never reaches a newer one by mistake, and reports what was allowed or answered.
 */
import type { Client } from "../../client/client.ts";
import { givenText } from "../../model/answer.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { AnswerBody, BackgroundTask } from "../../protocol/tasks.ts";
import { type CommandArguments, misuse } from "../arguments.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { taskOfAttempt } from "../following/attempt-waiting.ts";
import { resolveAttempt, resolveTask } from "../identifiers.ts";
import { askedHint } from "../terminal/task-table.ts";
import { oneLine, shortId } from "../terminal/text.ts";

type Decision = "once" | "always" | "reject";
type Asked = Extract<BackgroundTask["phaseDetail"], { kind: "waiting" }>;

const ANSWER = { name: "answer", shown: '"answer"', optional: true, repeated: true };
const OPTIONS = {
  once: { summary: "allow the request this time" },
  always: { summary: "allow it always" },
  reject: { summary: "reject the permission, with a given answer as the reason; or decline the question" },
  request: { value: "id", summary: "answer only this request, as shown by `wait` and `show`" },
};
const DETAILS = "Prints the answer that was given. For several questions, give one answer for each, in their order.";

export const answerCommand: Command = {
  name: "answer",
  summary: "answer a task's permission request or question",
  details: DETAILS,
  operands: [{ name: "task", completes: "task" }, ANSWER],
  options: OPTIONS,
  examples: ["asyncagents answer 7KPnYJq --once", 'asyncagents answer 7KPnYJq "PostgreSQL"'],
  run: (invocation) =>
    answered(invocation, answerCommand, (client) => resolveTask(client, invocation.arguments.operand(0))),
};

export const attemptAnswerCommand: Command = {
  name: "attempt answer",
  summary: "answer an attempt's permission request or question",
  details: DETAILS,
  operands: [{ name: "attempt", completes: "attempt" }, ANSWER],
  options: OPTIONS,
  examples: ["asyncagents attempt answer 9b1deb4d --once", 'asyncagents attempt answer 9b1deb4d "PostgreSQL"'],
  run: (invocation) =>
    answered(invocation, attemptAnswerCommand, async (client) => {
      const id = await resolveAttempt(client, invocation.arguments.operand(0));
      const task = await taskOfAttempt(client, id);
      if (task) return task;
      throw new AsyncAgentsError(
        "nothing_asked",
        `Attempt ${shortId(id)} has no session yet, so there is nothing to answer.`,
      );
    }),
};

async function answered(
  { arguments: given, connection, screen }: Invocation,
  command: Command,
  find: (client: Client) => Promise<BackgroundTask>,
): Promise<number> {
  const { decision, words } = replyWords(command, given);
  const client = await connection.client();
  const task = await find(client);
  const asked = await openRequest(client, task, given.text("request"));
  const body = replyFor(asked, decision, words);
  const after = await client.answer(task.id, { ...body, requestId: asked.requestId, via: "command line" });
  screen.show({ ...after, answered: { ...asked, reply: body } }, () => {
    screen.line(`${sentenceOf(body)}: ${oneLine(asked.text)}`);
  });
  const next = askedHint(after);
  if (next && after.phaseDetail?.kind === "waiting" && after.phaseDetail.requestId !== asked.requestId)
    screen.hint(next);
  return EXIT.ok;
}

function replyWords(command: Command, given: CommandArguments): { decision: Decision | undefined; words: string[] } {
  const decisions = (["once", "always", "reject"] as const).filter((name) => given.flag(name));
  const words = given.operands.slice(1);
  if (decisions.length > 1 || (decisions.length === 0 && words.length === 0)) {
    throw misuse(command, "Give one of --once, --always, --reject, or an answer.");
  }
  return { decision: decisions[0], words };
}

async function openRequest(
  client: Client,
  { id, phaseDetail }: BackgroundTask,
  wanted: string | undefined,
): Promise<Asked> {
  if (phaseDetail?.kind !== "waiting") {
    const last = phaseDetail?.kind === "answered" ? ` Its last request was already ${givenText(phaseDetail)}.` : "";
    throw new AsyncAgentsError("nothing_asked", `Task ${shortId(id)} has no open request.${last}`);
  }
  if (wanted === undefined || (wanted !== "" && phaseDetail.requestId.endsWith(wanted))) return phaseDetail;
  const { answers = [] } = await client.task(id);
  const given = answers.findLast(({ requestId }) => wanted !== "" && requestId.endsWith(wanted));
  const how = given === undefined ? "" : `: it was already ${givenText(given)}`;
  const open = `${shortId(phaseDetail.requestId)}: ${oneLine(phaseDetail.text).slice(0, 500)}`;
  throw new AsyncAgentsError(
    "request_conflict",
    `Request ${wanted.slice(0, 100)} is no longer open${how}. Nothing was answered. The open request is ${open}`,
  );
}

function replyFor({ asks, text }: Asked, decision: Decision | undefined, words: string[]): AnswerBody {
  const what = oneLine(text).slice(0, 500);
  if (asks === "question") {
    if (decision === "once" || decision === "always") {
      throw new AsyncAgentsError("invalid_input", `It has a question: give the answer as text, or --reject. ${what}`);
    }
    if (decision === "reject" && words.length > 0) {
      const message =
        "An agent is not told why its question was declined: give --reject alone, or the text alone as the answer.";
      throw new AsyncAgentsError("invalid_input", message);
    }
    return { kind: "question", answers: decision === "reject" ? null : words };
  }
  if (decision === undefined) {
    throw new AsyncAgentsError(
      "invalid_input",
      `It asks for a permission: use --once, --always or --reject. The request: ${what}`,
    );
  }
  return { kind: "permission", decision, message: words.join(" ") || null };
}

function sentenceOf(body: AnswerBody): string {
  if (body.kind === "permission") {
    return { once: "Allowed this time", always: "Allowed from now on", reject: "Refused" }[body.decision];
  }
  if (body.answers === null) return "Turned down";
  return `Answered ${body.answers.map((answer) => `"${oneLine(answer)}"`).join(", ")}`;
}
