/**
 * One process with a board: real store, real git, scripted hosts started by the real runner. Also works outside the
 * test runner.
 */
import { join } from "node:path";
import { Board } from "../../src/board/board.ts";
import type { BoardContext } from "../../src/board/board-context.ts";
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import { Runner } from "../../src/engine/runner.ts";
import { scriptedHosts } from "../../src/hosts/scripted/scripted-hosts.ts";
import type { NewBudgets } from "../../src/model/budgets/budget.ts";
import { systemClock } from "../../src/process/clock.ts";
import { isInstanceAlive } from "../../src/process/liveness.ts";
import type { CallOperation } from "../../src/protocol/operations.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";

export const AGENTS = ["general", "explore"];

/** The parts of one process. */
export interface Side {
  folder: string;
  worktrees: string;
  store: Store;
  runner: Runner;
  board: Board;
  call: CallOperation;
  logged: string[];
  close(): Promise<void>;
}

export async function openSide(
  folder: string,
  { budgets, ...fields }: Partial<BoardContext> & { budgets?: NewBudgets } = {},
): Promise<Side> {
  const logged: string[] = [];
  const note = (message: string, details?: object) => logged.push(`${message} ${JSON.stringify(details ?? {})}`);
  const log = { info: note, error: note };
  const store = fields.store ?? (await sqliteStore({ directory: folder }));
  const runner = new Runner({
    store,
    log,
    ...(budgets && { budgets }),
    makers: [scriptedHosts({ folder: join(folder, "scripted"), agents: AGENTS })],
  });
  const desk = new Desk({
    store,
    isAlive: isInstanceAlive,
    engines: () => runner.engines(),
    open: (host, path) => runner.open(host, path),
  });
  const worktrees = join(folder, "worktrees");
  const board = new Board({
    store,
    desk,
    remote: NO_OTHERS,
    worktrees,
    log,
    ...systemClock,
    newId: () => crypto.randomUUID(),
    executors: async () => [{ host: "scripted", problem: null, defaultAgent: "general", agents: AGENTS }],
    folders: runner,
    ...fields,
  });
  const close = async () => {
    await board.stop();
    await runner.stop();
    await store.close();
  };
  return { folder, worktrees, store, runner, board, call: board.call, logged, close };
}
