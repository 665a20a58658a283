/** A program of somebody else: opens a session, gives it a prompt, and stays until it is killed. */
import { openClaude } from "../../../src/claude/session/open-claude.ts";

const claude = await openClaude({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
await claude.send(process.argv[2] ?? "");
