import { expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { isPushService, isPushSubscription, newPushKeys, pushRequest } from "../../src/process/web-push.ts";

/** The example of RFC 8291, section 5. */
const BROWSER = {
  endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};
const SENT =
  "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
const at = Date.parse("2026-11-17T00:00:00Z");
const message = (keys: ReturnType<typeof newPushKeys>, payload: string) =>
  ({ keys, contact: "mailto:me@example.org", payload, urgency: "high", at }) as const;

test("a message is encrypted as in the example of the standard", () => {
  const random = {
    number: Buffer.from("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "base64url"),
    salt: Buffer.from("DGv6ra1nlYgDCS1FRnbzlw", "base64url"),
  };
  const { body, url, headers } = pushRequest(
    BROWSER,
    message(newPushKeys(), "When I grow up, I want to be a watermelon"),
    random,
  );
  expect(Buffer.from(body).toString("base64url")).toBe(SENT);
  expect([url, headers["content-encoding"], headers.urgency]).toEqual([BROWSER.endpoint, "aes128gcm", "high"]);
});

test("every message has another key and salt, and says who sends it, for that service only", () => {
  const keys = newPushKeys();
  const [one, other] = [pushRequest(BROWSER, message(keys, "x")), pushRequest(BROWSER, message(keys, "x"))];
  expect(Buffer.from(one.body)).not.toEqual(Buffer.from(other.body));
  const [, token = "", key = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(one.headers.authorization ?? "") ?? [];
  expect(key).toBe(keys.publicKey);
  const [head = "", claims = "", signature = ""] = token.split(".");
  const plain = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString());
  expect(plain(head)).toEqual({ typ: "JWT", alg: "ES256" });
  const exp = at / 1000 + 12 * 3600;
  expect(plain(claims)).toEqual({ aud: "https://push.example.net", exp, sub: "mailto:me@example.org" });
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const jwk = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y } as never, format: "jwk" });
  const given = Buffer.from(signature, "base64url");
  const isGenuine = (text: string) =>
    verify("sha256", Buffer.from(text), { key: jwk, dsaEncoding: "ieee-p1363" }, given);
  expect([isGenuine(`${head}.${claims}`), isGenuine(`${head}.${claims}x`)]).toEqual([true, false]);
});

test("only the services of browsers, over https, and keys that can be used", () => {
  const good = [
    "https://fcm.googleapis.com/fcm/send/x",
    "https://updates.push.services.mozilla.com/wpush/v2/x",
    "https://web.push.apple.com/x",
    "https://wns2-par02p.notify.windows.com/w/?token=x",
  ];
  const bad = [
    "http://fcm.googleapis.com/x",
    "https://fcm.googleapis.com:8443/x",
    "https://fcm.googleapis.com.evil.org/x",
    "https://evilpush.apple.com/x",
    "https://127.0.0.1/x",
    "https://localhost/push.apple.com",
    "file:///etc/passwd",
    "https://fcm.googleapis.com/fcm/send/字",
    "x",
  ];
  expect(good.filter((each) => !isPushService(each))).toEqual([]);
  expect(bad.filter((each) => isPushService(each))).toEqual([]);
  expect(isPushSubscription(BROWSER)).toBe(true);
  expect(isPushSubscription({ ...BROWSER, auth: "x" })).toBe(false);
  expect(isPushSubscription({ ...BROWSER, p256dh: BROWSER.p256dh.replace("CVx", "CVy") })).toBe(false);
});
