/**
 * The real plugin behind a connection that loses the answer to the first notices: the call fails immediately, and the
 * message still reaches OpenCode, `lateMs` later; one entry per notice.
 */
import type { Plugin } from "@opencode-ai/plugin";
import { createPlugin } from "../../../src/opencode/plugin.ts";

interface RawClient {
  request(options: {
    url?: string;
    body?: { messageID?: string; parts?: { synthetic?: boolean }[] };
  }): Promise<unknown>;
}

const late: Plugin = async (input, options) => {
  const raw = (input.client as unknown as { _client: RawClient })._client;
  const request = raw.request.bind(raw);
  const delays = [...((options?.lateMs ?? []) as number[])];
  const delayed = new Set<unknown>();
  raw.request = (given) => {
    const isNotice = given.url?.endsWith("/message") === true && given.body?.parts?.[1]?.synthetic === true;
    const delay = isNotice && !delayed.has(given.body?.messageID) ? delays.shift() : undefined;
    if (delay === undefined) return request(given);
    delayed.add(given.body?.messageID);
    setTimeout(() => void request(given), delay);
    return Promise.reject(new Error("the answer was lost"));
  };
  return createPlugin(input, {});
};

export default late;
