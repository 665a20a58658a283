/**
 * Which requirements the tests prove: reads ids from test titles and compares them with the list. A title ends with
 * the ids in brackets: `launch returns at once [AT-01.1, BT-01.1]`. Pure: it reads no files.
 */
import type { TestResult } from "./junit.ts";

/** A group of requirements that is declared done, or not yet, as a whole. */
export interface Capability {
  name: string;
  ids: RegExp[];
  /** Once true, an id of this group that no passing test cites fails the run. */
  done: boolean;
}

export const capabilities: Capability[] = [
  {
    name: "engine-and-opencode",
    ids: [/^AT-(0\d|1[0-5])\./, /^AT-F-(0[7-9]|10)$/, /^BT-/, /^PD-/],
    done: true,
  },
  { name: "status-api", ids: [/^AT-(1[6-9]|2[0-5])\./, /^AT-F-0[1-6]$/], done: true },
  { name: "claude", ids: [/^CT-/], done: true },
  { name: "board", ids: [/^MT-/], done: true },
];

/** What the tests prove. */
export interface Proof {
  proven: Set<string>;
  /** One sentence for each title with a wrong citation. */
  problems: string[];
}

const trailingBracket = /\[([^[\]]*)\]\s*$/;
const idShape = /\b[A-Z]{2}-(?:F\d?-)?\d{2}(?:\.\d+)?\b/g;

/** The ids at the end of a title. Brackets without an id, such as `[sqlite]`, are not a citation. */
export function citedIds(title: string): string[] {
  const bracket = trailingBracket.exec(title)?.[1] ?? "";
  const words = bracket.split(",").map((word) => word.trim());
  return words.some((word) => /^[A-Z]{2}-/.test(word)) ? words : [];
}

/** An id is proven if a passing test cites it and no other test that cites it failed or was skipped. */
export function prove(tests: readonly TestResult[], known: ReadonlySet<string>): Proof {
  const proven = new Set<string>();
  const doubted = new Set<string>();
  const problems: string[] = [];
  for (const test of tests) {
    const cited = citedIds(test.title);
    for (const id of cited) {
      if (!known.has(id))
        problems.push(`${test.file}: "${test.title}" cites ${id || "an empty id"}, which is no requirement`);
      (test.outcome === "passed" ? proven : doubted).add(id);
    }
    const outside = [cited.length > 0 ? test.title.replace(trailingBracket, "") : test.title, ...test.groups];
    for (const [id] of outside.flatMap((text) => [...text.matchAll(idShape)])) {
      if (known.has(id)) problems.push(`${test.file}: ${id} must stand in the brackets that end a test's title`);
    }
  }
  return { proven: proven.difference(doubted).intersection(known), problems: [...new Set(problems)] };
}

/** For each capability declared done, its unproven ids. Capabilities without any are left out. */
export function unprovenOf(
  groups: readonly Capability[],
  known: Iterable<string>,
  proven: ReadonlySet<string>,
): { name: string; ids: string[] }[] {
  const open = [...known].filter((id) => !proven.has(id));
  return groups
    .filter((group) => group.done)
    .map((group) => ({ name: group.name, ids: open.filter((id) => holds(group, id)) }))
    .filter((group) => group.ids.length > 0);
}

/** The ids that belong to no capability, or to more than one. */
export function misplacedIds(groups: readonly Capability[], known: Iterable<string>): string[] {
  return [...known].filter((id) => groups.filter((group) => holds(group, id)).length !== 1);
}

function holds(group: Capability, id: string): boolean {
  return group.ids.some((pattern) => pattern.test(id));
}
