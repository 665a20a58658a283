/**
 * The host suite, run on hosts that are broken on purpose: a file for `bun test` that must fail. The test beside it
 * checks where.
 */
import type { Host } from "../../src/hosts/host.ts";
import { type ScriptedHost, scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { type Absent, hostConformance } from "../../src/testing/conformance/host/host-conformance.ts";
import type { HostBed } from "../../src/testing/conformance/host/stage.ts";

function broken(name: string, change: (bed: HostBed, scripted: ScriptedHost) => Partial<HostBed>, absent?: Absent) {
  const open = async () => {
    const scripted = scriptedHost({ agents: ["general"] });
    const bed: HostBed = {
      host: scripted,
      agent: "general",
      script: scripted.script,
      gate: scripted.gate,
      openSession: async () => scripted.openSession(),
      deleteSession: scripted.deleteSession,
      close: async () => scripted.crash(),
    };
    return { ...bed, ...change(bed, scripted) };
  };
  hostConformance(name, open, absent);
}

broken("without calls", ({ script }) => ({
  script(name, steps) {
    script(
      name,
      steps.filter(({ type }) => type !== "call"),
    );
  },
}));

broken("without forks", (_bed, scripted) => ({
  host: { ...scripted, fork: async () => "", findLaunched: async () => null } satisfies Host,
}));

broken(
  "with empty forks",
  (_bed, { condense: _condense, ...scripted }) => ({
    host: { ...scripted, fork: (input) => scripted.start(input) } satisfies Host,
  }),
  { condense: "its history cannot be cut" },
);
