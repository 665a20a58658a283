/**
 * A user's program: opens a session, sends a prompt, and stays until it is killed.
 */
import { openClaude } from "../../../src/claude/session/open-claude.ts";

const claude = await openClaude({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
await claude.send(process.argv[2] ?? "");
