/**
 * All mistakes that are tried. They were chosen by hand; one that turns out to change nothing that anybody can notice
 * is replaced by another.
 */
import { BUDGET_MUTATIONS } from "./budget-mutations.ts";
import { LEASE_MUTATIONS } from "./lease-mutations.ts";
import { PROMISE_MUTATIONS } from "./promise-mutations.ts";
import type { PutBack } from "./put-back.ts";
import { QUEUE_MUTATIONS } from "./queue-mutations.ts";
import { COMMAND_MUTATIONS, RUN_MUTATIONS } from "./run-mutations.ts";
import { NOTICE_MUTATIONS, RECOVERY_MUTATIONS, STORE_MUTATIONS } from "./store-mutations.ts";

export const MUTATIONS: readonly PutBack[] = [
  ...RUN_MUTATIONS,
  ...COMMAND_MUTATIONS,
  ...RECOVERY_MUTATIONS,
  ...STORE_MUTATIONS,
  ...NOTICE_MUTATIONS,
  ...LEASE_MUTATIONS,
  ...QUEUE_MUTATIONS,
  ...BUDGET_MUTATIONS,
  ...PROMISE_MUTATIONS,
];
