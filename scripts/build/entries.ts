/**
 * The entries of the packages as data: where each begins in src, what runs it, and which built file a consumer loads.
 * The build, the packages and the report of the public surface are all made from this table.
 */

export interface Entry {
  /** What a consumer imports. */
  name: string;
  /** The entry without its ending, in src and in dist. */
  path: string;
  target: "browser" | "node" | "bun";
  /** True where its dependencies become part of the file. */
  isBundled?: boolean;
  /** The folder of the package that holds this entry alone. */
  folder?: string;
}

export const entries: readonly Entry[] = [
  { name: "asyncagents", path: "index", target: "node" },
  { name: "asyncagents/client", path: "client/index", target: "browser", isBundled: true, folder: "packages/client" },
  { name: "asyncagents/claude", path: "claude/index", target: "node", folder: "packages/claude" },
  { name: "asyncagents/testing", path: "testing/index", target: "bun", folder: "packages/testing" },
];
