/** Makes hosts for a process that starts their programs itself: each is a child that dies with it. */
import type { HostMaker } from "../../src/hosts/host-maker.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";

export function simulatedMaker(
  machine: Machine,
  process: SimulatedProcess,
  kind: "opencode" | "claude",
  opened: (host: SimulatedHost) => void,
  problem: HostMaker["problem"] = async () => null,
): HostMaker {
  return {
    kind,
    problem,
    open: async () => {
      const host = machine.host({
        kind,
        process,
        startProgram: () => machine.startProgram(process),
      });
      opened(host);
      return { host, close: async () => host.killProgram() };
    },
    stop: async () => {},
  };
}
