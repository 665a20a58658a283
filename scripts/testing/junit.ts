/**
 * Parses the JUnit report of `bun test` into plain results. Pure. Supports only what Bun 1.4 writes: describe blocks
 * are nested suites, all text is escaped, there is no CDATA. A file that cannot be loaded or contains no test is
 * missing from the report: the caller has to check for it.
 */

export interface TestResult {
  file: string;
  /** The describe blocks around the test, outermost first. */
  groups: string[];
  title: string;
  /** A todo counts as skipped. A test that passes on a retry has passed. */
  outcome: "passed" | "failed" | "skipped";
  /** The first line of the failure. */
  message?: string;
  seconds: number;
}

export function parseJunit(xml: string): TestResult[] {
  const results: TestResult[] = [];
  const suites: string[] = [];
  for (const [, closing, tag = "", rawAttributes = "", selfClosing] of xml.matchAll(tagShape)) {
    const attributes = readAttributes(rawAttributes);
    if (tag === "testsuite") {
      if (closing) suites.pop();
      else if (!selfClosing) suites.push(attributes.get("name") ?? "");
    } else if (!closing) {
      const current = results.at(-1);
      if (tag === "testcase") results.push(readCase(attributes, suites));
      else if (current) applyVerdict(current, tag, attributes);
    }
  }
  return results;
}

/** The name of a test as a person would search for it. */
export function fullName(test: TestResult): string {
  return [...test.groups, test.title].join(" > ");
}

const tagShape = /<(\/?)(testsuite|testcase|failure|error|skipped)\b([^<>]*?)(\/?)>/g;

function readCase(attributes: Map<string, string>, suites: string[]): TestResult {
  return {
    file: attributes.get("file") ?? suites[0] ?? "",
    // The outermost suite is the file. The attribute `classname` names the blocks too, but innermost first.
    groups: suites.slice(1),
    title: attributes.get("name") ?? "",
    outcome: "passed",
    seconds: Number(attributes.get("time") ?? 0),
  };
}

function applyVerdict(test: TestResult, tag: string, attributes: Map<string, string>): void {
  test.outcome = tag === "skipped" ? "skipped" : "failed";
  const message = attributes.get("message")?.split("\n")[0];
  if (message) test.message = message;
}

function readAttributes(text: string): Map<string, string> {
  const pairs = text.matchAll(/([\w-]+)="([^"]*)"/g);
  return new Map(Array.from(pairs, ([, name = "", value = ""]) => [name, unescapeXml(value)]));
}

const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return entities[name ?? ""] ?? whole;
  });
}
