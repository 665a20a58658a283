/** What receivers on loopback get from a real store: exactly what the settings say, once each in the normal case. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { ChannelSettings } from "../../../src/engine/notifications/notification-settings.ts";
import { NO_LIMITS } from "../../../src/model/budgets/budget.ts";
import type { TaskEvent } from "../../../src/model/events.ts";
import { noProgress } from "../../../src/model/progress.ts";
import type { StoredNotification } from "../../../src/store/notifications/records.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { allIn, asking, failure, whenStored } from "./events.ts";
import { notifierBed } from "./notifier-bed.ts";
import { receiver } from "./receiver.ts";

// A busy machine needs a while.
setDefaultTimeout(30_000);

describe("channels", () => {
  test("a webhook gets each thing once, signed as the Standard Webhooks specification says", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hook = receiver();
    const secret = `whsec_${Buffer.from("a key of the test").toString("base64")}`;
    const channels = { ops: { type: "webhook", url: `${hook.url}/in/x?y=1`, secret: "env:HOOK" } } as const;
    await notifier({ channels, environment: { HOOK: secret }, publicUrl: "https://agents.example.org" });
    const at = clock.now();
    await create(store, "t1", { parentSessionId: "" });
    await store.apply("t1", asking(at, "r1"));
    await hook.has(1);
    await store.apply("t1", completed(at + 1, 0, "all is\u202e well\nin two lines"));
    await hook.has(2);
    await create(store, "t2");
    await store.apply("t2", { type: "run.cancelled", at, run: 0, reason: "by a person", progress: null });
    await create(store, "t3");
    await store.apply("t3", failure(at));
    await hook.has(3);
    await create(store, "t4");
    await store.apply("t4", failure(at, "stopped: the run has cost $2.00, and the limit is $1.00."));
    await hook.has(4);
    await whenStored(store, allIn("delivered", 4));
    const bodies = hook.received.map(({ json: { id: _, ...body } }) => body);
    const task = (id: string) => {
      return { id, run: 0, description: `Task ${id}`, agent: "explore", host: "scripted", directory: "/repo" };
    };
    const link = (id: string) => `https://agents.example.org/tasks/${id}`;
    const stamp = new Date(at).toISOString();
    expect(bodies).toEqual([
      {
        kind: "needs_you",
        at: stamp,
        title: "Needs you: Task t1",
        text: "May I run rm?",
        count: 1,
        task: task("t1"),
        link: link("t1"),
      },
      {
        kind: "ended",
        at: new Date(at + 1).toISOString(),
        title: "Finished: Task t1",
        text: "all is<U+202E> well in two lines",
        count: 1,
        task: task("t1"),
        link: link("t1"),
      },
      {
        kind: "failed",
        at: stamp,
        title: "Failed: Task t3",
        text: "the provider answered 401",
        count: 1,
        task: task("t3"),
        link: link("t3"),
      },
      {
        kind: "budget",
        at: stamp,
        title: "Stopped at a limit: Task t4",
        text: "stopped: the run has cost $2.00, and the limit is $1.00.",
        count: 1,
        task: task("t4"),
        link: link("t4"),
      },
    ]);
    for (const { headers, text, json, path, method } of hook.received) {
      expect([method, path, headers.get("content-type")]).toEqual(["POST", "/in/x", "application/json"]);
      const [id, timestamp] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
      expect(id).toBe(json.id);
      expect(Math.abs(Number(timestamp) * 1000 - clock.now())).toBeLessThan(60_000);
      const signed = createHmac("sha256", "a key of the test").update(`${id}.${timestamp}.${text}`).digest("base64");
      expect(headers.get("webhook-signature")).toBe(`v1,${signed}`);
    }
    expect(new Set(hook.received.map(({ json }) => json.id)).size).toBe(4);
  });

  test("a budget is told once when it is nearly used up, once when it is, and without details only that", async () => {
    const { store, clock, notifier } = await notifierBed();
    const [all, bare] = [receiver(), receiver()];
    const channels: Record<string, ChannelSettings> = {
      all: { type: "webhook", url: all.url },
      bare: { type: "webhook", url: bare.url, details: false },
    };
    await notifier({ channels, rules: [{ kinds: ["budget"] }] });
    const at = clock.now();
    await create(store, "t1", { budgets: { batch: { ...NO_LIMITS, cost: 1 } } });
    await create(store, "t2");
    for (const cost of [0.5, 0.85, 0.9, 1.2, 1.3]) {
      await store.apply("t1", { type: "run.progressed", at, run: 0, progress: { ...noProgress(at), cost } });
    }
    // What it stops is not told again, run by run; another error is.
    const stop = "stopped: the budget of batch batch is used up ($1.30 of $1.00). What it did is in its session.";
    for (const id of ["t1", "t2"]) {
      await store.apply(id, { type: "run.failed", at, run: 0, error: stop, progress: noProgress(at) });
    }
    await create(store, "t3", { batchId: "other" });
    const limit = "stopped: the run has cost $2.00, and the limit is $1.00.";
    await store.apply("t3", { type: "run.failed", at, run: 0, error: limit, progress: noProgress(at) });
    await Promise.all([all.has(3), bare.has(3)]);
    await whenStored(store, allIn("delivered", 6));
    const told = (received: typeof all.received) =>
      received.map(({ json: { kind, title, text } }) => [kind, title, text]);
    expect(told(all.received)).toEqual([
      [
        "budget",
        'Budget nearly used up: the batch of "Task t1"',
        "85 % of the budget of batch batch is used: $0.85 of $1.00",
      ],
      [
        "budget",
        'Budget used up: the batch of "Task t1"',
        "$1.20 of $1.00. Its runs are stopped; raise it: asyncagents budget set batch:batch …",
      ],
      ["budget", "Stopped at a limit: Task t3", limit],
    ]);
    expect(told(bare.received)).toEqual([
      ["budget", "Budget nearly used up", ""],
      ["budget", "Budget used up", ""],
      ["budget", "Stopped at a limit", ""],
    ]);
  });

  test("an ntfy server gets topic, priority, tags and its token; a Slack webhook gets text that cannot act", async () => {
    const { store, clock, notifier } = await notifierBed();
    const [ntfy, slack] = [receiver(), receiver()];
    const channels: Record<string, ChannelSettings> = {
      phone: { type: "ntfy", server: ntfy.url, topic: "mine", token: "env:NTFY", tags: ["robot"] },
      team: { type: "slack", url: `${slack.url}/services/T/B/x` },
      bare: { type: "ntfy", server: ntfy.url, topic: "bare", details: false, priority: 1 },
    };
    await notifier({ channels, environment: { NTFY: "tk_1" } });
    await create(store, "t1", { description: "<!channel> & @here [x](http://evil)", directory: "/repo" });
    await store.apply("t1", failure(clock.now(), "see <http://evil|your bank>"));
    await Promise.all([ntfy.has(2), slack.has(1)]);
    const sent = ntfy.received.toSorted((one, other) => (one.json.topic < other.json.topic ? 1 : -1));
    expect(sent.map(({ json }) => json)).toEqual([
      {
        topic: "mine",
        title: "Failed: <!channel> & @here [x](http://evil)",
        message: "see <http://evil|your bank>\nexplore in /repo",
        priority: 4,
        tags: ["x", "robot"],
        sequence_id: expect.stringMatching(/^ntf_\w{32}$/),
      },
      {
        topic: "bare",
        title: "Failed",
        message: "Failed",
        priority: 1,
        tags: ["x"],
        sequence_id: expect.stringMatching(/^ntf_\w{32}$/),
      },
    ]);
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer tk_1", null]);
    expect(slack.received[0]?.json).toEqual({
      text: "Failed: &lt;!channel&gt; &amp; @\u200bhere [x] (http://evil)\nsee &lt;http://evil|your bank&gt;\nexplore in /repo",
      mrkdwn: false,
      link_names: 0,
      parse: "none",
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  test("rules choose by kind, agent, directory and who launched; a channel that two rules name gets it once", async () => {
    const { store, clock, notifier } = await notifierBed();
    const [one, other] = [receiver(), receiver()];
    const channels = { one: { type: "webhook", url: one.url }, other: { type: "webhook", url: other.url } } as const;
    const rules = [
      { kinds: ["failed"], channels: ["one"] },
      { agent: "bui*", channels: ["one"] },
      { directory: "/place/shop", launchedBy: "person", channels: ["other"] },
    ] as const;
    await notifier({ channels, rules });
    const at = clock.now();
    const ends = async (id: string, fields: Parameters<typeof create>[2], event: TaskEvent) => {
      await create(store, id, fields);
      await store.apply(id, event);
    };
    await ends("build fails", { agent: "build" }, failure(at));
    await ends("explore ends", {}, completed(at));
    await ends("explore fails", {}, failure(at));
    await ends("shop", { directory: "/place/shop/cart", parentSessionId: "" }, completed(at));
    await ends("agent's shop", { directory: "/place/shop" }, completed(at));
    await ends("shopping", { directory: "/place/shopping", parentSessionId: "" }, completed(at));
    await ends("last", { agent: "build", directory: "/place/shop", parentSessionId: "" }, failure(at));
    await Promise.all([one.has(3), other.has(2)]);
    await whenStored(store, allIn("delivered", 5));
    const idsOf = ({ received }: typeof one) => received.map(({ json }) => json.task.id);
    expect(idsOf(one)).toEqual(["build fails", "explore fails", "last"]);
    expect(idsOf(other)).toEqual(["shop", "last"]);
  });

  test("an approval that a model asked for is told once, however often the board changes", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hook = receiver();
    await notifier({ channels: { ops: { type: "webhook", url: hook.url } } });
    const request = (id: string) =>
      store.board.putApproval({
        id,
        kind: "directory",
        subject: `/${id}`,
        directory: `/${id}`,
        script: null,
        state: "requested",
        askedBy: "an agent",
        createdAt: clock.now(),
        decidedAt: null,
      });
    await request("a1");
    await hook.has(1);
    await request("a2");
    await hook.has(2);
    await whenStored(store, allIn("delivered", 2));
    expect(hook.received.map(({ json }) => json.text)).toEqual([
      "an agent wants to let agents work in /a1",
      "an agent wants to let agents work in /a2",
    ]);
  });
});

describe("a channel that begins, ends and begins again", () => {
  test("is not told the past, and misses nothing while no process runs, up to a day", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hook = receiver();
    const channels = { ops: { type: "webhook", url: hook.url } } as const;
    await create(store, "before");
    await store.apply("before", completed(clock.now()));
    const first = await notifier({ channels });
    await create(store, "during");
    await store.apply("during", completed(clock.now()));
    await hook.has(1);
    await first.stop();
    await create(store, "old");
    await store.apply("old", completed(clock.now()));
    clock.move(25 * 3_600_000);
    await create(store, "between");
    await store.apply("between", completed(clock.now()));
    await notifier({ channels });
    await hook.has(2);
    await create(store, "after");
    await store.apply("after", completed(clock.now()));
    await hook.has(3);
    expect(hook.received.map(({ json }) => json.task.id)).toEqual(["during", "between", "after"]);
  });

  test("what was asked and answered while nobody was there is not told", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hook = receiver();
    const channels = { ops: { type: "webhook", url: hook.url } } as const;
    await (await notifier({ channels })).stop();
    await create(store, "t1");
    await store.apply("t1", asking(clock.now(), "r1"));
    await store.apply("t1", { type: "run.phased", at: clock.now(), run: 0, phase: "working", detail: null });
    await store.apply("t1", asking(clock.now(), "r2", "And this?"));
    await notifier({ channels });
    await hook.has(1);
    expect(hook.received.map(({ json }) => json.text)).toEqual(["And this?"]);
  });
});

describe("receivers that fail", () => {
  test("a failed attempt is repeated under the same id, after a growing pause, until it arrives", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hook = receiver(() => new Response(null, { status: hook.received.length <= 2 ? 500 : 204 }));
    const own = await notifier({ channels: { ops: { type: "webhook", url: hook.url } } });
    await create(store, "t1");
    await store.apply("t1", completed(clock.now()));
    const [once] = await whenStored(store, ([row]) => row?.reason != null);
    expect(once).toMatchObject({ state: "pending", attempts: 1, reason: "the receiver answered 500" });
    expect((once?.dueAt ?? 0) - clock.now()).toBeWithin(8_000, 10_001);
    clock.move(10_000);
    const [twice] = await whenStored(store, ([row]) => row?.attempts === 2 && row.dueAt > clock.now());
    expect((twice?.dueAt ?? 0) - clock.now()).toBeWithin(18_000, 20_001);
    // It keeps failing: people are told, until something arrives again.
    expect(await own.channels()).toMatchObject([{ failing: "the receiver answered 500", pending: 1 }]);
    expect(await own.troubles()).toMatchObject([
      { kind: "notifications_failing", message: expect.stringContaining("ops: the receiver answered 500") },
    ]);
    clock.move(20_000);
    const [end] = await whenStored(store, allIn("delivered", 1));
    expect(end).toMatchObject({ attempts: 3, reason: null });
    expect(await own.troubles()).toEqual([]);
    expect(new Set(hook.received.map(({ json }) => json.id)).size).toBe(1);
    expect(hook.received).toHaveLength(3);
  });

  test("one that redirects and one that is gone are given up after ten tries, visibly, and can be tried again", async () => {
    const { store, clock, notifier, logged } = await notifierBed();
    const elsewhere = receiver();
    const redirecting = receiver(() => Response.redirect(`${elsewhere.url}/x`, 307));
    const channels = {
      redirecting: { type: "webhook", url: redirecting.url },
      gone: { type: "slack", url: "http://127.0.0.1:1/secret-path" },
    } as const;
    const own = await notifier({ channels });
    await create(store, "t1");
    await store.apply("t1", completed(clock.now()));
    for (let tries = 1; tries <= 10; tries++) {
      const isTried = ({ attempts, reason, dueAt, state }: StoredNotification) =>
        attempts === tries && reason !== null && (state === "failed" || dueAt > clock.now());
      await whenStored(store, (all) => all.length === 2 && all.every(isTried));
      clock.move(3_600_000);
    }
    const all = await whenStored(store, allIn("failed", 2));
    const reasons = Object.fromEntries(all.map(({ channel, reason }) => [channel, reason]));
    expect(reasons).toEqual({
      redirecting: "the receiver answered with a redirect (307), which is not followed: configure its real address",
      gone: expect.stringMatching(/^the receiver could not be reached( \(\w+\))?$/),
    });
    expect([redirecting.received.length, elsewhere.received.length]).toEqual([10, 0]);
    expect(logged()).not.toContain("secret-path");
    const counts = { problem: null, pending: 0, held: 0, failed: 1 };
    expect(await own.channels()).toEqual([
      {
        name: "redirecting",
        type: "webhook",
        target: `webhook at ${redirecting.url}`,
        failing: reasons.redirecting ?? "",
        ...counts,
      },
      {
        name: "gone",
        type: "slack",
        target: "Slack webhook at http://127.0.0.1:1",
        failing: reasons.gone ?? "",
        ...counts,
      },
    ]);
    redirecting.answer = () => new Response("ok");
    const failed = all.find(({ channel }) => channel === "redirecting");
    await own.retry(failed?.id ?? "");
    await whenStored(store, allIn("delivered", 1));
    expect(redirecting.received).toHaveLength(11);
    expect(redirecting.received.at(-1)?.json.id).toBe(failed?.id);
  }, 30_000);

  test("one that never answers is left after ten seconds, and tried again", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hanging = receiver(() => new Promise(() => {}));
    await notifier({ channels: { hanging: { type: "webhook", url: hanging.url } } });
    await create(store, "t1");
    await store.apply("t1", completed(clock.now()));
    await hanging.has(1);
    clock.move(9_000);
    expect((await store.notifications.list({}))[0]?.reason).toBeNull();
    clock.move(1_001);
    const [row] = await whenStored(store, ([each]) => each?.reason != null);
    expect(row?.reason).toBe("the receiver did not answer within 10 seconds");
    hanging.answer = () => new Response("ok");
    clock.move(10_000);
    await whenStored(store, allIn("delivered", 1));
    expect(hanging.received).toHaveLength(2);
  });

  test("a receiver that hangs holds up no other channel, and one that says when to come back is left alone until then", async () => {
    const { store, clock, notifier } = await notifierBed();
    const hanging = receiver(() => new Promise(() => {}));
    const busy = receiver(() => new Response(null, { status: 429, headers: { "retry-after": "120" } }));
    const fine = receiver();
    const channels = {
      hanging: { type: "webhook", url: hanging.url },
      busy: { type: "webhook", url: busy.url },
      fine: { type: "webhook", url: fine.url },
    } as const;
    await notifier({ channels });
    for (const id of ["t1", "t2"]) {
      await create(store, id);
      await store.apply(id, completed(clock.now()));
    }
    await fine.has(2);
    const all = await whenStored(store, (rows) => rows.filter(({ reason }) => reason !== null).length === 2);
    const waits = all.filter(({ channel }) => channel === "busy").map(({ dueAt }) => dueAt - clock.now());
    for (const wait of waits) expect(wait).toBeWithin(118_000, 120_001);
    expect(hanging.received).toHaveLength(1);
  });

  test("a channel without its secret is not used, and says so; what it missed is given up after a day", async () => {
    const { store, clock, notifier, logged } = await notifierBed();
    const hook = receiver();
    const channels = { ops: { type: "webhook", url: hook.url, secret: "env:NOT_SET" } } as const;
    const own = await notifier({ channels });
    await create(store, "t1");
    await store.apply("t1", completed(clock.now()));
    await whenStored(store, allIn("pending", 1));
    const problem = "the environment variable NOT_SET is not set for this process";
    expect(await own.channels()).toMatchObject([{ name: "ops", problem, pending: 1 }]);
    expect(logged()).toContain(problem);
    await expect(own.test("ops")).rejects.toThrow(problem);
    await own.stop();
    clock.move(25 * 3_600_000);
    await notifier({ channels });
    const [end] = await whenStored(store, allIn("failed", 1));
    expect(end?.reason).toBe("no process could use the channel for a day");
    expect(hook.received).toEqual([]);
  });
});
