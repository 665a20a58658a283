import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { folderSource } from "../../src/worktree/clones/folder-source.ts";
import { remoteProblem } from "../../src/worktree/clones/remote.ts";
import { type CloneRequest, makeTaskClone } from "../../src/worktree/clones/task-clone.ts";
import { published, request } from "./clone-bed.ts";
import { commit, contentsOf, gitBed, refusal, sh, write } from "./git-bed.ts";

const bed = gitBed();

const problemOf = async (directory: string) => {
  const source = await folderSource(directory);
  return "problem" in source ? source.problem : "none";
};

function certificate(folder: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

function filesWith(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

describe("the address of a remote", () => {
  test("is used on other machines if it is ssh, https or a path, and names no program, option or password", () => {
    const good = [
      "git@example.com:a/b.git",
      "example.com:b",
      "ssh://git@example.com:22/b",
      "https://example.com/b.git",
    ];
    for (const remote of [...good, "https://me@example.com/b", "/srv/b.git", "file:///srv/b.git"]) {
      expect([remote, remoteProblem(remote)]).toEqual([remote, null]);
    }
    for (const remote of [
      "ssh://build_1@[2001:db8::1]:2222/b",
      "git@[2001:db8::1]:b",
      "my_host:b",
      "ssh://Example.com:/b",
    ]) {
      expect([remote, remoteProblem(remote)]).toEqual([remote, null]);
    }
    const bad = [
      "",
      "ext::sh -c touch% /tmp/x",
      "-oProxyCommand=x",
      "--upload-pack=x",
      "http://example.com/b",
      "../b.git",
    ];
    const worse = ["ssh://-oProxyCommand=x/b", "git@example.com:-b", "https://me:secret@example.com/b", "/b\n/c", "b"];
    const secret = [
      "https://oauth2%3Asecret@example.com/b",
      "https://oauth2%3asecret@example.com/b",
      "https://example.com/b?private_token=secret",
      "https://example.com?private_token=secret",
      "https://example.com/b#secret",
      "https://x?y@example.com/b",
      "https://secret%40example.com/b",
      "https://my secret@example.com/b",
    ];
    const hosts = ["$(touch x)", "a`b`", "%24(x)", "a;b", "a b", "a%20b", "[a;b]", "[a", "a'b", "a|b", "a:b"];
    const unusual = hosts.flatMap((host) => [`ssh://${host}/b`, `ssh://git@${host}:22/b`, `git@${host}:b`]);
    const users = ["ssh://a$b@example.com/b", "ssh://a%24b@example.com/b", "a$b@example.com:b", "-a@example.com:b"];
    const stranger = [...unusual, ...users].filter((remote) => remote !== "git@a:b:b");
    for (const remote of [
      ...bad,
      ...worse,
      ...secret,
      ...stranger,
      "git://example.com/b",
      "fd::7",
      "file://host/b",
      "ssh://",
    ]) {
      expect([remote, remoteProblem(remote)]).toEqual([remote, expect.any(String)]);
    }
  });
});

describe("whether another machine can get a folder", () => {
  test("a clean folder whose commit was pushed has a source, with its place in the repository", async () => {
    const { repo, remote, commit: tip } = published(bed);
    expect(await folderSource(repo)).toEqual({ remote, commit: tip, path: "" });
    expect(await folderSource(join(repo, "web"))).toEqual({ remote, commit: tip, path: "web" });
    const linked = join(bed.folder(), "link");
    symlinkSync(repo, linked);
    expect(await folderSource(join(linked, "web"))).toEqual({ remote, commit: tip, path: "web" });
  });

  test("otherwise it says why not", async () => {
    expect(await problemOf(bed.folder())).toBe("it is not in a usable git repository");
    expect(await problemOf(bed.repo())).toBe("its repository has no remote");
    const { repo, remote } = published(bed);
    expect(await problemOf(remote)).toBe("it is a bare repository");
    write(repo, "b.txt", "x");
    expect(await problemOf(join(repo, "web"))).toBe("it has uncommitted changes (b.txt); commit and push them");
    commit(repo, "b");
    expect(await problemOf(repo)).toBe("its commit is not in any branch of a remote; push it");
    sh(repo, "push", "--quiet", "origin", "HEAD:refs/heads/other");
    expect(await problemOf(repo)).toBe("none");
    sh(repo, "config", "remote.origin.url", "https://me:secret@example.com/shop.git");
    expect(await problemOf(repo)).toContain("contains a password");
    sh(repo, "config", "remote.origin.url", "ext::sh -c x");
    expect(await problemOf(repo)).toContain("neither an ssh or https address");
    sh(repo, "config", "remote.origin.url", remote);
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bed.repo("inner"), "inner");
    sh(repo, "commit", "--quiet", "-m", "inner");
    sh(repo, "push", "--quiet", "origin", "HEAD:refs/heads/other");
    expect(await problemOf(repo)).toContain("submodules");
  });
});

describe("a token in the address of a remote", () => {
  const configure = (url: string, insteadOf: string) =>
    appendFileSync(process.env.GIT_CONFIG_GLOBAL ?? "", `[url "${url}"]\n\tinsteadOf = ${insteadOf}\n`);

  test("is not told to other machines, wherever it is written", async () => {
    const { repo, commit: tip } = published(bed);
    const told = async (url: string) => {
      sh(repo, "config", "remote.origin.url", url);
      return folderSource(repo);
    };
    const source = { remote: "https://token.test/a/shop.git", commit: tip, path: "" };
    expect(await told("https://ghp_SECRET@token.test/a/shop.git")).toEqual(source);
    configure("https://ghp_SECRET@token.test/a/", "mine:");
    expect(await told("mine:shop.git")).toEqual(source);
    expect(await told("git@token.test:shop.git")).toMatchObject({ remote: "git@token.test:shop.git" });
  });

  test("is neither used, kept nor said where an earlier version stored it", async () => {
    const { remote, commit: tip } = published(bed);
    configure(remote, "https://stored.test/shop.git");
    const base = join(bed.folder(), "clones");
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    const stored = "https://ghp_SECRET@stored.test/shop.git";
    const made = await makeTaskClone(request(base, { remote: stored, commit: tip, report }));
    expect(sh(made.directory, "config", "remote.origin.url")).toBe("https://stored.test/shop.git");
    expect(filesWith(base, "stored.test").length).toBeGreaterThan(1);
    expect(filesWith(base, "ghp_SECRET")).toEqual([]);
    expect(lines[0]).toBe("fetching https://stored.test/shop.git");
    const gone = await refusal(makeTaskClone(request(base, { id: "tsk_2-0", remote: stored, commit: "0".repeat(40) })));
    expect(gone.message).toContain("https://stored.test/shop.git does not have the commit");
    expect(JSON.stringify([gone.details, lines])).not.toContain("ghp_SECRET");
  });

  test("that this machine's own config adds is not in what is said about a failed fetch", async () => {
    const { commit: tip } = published(bed);
    const folder = bed.folder();
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: certificate(folder),
      fetch: () => new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="shop"' } }),
    });
    const address = `127.0.0.1:${server.port}/`;
    configure(`https://ghp_SECRET@${address}`, "https://refused.test/");
    appendFileSync(process.env.GIT_CONFIG_GLOBAL ?? "", `[http "https://${address}"]\n\tsslVerify = false\n`);
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    const remote = "https://refused.test/shop.git";
    const making = makeTaskClone(request(join(folder, "clones"), { remote, commit: tip, report }));
    const failed = await refusal(making).finally(() => server.stop(true));
    expect(failed.message).toContain(`${remote} could not be fetched: fatal: could not read Password for 'https://127`);
    expect(JSON.stringify([failed.message, failed, lines])).not.toContain("ghp_SECRET");
  });

  test("does not keep the clone from coming from a repository of this machine", async () => {
    const { repo, commit: tip } = published(bed);
    sh(repo, "config", "remote.origin.url", "https://ghp_SECRET@known.test/shop.git");
    const base = join(bed.folder(), "clones");
    const remote = "https://known.test/shop.git";
    const made = await makeTaskClone(request(base, { remote, commit: tip, known: [repo] }));
    expect(sh(repo, "worktree", "list")).toContain(made.directory);
  });
});

describe("the clone of a task", () => {
  test("is a worktree on a branch of its own, with the commit and the folder; its agent can push", async () => {
    const { repo, remote, commit: tip } = published(bed);
    write(repo, "later.txt", "x");
    commit(repo, "later");
    sh(repo, "push", "--quiet", "origin", "main");
    const base = join(bed.folder(), "clones");
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    const made = await makeTaskClone(request(base, { remote, commit: tip, path: "web", report }));
    expect(made.directory).toMatch(/\/tasks\/[0-9a-f]{12}-fix-the-page\/shop\/web$/);
    expect(made.branch).toMatch(/^asyncagents\/[0-9a-f]{12}-fix-the-page$/);
    const top = join(made.directory, "..");
    expect(Object.keys(contentsOf(top))).toEqual([".git", "a.txt", "web/page.txt"]);
    expect(sh(top, "rev-parse", "HEAD")).toBe(tip);
    expect([lines[0], lines.at(-1)]).toEqual([`fetching ${remote}`, `fetched ${remote}`]);
    // The same claim again: it is there. Another task: from the cache, without the network.
    expect(await makeTaskClone(request(base, { remote, commit: tip, path: "web" }))).toEqual(made);
    rmSync(remote, { recursive: true });
    const second = await makeTaskClone(request(base, { remote, commit: tip, id: "tsk_2-0" }));
    expect(second.directory).not.toBe(top);
    sh(repo, "clone", "--quiet", "--bare", repo, remote);
    write(top, "web/page.txt", "better\n");
    commit(top, "better");
    sh(top, "push", "--quiet", "origin", "HEAD:refs/heads/better");
    expect(sh(remote, "log", "--format=%s", "-1", "better")).toBe("better");
  });

  test("several at once use one repository of the cache, and a half-made one is made anew", async () => {
    const { repo, remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    const first = await makeTaskClone(request(base, { remote, commit: tip }));
    const [folder = ""] = readdirSync(join(base, "repositories"));
    const mirror = join(base, "repositories", folder);
    expect(existsSync(join(mirror, "shop.git", "HEAD"))).toBe(true);
    rmSync(first.directory, { recursive: true });
    rmSync(join(mirror, "remote"));
    rmSync(join(mirror, "shop.git", "objects"), { recursive: true });
    write(repo, "new.txt", "x");
    const newer = commit(repo, "new");
    sh(repo, "push", "--quiet", "origin", "main");
    const ids = ["a", "b", "c", "d"];
    const made = await Promise.all(ids.map((id) => makeTaskClone(request(base, { remote, commit: newer, id }))));
    expect(new Set(made.map(({ directory }) => directory)).size).toBe(4);
    for (const { directory } of made) expect(existsSync(join(directory, "new.txt"))).toBe(true);
    expect(readdirSync(join(base, "repositories"))).toHaveLength(1);
    // Two claims of one task, one of which was lost.
    const twice = ["e", "e"].map((id) => makeTaskClone(request(base, { remote, commit: newer, id })));
    const [one, two] = await Promise.all(twice);
    expect(two).toEqual(one as NonNullable<typeof one>);
  });

  test("comes from a repository of this machine if that has the commit and the same remote", async () => {
    const { repo, remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    rmSync(remote, { recursive: true });
    const known = ["/nowhere", bed.repo(), repo];
    const made = await makeTaskClone(request(base, { remote, commit: tip, known }));
    expect(sh(repo, "worktree", "list")).toContain(made.directory);
    expect(existsSync(join(base, "repositories"))).toBe(false);
  });

  test("says why it cannot be made, and whether another machine may do better", async () => {
    const { repo, remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    const codeOf = async (fields: Partial<CloneRequest>) =>
      (await refusal(makeTaskClone(request(base, { remote, commit: tip, ...fields })))).code;
    const gone = await refusal(makeTaskClone(request(base, { remote: "/nowhere/x.git", commit: tip })));
    expect([gone.code, gone.message]).toEqual(["repo_unavailable", expect.stringContaining("git ls-remote")]);
    expect(gone.message).toContain("does not appear to be a git repository");
    expect(await codeOf({ remote: "ext::sh -c x" })).toBe("repo_invalid");
    expect(await codeOf({ commit: "--all" })).toBe("repo_invalid");
    expect(await codeOf({ commit: "0".repeat(40) })).toBe("repo_invalid");
    expect(await codeOf({ path: "nowhere" })).toBe("repo_invalid");
    expect(await codeOf({ path: "../.." })).toBe("repo_invalid");
    symlinkSync("/", join(repo, "out"));
    const linked = commit(repo, "out");
    sh(repo, "push", "--quiet", "origin", "main");
    expect(await codeOf({ id: "tsk_9-0", commit: linked, path: "out" })).toBe("repo_invalid");
    const ended = new AbortController();
    ended.abort();
    expect(await codeOf({ id: "tsk_8-0", remote: `file://${remote}`, signal: ended.signal })).toBe("repo_unavailable");
    expect(await codeOf({ id: "tsk_8-0", remote: `file://${remote}`, timeLimit: 1 })).toBe("repo_unavailable");
  });

  test("git runs nothing that an agent wrote into the config of the cache", async () => {
    const { repo, remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    const { directory } = await makeTaskClone(request(base, { remote, commit: tip }));
    const config = sh(directory, "rev-parse", "--path-format=absolute", "--git-path", "config");
    const trap = join(bed.folder(), "trapped");
    const program = `sh -c 'touch ${trap}; git-upload-pack "$@"' x`;
    appendFileSync(
      config,
      `[core]\n\tsshCommand = "touch ${trap}"\n\tfsmonitor = "touch ${trap}"\n[remote "${remote}"]\n\tuploadpack = "${program.replaceAll('"', '\\"')}"\n[url "ext::touch ${trap} "]\n\tinsteadOf = "${remote}"\n`,
    );
    write(repo, "b.txt", "x");
    const newer = commit(repo, "b");
    sh(repo, "push", "--quiet", "origin", "main");
    await makeTaskClone(request(base, { remote, commit: newer, id: "tsk_2-0" }));
    expect(existsSync(trap)).toBe(false);
  });
});
