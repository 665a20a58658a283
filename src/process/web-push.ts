/**
 * Web Push: a message to a browser, through the push service that the browser chose. Encrypted for that browser alone
 * (RFC 8291, aes128gcm) and signed with our key (RFC 8292, VAPID), so that the service can neither read nor forge it.
 * Three short standards on what node:crypto has; a library would bring seven packages for it.
 */
import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";

/** Where a browser gets its messages, as it says itself. */
export interface PushSubscription {
  endpoint: string;
  /** Its public key and its secret, in base64url. */
  p256dh: string;
  auth: string;
}

/** Our key pair: the public point and the private number, in base64url. */
export interface PushKeys {
  publicKey: string;
  privateKey: string;
}

const CURVE = "prime256v1";
const RECORD_SIZE = 4096;
const TOKEN_SECONDS = 12 * 3600;
/** How long the service keeps it for a browser that is off. */
const KEPT_SECONDS = 86_400;

/** Push services of the browsers. What a caller names elsewhere is not called. */
const SERVICES = [
  /^fcm\.googleapis\.com$/,
  /^([\w-]+\.)*push\.services\.mozilla\.com$/,
  /^([\w-]+\.)*push\.apple\.com$/,
  /^([\w-]+\.)*notify\.windows\.com$/,
];

export function isPushService(endpoint: string): boolean {
  const url = URL.parse(endpoint);
  // As browsers write it: the store limits its bytes by its characters.
  if (url === null || !/^[!-~]*$/.test(endpoint)) return false;
  return url.protocol === "https:" && url.port === "" && SERVICES.some((host) => host.test(url.hostname));
}

/** Whether its keys have the form that encryption needs. */
export function isPushSubscription({ p256dh, auth }: PushSubscription): boolean {
  const point = Buffer.from(p256dh, "base64url");
  if (point.length !== 65 || point[0] !== 4 || Buffer.from(auth, "base64url").length !== 16) return false;
  try {
    const own = createECDH(CURVE);
    own.generateKeys();
    own.computeSecret(point);
    return true;
  } catch {
    // It is not on the curve.
    return false;
  }
}

export function newPushKeys(): PushKeys {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: CURVE });
  const { d = "" } = privateKey.export({ format: "jwk" });
  return { publicKey: pointOf(createPublicKey(privateKey)).toString("base64url"), privateKey: d };
}

/** `random` is given in tests only. */
export function pushRequest(
  { endpoint, p256dh, auth }: PushSubscription,
  { keys, contact, payload, urgency, at }: PushMessage,
  random: PushRandom = { number: null, salt: randomBytes(16) },
): { url: string; headers: Record<string, string>; body: Uint8Array<ArrayBuffer> } {
  const headers = {
    "content-type": "application/octet-stream",
    "content-encoding": "aes128gcm",
    ttl: String(KEPT_SECONDS),
    urgency,
    authorization: `vapid t=${tokenOf(endpoint, keys, contact, at)}, k=${keys.publicKey}`,
  };
  return { url: endpoint, headers, body: encrypted(payload, { p256dh, auth }, random) };
}

interface PushMessage {
  keys: PushKeys;
  /** Whom the service may write to: `mailto:` or an https address. */
  contact: string;
  payload: string;
  urgency: "normal" | "high";
  at: number;
}

/** The private number of the key pair, null for a new one, and the salt. */
interface PushRandom {
  number: Uint8Array | null;
  salt: Uint8Array;
}

function encrypted(
  text: string,
  { p256dh, auth }: Pick<PushSubscription, "p256dh" | "auth">,
  { number, salt }: PushRandom,
): Uint8Array<ArrayBuffer> {
  const own = createECDH(CURVE);
  if (number === null) own.generateKeys();
  else own.setPrivateKey(number);
  const theirs = Buffer.from(p256dh, "base64url");
  const shared = own.computeSecret(theirs);
  const [ours, secret] = [own.getPublicKey(), Buffer.from(auth, "base64url")];
  const key = derived(shared, secret, Buffer.concat([Buffer.from("WebPush: info\0"), theirs, ours]), 32);
  const contentKey = derived(key, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(key, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createCipheriv("aes-128-gcm", contentKey, nonce);
  // One record, which is the last one: 2 ends it.
  const content = Buffer.concat([cipher.update(text, "utf8"), cipher.update(Buffer.from([2])), cipher.final()]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_SIZE);
  return Uint8Array.from(Buffer.concat([salt, size, Buffer.from([ours.length]), ours, content, cipher.getAuthTag()]));
}

function derived(key: Buffer, salt: Uint8Array, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, info, length));
}

/** A token for that service, which says who sends. */
function tokenOf(endpoint: string, { publicKey, privateKey }: PushKeys, contact: string, at: number): string {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(at / 1000) + TOKEN_SECONDS, sub: contact };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const key = createPrivateKey({ key: { kty: "EC", crv: "P-256", d: privateKey, x, y }, format: "jwk" });
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** Uncompressed, as the standards want it. */
function pointOf(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
}
