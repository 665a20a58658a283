import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderProblem } from "../../src/model/folder-problem.ts";

test("each reason why a path is not a folder has its own wording", () => {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-paths-"));
  try {
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    writeFileSync(join(folder, "file"), "");
    const problem = (path: string) => folderProblem(path, statSync);
    expect(problem(folder)).toBeNull();
    expect(problem(join(folder, "none"))).toBe("does not exist");
    expect(problem(join(folder, "file"))).toBe("is not a folder");
    expect(problem(join(folder, "file", "x"))).toBe("leads through something that is not a folder");
    expect(problem(join(folder, "loop"))).toBe("leads through too many symbolic links");
    expect(problem(join(folder, "x".repeat(300)))).toBe("is too long for this system");
    expect(problem(`${folder}\0/x`)).toBe("contains a NUL character");
    // Root can read everything, so the error is simulated.
    const refused = (code?: string) => () => {
      throw Object.assign(new Error("refused"), code === undefined ? {} : { code });
    };
    expect(folderProblem("/x", refused("EACCES"))).toBe("may not be read by this user");
    expect(folderProblem("/x", refused("EIO"))).toBe("cannot be opened (EIO)");
    expect(folderProblem("/x", refused())).toBe("cannot be opened (unknown error)");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
