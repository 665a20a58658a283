/**
 * Child process: many readers of event streams over plain sockets, in their own process so that reading does not slow
 * the sender. Each arrival is recorded when the end of an event arrives; only one reader looks at the bytes.
 */
import { bounded } from "../../src/testing/recorder.ts";
import { answerCalls, sharedNow } from "../child-process.ts";

interface Reader {
  /** When the last complete event arrived; 0 if none has since the last `await`. */
  arrivedAt: number;
  /** Kept for the first reader of a group only. */
  text: string;
}

interface Group {
  readers: Reader[];
  missing: number;
  whole: PromiseWithResolvers<void>;
}

/** An event ends with an empty line, followed by the end of its chunk. */
const EVENT_END = Buffer.from("\n\n\r\n");
const PATIENCE_MS = 60_000;
/** How many connect at once: a server's queue of new connections is short. */
const AT_ONCE = 50;
const SNAPSHOT_MS = 300;

const groups = new Map<string, Group>();

const calls = {
  /** Connects this many readers under a name; returns when all have their snapshot. */
  async open({ name, url, count }: { name: string; url: string; count: number }): Promise<void> {
    const group: Group = { readers: [], missing: count, whole: Promise.withResolvers() };
    groups.set(name, group);
    for (let opened = 0; opened < count; opened += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened) }, () => connect(group, url)));
    }
    await arrived(name, group);
    // A large snapshot may contain what looks like its end.
    await Bun.sleep(SNAPSHOT_MS);
  },
  /** Forgets earlier arrivals before the next event is sent. */
  expect({ name }: { name: string }): void {
    const group = known(name);
    for (const reader of group.readers) Object.assign(reader, { arrivedAt: 0, text: "" });
    group.missing = group.readers.length;
    group.whole = Promise.withResolvers();
  },
  /** When the expected event arrived at each reader, and its content. */
  async arrivals({ name }: { name: string }): Promise<{ at: number[]; text: string }> {
    const group = known(name);
    await arrived(name, group);
    return { at: group.readers.map(({ arrivedAt }) => arrivedAt), text: eventOf(group.readers[0]?.text ?? "") };
  },
};

export type StreamClientCalls = typeof calls;

async function connect(group: Group, url: string): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const reader: Reader = { arrivedAt: 0, text: "" };
  const isFirst = group.readers.push(reader) === 1;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        if (isFirst) reader.text += bytes.toString("utf8");
        if (reader.arrivedAt !== 0 || !bytes.subarray(-EVENT_END.length).equals(EVENT_END)) return;
        reader.arrivedAt = sharedNow();
        if (--group.missing === 0) group.whole.resolve();
      },
      close: () => group.whole.reject(new Error("The server closed a stream.")),
      error: (_, error) => group.whole.reject(error),
    },
  });
  socket.write(`GET /v1/events HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
}

function known(name: string): Group {
  const group = groups.get(name);
  if (!group) throw new Error(`No readers are called ${name}.`);
  return group;
}

function arrived(name: string, group: Group): Promise<void> {
  return bounded(group.whole.promise, PATIENCE_MS, () => `an event at ${group.missing} readers of ${name}.`);
}

/** Without the chunk lengths of HTTP. */
function eventOf(chunks: string): string {
  return chunks.replace(/^[0-9a-f]+\r\n/i, "").replace(/\r\n$/, "");
}

answerCalls(calls);
