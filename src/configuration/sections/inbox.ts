/** What agents ask, and who answers it. How rules are read is in `src/model/request-policy.ts`. */
import { requestRulesSchema } from "../../engine/request-rules.ts";
import type { RequestRule } from "../../model/request-policy.ts";
import { setting } from "../section.ts";
import type { ValueKind } from "../value-kinds.ts";

const rules: ValueKind<RequestRule[]> = {
  schema: requestRulesSchema,
  allowed:
    'a list of rules, such as [{ "tool": "bash", "pattern": "git status", "decision": "allow" }]; docs/inbox.md describes them',
  fromText(text) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  },
};

export const inbox = {
  means: "What agents ask. The settings hold for the daemon, runners, and OpenCode with the plugin.",
  settings: {
    policies: setting(rules, {
      means: "Rules that answer what agents ask, at once or when nobody answered in time; the first that fits decides.",
      variable: "ASYNCAGENTS_POLICIES",
      pluginOption: true,
      default: [],
    }),
  },
};
