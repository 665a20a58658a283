/** A task whose parent could not be notified, in a real Chromium: the page says why, and notifies it again. */
import { expect, onTestFinished, test } from "bun:test";
import { say } from "../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { ended, launch, notices, World } from "../engine/engine-bed.ts";
import { startApi } from "../http/bed/api-bed.ts";
import { chromiumBed } from "./page-bed.ts";

const chromium = chromiumBed();

test("a parent that was not notified yet is shown with the reason, and notified again from there", async () => {
  const world = new World();
  let isDown = true;
  const api = await startApi({
    world,
    side: {
      host: (host) => ({
        notify: async (...given) => {
          if (isDown) throw new AsyncAgentsError("host_failed", "the line is cut", { details: { refused: true } });
          await host.notify(...given);
        },
      }),
      settings: { noticeRetryMs: 3_600_000 },
    },
  });
  onTestFinished(async () => {
    await chromium.closePages();
    await world.close();
  });
  const parent = world.parent();
  const task = await launch(api.side, parent, world.script(say("done")));
  await ended(api.side, task);
  const { page, problems } = await chromium.open(`${api.url}/tasks/${task.id}`);
  const note = page.getByRole("region", { name: "Parent not told" });
  await note.getByText("Its parent is not told yet").waitFor();
  expect(await note.textContent()).toContain("the line is cut");
  isDown = false;
  await note.getByRole("button", { name: "Tell it again" }).click();
  await note.waitFor({ state: "detached" });
  await notices(api.side, parent, "delivered", 1);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
  expect(problems).toEqual([]);
}, 60_000);
