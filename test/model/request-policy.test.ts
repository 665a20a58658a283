import { describe, expect, test } from "bun:test";
import { requestRulesSchema } from "../../src/engine/request-rules.ts";
import { type RequestRule, rulingOn } from "../../src/model/request-policy.ts";

/** What the rules say about a tool that wants these. */
function said(rules: RequestRule[], name: string, ...subjects: string[]) {
  return rulingOn(rules, { agent: "build", asks: "permission", tool: { name, subjects } })?.decision ?? "ask";
}

describe("rules about what agents ask", () => {
  test("the first that fits decides; without one a person is asked", () => {
    const rules: RequestRule[] = [
      { tool: "bash", pattern: "git push*", decision: "ask" },
      { tool: "bash", pattern: "git *", decision: "allow" },
      { agent: "explore", decision: "allow" },
      { tool: "webfetch", decision: "deny" },
    ];
    expect(said(rules, "bash", "git status")).toBe("allow");
    expect(said(rules, "bash", "git push origin")).toBe("ask");
    expect(said(rules, "bash", "rm x")).toBe("ask");
    expect(said(rules, "webfetch", "https://x")).toBe("deny");
    expect(
      rulingOn(rules, { agent: "explore", asks: "permission", tool: { name: "edit", subjects: [] } }),
    ).toMatchObject({
      decision: "allow",
      afterMs: 0,
    });
    expect(rulingOn([], { agent: "build", asks: "permission" })).toBeNull();
  });

  test("what is allowed is read narrowly: all that is wanted must fit, and a star chains no commands", () => {
    const rules: RequestRule[] = [{ tool: "bash", pattern: "git *", decision: "allow" }];
    expect(said(rules, "bash", "git status", "git diff")).toBe("allow");
    expect(said(rules, "bash", "git status", "rm -rf /")).toBe("ask");
    expect(said(rules, "bash")).toBe("ask");
    for (const chained of ["; rm x", " && rm x", " | sh", " > /etc/x", "\nrm x", " $(rm x)", " `rm x`", " <(rm x)"])
      expect([chained, said(rules, "bash", `git log${chained}`)]).toEqual([chained, "ask"]);
    const files: RequestRule[] = [{ tool: "edit", pattern: "src/*", decision: "allow" }];
    expect(said(files, "edit", "src/a/b.ts")).toBe("allow");
    expect(said(files, "edit", "src/../../etc/passwd")).toBe("ask");
    expect(said(files, "edit", "other/src/a.ts")).toBe("ask");
    expect(said([{ tool: "bash", pattern: "a && b", decision: "allow" }], "bash", "a && b")).toBe("allow");
    expect(
      said([{ tool: "bash", decision: "ask", minutes: 1, otherwise: "allow", pattern: "git *" }], "bash", "git; x"),
    ).toBe("ask");
  });

  test("a star of a rule that allows commands stands for nothing that a shell or a program reads otherwise", () => {
    const allowing: RequestRule[] = [{ tool: "bash", pattern: "cat src/*", decision: "allow" }];
    const denying: RequestRule[] = [{ tool: "bash", pattern: "cat src/*", decision: "deny" }];
    for (const plain of ["a.ts", "a b/c_d-e.ts", "über/ä.ts", "a@2.0.1 --x=1,2 +%H:%M", "main..topic", "./..."])
      expect([plain, said(allowing, "bash", `cat src/${plain}`)]).toEqual([plain, "allow"]);
    for (const hidden of [
      ".'.'/.'.'/secret",
      '.""./secret',
      ".\\./.\\./secret",
      "{..,x}/{..,x}/secret",
      ".?/.?/secret",
      "[.][.]/secret",
      ".*/secret",
      "a ~/secret",
      "a ~root",
      "a # b",
      "!cat",
      "a^b",
      "a\tb",
      "a\u0000b",
      "a\u00a0b",
    ]) {
      expect([hidden, said(allowing, "bash", `cat src/${hidden}`)]).toEqual([hidden, "ask"]);
      expect([hidden, said(denying, "bash", `cat src/${hidden}`)]).toEqual([hidden, "deny"]);
    }
    for (const upwards of ["../secret", "a/../../secret", "a -C..", "a -I../x", "a x=..", "a x:../y", "a,../b", ".."])
      expect([upwards, said(allowing, "bash", `cat src/${upwards}`)]).toEqual([upwards, "ask"]);
    // Whoever wrote the rule knows what it says.
    expect(said([{ pattern: "cat '../x'", decision: "allow" }], "bash", "cat '../x'")).toBe("allow");
  });

  test("files and addresses are read by no shell, and only what leads upwards or chains commands is refused", () => {
    const about = (pattern: string, subject: string) => {
      const tool = { name: "edit", subjects: [subject], isNoCommand: true };
      return (
        rulingOn([{ pattern, decision: "allow" }], { agent: "build", asks: "permission", tool })?.decision ?? "ask"
      );
    };
    expect(about("app/*", "app/[id]/it's ~{x}.tsx")).toBe("allow");
    expect(about("https://docs/*", "https://docs/a?b=1#c")).toBe("allow");
    for (const [pattern, subject] of [
      ["app/*", "app/../x"],
      ["app/*", "app/x\ny"],
      ["https://docs/open/*", "https://docs/open/%2e%2E/secret"],
      ["https://docs/open/*", "https://docs/open/.%2e?x"],
      ["https://docs/open/*", "https://docs/open/.\t./secret"],
    ] as const)
      expect([subject, about(pattern, subject)]).toEqual([subject, "ask"]);
  });

  test("what is denied is read widely: one that fits is enough", () => {
    const rules: RequestRule[] = [{ tool: "bash", pattern: "*rm *", decision: "deny" }, { decision: "allow" }];
    expect(said(rules, "bash", "git status", "sudo rm x")).toBe("deny");
    expect(said(rules, "bash", "git status && rm x")).toBe("deny");
    expect(said(rules, "bash", "git status")).toBe("allow");
  });

  test("white space does not hide what is denied or asked about; what is allowed must be written as it is", () => {
    const push: RequestRule[] = [{ tool: "bash", pattern: "git push*", decision: "deny" }, { decision: "allow" }];
    for (const hidden of ["git  push", " git\tpush origin", "git \\\n  push", "git\npush", "git push"])
      expect([hidden, said(push, "bash", hidden)]).toEqual([hidden, "deny"]);
    expect(said([{ tool: "bash", pattern: "git  push*", decision: "deny" }], "bash", "git push")).toBe("deny");
    // Quoted, two spaces are another file than one.
    const remove: RequestRule[] = [{ tool: "bash", pattern: "rm 'a b'", decision: "allow" }];
    expect([said(remove, "bash", "rm 'a b'"), said(remove, "bash", "rm 'a  b'")]).toEqual(["allow", "ask"]);
  });

  test("a tool that the host does not name fits only rules for any tool", () => {
    const request = { agent: "build", asks: "permission" } as const;
    expect(rulingOn([{ tool: "bash", decision: "allow" }], request)).toBeNull();
    expect(rulingOn([{ pattern: "x*", decision: "allow" }], request)).toBeNull();
    expect(rulingOn([{ decision: "deny" }], request)?.decision).toBe("deny");
  });

  test("a time limit has its default, and the agent is told why", () => {
    const rules: RequestRule[] = [{ decision: "ask", minutes: 30, otherwise: "deny", reason: "It is night." }];
    expect(rulingOn(rules, { agent: "build", asks: "permission" })).toEqual({
      decision: "deny",
      afterMs: 1_800_000,
      reason: "Nobody answered within 30 minutes. A policy denies this. It is night.",
    });
    const question = { agent: "build", asks: "question" } as const;
    expect(rulingOn([{ tool: "question", decision: "ask", minutes: 1, otherwise: "deny" }], question)?.reason).toBe(
      "Nobody answered within 1 minute. A policy leaves this to you. Decide yourself, or finish without an answer.",
    );
    // There is no answer to allow.
    expect(rulingOn([{ decision: "allow" }], question)).toBeNull();
  });

  test("a long text is compared with any pattern at once: an agent that writes one stops nobody's work", () => {
    const long = "git ".repeat(50_000);
    const from = process.cpuUsage();
    for (const decision of ["allow", "deny"] as const) {
      const rules: RequestRule[] = [{ tool: "bash", pattern: "*git*git*git*push*", decision }];
      expect(said(rules, "bash", long)).toBe("ask");
      expect(said(rules, "bash", `${long}push origin`)).toBe(decision);
    }
    expect(process.cpuUsage(from).user).toBeLessThan(1_000_000);
  });

  test("a star stands for what is between the parts of a pattern, and the whole text must fit", () => {
    const deny = (pattern: string, text: string) => said([{ pattern, decision: "deny" }], "bash", text);
    for (const [pattern, text] of [
      ["a*a", "aa"],
      ["a**b", "a b"],
      ["*ab*b", "abab"],
      ["*", "\n"],
      ["a.c", "a.c"],
    ] as const)
      expect([pattern, deny(pattern, text)]).toEqual([pattern, "deny"]);
    for (const [pattern, text] of [
      ["a*a", "a"],
      ["ab*b", "ab"],
      ["*ab*b", "ab"],
      ["a.c", "abc"],
      ["a", "ab"],
    ] as const)
      expect([pattern, deny(pattern, text)]).toEqual([pattern, "ask"]);
    const allow = (pattern: string, text: string) => said([{ pattern, decision: "allow" }], "bash", text);
    expect(allow("a * > b*", "a x > b.txt")).toBe("allow");
    expect(allow("a * > b*", "a x > y > b.txt")).toBe("ask");
    expect(allow("a * b*", "a x b; b c")).toBe("ask");
  });

  test("rules with mistakes are refused", () => {
    for (const wrong of [
      [{ decision: "perhaps" }],
      [{ decision: "ask", minutes: 5 }],
      [{ decision: "ask", otherwise: "allow" }],
      [{ decision: "allow", minutes: 5, otherwise: "deny" }],
      [{ decision: "allow", tools: "bash" }],
      [{ decision: "allow", pattern: "*a*a*a*a*a*a*" }],
      { decision: "allow" },
    ])
      expect([wrong, requestRulesSchema.safeParse(wrong).success]).toEqual([wrong, false]);
    expect(
      requestRulesSchema.safeParse([{ tool: "bash", decision: "ask", minutes: 5, otherwise: "deny" }]).success,
    ).toBe(true);
  });
});
