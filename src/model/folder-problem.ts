/**
 * Explains why a given path cannot be used as a folder, in words that follow the path in a sentence. The only place
 * that translates the operating system's error codes. Does no I/O itself: the caller passes in `statSync`.
 */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "leads through something that is not a folder",
  ELOOP: "leads through too many symbolic links",
  ENAMETOOLONG: "is too long for this system",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/** Null if the path is a folder. `look` behaves like `statSync`, errors included. */
export function folderProblem(path: string, look: (path: string) => { isDirectory(): boolean }): string | null {
  if (path.includes("\0")) return "contains a NUL character";
  try {
    return look(path).isDirectory() ? null : "is not a folder";
  } catch (thrown) {
    const code = String((thrown as { code?: unknown } | null)?.code ?? "unknown error");
    return REASONS[code] ?? `cannot be opened (${code})`;
  }
}
