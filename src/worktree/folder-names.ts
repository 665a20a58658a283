/**
 * Names of folders and branches, derived from text that anyone may have written. Invariant: a name is one plain segment
 * of a path and of a ref, whatever the text; two attempts never share one. Does not access the disk.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";

const DIGEST_LENGTH = 12;
const SLUG_LENGTH = 24;
const REPO_LENGTH = 40;

/**
 * The folder of an attempt: a digest of its id, so that the id itself is never part of a path, and its readable name.
 */
export function attemptFolder(attemptId: string, name: string): string {
  const digest = createHash("sha256").update(attemptId).digest("hex").slice(0, DIGEST_LENGTH);
  const slug = slugOf(name);
  return slug ? `${digest}-${slug}` : digest;
}

/** The folders of repos, in their order: their own names if possible, each only once. */
export function repoFolders(roots: readonly string[]): string[] {
  const taken = new Set<string>();
  return roots.map((root) => {
    const name = plainName(basename(root).replace(/\.git$/, ""));
    let folder = name;
    // Some disks do not distinguish upper and lower case.
    for (let count = 2; taken.has(folder.toLowerCase()); count++) folder = `${name}-${count}`;
    taken.add(folder.toLowerCase());
    return folder;
  });
}

/** True for names that `attemptFolder` and `repoFolders` can produce. */
export function isFolderName(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]*$/.test(text) && text.length <= 100;
}

function slugOf(text: string): string {
  const words =
    text
      .slice(0, 1_000)
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, SLUG_LENGTH).replace(/-+$/, "");
}

function plainName(text: string): string {
  const plain = text
    .normalize("NFC")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, REPO_LENGTH)
    .replace(/[._-]+$/, "");
  return plain || "repo";
}
