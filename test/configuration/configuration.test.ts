import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  applyConfiguration,
  type ConfigurationSources,
  mistypedVariables,
  readConfiguration,
} from "../../src/configuration/configuration.ts";
import type { Section } from "../../src/configuration/section.ts";
import { worktreesFolder } from "../../src/configuration/sections/worktrees.ts";
import { SECTIONS } from "../../src/configuration/sections.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { read } from "../ground/repository.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";

const temporaryFolder = temporaryFolders();

function folderWith(content: unknown): string {
  const directory = temporaryFolder();
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(directory, "asyncagents.json"), text);
  return directory;
}

function readWith(content: unknown, more: Partial<ConfigurationSources> = {}) {
  return readConfiguration({ directory: folderWith(content), environment: {}, ...more });
}

/** What is said about it, without the name of the file. */
function problemsOf(content: unknown, more: Partial<ConfigurationSources> = {}): string[] {
  const { file, problems } = applyConfiguration({ directory: folderWith(content), environment: {}, ...more });
  return problems.map((problem) => problem.replace(`${file}: `, ""));
}

describe("the settings that apply", () => {
  test("are the defaults where nothing is set, also without a folder", () => {
    const none = readConfiguration({ directory: "/nowhere/at/all", environment: {} });
    expect(none).toEqual(readWith({}));
    expect(none.api).toEqual({ enabled: true, port: 5165, origins: [] });
    expect(none.limits).toMatchObject({ maxCost: undefined, maxRepeats: 50, maxDepth: 1, stallMinutes: 10 });
    expect(none.store.address).toBeUndefined();
  });

  test("come from the file, which may have comments and name its schema", () => {
    const content = `{
      // For the night.
      "$schema": "./schema.json",
      "limits": { "maxCost": 2.5, "maxConcurrent": 3, },
      "claude": { "permissionMode": "plan" }
    }`;
    const { limits, claude } = readWith(content);
    expect([limits.maxCost, limits.maxConcurrent, claude.permissionMode]).toEqual([2.5, 3, "plan"]);
  });

  test("come from the environment before the file, and from the plugin's options before both", () => {
    const content = { limits: { maxCost: 1, maxMinutes: 1, maxRepeats: 1 }, opencode: { toasts: false } };
    const environment = { ASYNCAGENTS_MAX_COST: "2", ASYNCAGENTS_MAX_MINUTES: "2", ASYNCAGENTS_MAX_QUEUED: " " };
    const { limits, opencode } = readWith(content, { environment, options: { maxCost: 3 } });
    expect(limits).toMatchObject({ maxCost: 3, maxMinutes: 2, maxRepeats: 1, maxQueued: 200 });
    expect(opencode.toasts).toBe(false);
    const { settings } = applyConfiguration({ directory: folderWith(content), environment, options: { maxCost: 3 } });
    const sources = Object.fromEntries(settings.map(({ section, name, source }) => [`${section}.${name}`, source]));
    expect(sources).toMatchObject({
      "limits.maxCost": "options",
      "limits.maxMinutes": "environment",
      "limits.maxRepeats": "file",
      "limits.maxQueued": "default",
    });
  });

  test("of lists and switches are read from variables as ever", () => {
    const { api, listen, mcp } = readWith("{}", {
      environment: {
        ASYNCAGENTS_API_ENABLED: "no",
        ASYNCAGENTS_API_ORIGINS: " https://a.example/ ,,http://b:1",
        ASYNCAGENTS_LISTEN: "0.0.0.0",
        ASYNCAGENTS_PUBLIC_URL: "https://A.example.org/, http://b:81",
        ASYNCAGENTS_TRUSTED_PROXY: "127.0.0.1,::1",
        ASYNCAGENTS_MCP_TOOLS: "seed",
        ASYNCAGENTS_SCRIPTED: "1",
      },
    });
    expect(api).toMatchObject({ enabled: true, origins: ["https://a.example", "http://b:1"] });
    expect(listen.publicUrls).toEqual(["https://A.example.org/", "http://b:81"]);
    expect(listen.trustedProxies).toEqual(["127.0.0.1", "::1"]);
    expect(mcp).toEqual({ tools: "core", scripted: true });
    expect(readWith("{}", { environment: { ASYNCAGENTS_API_ENABLED: "false" } }).api.enabled).toBe(false);
    expect(readWith("{}", { environment: { ASYNCAGENTS_SCRIPTED: "yes" } }).mcp.scripted).toBe(false);
  });

  test("of the worktrees' folder may begin with ~/", () => {
    expect(worktreesFolder("/data", readWith("{}").worktrees)).toBe("/data/worktrees");
    const { worktrees } = readWith({ worktrees: { folder: "~/trees" } });
    expect(worktreesFolder("/data", worktrees)).toMatch(/^\/.*[^~]\/trees$/);
  });
});

describe("what is wrong", () => {
  test.each([
    [{ limits: { maxDept: 1 } }, "limits.maxDept is unknown. Did you mean limits.maxDepth?"],
    [{ limits: { max_cost: 1 } }, "limits.max_cost is unknown. Did you mean limits.maxCost?"],
    [{ limit: {} }, "limit is unknown. Did you mean limits?"],
    [{ maxCost: 1 }, "maxCost is not a section. Did you mean limits.maxCost?"],
    [{ ASYNCAGENTS_MAX_COST: 1 }, "ASYNCAGENTS_MAX_COST is not a section. Did you mean limits.maxCost?"],
    [{ history: { days: 1 } }, "history.days is unknown. Known: keepDays, keepTasks."],
    [{ limits: { maxCost: "5" } }, 'limits.maxCost is "5": it must be a number above 0'],
    [{ limits: { maxCost: 0 } }, "limits.maxCost is 0: it must be a number above 0"],
    [{ limits: { maxCost: null } }, "limits.maxCost is null: it must be a number above 0"],
    [{ limits: { maxDepth: 9 } }, "limits.maxDepth is 9: it must be a whole number from 1 to 8"],
    [{ limits: 5 }, "limits is 5: it must be an object, { … }"],
    [{ api: { port: 65_536 } }, "api.port is 65536: it must be a whole number from 0 to 65535"],
    [
      { claude: { permissionMode: "yolo" } },
      /^claude.permissionMode is "yolo": it must be one of default, acceptEdits,/,
    ],
    [
      { opencode: { resumable: ["all"] } },
      'opencode.resumable is ["all"]: it must be a list of "error" and "cancelled"',
    ],
    [{ worktrees: { folder: "trees" } }, /it must be an absolute path/],
    [{ listen: { address: "localhost" } }, /^listen.address is "localhost": it must be an IP address/],
    [{ listen: { trustedProxies: ["proxy"] } }, /it must be a list of IP addresses/],
    [
      { inbox: { policies: [{ decision: "deny" }, { tool: "bash", decision: "alow" }] } },
      'inbox.policies[1].decision is "alow": it must be one of ask, allow, deny. Did you mean allow? It is in {"tool":"bash","decision":"alow"}.',
    ],
    [
      { inbox: { policies: [{ decision: "ask", minutes: 3 }] } },
      'inbox.policies[0] is {"decision":"ask","minutes":3}: minutes and otherwise belong together.',
    ],
    [
      { notifications: { channels: { phone: { type: "ntyf", topic: "secret-word" } } } },
      "notifications.channels.phone.type is wrong: it must be one of ntfy, webhook, slack, push. Did you mean ntfy?",
    ],
    [
      { notifications: { channels: { team: { type: "slack", url: "secret-word" } } } },
      "notifications.channels.team.url is wrong: it must be an http or https address, or env:NAME.",
    ],
    [
      { notifications: { channels: { "my phone": { type: "ntfy", topic: "secret-word" } } } },
      /^notifications.channels.my phone is wrong: a name has letters/,
    ],
    [
      { notifications: { rules: [{ kinds: ["faild"] }] } },
      'notifications.rules[0].kinds[0] is "faild": it must be one of ended, failed, needs_you, budget. Did you mean failed? It is in {"kinds":["faild"]}.',
    ],
    [
      { notifications: { channels: { phone: { type: "ntfy", topic: "x" } }, rules: [{ channels: ["phon"] }] } },
      "notifications.rules[0] names the channel phon, which is not in notifications.channels. Did you mean phone?",
    ],
    [
      { notifications: { quietHours: { from: "25:00", to: "07:00", timeZone: "UTC" } } },
      'notifications.quietHours.from is "25:00": it must be a time such as "22:00".',
    ],
    [{ constructor: {} }, /^constructor is unknown/],
    [[], "must be an object, { … }, of sections such as limits"],
    ['{ "limits": {}, "limits": { "maxCost": 5 } }', 'cannot be read: "limits" is written twice'],
    ['{\n  "limits": {\n    "maxCost": five\n  }\n}', "cannot be read: line 3 is not valid JSON"],
    ["", "cannot be read: line 1 is not valid JSON"],
    [`{ "limits": {} ${" ".repeat(300_000)}}`, "cannot be read: it is larger than 256 kB"],
    ["[".repeat(100_000), /^cannot be read: /],
  ] as [unknown, string | RegExp][])("%j is said in words", (content, words) => {
    const problems = problemsOf(content);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  });

  test("in a variable or an option names that", () => {
    expect(problemsOf({}, { environment: { ASYNCAGENTS_MAX_COST: "five" } })).toEqual([
      'ASYNCAGENTS_MAX_COST is "five": it must be a number above 0',
    ]);
    for (const port of ["65536", "-1", "x", "80.5", "123456"]) {
      expect(problemsOf({}, { environment: { ASYNCAGENTS_API_PORT: port } })).toHaveLength(1);
    }
    const options = { maxcost: 1, program: "x", toolPrefix: 7 };
    expect(problemsOf({}, { options }).map((problem) => problem.replace(/^.*?: /, ""))).toEqual([
      "maxcost is unknown. Did you mean maxCost?",
      expect.stringContaining("program is unknown. Known: maxConcurrent,"),
      "toolPrefix is 7: it must be a word of small letters, digits and _, at most 32",
    ]);
    expect(problemsOf({}, { options: "x" })).toHaveLength(1);
  });

  test("refuses everything, with all problems at once", () => {
    const directory = folderWith({ limits: { maxCost: "5", maxDept: 1 }, apis: {} });
    const refused = (() => {
      try {
        return readConfiguration({ directory, environment: { ASYNCAGENTS_KEEP_DAYS: "x" } });
      } catch (thrown) {
        return thrown;
      }
    })();
    if (!AsyncAgentsError.isInstance(refused)) throw new Error("it was not refused");
    expect(refused.code).toBe("configuration_invalid");
    expect(refused.details.problems).toHaveLength(4);
    expect(refused.message.split("\n")).toHaveLength(6);
    expect(refused.message).toContain(join(directory, "asyncagents.json"));
  });

  test("never shows any part of the address of a database", () => {
    for (const address of ["mysql://someone:secret-word@host/db", "postgres://someone:secret-word#1@host/db", 7]) {
      const said = [
        ...problemsOf({ store: { address } }),
        ...problemsOf({}, { environment: { ASYNCAGENTS_STORE: String(address) } }),
      ];
      expect(said).toHaveLength(2);
      for (const text of said) {
        expect(text).toContain("postgres://user:password@host:5432/database");
        expect(text).not.toContain("secret-word");
      }
    }
  });

  test("is also a file that cannot be read", () => {
    const directory = temporaryFolder();
    expect(applyConfiguration({ directory, environment: {} })).toMatchObject({ isPresent: false, problems: [] });
    mkdirSync(join(directory, "asyncagents.json"));
    expect(applyConfiguration({ directory, environment: {} }).isPresent).toBe(true);
    expect(() => readConfiguration({ directory, environment: {} })).toThrow("cannot be read");
  });

  test("may be a variable that is nearly one of ours; others are not ours to judge", () => {
    const environment = { ASYNCAGENTS_MAX_COSTS: "1", ASYNCAGENTS_DEPTH: "1", ASYNCAGENTS_REPO: "x", OTHER: "" };
    expect(mistypedVariables(environment)).toEqual([{ name: "ASYNCAGENTS_MAX_COSTS", meant: "ASYNCAGENTS_MAX_COST" }]);
  });
});

test("no two settings have the same variable, and the plugin's guide lists exactly those that are options", () => {
  const all = Object.values<Section>(SECTIONS).flatMap(({ settings }) => Object.entries(settings));
  const variables = all.flatMap(([, { variable }]) => variable ?? []);
  expect([variables.length, new Set(variables).size]).toEqual([35, 35]);
  const table = read("docs/plugin.md").split("\n## Options\n")[1] ?? "";
  const listed = Array.from(table.matchAll(/^\| `([a-z]\w+)` /gm), ([, name]) => name ?? "");
  const options = all.filter(([, { pluginOption }]) => pluginOption).map(([name]) => name);
  expect(listed.toSorted()).toEqual(options.toSorted());
});
