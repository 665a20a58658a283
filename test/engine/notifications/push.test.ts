/** Web Push to browsers that a test plays: each gets what it alone can read, and one that is gone is forgotten. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { allIn, whenStored } from "./events.ts";
import { notifierBed } from "./notifier-bed.ts";
import { receiver } from "./receiver.ts";

setDefaultTimeout(30_000);

const CHANNELS = { browsers: { type: "push", contact: "mailto:me@example.org" } } as const;

/** Keys as a browser makes them, and how it reads what it gets. */
function browser() {
  const own = createECDH("prime256v1");
  own.generateKeys();
  const auth = randomBytes(16);
  const derived = (key: Buffer, salt: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync("sha256", key, salt, info, length));
  return {
    p256dh: own.getPublicKey("base64url"),
    auth: auth.toString("base64url"),
    read(body: Buffer) {
      const [salt, theirs, content] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own.getPublicKey(), theirs]);
      const key = derived(own.computeSecret(theirs), auth, info, 32);
      const contentKey = derived(key, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
      const nonce = derived(key, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
      const decipher = createDecipheriv("aes-128-gcm", contentKey, nonce);
      decipher.setAuthTag(content.subarray(-16));
      const plain = Buffer.concat([decipher.update(content.subarray(0, -16)), decipher.final()]);
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
    },
  };
}

test("every subscribed browser gets it, encrypted for it alone; one that is gone is forgotten", async () => {
  const { store, clock, notifier } = await notifierBed();
  const [phone, laptop] = [browser(), browser()];
  const service = receiver((got) => new Response(null, { status: got.path === "/gone" ? 410 : 201 }));
  const { push } = store.notifications;
  const add = (path: string, { p256dh, auth }: ReturnType<typeof browser>) =>
    push.subscribe({ endpoint: service.url + path, p256dh, auth, addedBy: "me" }, clock.now());
  await Promise.all([add("/phone", phone), add("/laptop", laptop), add("/gone", browser())]);
  await notifier({ channels: CHANNELS });
  await create(store, "t1");
  await store.apply("t1", completed(clock.now(), 0, "all done"));
  const sent = await service.has(3);
  const [row] = await whenStored(store, allIn("delivered", 1));
  const at = (path: string) => sent.find((each) => each.path === path)?.bytes ?? Buffer.of();
  const shown = { id: row?.id, title: "Finished: Task t1", text: "all done", path: "/tasks/t1" };
  expect([phone.read(at("/phone")), laptop.read(at("/laptop"))]).toEqual([shown, shown]);
  expect(() => laptop.read(at("/phone"))).toThrow();
  expect((await push.subscriptions(clock.now())).map(({ endpoint }) => new URL(endpoint).pathname).toSorted()).toEqual([
    "/laptop",
    "/phone",
  ]);
});

test("without a subscribed browser it has failed, and says so; strange services and keys are refused", async () => {
  const { store, clock, notifier } = await notifierBed();
  const own = await notifier({ channels: CHANNELS });
  await create(store, "t1");
  await store.apply("t1", completed(clock.now()));
  const [row] = await whenStored(store, allIn("failed", 1));
  expect(row?.reason).toContain("no browser is subscribed");
  const key = await own.pushKey();
  expect([key, Buffer.from(key ?? "", "base64url").length]).toEqual([await own.pushKey(), 65]);
  const { p256dh, auth } = browser();
  const subscribe = (endpoint: string, keys = { p256dh, auth }) => own.subscribe({ endpoint, ...keys, addedBy: "me" });
  await expect(subscribe("http://127.0.0.1:9/x")).rejects.toThrow("known browser");
  await expect(subscribe("https://fcm.googleapis.com/x", { p256dh: "AAAA", auth })).rejects.toThrow("known browser");
  for (let index = 0; index < 50; index++) await subscribe(`https://fcm.googleapis.com/${index}`);
  await expect(subscribe("https://fcm.googleapis.com/one-more")).rejects.toThrow("Too many browsers");
  await subscribe("https://fcm.googleapis.com/7");
  await own.unsubscribe("https://fcm.googleapis.com/7");
  expect(await store.notifications.push.subscriptions(clock.now())).toHaveLength(49);
  const plain = await notifier({ channels: {} });
  expect(await plain.pushKey()).toBeNull();
});

test("a browser that refuses is tried again alone: the others do not get it again", async () => {
  const { store, clock, notifier } = await notifierBed();
  const service = receiver((got) => new Response(null, { status: got.path === "/refuses" ? 403 : 201 }));
  const { push } = store.notifications;
  for (const path of ["/phone", "/refuses"]) {
    const { p256dh, auth } = browser();
    await push.subscribe({ endpoint: service.url + path, p256dh, auth, addedBy: "me" }, clock.now());
  }
  await notifier({ channels: CHANNELS });
  await create(store, "t1");
  await store.apply("t1", completed(clock.now()));
  await service.has(2);
  await whenStored(store, (rows) => rows.some(({ reason }) => reason !== null));
  clock.move(60_000);
  await service.has(3);
  expect(service.received.map(({ path }) => path).toSorted()).toEqual(["/phone", "/refuses", "/refuses"]);
});
