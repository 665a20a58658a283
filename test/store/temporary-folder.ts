/**
 * Temporary folders of a test file, removed when it is done: `const temporaryFolder = temporaryFolders()` at its top.
 */
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function temporaryFolders(): () => string {
  const made: string[] = [];
  afterAll(() => {
    for (const folder of made) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "asyncagents-store-"));
    made.push(folder);
    return folder;
  };
}
