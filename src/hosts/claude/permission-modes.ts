/** The permission modes of Claude Code that can be set. A file of its own, because it loads nothing. */
import type { SdkOptions } from "../../claude/sdk.ts";

type PermissionMode = NonNullable<SdkOptions["permissionMode"]>;

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "bypassPermissions",
  "plan",
  "dontAsk",
  "auto",
] as const satisfies readonly PermissionMode[];
