/**
 * Which addresses of repositories are used on other machines: ssh, https, and paths of this or a shared disk. An
 * address comes from a repository's config, which anyone who can edit files may have written, and goes into git's
 * arguments and into the store. Pure.
 */
import { basename } from "node:path";

const MAX_LENGTH = 1_000;
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/i;
/** `user@host:path`, as ssh takes it. The host may be a name from the person's own config for ssh. */
const SHORT_SSH = /^(?:\w[\w.+-]*@)?(?:\w[\w.-]*|\[[\w.:-]+\]):(?!:)(.+)$/;
/** Git decodes `%24`, and what ssh is configured to start for a host may get it through a shell. */
const SSH_AUTHORITY = /^(?:\w[\w.-]*@)?(?:[a-z0-9][a-z0-9.-]*|\[[a-z0-9.:-]+\])(?::\d*)?$/i;
/** What git's parts read differently, or decode. */
const UNUSUAL = /[\s%?#\\]/;
const ALLOWED = new Set(["https", "ssh", "file"]);

/** Why an address cannot be used, as the end of a sentence; null if it can. */
export function remoteProblem(remote: string): string | null {
  if (remote === "" || remote.length > MAX_LENGTH) return "is empty or too long";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it.
  if (/[\x00-\x1f\x7f]/.test(remote)) return "contains control characters";
  if (remote.startsWith("-")) return 'begins with "-"';
  if (remote.startsWith("/")) return null;
  const [, scheme, authority = "", path = ""] = SCHEME.exec(remote) ?? [];
  if (scheme !== undefined) return schemeProblem(scheme.toLowerCase(), authority, path);
  const [, shortPath] = SHORT_SSH.exec(remote) ?? [];
  if (shortPath !== undefined && !shortPath.startsWith("-")) return null;
  return "is neither an ssh or https address nor an absolute path";
}

function schemeProblem(scheme: string, authority: string, path: string): string | null {
  if (!ALLOWED.has(scheme)) return `uses ${scheme}; only ssh, https and absolute paths are used on other machines`;
  if (scheme === "file") return authority === "" && path !== "" ? null : "is not the address of a file on this machine";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const user = authority.slice(0, Math.max(0, authority.length - host.length - 1));
  if (host === "" || host.startsWith("-") || user.startsWith("-")) return "names no host";
  if (scheme === "ssh" && !SSH_AUTHORITY.test(authority)) return "names a host or a user with unusual characters";
  const isOdd = scheme === "https" && (UNUSUAL.test(host) || /\s/.test(user));
  if (isOdd) return "names a host or a user with unusual characters";
  if (scheme === "https" && /[?#]/.test(user + path)) return 'has a part after "?" or "#", which others could read';
  if (/:|%3a/i.test(user)) return "contains a password, which others could read. Use a credential helper or ssh";
  return null;
}

/** The name of the repository at an address, for folders; the folder names make it plain. */
export function remoteName(remote: string): string {
  return basename(remote.replace(/\/+$/, "").replace(/:/g, "/")).replace(/\.git$/, "");
}
