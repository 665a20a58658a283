/**
 * Foreign text, on the real daemon in a real Chromium: no invisible character reaches the page in any view, neither
 * as text nor in a title or a label.
 */
import { beforeAll, expect, test } from "bun:test";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const RLO = "\u202E";
const TITLE = `Tidy ${RLO}nimda\u202C up\u200B`;
/** Shown raw, the check seems to be outside the comment. */
const TROJAN = `let level = 1; /*${RLO} } \u2066if (isAdmin)\u2069 \u2066 begin admins only */`;
const FILE = `evil${RLO}txt.ts`;
const PERMISSION = `rm -rf ./build${RLO}gpj.elif`;

const chromium = chromiumBed();
const bed = boardBed({ "readme.txt": "hello\n" });
let projectId: string;

beforeAll(async () => {
  projectId = (await bed.client.operate("add_project", { name: `Shop${RLO}pohs` })).project_id;
});

/** Runs on the page: finds hidden characters in what a person reads or hears. */
const LEAKS = String.raw`(() => {
  const hidden = /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/;
  const found = hidden.test(document.title) ? ["title: " + document.title] : [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (hidden.test(node.nodeValue) && !node.parentElement.closest("textarea")) found.push(node.parentElement.outerHTML);
  }
  for (const element of document.body.querySelectorAll("*")) {
    for (const name of ["title", "aria-label", "placeholder", "alt", "aria-valuetext"]) {
      if (hidden.test(element.getAttribute(name))) found.push(name + " of " + element.outerHTML);
    }
  }
  return found;
})()`;

const leaks = ({ page }: View) => page.evaluate<string[]>(LEAKS);

test("hidden characters are marked in every view: titles, names, requests, conversations and changes", async () => {
  const added = await bed.client.operate("add_repo", {
    project_id: projectId,
    path: bed.repo,
    name: `shop\u200B${RLO}`,
  });
  const script = `!write ${FILE} ${TROJAN}\n!permit ${PERMISSION}\n!say Look: \`x${RLO}y\` and **bold\u2066** [link${RLO}](https://example.com)`;
  const { task_id } = await bed.client.operate("create_task", {
    project_id: projectId,
    title: TITLE,
    description: `Says ${RLO}nothing\n${script}`,
  });
  const { attempt_id } = await bed.client.operate("start_task_attempt", {
    task_id,
    executor: "SCRIPTED",
    repos: [{ repo_id: added.repo_id, target_branch: "main" }],
  });
  const views: { path: string; found: string[]; problems: string[] }[] = [];
  const view = await chromium.open(`${bed.url}/`);
  const { page } = view;
  const look = async (path: string, ready: string) => {
    await page.goto(`${bed.url}${path}`);
    await page.locator(ready).first().waitFor();
    views.push({ path, found: await leaks(view), problems: [...view.problems] });
  };
  await look(`/attempts/${attempt_id}`, "[data-asks=permission] .hidden-character");
  expect(await page.locator("[data-asks=permission] pre").textContent()).toBe(PERMISSION.replace(RLO, "U+202E"));
  await page.locator("h1 .hidden-character").first().waitFor();
  const task = (await bed.client.tasks({})).tasks[0];
  await look("/", "[role=row] .hidden-character");
  await look(`/batches/${task?.batchId}`, "ol .hidden-character");
  await look(`/board/${projectId}`, "article .hidden-character");
  await bed.client.answer(task?.id ?? "", { kind: "permission", decision: "once" });
  await bed.client.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  await look(`/items/${task_id}`, "[aria-label=Description] .hidden-character");
  await look(`/tasks/${task?.id}`, "[aria-label=Conversation] .hidden-character");
  await look("/stats", "table");
  await look(`/attempts/${attempt_id}?tab=changes`, ".diff-line .hidden-character");
  const line = page.locator(".diff-line[data-kind=added]");
  await line.locator("[data-hidden=direction]").waitFor();
  const shown = TROJAN.replace(RLO, "U+202E").replaceAll("\u2066", "U+2066").replace("\u2069", "U+2069");
  expect(await line.locator(".diff-code").textContent()).toBe(shown);
  await page.locator("summary", { hasText: "evilU+202Etxt.ts" }).getByText("hidden characters").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await leaks(view)).toEqual([]);
  expect(views).toEqual(views.map(({ path }) => ({ path, found: [], problems: [] })));
}, 60_000);
