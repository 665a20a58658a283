import { describe, expect, test } from "bun:test";
import { exclusiveTests, machinePaths, printingLines, registryHosts } from "./hygiene.ts";
import { read, repositoryFiles, sources } from "./repository.ts";
import { parse, parseText } from "./syntax.ts";

// Written in parts, so that this file does not contain them.
const machineFolders = ["work", "root", "home", "Users"].map((name) => `/${name}/`);
const binary = /\.(png|jpe?g|gif|ico|webp|woff2?|db|gz|zip)$/;

const trees = await parse(sources(/^(src|test|simulation)\/.*\.tsx?$/));

describe("the repository", () => {
  test("names no registry", () => {
    expect(["package-lock.json", ".npmrc"].flatMap((path) => registryHosts(read(path)))).toEqual([]);
  });

  test("names no folder of a particular machine", () => {
    const files = repositoryFiles().filter((path) => !binary.test(path));
    const found = files.flatMap((path) => machinePaths(read(path), machineFolders).map((line) => `${path}:${line}`));
    expect(found).toEqual([]);
  });

  test("prints only from the command line and from programs that tests start", () => {
    const mayPrint = /^(src\/(cli|testing)|test)\/|^simulation\/(strength\/)?(main|player|search)\.ts$/;
    const found = [...trees]
      .filter(([path]) => !mayPrint.test(path))
      .flatMap(([path, tree]) => printingLines(tree).map((line) => `${path}:${line}`));
    expect(found).toEqual([]);
  });

  test("has no test that keeps others from running", () => {
    expect([...trees].flatMap(([path, tree]) => exclusiveTests(tree).map((line) => `${path}:${line}`))).toEqual([]);
  });
});

describe("the hygiene detectors", () => {
  test("see a registry", () => {
    const lock =
      '"resolved": "https://registry.example/a.tgz",\n"resolved": "file:../a",\n"url": "https://example.com"';
    expect(registryHosts(lock)).toHaveLength(1);
    expect(
      registryHosts("omit-lockfile-registry-resolved=true\n@scope:registry=https://registry.example/"),
    ).toHaveLength(1);
  });

  test("see a machine's path, but no relative one", () => {
    const folder = machineFolders.slice(0, 1);
    expect(machinePaths(`a\nopen("/${"work"}/main/x")`, folder)).toHaveLength(1);
    expect(machinePaths("./work/x ~/work/x src/work/x https://example.com/work/x", folder)).toEqual([]);
  });

  test("see printing", async () => {
    const text = 'console.log(1);\nprocess.stdout.write("x");\nBun.write(Bun.stderr, "");\nlog.console;\nprocess.env;';
    expect(printingLines(await parseText(text))).toEqual([1, 2, 3]);
  });

  test("see an exclusive test", async () => {
    expect(exclusiveTests(await parseText("test.only('x', f);\ntest('y', f);\nquery.only('z')"))).toEqual([1]);
  });
});
