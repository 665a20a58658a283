/**
 * Starts attempts: everything that can be rejected is rejected first, then come the row, the worktrees, the task and
 * the session. A slow setup continues after the call has returned. Invariant: a failure during the call leaves
 * nothing behind; a later failure leaves the attempt marked as failed, with its reason and without worktrees. What the
 * store could not write of that is written later.
 */
import { dirname } from "node:path";
import type { LaunchRequest } from "../../engine/launch.ts";
import { type Attempt, type BoardRepo, batchOfAttempt, type WorkItem } from "../../model/board.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { settlesWithin } from "../../process/deadline.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import { attemptFolder } from "../../worktree/folder-names.ts";
import { inspectRepo, tipOf } from "../../worktree/git/repo.ts";
import { type MadeWorktree, type MayUse, makeWorktrees } from "../../worktree/make.ts";
import { removeWorktrees } from "../../worktree/remove.ts";
import { surprisesOf } from "../../worktree/surprises.ts";
import { assertRepo, assertSetups } from "../approvals.ts";
import type { BoardCall } from "../board-call.ts";
import type { BoardParts } from "../board-context.ts";
import { assertUsable, placeFor, runChoicesOf } from "../executors.ts";
import type { Input } from "../input.ts";
import { notFound } from "../not-found.ts";
import { recoverAttempt } from "./recovery.ts";

const PATIENCE_MS = 20_000;
const BRANCH_PREFIX = "asyncagents";
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

interface Plan {
  attempt: Attempt;
  item: WorkItem;
  repos: { repo: BoardRepo; targetBranch: string; surprises: string[] }[];
  run: Pick<LaunchRequest, "prompt" | "model" | "limits" | "budget" | "isAgents">;
  mayUse: MayUse;
}

/**
 * `called`: the call is still waiting. `left`: it has returned. `failing`: the setup is being rolled back for the
 * call.
 */
interface Setup {
  stage: "called" | "left" | "failing";
  /** An agent is working: nothing is rolled back from here on. */
  launched: boolean;
  done: Promise<void>;
}

export class AttemptStart {
  readonly #parts: BoardParts;
  readonly #underWay = new Map<string, Setup>();
  #stopped = false;

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  /** A setup in progress is either rolled back or recovered at the next start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when the attempt is set up or has failed; immediately if it is not being set up in this process. */
  async settled(attemptId: string): Promise<void> {
    await this.#underWay.get(attemptId)?.done.catch(() => {});
  }

  async start(input: Input<"start_task_attempt">, call: BoardCall): Promise<OperationOutput<"start_task_attempt">> {
    const plan = await this.#plan(input, call);
    const { attempt, item, repos } = plan;
    const rows = repos.map(({ repo, targetBranch }) => ({ repoId: repo.id, targetBranch }));
    const { oneAtATime, store } = this.#parts;
    // Serialized with the deletion of the task: either the deletion sees this attempt, or this call sees that the
    // task is gone.
    const adding = oneAtATime.run(item.id, () => store.board.addAttempt(attempt, rows));
    const isAdded = await adding.catch((thrown: unknown) => {
      this.#recoverLater(attempt.id);
      throw thrown;
    });
    if (!isAdded) throw notFound("task", item.id);
    const setup: Setup = { stage: "called", launched: false, done: Promise.resolve() };
    setup.done = this.#setUp(plan, setup).finally(() => this.#underWay.delete(attempt.id));
    this.#underWay.set(attempt.id, setup);
    try {
      await this.#withPatience(setup);
    } catch (thrown) {
      if (setup.launched) call.hadEffects();
      throw thrown;
    }
    const warnings = repos.flatMap(({ surprises }) => surprises);
    return { task_id: item.id, attempt_id: attempt.id, ...(warnings.length > 0 && { warnings }) };
  }

  async #withPatience(setup: Setup): Promise<void> {
    const isDone = await settlesWithin(setup.done, {
      timeout: this.#parts.setupPatience ?? PATIENCE_MS,
      clock: this.#parts,
    });
    if (isDone || setup.stage !== "called") return setup.done;
    setup.stage = "left";
  }

  async #plan(input: Input<"start_task_attempt">, call: BoardCall): Promise<Plan> {
    const { store, now, newId } = this.#parts;
    const { host, variant } = placeFor(this.#parts, input, call);
    const item = await store.board.workItem(input.task_id);
    if (item === null) throw notFound("task", input.task_id);
    // Its `.git` may have been replaced since it was added, or since it was looked at here.
    const mayUse: MayUse = (repo) => assertRepo(this.#parts, repo, call);
    const repos = await this.#repos(item, input.repos, mayUse);
    await assertSetups(
      this.#parts,
      repos.map(({ repo }) => repo),
      call,
    );
    await assertUsable(this.#parts, { host, variant, directory: repos[0]?.repo.path ?? "" });
    const [id, at] = [newId(), now()];
    const branch = `${BRANCH_PREFIX}/${attemptFolder(id, item.title)}`;
    const attempt: Attempt = {
      id,
      workItemId: item.id,
      host,
      variant,
      branch,
      state: "starting",
      error: null,
      folder: null,
      machine: this.#parts.machine ?? "",
      createdAt: at,
      updatedAt: at,
    };
    const prompt = input.prompt?.trim() ? input.prompt : promptOf(item);
    return { attempt, item, repos, mayUse, run: { prompt, ...runChoicesOf(host, input, call) } };
  }

  async #repos(item: WorkItem, wanted: Input<"start_task_attempt">["repos"], mayUse: MayUse): Promise<Plan["repos"]> {
    const known = await this.#parts.store.board.repos(wanted.map(({ repo_id }) => repo_id));
    const found: Plan["repos"] = [];
    for (const [i, { repo_id, target_branch }] of wanted.entries()) {
      const repo = known.find(({ id }) => id === repo_id);
      if (!repo) throw notFound("repo", repo_id);
      if (repo.projectId !== item.projectId) {
        const message = `Repo ${repo_id} belongs to another project than task ${item.id}. list_repos shows those of a project.`;
        throw new AsyncAgentsError("invalid_input", message, { details: { field: `repos[${i}].repo_id` } });
      }
      if (found.some((other) => other.repo.path === repo.path)) {
        const message = `Repo ${repo.name} is named twice. Name each repository once.`;
        throw new AsyncAgentsError("invalid_input", message, { details: { field: `repos[${i}].repo_id` } });
      }
      const inspected = await inspectRepo(repo.path);
      await mayUse(inspected);
      await tipOf(inspected.place, target_branch);
      const surprises = await surprisesOf(inspected, target_branch, repo.setup);
      found.push({ repo, targetBranch: target_branch, surprises });
    }
    return found;
  }

  async #setUp(plan: Plan, setup: Setup): Promise<void> {
    const { store, now, log } = this.#parts;
    const { id } = plan.attempt;
    try {
      await this.#work(plan, setup);
    } catch (thrown) {
      if (setup.launched) {
        log.error("an attempt's session could not be written; it is tried again", { attempt: id });
        this.#recoverLater(id);
        if (setup.stage === "called") throw thrown;
        return;
      }
      await this.#rollBack(plan.attempt);
      if (setup.stage === "called") {
        setup.stage = "failing";
        await store.board.removeAttempt(id).catch(() => this.#recoverLater(id));
        throw thrown;
      }
      log.error("an attempt could not be set up", { attempt: id, error: messageOf(thrown) });
      const failed = { state: "failed", error: messageOf(thrown), folder: null, paths: null } as const;
      await store.board.changeAttempt(id, failed, now()).catch((failure: unknown) => {
        log.error("an attempt that failed could not be marked; it is tried again", { error: messageOf(failure) });
        this.#recoverLater(id);
      });
    }
  }

  /** The store failed, so the attempt may look as if it were being set up. It is no longer. */
  #recoverLater(id: string, pause = this.#parts.retryPause ?? FIRST_PAUSE_MS): void {
    const recover = async () => {
      if (this.#stopped) return;
      try {
        await this.#parts.oneAtATime.run(id, () => recoverAttempt(this.#parts, id));
      } catch (thrown) {
        const error = messageOf(thrown);
        this.#parts.log.error("an attempt could not be recovered; it is tried again", { attempt: id, error });
        this.#recoverLater(id, Math.min(pause * 2, LONGEST_PAUSE_MS));
      }
    };
    this.#parts.after(pause, () => void recover(), { background: true });
  }

  async #work({ attempt, item, repos, mayUse, run }: Plan, setup: Setup): Promise<void> {
    const { store, desk, worktrees, now, newId } = this.#parts;
    const made = await makeWorktrees({
      attemptId: attempt.id,
      base: worktrees,
      name: item.title,
      branchPrefix: BRANCH_PREFIX,
      mayUse,
      repos: repos.map(({ repo, targetBranch }) => ({
        path: repo.path,
        targetBranch,
        copy: repo.copy,
        ...(repo.setup !== null && { setup: repo.setup }),
      })),
    });
    const { folder, directory } = placeOf(made);
    const paths = Object.fromEntries(repos.map(({ repo }, i) => [repo.id, made[i]?.path ?? ""]));
    await store.board.changeAttempt(attempt.id, { folder, paths }, now());
    if (this.#stopped) throw new AsyncAgentsError("host_unavailable", "The board is being stopped. Try again.");
    const engine = await desk.engine(attempt.host, directory);
    const task = await desk.launch(engine, {
      description: item.title,
      ...run,
      agent: attempt.variant ?? engine.defaultAgent,
      batch: batchOfAttempt(attempt),
    });
    setup.launched = true;
    await store.board.addSession({
      id: newId(),
      attemptId: attempt.id,
      taskId: task.id,
      host: attempt.host,
      createdAt: now(),
    });
  }

  /** No agent has worked there, so it holds nothing of value. */
  async #rollBack({ id }: Attempt): Promise<void> {
    const { worktrees, log, folders } = this.#parts;
    try {
      const removed = await removeWorktrees({ base: worktrees, attemptId: id, force: true });
      for (const { path } of removed) await folders?.release(path);
    } catch (thrown) {
      log.error("the worktrees of a failed attempt could not be removed", { attempt: id, error: messageOf(thrown) });
    }
  }
}

/** One repository: its worktree. Several: their parent folder. */
function placeOf(made: readonly MadeWorktree[]): { folder: string; directory: string } {
  const path = made[0]?.path ?? "";
  const folder = dirname(path);
  return { folder, directory: made.length === 1 ? path : folder };
}

/** A description that begins with the title already contains it and is used as the prompt unchanged. */
function promptOf({ title, description }: WorkItem): string {
  if (description === null) return title;
  const oneSpaced = (text: string) => text.trim().replaceAll(/\s+/g, " ");
  const said = oneSpaced(description).startsWith(oneSpaced(title.replace(/…$/, "")));
  return said ? description : `${title}\n\n${description}`;
}
