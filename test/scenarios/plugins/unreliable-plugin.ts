/**
 * The real plugin behind an unreliable event hook, for scenarios about evidence. `drop` withholds every idle of a
 * session that has a parent; `late` repeats a session's last idle when that session next becomes busy.
 */
import type { Plugin } from "@opencode-ai/plugin";
import { createPlugin } from "../../../src/opencode/plugin.ts";

const unreliable: Plugin = async (input, options) => {
  const { drop, late: repeats, ...rest } = options ?? {};
  const hooks = await createPlugin(input, rest);
  const children = new Set<string>();
  const idles = new Map<string, Parameters<NonNullable<typeof hooks.event>>[0]>();
  return {
    ...hooks,
    event: async (given) => {
      const { event } = given;
      if (event.type === "session.created" && event.properties.info.parentID) children.add(event.properties.info.id);
      if (event.type === "session.idle" && children.has(event.properties.sessionID)) {
        if (drop === true) return;
        idles.set(event.properties.sessionID, given);
      }
      if (event.type === "session.status" && event.properties.status.type === "busy" && repeats === true) {
        const late = idles.get(event.properties.sessionID);
        if (late) await hooks.event?.(late);
      }
      await hooks.event?.(given);
    },
  };
};

export default unreliable;
