import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { namedPaths } from "./docs-paths.ts";
import { root, sources } from "./repository.ts";

const documents = sources(/^((README|CONTRIBUTING|CHANGELOG|SECURITY|AGENTS)\.md|(docs|\.github)\/.*\.md)$/);

describe("the documents", () => {
  test("name only paths that exist", () => {
    const missing = [...documents].flatMap(([document, text]) =>
      namedPaths(document, text)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${document} names ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

describe("the reader of paths", () => {
  test("finds paths in backticks and links, and leaves other text alone", () => {
    const text = `See \`src/model/task.ts:12\`, \`docs/\` and \`package.json\`, [words](glossary.md#host "title"), [up](../README.md),
      [site](https://example.com/src/x.ts), [here](#top), \`npm test -- store\`, \`task.completed\`, \`test/**/*.test.ts\`,
      \`docs/decisions/YYYY-MM-DD-title.md\`.
\`\`\`
\`src/not-read.ts\`
\`\`\`
And \`test/last.ts\`.`;
    expect(namedPaths("docs/architecture.md", text)).toEqual([
      "src/model/task.ts",
      "docs",
      "package.json",
      "test/last.ts",
      "docs/glossary.md",
      "README.md",
    ]);
  });
});
