/**
 * A folder that replaces the one that a repository's worktrees share: it links to everything in there except the hooks,
 * and has its own config. A config can make git run programs in dozens of ways, and anyone who can edit files may have
 * edited it. Invariant: git sees only settings from the list below, and no includes. It is a cache and may be deleted.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { runGit } from "./git-process.ts";

/**
 * The settings of a repository's own config that git may see: how files are stored and compared, and who commits. None
 * names a program, and none allows names that some disks treat as `.git` (core.protectHFS, core.protectNTFS).
 */
const ALLOWED = new Set(
  [
    ["core", "repositoryformatversion filemode symlinks ignorecase precomposeunicode trustctime"],
    ["core", "checkstat autocrlf eol safecrlf checkroundtripencoding logallrefupdates sharedrepository longpaths"],
    ["core", "bigfilethreshold compression loosecompression excludesfile attributesfile sparsecheckout"],
    ["core", "sparsecheckoutcone commitgraph multipackindex"],
    ["index", "version sparse threads skiphash"],
    ["user", "name email useconfigonly"],
    ["author", "name email"],
    ["committer", "name email"],
    ["merge", "renames renamelimit directoryrenames renormalize"],
    ["diff", "renames renamelimit"],
    ["i18n", "commitencoding"],
  ].flatMap(([section, names = ""]) => names.split(" ").map((name) => `${section}.${name}`)),
);

/** Without these, git does not fetch missing objects, and reads no second config. */
const LEFT_EXTENSIONS = new Set(["extensions.partialclone", "extensions.worktreeconfig"]);

const LEFT_OUT = new Set(["config", "config.worktree", "hooks"]);

interface Setting {
  name: string;
  /** Null for a bare name, which means true. */
  value: string | null;
}

interface StandIn {
  /** Makes git use it. */
  environment: Record<string, string>;
  /** The repository's complete own config, as data. */
  config: Setting[];
}

/** The stand-in for a repository, updated to its current config. */
export async function standIn(place: { gitDir: string; commonDir: string }): Promise<StandIn> {
  const { commonDir, gitDir } = place;
  const folder = folderOf(commonDir);
  const config = await settingsIn(join(commonDir, "config"));
  if (!existsSync(commonDir)) throw gone(commonDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  linkAll(commonDir, folder);
  writeConfig(folder, config);
  const isSplit = config.some(({ name, value }) => name === "extensions.worktreeconfig" && isTrue(value));
  const further = isSplit ? (await settingsIn(join(gitDir, "config.worktree"))).filter(isAllowed) : [];
  return { environment: { GIT_COMMON_DIR: folder, ...inEnvironment(further) }, config };
}

/** Removes the stand-ins of deleted repositories. */
export function pruneStandIns(): void {
  const all = allFolder();
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    const objects = join(all, name, "objects");
    const isLink = lstatSync(objects, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink && !existsSync(objects)) rmSync(join(all, name), { recursive: true, force: true });
  }
}

function gone(commonDir: string): AsyncAgentsError {
  return new AsyncAgentsError("repo_invalid", `The repository ${commonDir} is gone. Restore it, then try again.`);
}

/** Not in the folder for temporary files, which agents in a sandbox can write to. */
function allFolder(): string {
  return join(process.env.ASYNCAGENTS_HOME || join(process.env.HOME || homedir(), ".cache", "asyncagents"), "git");
}

function folderOf(commonDir: string): string {
  return join(allFolder(), createHash("sha256").update(commonDir).digest("hex").slice(0, 24));
}

const known = new Map<string, { stamp: string; settings: Promise<Setting[]> }>();

/** The settings of a config file without its includes; read again when the file has changed. */
async function settingsIn(file: string): Promise<Setting[]> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isFile()) throw new AsyncAgentsError("repo_invalid", `${file} is not a file. Correct it, then try again.`);
  const stamp = [found.dev, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(":");
  const before = known.get(file);
  if (before?.stamp === stamp) return before.settings;
  const settings = readSettings(file);
  known.set(file, { stamp, settings });
  settings.catch(() => known.delete(file));
  return settings;
}

async function readSettings(file: string): Promise<Setting[]> {
  const args = ["config", "--file", file, "--no-includes", "--list", "-z"];
  const { code, stdout, stderr, cut } = await runGit({ cwd: "/", args, maxBytes: 4 * 1024 * 1024 });
  if (code !== 0 || cut) {
    const why = cut ? "it is too large" : stderr.trim();
    throw new AsyncAgentsError("repo_invalid", `git cannot read ${file}: ${why}. Correct it, then try again.`);
  }
  const entries = stdout.toString("utf8").split("\0").slice(0, -1);
  return entries.map((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? { name: entry, value: null } : { name: entry.slice(0, end), value: entry.slice(end + 1) };
  });
}

function isAllowed({ name }: Setting): boolean {
  return ALLOWED.has(name) || (/^extensions\.[a-z0-9-]+$/.test(name) && !LEFT_EXTENSIONS.has(name));
}

function isTrue(value: string | null): boolean {
  return value === null || /^(true|yes|on|1)$/i.test(value);
}

function linkAll(commonDir: string, folder: string): void {
  // Git locks this file where the link leads, even before it exists.
  const names = new Set([...readdirSync(commonDir), "packed-refs"]);
  for (const name of names) if (LEFT_OUT.has(name) || name.endsWith(".lock")) names.delete(name);
  for (const name of readdirSync(folder)) {
    const isLink = lstatSync(join(folder, name), { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink ? names.delete(name) : name.startsWith("config")) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  for (const name of names) {
    try {
      symlinkSync(join(commonDir, name), join(folder, name));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    }
  }
}

let written = 0;

function writeConfig(folder: string, config: readonly Setting[]): void {
  const lines = config.filter(isAllowed).map(({ name, value }) => {
    const [section, key] = name.split(".");
    return `[${section}]\n\t${key}${value === null ? "" : ` = ${quoted(value)}`}\n`;
  });
  const isBare = config.some(({ name, value }) => name === "core.bare" && isTrue(value));
  // A bare repository keeps no reflogs by default, and git cannot see here that it is bare.
  if (isBare) lines.unshift("[core]\n\tlogAllRefUpdates = false\n");
  const [file, text] = [join(folder, "config"), lines.join("")];
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  const temporary = `${file}.${process.pid}.${++written}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}

function inEnvironment(settings: readonly Setting[]): Record<string, string> {
  const entries = settings.flatMap(({ name, value }, i) => [
    [`GIT_CONFIG_KEY_${i}`, name],
    [`GIT_CONFIG_VALUE_${i}`, value ?? "true"],
  ]);
  return Object.fromEntries([["GIT_CONFIG_COUNT", String(settings.length)], ...entries]);
}
