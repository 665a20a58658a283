/** The files that GitHub reads: valid YAML of the right shape, and nothing in them that does not exist here. */
import { describe, expect, test } from "bun:test";
import { YAML } from "bun";
import { z } from "zod";
import { read, repositoryFiles, sources } from "./repository.ts";

const step = z.union([z.object({ uses: z.string().regex(/^[\w-]+\/[\w-]+@v\d+$/) }), z.object({ run: z.string() })]);
const job = z.object({
  "runs-on": z.enum(["ubuntu-latest", "macos-latest"]),
  "timeout-minutes": z.number(),
  steps: z.array(step).min(1),
});
const workflow = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.object({ contents: z.literal("read") }),
  jobs: z.record(z.string(), job),
});

const field = z.object({
  type: z.enum(["textarea", "input", "dropdown", "checkboxes"]),
  id: z.string().regex(/^[a-z]+$/),
  attributes: z.object({ label: z.string().min(1) }),
});
const note = z.object({ type: z.literal("markdown"), attributes: z.object({ value: z.string().min(1) }) });
const form = z.object({
  name: z.string().min(1),
  description: z.string().min(1),
  body: z.array(z.union([field, note])).min(1),
});

const workflows = sources(/^\.github\/workflows\/.*\.yml$/);
const forms = sources(/^\.github\/ISSUE_TEMPLATE\/(?!config).*\.yml$/);

describe("the workflows", () => {
  test("are there, and are valid", () => {
    expect([...workflows.keys()]).toEqual([".github/workflows/test.yml"]);
    for (const text of workflows.values()) workflow.parse(YAML.parse(text));
  });

  test("run npm test on Linux and on macOS", () => {
    const { jobs } = workflow.parse(YAML.parse(read(".github/workflows/test.yml")));
    for (const system of ["ubuntu-latest", "macos-latest"]) {
      const steps = Object.values(jobs).flatMap((one) => (one["runs-on"] === system ? one.steps : []));
      expect(steps).toContainEqual({ run: "npm test" });
    }
  });

  test("name only tests that exist", () => {
    const files = repositoryFiles();
    const named = [...workflows.values()].flatMap((text) => text.match(/\btest\/[\w/-]*\w/g) ?? []);
    expect(named.length).toBeGreaterThan(10);
    const exists = (path: string) => files.some((file) => file.startsWith(`${path}/`) || file === `${path}.test.ts`);
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });
});

describe("the issue forms", () => {
  test("are valid, and ask each thing once", () => {
    expect([...forms.keys()].map((path) => path.split("/").at(-1))).toEqual(["bug.yml", "feature.yml"]);
    for (const text of forms.values()) {
      const { body } = form.parse(YAML.parse(text));
      const ids = body.flatMap((entry) => ("id" in entry ? [entry.id] : []));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test("replace the empty issue", () => {
    expect(YAML.parse(read(".github/ISSUE_TEMPLATE/config.yml"))).toEqual({ blank_issues_enabled: false });
  });
});
