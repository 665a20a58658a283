/** A plugin of OpenCode's screen that breaks on F7, while it is drawn, inside what protects the panel. */
import type { TuiPlugin } from "@opencode-ai/plugin/tui";
import { createSignal } from "solid-js";
import type { PanelContext } from "../../src/tui/panel-context.ts";
import { Safe } from "../../src/tui/views/safe.tsx";

const tui: TuiPlugin = async (api) => {
  const [isBroken, setBroken] = createSignal(false);
  const log = { info: () => {}, error: () => {} };
  const panel = { api, log, state: () => ({ tasks: [], isConnected: false }), now: () => 0 } as unknown as PanelContext;
  const text = () => {
    if (isBroken()) throw new Error("It broke while it was drawn.");
    return "fragile and whole";
  };
  api.slots.register({
    slots: {
      app_bottom: () => (
        <Safe panel={panel}>
          <text>{text()}</text>
        </Safe>
      ),
    },
  });
  api.keymap.registerLayer({
    commands: [{ name: "faulty.break", run: () => void setBroken(true) }],
    bindings: [{ key: "f7", cmd: "faulty.break" }],
  });
};

export default { id: "faulty", tui };
