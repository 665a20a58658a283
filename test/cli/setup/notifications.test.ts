/** Notifications through the real command and daemon: sent as configured, shown, tried again, and kept secret. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiver } from "../../engine/notifications/receiver.ts";
import { cliWorld } from "../cli-bed.ts";

const SECRETS = ["tk_secret_token", "hook_secret_word", "secret-topic", "secret-path"];

function configured(settings: object) {
  const world = cliWorld();
  mkdirSync(world.data, { mode: 0o700 });
  writeFileSync(join(world.data, "asyncagents.json"), JSON.stringify(settings), { mode: 0o600 });
  return world;
}

interface Listed {
  channels: { name: string; failed: number; problem: string | null }[];
  notifications: {
    id: string;
    channel: string;
    state: string;
    kind: string;
    taskId: string | null;
    attempts: number;
  }[];
}

test("a task that ends is told over each channel, once, and no secret is shown or logged anywhere", async () => {
  const [ntfy, hook] = [receiver(), receiver()];
  const channels = {
    phone: { type: "ntfy", server: ntfy.url, topic: "secret-topic", token: "env:NTFY_TOKEN" },
    ops: { type: "webhook", url: `${hook.url}/secret-path`, secret: "hook_secret_word" },
    lost: { type: "webhook", url: "http://127.0.0.1:1/secret-path", secret: "env:NOT_SET" },
  };
  const listen = { publicUrls: ["https://agents.example.org"] };
  const world = configured({ listen, notifications: { channels, rules: [{ channels: ["phone", "ops"] }] } });
  world.environment.NTFY_TOKEN = "tk_secret_token";
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Says\n!say hello there");
  const [toPhone] = await ntfy.has(1);
  const [toOps] = await hook.has(1);
  expect([toPhone?.json.message, toPhone?.json.topic]).toEqual([
    expect.stringContaining("hello there"),
    "secret-topic",
  ]);
  expect(toPhone?.headers.get("authorization")).toBe("Bearer tk_secret_token");
  expect(toOps?.json).toMatchObject({ kind: "ended", task: { id }, link: `https://agents.example.org/tasks/${id}` });
  expect(toOps?.headers.get("webhook-signature")).toStartWith("v1,");
  expect((await world.cli("notifications", "test", "phone")).out).toContain("Delivered to phone.");
  const refused = await world.cli("notifications", "test", "lost");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("NOT_SET is not set")]);
  expect((await world.cli("notifications", "test", "nobody")).err).toContain("Configured: phone, ops, lost.");
  const listed = await world.json<Listed>("notifications");
  expect(listed.notifications.map(({ channel, state, kind }) => [channel, state, kind]).toSorted()).toEqual([
    ["ops", "delivered", "ended"],
    ["phone", "delivered", "ended"],
    ["phone", "delivered", "test"],
  ]);
  const shown = await Promise.all([
    world.cli("notifications"),
    world.cli("notifications", "--json"),
    world.cli("doctor"),
    world.cli("config"),
    world.cli("config", "--json"),
  ]);
  const log = readFileSync(join(world.data, "asyncagents.log"), "utf8");
  for (const secret of SECRETS) {
    for (const { out, err } of shown) expect(out + err).not.toContain(secret);
    expect(log).not.toContain(secret);
  }
  expect(shown[2]?.out).toContain("lost: webhook; the environment variable NOT_SET is not set for this process");
  expect(shown[3]?.out).toContain("env:NTFY_TOKEN");
  expect([ntfy.received.length, hook.received.length]).toEqual([2, 1]);
}, 60_000);

test("what is not delivered is shown with its reason, and tried again when somebody says so, but not by an agent", async () => {
  const hook = receiver(() => new Response(null, { status: 503 }));
  const world = configured({ notifications: { channels: { ops: { type: "webhook", url: hook.url } } } });
  const said = await world.cli("notifications", "test", "ops");
  expect([said.code, said.out]).toEqual([1, "Not delivered to ops: the receiver answered 503.\n"]);
  const { notifications } = await world.json<Listed>("notifications", "--state", "pending");
  const [{ id = "" } = {}] = notifications;
  expect(notifications).toMatchObject([{ id, channel: "ops", attempts: 1, reason: "the receiver answered 503" }]);
  expect(hook.received[0]?.json.id).toBe(id);
  // A second attempt: now the channel keeps failing, which `doctor` and `status` say.
  await hook.has(2);
  for (let attempts = 1; attempts < 2; ) {
    attempts = (await world.json<Listed>("notifications")).notifications[0]?.attempts ?? 0;
  }
  const doctor = await world.cli("doctor");
  expect(doctor.out).toContain("what it was told last did not arrive: the receiver answered 503");
  expect((await world.cli("status")).err).toContain("Notifications do not arrive. ops: the receiver answered 503");
  world.environment.ASYNCAGENTS_DEPTH = "1";
  const agent = await world.cli("notifications", "retry", id.slice(-8));
  expect([agent.code, agent.err]).toEqual([expect.any(Number), expect.stringContaining("Only people")]);
}, 60_000);

test("a mistake in the settings is named, without its secret, and nothing starts", async () => {
  const channels = { phone: { type: "ntfy", topic: "secret-topic", tokn: "tk_secret_token" } };
  const wrong = await configured({ notifications: { channels } }).cli("ls");
  expect(wrong.err).toContain(
    "notifications.channels.phone.tokn is unknown. Did you mean notifications.channels.phone.token?",
  );
  const bad = { phone: { type: "ntfy", topic: "secret-topic", priority: 9 } };
  const range = await configured({ notifications: { channels: bad } }).cli("ls");
  expect(range.err).toContain("notifications.channels.phone.priority is wrong");
  const named = { channels: { phone: { type: "ntfy", topic: "x" } }, rules: [{ channels: ["fone"] }] };
  const rule = await configured({ notifications: named }).cli("ls");
  expect(rule.err).toContain(
    "notifications.rules[0] names the channel fone, which is not in notifications.channels. Known: phone.",
  );
  for (const { err } of [wrong, range, rule]) for (const secret of SECRETS) expect(err).not.toContain(secret);
}, 60_000);
