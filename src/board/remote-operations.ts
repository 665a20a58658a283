/**
 * Operations that only another process can perform, asked for through the store: by the instance that can, or by the
 * daemon. What is sent and what comes back have the schemas of the table of operations. A call names its origin, and
 * the process that performs it checks that again; it never passes the call on.
 */
import { z } from "zod";
import { DAEMON_HOST } from "../engine/desk.ts";
import { RemoteCalls, type RemoteCallsContext } from "../engine/remote/remote-calls.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { ROLES } from "../model/role.ts";
import { type CallOrigin, callerName } from "../protocol/call-origin.ts";
import { messageSchema } from "../protocol/conversations.ts";
import { type BoardOperationName, OPERATIONS, type OperationOutputs } from "../protocol/operations.ts";
import type { Instance } from "../store/store.ts";

/** What a conversation's page is between processes: over HTTP its cursor is a header. */
const messagePageSchema = z.object({ messages: z.array(messageSchema), before: z.string().nullable() });

export type LogPage = z.infer<typeof messagePageSchema>;

/** The operations of the status API that an instance performs for another process. */
export type RemoteStatusName = "launch" | "resume" | "fork" | "tell" | "answer" | "logs";
export type RemoteName = RemoteStatusName | BoardOperationName;
export type RemoteOutput<Name extends RemoteName> = Name extends "logs" ? LogPage : OperationOutputs[Name];

/** What is sent with an operation. */
export interface RemoteInput {
  /** The id in its path; empty if there is none. */
  id: string;
  input: unknown;
  origin: CallOrigin;
}

export const remoteInputSchema: z.ZodType<RemoteInput> = z.object({
  id: z.string(),
  input: z.unknown(),
  origin: z.object({
    door: z.enum(["person", "model"]),
    depth: z.number().int().min(0).nullable(),
    token: z.object({ name: z.string(), role: z.enum(ROLES) }).optional(),
    isTokenless: z.literal(true).optional(),
  }),
});

export interface RemoteOperations {
  call<Name extends RemoteName>(to: Instance, name: Name, input: RemoteInput): Promise<RemoteOutput<Name>>;
  /** The daemon of that machine; of this one, or else any, when absent. Null if none runs, or this process is it. */
  daemon(machine?: string): Promise<Instance | null>;
}

interface RemoteContext extends RemoteCallsContext {
  /** The machine of this process; empty if the store is used by this machine only. */
  machine: string;
  /** The ids of the instances of this process. */
  instances(): readonly string[];
}

export function remoteOperations(context: RemoteContext): RemoteOperations {
  const { store, isAlive, instances } = context;
  const calls = new RemoteCalls(context);
  return {
    async call<Name extends RemoteName>(to: Instance, operation: Name, { id, input, origin }: RemoteInput) {
      const sent = { id, input, origin };
      const answer = await calls.call(to, { operation, input: sent, madeBy: callerName(origin) });
      const schema: z.ZodType = operation === "logs" ? messagePageSchema : OPERATIONS[operation].output;
      const parsed = schema.safeParse(answer);
      if (parsed.success) return parsed.data as RemoteOutput<Name>;
      const message = `Process ${to.pid} performed ${operation}, and answered in a form that this version does not know. Run the same version everywhere.`;
      throw new AsyncAgentsError("internal", message, { cause: parsed.error });
    },
    async daemon(machine) {
      const daemons = (await store.instances()).filter((each) => each.host === DAEMON_HOST && isAlive(each));
      const of = daemons.find((each) => each.machine === (machine ?? context.machine));
      const daemon = of ?? (machine === undefined ? daemons[0] : undefined) ?? null;
      return daemon === null || instances().includes(daemon.id) ? null : daemon;
    },
  };
}

/** For a process that performs a call: if it turns out that it cannot, nobody else is asked. */
export const NO_OTHERS: RemoteOperations = {
  call: async (to) => {
    const message = `Only process ${to.pid} can do this now. Try again.`;
    throw new AsyncAgentsError("host_unavailable", message, { details: { pid: to.pid } });
  },
  daemon: async () => null,
};
