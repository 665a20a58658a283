/**
 * A process that others ask through the store, and that asks others: its own instance, besides those of its engines,
 * and both ends of remote calls. The composition follows `src/daemon/daemon.ts` and `src/daemon/runner-process.ts`.
 */
import { type RemoteOperations, remoteOperations } from "../../src/board/remote-operations.ts";
import type { Desk } from "../../src/engine/desk.ts";
import { CallPerformer } from "../../src/engine/remote/call-performer.ts";
import type { Runner } from "../../src/engine/runner.ts";
import { Overview } from "../../src/engine/watching/overview.ts";
import type { OperationContext } from "../../src/http/api-context.ts";
import { controlHandlers } from "../../src/http/handlers/control-handlers.ts";
import { callPerformance } from "../../src/http/handlers/perform-call.ts";
import { FROM_PERSON } from "../../src/protocol/call-origin.ts";
import type { Instance } from "../../src/store/store.ts";
import type { Machine } from "../world/machine.ts";

export interface Askable {
  instance: Instance;
  performer: CallPerformer;
  remote: RemoteOperations;
  /** What a person asks of this process, which passes it on if another one has to do it. */
  resume(taskId: string, prompt: string): Promise<{ run: { number: number } }>;
  answer(taskId: string, decision: "once" | "reject"): Promise<void>;
}

export function askable(
  machine: Machine,
  surroundings: ReturnType<Machine["surroundings"]>,
  { host, desk, runner }: { host: string; desk: Desk; runner: Runner },
): Askable {
  const { identity, newId, now, store } = surroundings;
  const place = { host, directory: "/data", machine: surroundings.machine, startedAt: now() };
  const instance: Instance = { id: newId("ins"), ...identity, beat: 0, leaseLeft: null, ...place };
  const instances = () => [instance.id, ...runner.engines().map((engine) => engine.instance.id)];
  const remote = remoteOperations({ ...surroundings, instances });
  const noBoard = { board: null, assertWorkplace: null, assertRepo: null, maxDepth: undefined };
  const parts = { overview: new Overview(store), desk, ...noBoard };
  const perform = callPerformance(parts);
  const performer = new CallPerformer({
    ...surroundings,
    instances,
    perform: (operation, input) => {
      machine.calls.performed(operation, input);
      return perform(operation, input);
    },
  });
  const context: OperationContext = { ...parts, remote };
  return {
    instance,
    performer,
    remote,
    resume: (id, prompt) => controlHandlers.resume(context, { id, input: { prompt }, origin: FROM_PERSON }),
    async answer(id, decision) {
      const input = { kind: "permission", decision } as const;
      await controlHandlers.answer(context, { id, input, origin: FROM_PERSON });
    },
  };
}
