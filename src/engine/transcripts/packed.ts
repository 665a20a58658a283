/** The content of a transcript: JSON, compressed, as text. */
import { gunzipSync, gzipSync } from "node:zlib";

export function packed(value: unknown): string {
  return gzipSync(JSON.stringify(value)).toString("base64");
}

export function unpacked<T>(content: string): T {
  return JSON.parse(gunzipSync(Buffer.from(content, "base64")).toString("utf8"));
}
