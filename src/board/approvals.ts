/**
 * What a model may not do on its own: make a script run, or let agents work in a directory outside every project. A
 * person approves each one once: a repository's script by its exact text, a directory by its real path, including
 * everything below it. What people set themselves counts as approved. A call that needs an approval is rejected
 * immediately and succeeds when it is repeated after the approval.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { Approval } from "../model/approval.ts";
import type { BoardRepo } from "../model/board.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { isOwner } from "../protocol/call-origin.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import { foldersOf, type Repo } from "../worktree/git/repo.ts";
import { taskWorktreeAt } from "../worktree/tasks/task-worktree.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardContext } from "./board-context.ts";
import type { Input } from "./input.ts";
import { notFound } from "./not-found.ts";
import { pageOf, shown } from "./pages.ts";
import { wireTime } from "./wire.ts";

/** Above this limit no more requests are stored: nobody could read them, and a model could fill the store with them. */
const MAX_REQUESTED = 100;
/** Of one token, its holder and the holder's agents together, or of all who have none: others can still ask. */
const MAX_OF_ONE = 20;
const WITH_TOKEN = " with the token ";

type Asked = Pick<Approval, "kind" | "subject" | "directory" | "script">;
type Repository = Pick<BoardRepo, "path" | "setup">;

/** Rejects a directory that a model may not use yet; the path must be real. */
export async function assertDirectory(context: BoardContext, path: string, call: BoardCall): Promise<void> {
  if (await isDirectoryAllowed(context, path, call)) return;
  const asked = { kind: "directory", subject: path, directory: path, script: null } as const;
  throw needed(await ask(context, asked, call), `Agents may not work in ${path} yet`);
}

/** Rejects a repository that a model may not use yet, or that is partly in a directory that it may not use. */
export async function assertRepo(context: BoardContext, repo: Repo, call: BoardCall): Promise<void> {
  if (isOwner(call.origin)) return;
  for (const folder of await foldersOf(repo)) await assertDirectory(context, folder, call);
}

/** The same as an answer, without asking for an approval. */
export async function isRepoAllowed(context: BoardContext, repo: Repo, call: BoardCall): Promise<boolean> {
  if (isOwner(call.origin)) return true;
  for (const folder of await foldersOf(repo)) if (!(await isDirectoryAllowed(context, folder, call))) return false;
  return true;
}

/** The worktree of a task is as allowed as its repository. */
export async function isDirectoryAllowed(
  { store, worktrees }: BoardContext,
  path: string,
  { origin }: BoardCall,
): Promise<boolean> {
  if (isOwner(origin)) return true;
  const place = taskWorktreeAt(worktrees, path)?.mark.repo ?? path;
  return store.board.hasKnownDirectory(pathsUpFrom(place));
}

/**
 * A script set by a person is approved; from anyone else it needs an approval. Returns what still has to be approved.
 */
export async function noteSetup(context: BoardContext, repo: Repository, call: BoardCall): Promise<Approval | null> {
  if (repo.setup === null) return null;
  const known = await setupApproval(context, repo);
  if (isOwner(call.origin)) {
    await approve(context, askedSetup(repo.path, repo.setup), call);
    return null;
  }
  if (known?.state === "approved") return null;
  return known ?? (await ask(context, askedSetup(repo.path, repo.setup), call));
}

/**
 * Rejects the call while a script of these repositories is not approved, and requests any approval not yet requested.
 */
export async function assertSetups(
  context: BoardContext,
  repos: readonly (Repository & Pick<BoardRepo, "name">)[],
  call: BoardCall,
): Promise<void> {
  for (const repo of repos) {
    if (repo.setup === null) continue;
    const known = await setupApproval(context, repo);
    if (known?.state === "approved") continue;
    const asked = known ?? (await ask(context, askedSetup(repo.path, repo.setup), call));
    throw needed(asked, `The setup script of ${repo.name} may not run yet`);
  }
}

export async function setupApproval({ store }: BoardContext, { path, setup }: Repository): Promise<Approval | null> {
  return setup === null ? null : store.board.approval("setup", subjectOf(path, setup));
}

export async function listApprovals(
  { store }: BoardContext,
  input: Input<"list_approvals">,
): Promise<OperationOutput<"list_approvals">> {
  const { rows, next } = shown(await store.board.approvals(input.state ?? null, pageOf(input)), input);
  return { approvals: rows.map(wireApproval), count: rows.length, next_cursor: next };
}

export async function decideApproval(
  { store, now, log }: BoardContext,
  { approval_id, decision, if_requested }: Input<"decide_approval">,
): Promise<OperationOutput<"decide_approval">> {
  const state = decision === "approve" ? "approved" : "denied";
  const from = if_requested ? ({ from: "requested" } as const) : {};
  const decided = await store.board.decideApproval(approval_id, { state, at: now(), ...from });
  if (decided === null) throw notFound("approval", approval_id);
  if (decided.state !== state) {
    const message = `It was already ${decided.state}. This decision changed nothing; \`asyncagents ${decision} ${approval_id.slice(0, 8)}\` changes it.`;
    throw new AsyncAgentsError("nothing_asked", message, { details: { approval_id, state: decided.state } });
  }
  log.info(`a person ${state} what was asked`, { approval: approval_id, kind: decided.kind, in: decided.directory });
  return { approval: wireApproval(decided) };
}

export async function allowDirectory(
  context: BoardContext,
  { directory }: Input<"allow_directory">,
  call: BoardCall,
): Promise<OperationOutput<"allow_directory">> {
  const path = realOf(directory);
  if (path === null) {
    const message = `directory must be the absolute path of a folder that exists, not ${JSON.stringify(directory.slice(0, 300))}.`;
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "directory" } });
  }
  const approved = await approve(context, { kind: "directory", subject: path, directory: path, script: null }, call);
  return { approval: wireApproval(approved) };
}

/** Null if the path does not exist or is not a directory. */
export function realOf(path: string): string | null {
  try {
    return isAbsolute(path) ? realpathSync(path) : null;
  } catch {
    return null;
  }
}

async function ask(context: BoardContext, asked: Asked, call: BoardCall): Promise<Approval> {
  const { store, now, newId } = context;
  const known = await store.board.approval(asked.kind, asked.subject);
  if (known !== null) return known;
  const askedBy = askedByOf(call);
  assertRoom(askedBy, await store.board.requestedBy());
  const request = { ...asked, id: newId(), state: "requested", askedBy, createdAt: now(), decidedAt: null } as const;
  return store.board.putApproval(request);
}

function askedByOf({ origin: { door, token }, operation }: BoardCall): string {
  const asker = door === "model" ? "a model over MCP" : token ? "a caller" : "a command";
  return `${asker}${token ? `${WITH_TOKEN}${token.name}` : ""}: ${operation}`;
}

/** The token's name; empty without one. */
function tokenIn(askedBy: string): string {
  return askedBy.split(WITH_TOKEN)[1]?.split(":")[0] ?? "";
}

function assertRoom(askedBy: string, waiting: readonly string[]): void {
  const own = waiting.filter((other) => tokenIn(other) === tokenIn(askedBy));
  const isFull = waiting.length >= MAX_REQUESTED;
  if (!isFull && own.length < MAX_OF_ONE) return;
  const which = isFull ? `${MAX_REQUESTED} requests` : `${MAX_OF_ONE} requests of this caller`;
  const message = `${which} are already waiting for a person. They can be answered with \`asyncagents approvals\` or on the dashboard; then try again.`;
  throw new AsyncAgentsError("not_allowed", message);
}

function approve({ store, now, newId }: BoardContext, asked: Asked, { operation }: BoardCall): Promise<Approval> {
  const at = now();
  const by = { askedBy: `a person: ${operation}`, createdAt: at, decidedAt: at };
  return store.board.putApproval({ ...asked, ...by, id: newId(), state: "approved" });
}

function askedSetup(path: string, script: string): Asked {
  return { kind: "setup", subject: subjectOf(path, script), directory: path, script };
}

function subjectOf(path: string, script: string): string {
  return createHash("sha256")
    .update(JSON.stringify([path, script]))
    .digest("hex");
}

function needed({ id, state, kind }: Approval, what: string): AsyncAgentsError {
  const how = `\`asyncagents approve ${id.slice(0, 8)}\`, or on the dashboard`;
  const message =
    state === "denied"
      ? `${what}: a person denied it. Only a person can change that, with ${how}.`
      : `${what}: it waits for approval. A person can look at it with \`asyncagents approvals\` and approve it with ${how}. Then try again.`;
  return new AsyncAgentsError("approval_needed", message, { details: { approval_id: id, kind, state } });
}

function wireApproval(approval: Approval) {
  return {
    approval_id: approval.id,
    kind: approval.kind,
    state: approval.state,
    directory: approval.directory,
    script: approval.script,
    asked_by: approval.askedBy,
    created_at: wireTime(approval.createdAt),
    decided_at: approval.decidedAt === null ? null : wireTime(approval.decidedAt),
  };
}

/** The path and all its parents. */
export function pathsUpFrom(path: string): string[] {
  const paths = [path];
  for (let at = path; dirname(at) !== at; ) {
    at = dirname(at);
    paths.push(at);
  }
  return paths;
}
