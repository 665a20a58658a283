/** Instances for tests, with defaults for irrelevant fields. No such process exists. */
import type { Instance } from "../store/store.ts";

export function sampleInstance(id: string, fields: Partial<Instance> = {}): Instance {
  return {
    id,
    pid: 4_194_304,
    processStart: "12345",
    bootId: "boot",
    pidNamespace: "pid:[1]",
    beat: 0,
    host: "opencode",
    directory: "/w",
    startedAt: 1,
    machine: "",
    leaseLeft: null,
    ...fields,
  };
}
