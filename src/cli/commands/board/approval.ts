/**
 * `approvals`, `approve`, `deny`: requests by models that only a person may approve. The whole script is shown before
 * it is approved.
 */
import type { Client } from "../../../client/client.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { OperationOutput } from "../../../protocol/operations.ts";
import type { Command, Invocation } from "../../command.ts";
import { eachOf } from "../../each-of.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Screen } from "../../terminal/screen.ts";
import { ago, oneLine, shortId } from "../../terminal/text.ts";

type Approval = OperationOutput<"decide_approval">["approval"];

const IDS = [{ name: "approval", repeated: true }] as const;

export const approvalsCommand: Command = {
  name: "approvals",
  summary: "list requests of models that need your approval",
  details:
    "Models need approval for setup scripts that they set over MCP, and for directories outside all projects. Each is requested once.",
  options: { all: { short: "a", summary: "include decided requests" } },
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const approvals = await all(client, given.flag("all") ? null : "requested");
    screen.show({ approvals }, () => {
      if (approvals.length === 0) return screen.hint("No requests are waiting for approval.");
      for (const approval of approvals) show(approval, screen);
    });
    if (approvals.some(({ state }) => state === "requested")) {
      screen.hint("asyncagents approve <id> · asyncagents deny <id>");
    }
    return EXIT.ok;
  },
};

export const approveCommand: Command = {
  name: "approve",
  summary: "approve requests of models",
  details: "Review them first: asyncagents approvals",
  operands: IDS,
  examples: ["asyncagents approve 3f2a9c01"],
  run: (invocation) => decide(invocation, "approve"),
};

export const denyCommand: Command = {
  name: "deny",
  summary: "deny requests of models",
  operands: IDS,
  run: (invocation) => decide(invocation, "deny"),
};

async function decide(invocation: Invocation, decision: "approve" | "deny"): Promise<number> {
  const { arguments: given, connection, screen } = invocation;
  const client = await connection.client();
  const known = await all(client, null);
  const { values, errors, exitCode } = await eachOf(invocation, given.operands, async (named) => {
    const { approval_id } = find(known, named);
    const { approval } = await client.operate("decide_approval", { approval_id, decision });
    const what = approval.kind === "setup" ? "the setup script of" : "agents in";
    if (!screen.json) screen.line(`${shortId(approval_id)} ${approval.state}: ${what} ${oneLine(approval.directory)}`);
    return approval;
  });
  if (screen.json) screen.document({ approvals: values, errors });
  return exitCode;
}

function show({ approval_id, kind, state, directory, script, asked_by, created_at }: Approval, screen: Screen): void {
  const { paint } = screen;
  const asks = kind === "setup" ? "run this script in each new worktree of" : "let agents work in";
  screen.line(`${paint.bold(shortId(approval_id))} ${paint.yellow(state)}  ${asks} ${oneLine(directory)}`);
  screen.line(`  asked by ${oneLine(asked_by)}, ${ago(created_at, Date.now())}`);
  for (const line of script === null ? [] : script.split("\n")) screen.line(`  | ${line}`);
}

function find(known: readonly Approval[], given: string): Approval {
  const fitting = known.filter(({ approval_id }) => approval_id.startsWith(given.trim().toLowerCase()));
  const [only] = fitting;
  if (given.trim() !== "" && only && fitting.length === 1) return only;
  const what = fitting.length > 1 ? "matches several approvals" : "is not the id of an approval";
  const code = fitting.length > 1 ? "task_ambiguous" : "not_found";
  throw new AsyncAgentsError(code, `"${given.slice(0, 60)}" ${what}. \`asyncagents approvals --all\` lists them.`);
}

async function all(client: Client, state: Approval["state"] | null): Promise<Approval[]> {
  const found: Approval[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: OperationOutput<"list_approvals"> = await client.operate("list_approvals", {
      limit: 200,
      ...(state !== null && { state }),
      ...(cursor !== null && { cursor }),
    });
    found.push(...page.approvals);
    cursor = page.next_cursor;
    if (cursor === null) return found;
  }
}
