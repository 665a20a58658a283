/**
 * The dashboard at the door to other machines: signing in and out, what each role is offered, and other sites' pages.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { newTokenSecret } from "../../src/http/access/token-secret.ts";
import { startTokenBed, type TokenBed } from "../http/bed/token-bed.ts";
import { chromiumBed } from "./page-bed.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const chromium = chromiumBed();
const servers: Bun.Server<undefined>[] = [];

afterAll(async () => {
  for (const server of servers) await server.stop(true);
});

/** In both themes. */
async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(
      ...(await page.evaluate<string[]>("axe.run(document).then(({ violations }) => violations.map(({ id }) => id))")),
    );
  }
  return found;
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** An ended task, and one that asks for a permission. */
async function someTasks(bed: TokenBed): Promise<{ ended: string; asking: string }> {
  const directory = join(bed.side.folder, "work");
  mkdirSync(directory);
  const launch = async (description: string, prompt: string) => {
    const body = { description, prompt, agent: "general", host: "scripted", directory };
    return ((await (await bed.post("/v1/tasks", body, bed.secrets.admin)).json()) as { id: string }).id;
  };
  return {
    ended: await launch("Write it down", "!write x y"),
    asking: await launch("Ask first", "!permit Run npm test?"),
  };
}

test("a token opens the page for this tab, shows who it is, and signing out or a revocation closes it", async () => {
  const bed = await startTokenBed();
  const page = await chromium.page(`${bed.url}/stats?x=1`);
  await page.getByRole("heading", { name: "Sign in to asyncagents" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await signIn(page, newTokenSecret());
  await page.getByText("This token does not work").waitFor();
  const secret = await bed.token("anna", "launch");
  await signIn(page, secret);
  await page.getByRole("button", { name: "Sign out anna (launch)" }).waitFor();
  await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  expect(page.url()).toBe(`${bed.url}/stats?x=1`);
  expect(await page.evaluate("document.cookie + localStorage.length + location.href")).not.toContain("aat_");
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await page.getByRole("button", { name: "Sign out anna (launch)" }).click();
  await page.getByRole("heading", { name: "Sign in to asyncagents" }).waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);

  await signIn(page, secret);
  await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  await bed.side.store.access.revokeToken("anna", Date.now());
  await page.getByText("Your token no longer works").waitFor();
}, 60_000);

test("a link with a token in it signs nobody in, and nobody out", async () => {
  const bed = await startTokenBed();
  const link = `${bed.url}/stats#token=`;
  const page = await chromium.page(`${link}${bed.secrets.launch}`);
  await page.getByRole("heading", { name: "Sign in to asyncagents" }).waitFor();
  expect(page.url()).toBe(`${bed.url}/stats`);
  await signIn(page, bed.secrets.admin);
  const own = page.getByRole("button", { name: "Sign out the-admin (admin)" });
  await own.waitFor();
  for (const token of [bed.secrets.launch, bed.folderToken]) {
    await page.goto("about:blank");
    await page.goto(`${link}${token}`);
    await own.waitFor();
    expect(page.url()).toBe(`${bed.url}/stats`);
  }
}, 60_000);

test("a reader sees everything and is offered no change; an admin is offered all", async () => {
  const bed = await startTokenBed();
  const { ended, asking } = await someTasks(bed);
  const page = await chromium.page(`${bed.url}/tasks/${asking}`);
  await signIn(page, bed.secrets.read);
  await page.getByText("Your role does not include answering").waitFor();
  expect(await page.getByRole("button", { name: /^(Launch|Cancel task|Allow once)$/ }).count()).toBe(0);
  await page.getByText("the-admin launched it").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.goto(`${bed.url}/tasks/${ended}`);
  await page.getByText("Write it down").first().waitFor();
  expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(0);
  await page.keyboard.press("n");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("button", { name: "Sign out the-read (read)" }).click();
  await signIn(page, bed.secrets.admin);
  await page.getByRole("button", { name: "Launch" }).first().waitFor();
  await page.goto(`${bed.url}/tasks/${asking}`);
  await page.getByRole("button", { name: "Cancel task" }).waitFor();
  await page.getByRole("button", { name: "Cancel task" }).click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await page.getByText("the-admin cancelled it").waitFor();
}, 60_000);

test("a page of another origin gets nothing from a browser that is signed in, and not even with a token", async () => {
  const bed = await startTokenBed();
  const evil = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
  });
  servers.push(evil);
  const page = await chromium.page(bed.url);
  await signIn(page, bed.secrets.admin);
  await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  const other = await page.context().newPage();
  await other.goto(`http://localhost:${evil.port}/`);
  const tried = await other.evaluate(
    async ([url, token]) => {
      const attempt = (path: string, init: RequestInit) =>
        fetch(`${url}${path}`, init).then(
          async (answer) => `${answer.type} ${await answer.text()}`,
          () => "blocked",
        );
      return [
        await attempt("/v1/tasks", { credentials: "include" }),
        await attempt("/v1/tasks", { headers: { authorization: `Bearer ${token}` } }),
        await attempt("/v1/board/add_project", { method: "POST", body: '{"name":"evil"}', credentials: "include" }),
        await attempt("/v1/board/add_project", { method: "POST", mode: "no-cors", body: '{"name":"evil"}' }),
      ];
    },
    [bed.url, bed.secrets.admin] as const,
  );
  expect(tried).toEqual(["blocked", "blocked", "blocked", expect.stringMatching(/^(opaque |blocked)$/)]);
  expect((await bed.side.call("list_projects", {})).count).toBe(0);
}, 60_000);
