/**
 * Where a path leads that an agent names, once its links are followed. The file need not be there: a link to a file
 * that is still missing is followed as well, since writing to it makes that file. Says nothing about what becomes of
 * the path later.
 */
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** As many as Linux follows. */
const MOST_LINKS = 40;

/**
 * Null if no link leads elsewhere, or nobody can follow it. Links on the way to the directory itself do not count: the
 * agent works there.
 */
export async function linkedPath(path: string, directory: string): Promise<string | null> {
  const named = resolve(directory, path);
  try {
    const [real, root] = [await followed(named, MOST_LINKS), await realpath(directory)];
    const inside = relative(root, real);
    const isInside = inside !== ".." && !inside.startsWith(`..${sep}`);
    const leadsTo = isInside ? join(directory, inside) : real;
    return leadsTo === named || real === named ? null : leadsTo;
  } catch {
    return null;
  }
}

async function followed(path: string, links: number): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    const parent = dirname(path);
    if (!isMissing(thrown) || parent === path || links === 0) throw thrown;
    const folder = await followed(parent, links);
    const target = await readlink(path).catch(() => null);
    return target === null ? join(folder, basename(path)) : followed(resolve(folder, target), links - 1);
  }
}

function isMissing(thrown: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((thrown as { code?: string }).code ?? "");
}
