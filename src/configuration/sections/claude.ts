/** Claude Code, as the daemon and runners start it. */
import { PERMISSION_MODES } from "../../hosts/claude/permission-modes.ts";
import { setting } from "../section.ts";
import { oneOf } from "../value-kinds.ts";

export const claude = {
  means: "Claude Code, as the daemon and runners start it.",
  settings: {
    permissionMode: setting(oneOf(PERMISSION_MODES), {
      means: "What it may do without asking; other permissions wait for a person.",
      variable: "ASYNCAGENTS_CLAUDE_PERMISSION_MODE",
      default: "acceptEdits",
    }),
  },
};
