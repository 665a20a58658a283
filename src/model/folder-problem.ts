/**
 * Why a path that somebody gave cannot be used as a folder, in words that follow the path in a sentence. The one place that knows
 * what the operating system's refusals mean. Reads nothing itself: whoever asks brings the way to look.
 */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "leads through something that is not a folder",
  ELOOP: "leads through too many symbolic links",
  ENAMETOOLONG: "is too long for this system",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/** Null for a folder. `look` reads the path as `statSync` does, and throws as it does. */
export function folderProblem(path: string, look: (path: string) => { isDirectory(): boolean }): string | null {
  if (path.includes("\0")) return "has a NUL character in it";
  try {
    return look(path).isDirectory() ? null : "is not a folder";
  } catch (thrown) {
    const code = String((thrown as { code?: unknown } | null)?.code ?? "unknown error");
    return REASONS[code] ?? `cannot be opened (${code})`;
  }
}
