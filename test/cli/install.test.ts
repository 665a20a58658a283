import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { appendJsonc, parseJsonc, plainOf, setJsonc } from "../../src/configuration/jsonc.ts";
import { root } from "../ground/repository.ts";
import { type CliWorld, cliWorld } from "./cli-bed.ts";

const CLAUDE = join(root, `node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`);

const COMMENTED = `// my settings
{
  "$schema": "https://opencode.ai/config.json",
  "model": "a/b", // the good one
  /* several */
  "plugin": [
    "other-plugin" // keep
  ],
  "mcp": {
    "files": { "type": "local", "command": ["files"] }, // trailing
  },
}
`;

function inHome(text: string | null, file = ".config/opencode/opencode.json") {
  const world = cliWorld();
  const path = join(world.home, file);
  mkdirSync(dirname(path), { recursive: true });
  if (text !== null) writeFileSync(path, text);
  return { ...world, path, read: () => readFileSync(path, "utf8"), folderNow: () => readdirSync(dirname(path)).sort() };
}

/** Claude's own command line, in the folder of the world. */
function claude({ work, environment }: CliWorld, ...words: string[]): void {
  execFileSync(CLAUDE, words, { cwd: work, env: environment, stdio: "ignore" });
}

describe("install opencode", () => {
  test("adds plugin and MCP server beside existing entries and comments, with a backup", async () => {
    const { cli, path, read, folderNow } = inHome(COMMENTED, ".config/opencode/opencode.jsonc");
    chmodSync(path, 0o640);
    const { code, out } = await cli("install", "opencode", "--add", "both", "--yes");
    expect(code).toBe(0);
    expect(out).toContain('+     "asyncagents"');
    const config = plainOf(parseJsonc(read())) as { plugin: string[]; mcp: Record<string, { command: string[] }> };
    expect(config.plugin).toEqual(["other-plugin", expect.stringMatching(/^file:.*\/src\/opencode\/server\.ts$/)]);
    expect(config.mcp.asyncagents).toMatchObject({ type: "local", enabled: true });
    expect(config.mcp.asyncagents?.command.at(-1)).toBe("mcp");
    for (const line of COMMENTED.split("\n").filter((each) => each.includes("//") || each.includes("/*"))) {
      const [, comment = line] = /(\/[/*].*)$/.exec(line) ?? [];
      expect(read()).toContain(comment);
    }
    expect(read()).toContain('"other-plugin", // keep\n');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    const backup = folderNow().find((name) => name.endsWith(".bak")) ?? "";
    expect(readFileSync(join(dirname(path), backup), "utf8")).toBe(COMMENTED);
    const again = await cli("install", "opencode", "--add", "both", "--yes");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("already") });
    expect(folderNow()).toEqual([
      expect.stringContaining("opencode.jsonc"),
      expect.stringContaining(".bak"),
      "tui.json",
    ]);
  });

  test("creates a missing file, and keeps a link a link", async () => {
    const fresh = inHome(null);
    expect((await fresh.cli("install", "opencode", "--yes")).code).toBe(0);
    expect(JSON.parse(fresh.read())).toEqual({ plugin: [expect.stringContaining("file://")] });
    const linked = inHome(null);
    writeFileSync(join(linked.home, "dotfile.json"), "{}");
    symlinkSync(join(linked.home, "dotfile.json"), linked.path);
    expect((await linked.cli("install", "opencode", "--yes")).code).toBe(0);
    expect(lstatSync(linked.path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(linked.home, "dotfile.json"), "utf8")).plugin).toHaveLength(1);
  });

  test("the screen's part goes into tui.json beside what is there, once, and not with the MCP server alone", async () => {
    const { cli, json, read, path } = inHome('{ "theme": "nord" } // mine\n', ".config/opencode/tui.json");
    await json("install", "opencode", "--add", "mcp", "--yes");
    expect(read()).toBe('{ "theme": "nord" } // mine\n');
    const shown = await cli("install", "opencode", "--print");
    expect(shown.out).toMatch(/opencode\.json\n[\s\S]*server\.ts[\s\S]*tui\.json\n[\s\S]*panel\.js/);
    const written = await json("install", "opencode", "--yes");
    expect(written).toMatchObject({
      changed: true,
      file: expect.stringContaining("opencode.json"),
      files: [{ changed: true }, { file: path, changed: true, backup: expect.stringContaining("tui.json.") }],
    });
    const config = plainOf(parseJsonc(read())) as { theme: string; plugin: string[] };
    expect(config).toEqual({ theme: "nord", plugin: [expect.stringMatching(/^file:.*\/dist\/tui\/panel\.js$/)] });
    expect(read()).toContain("// mine");
    expect(await json("install", "opencode", "--yes")).toMatchObject({
      changed: false,
      files: [{}, { changed: false }],
    });
  });

  test("a folder that `opencode plug` wrote counts as installed", async () => {
    const plugged = JSON.stringify({ plugin: [root] });
    const { json, path } = inHome(plugged, ".config/opencode/tui.json");
    writeFileSync(join(dirname(path), "opencode.json"), plugged);
    expect(await json("install", "opencode", "--yes")).toMatchObject({ changed: false });
  });

  test("writes nothing with --print, without a person to ask, or if the file is not what it should be", async () => {
    const { cli, read } = inHome(COMMENTED);
    expect(await cli("install", "opencode", "--print")).toMatchObject({
      code: 0,
      out: expect.stringContaining('+     "file:'),
    });
    expect(await cli("install", "opencode")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    expect(read()).toBe(COMMENTED);
    const broken = inHome('{ "plugin": [ }');
    expect(await broken.cli("install", "opencode", "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining('"plugin": ['),
    });
    const odd = inHome('{ "plugin": "one" }');
    expect((await odd.cli("install", "opencode", "--yes")).code).toBe(2);
    expect(odd.read()).toBe('{ "plugin": "one" }');
  });
});

describe("install for MCP clients", () => {
  test("cursor's file gets one more server", async () => {
    const { json, read, path } = inHome('{"mcpServers": {"one": {"command": "x"}}}', ".cursor/mcp.json");
    expect(await json("install", "cursor", "--yes")).toMatchObject({ client: "cursor", file: path, changed: true });
    const { mcpServers } = JSON.parse(read());
    expect(mcpServers.one).toEqual({ command: "x" });
    expect(mcpServers.asyncagents.args.at(-1)).toBe("mcp");
  });

  test("the server gets the data folder of this shell: clients start it without our variables", async () => {
    const { json, data, home } = inHome(null, ".cursor/mcp.json");
    await json("install", "cursor", "--yes");
    await json("install", "opencode", "--add", "mcp", "--yes");
    const read = (file: string) => JSON.parse(readFileSync(join(home, file), "utf8"));
    const variables = { ASYNCAGENTS_HOME: data };
    expect(read(".cursor/mcp.json").mcpServers.asyncagents.env).toEqual(variables);
    expect(read(".config/opencode/opencode.json").mcp.asyncagents.environment).toEqual(variables);
    expect(await json("install", "cursor", "--yes")).toMatchObject({ changed: false });
  });

  test("a Claude project gets .mcp.json; for the user, Claude's own command is called", async () => {
    const world = cliWorld();
    const report = async () => (await world.cli("doctor")).out;
    expect((await world.json("install", "claude", "--scope", "project", "--yes")).changed).toBe(true);
    const { mcpServers } = JSON.parse(readFileSync(join(world.work, ".mcp.json"), "utf8"));
    expect(mcpServers.asyncagents.command).toBeString();
    const bin = join(world.folder, "bin");
    mkdirSync(bin);
    symlinkSync(CLAUDE, join(bin, "claude"));
    world.environment.PATH = `${bin}:${world.environment.PATH}`;
    expect((await world.json("install", "claude", "--add", "mcp", "--yes")).changed).toBe(true);
    const settings = JSON.parse(readFileSync(join(world.home, ".claude.json"), "utf8"));
    expect(settings.mcpServers.asyncagents.args.at(-1)).toBe("mcp");
    expect(settings.mcpServers.asyncagents.env).toEqual({ ASYNCAGENTS_HOME: world.data });
    expect(mcpServers.asyncagents.env).toBeUndefined();
    expect(await world.json("install", "claude", "--add", "mcp", "--yes")).toMatchObject({ changed: false });
    expect((await world.cli("install", "claude", "--add", "both", "--yes")).err).toContain("has the MCP server in it");
    // The plugin has the server in it, so each refuses to be added to the other.
    const doubled = await world.cli("install", "claude", "--yes");
    expect([doubled.code, doubled.err]).toEqual([1, expect.stringContaining("claude mcp remove asyncagents")]);
    for (const scope of ["user", "project"]) claude(world, "mcp", "remove", "asyncagents", "--scope", scope);
    // The plugin, from this package's own folder.
    expect(await world.json("install", "claude", "--yes")).toMatchObject({ changed: true });
    const { enabledPlugins, extraKnownMarketplaces } = JSON.parse(
      readFileSync(join(world.home, ".claude/settings.json"), "utf8"),
    );
    expect(enabledPlugins).toEqual({ "asyncagents@asyncagents": true });
    expect(extraKnownMarketplaces.asyncagents.source.path).toBe(join(root, "claude-code"));
    expect(await world.json("install", "claude", "--yes")).toMatchObject({ changed: false });
    for (const scope of ["user", "project"]) {
      const { code, err } = await world.cli("install", "claude", "--add", "mcp", "--scope", scope, "--yes");
      expect([code, err]).toEqual([1, expect.stringContaining("claude plugin uninstall asyncagents")]);
    }
    expect(await report()).not.toContain("every tool twice");
    // By hand, and in the folder above this one.
    claude({ ...world, work: world.folder }, "mcp", "add", "asyncagents", "--", "asyncagents", "mcp");
    expect(await report()).toMatch(/every tool twice\n.*claude mcp remove asyncagents/);
  }, 30_000);

  test("an unknown client or choice is rejected by name", async () => {
    const world = cliWorld();
    expect(await world.cli("install", "emacs")).toMatchObject({
      code: 2,
      err: expect.stringContaining("opencode, claude, cursor"),
    });
    expect((await world.cli("install", "claude", "--scope", "all")).code).toBe(2);
  });
});

test("an edit changes JSON in one place only, whatever the file", () => {
  const key = fc.constantFrom("a", "b", "c d", "é");
  const value = fc.jsonValue({ maxDepth: 3 });
  const indent = fc.constantFrom(0, 2, 4, "\t");
  fc.assert(
    fc.property(fc.dictionary(key, value), key, key, value, indent, (object, first, second, given, space) => {
      const text = JSON.stringify(object, null, space);
      const before = structuredClone(object);
      if (typeof object[first] !== "object" || object[first] === null || Array.isArray(object[first])) {
        expect(plainOf(parseJsonc(setJsonc(text, [first], given)))).toEqual(
          JSON.parse(JSON.stringify({ ...before, [first]: given })),
        );
      } else {
        const inner = { ...(before[first] as object), [second]: given };
        expect(plainOf(parseJsonc(setJsonc(text, [first, second], given)))).toEqual(
          JSON.parse(JSON.stringify({ ...before, [first]: inner })),
        );
      }
      const { [first]: _, ...rest } = object;
      const items = Array.isArray(object[first]) ? (object[first] as unknown[]) : [];
      const list = JSON.stringify({ ...rest, [first]: items }, null, space);
      expect(plainOf(parseJsonc(appendJsonc(list, first, given)))).toEqual(
        JSON.parse(JSON.stringify({ ...rest, [first]: [...items, given] })),
      );
    }),
  );
});

test("the panel is named where nobody can be asked, also if it was not built", async () => {
  const { code, out, err } = await inHome(null).cli("install", "opencode");
  expect([code, `${out}${err}`]).toEqual([
    2,
    expect.stringMatching(/panel\.js|panel for OpenCode's screen was not built/),
  ]);
});

describe("install --http", () => {
  test.each([
    ["opencode", ".config/opencode/opencode.json", ["mcp", "asyncagents"]],
    ["cursor", ".cursor/mcp.json", ["mcpServers", "asyncagents"]],
  ])("gives %s the daemon's address and the token, in a file for its owner only", async (client, file, place) => {
    const { cli, data, path, read, folderNow } = inHome("{}\n", file);
    chmodSync(path, 0o644);
    const { code, err } = await cli("install", client, "--http", "--yes");
    expect([code, err]).toEqual([0, expect.any(String)]);
    let server: unknown = plainOf(parseJsonc(read()));
    for (const key of place) server = (server as Record<string, unknown>)[key];
    const { url, headers } = server as { url: string; headers: Record<string, string> };
    expect(headers).toEqual({
      Authorization: `Bearer ${readFileSync(join(data, "token"), "utf8").trim()}`,
      "x-asyncagents-depth": client === "opencode" ? "{env:ASYNCAGENTS_DEPTH}" : "0",
    });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers: { ...accept, ...headers }, body });
    expect(await answer.text()).toContain("start_task_attempt");
    for (const name of folderNow())
      expect([name, statSync(join(dirname(path), name)).mode & 0o777]).toEqual([name, 0o600]);
    expect((await cli("install", client, "--http", "--yes")).out).toContain("already has it");
  });

  test("shows the change with --print, without the token, and starts no daemon for it", async () => {
    const { cli, data, folderNow } = inHome(null);
    const none = await cli("install", "opencode", "--http", "--print");
    expect([none.code, none.err, existsSync(data)]).toEqual([5, expect.stringContaining("asyncagents up"), false]);
    await cli("up");
    const token = readFileSync(join(data, "token"), "utf8").trim();
    for (const words of [[], ["--json"]]) {
      const { code, out } = await cli("install", "opencode", "--http", "--print", ...words);
      expect([code, out]).toEqual([0, expect.stringContaining("Authorization")]);
      expect(out).not.toContain(token);
    }
    expect(folderNow()).toEqual([]);
  });

  test("writes no token where others could read it", async () => {
    const { cli, work } = inHome(null);
    for (const words of [["claude"], ["cursor", "--scope", "project"], ["opencode", "--scope", "project"]]) {
      const { code, err } = await cli("install", ...words, "--http", "--yes");
      expect([words, code, err]).toEqual([words, 2, expect.stringContaining("where others can read it")]);
    }
    expect(readdirSync(work)).toEqual([]);
  });
});
