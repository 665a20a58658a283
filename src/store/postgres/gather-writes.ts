/**
 * Makes a connection send what is written in one turn of the event loop at once. The driver writes each query by
 * itself; sent so, every one costs a system call here and wakes the server there. Changes no bytes and no order.
 */
import type { Writable } from "node:stream";
import type { ClientBase } from "pg";

type Callback = (error?: Error | null) => void;

/** The stream of a client is missing from its types; without one, nothing changes. */
export function gatherWrites(client: ClientBase & { connection?: { stream?: Writable } }): void {
  const stream = client.connection?.stream;
  if (stream === undefined) return;
  const write = stream.write.bind(stream) as (bytes: Uint8Array, callback: Callback) => boolean;
  const end = stream.end.bind(stream);
  let chunks: Uint8Array[] = [];
  let callbacks: Callback[] = [];
  const send = () => {
    if (chunks.length === 0) return;
    const bytes = Buffer.concat(chunks);
    const told = callbacks;
    chunks = [];
    callbacks = [];
    write(bytes, (error) => {
      for (const callback of told) callback(error);
    });
  };
  // On the stream itself, where Bun has its own, too.
  Object.assign(stream, {
    write(bytes: Uint8Array, callback?: Callback) {
      if (callback) callbacks.push(callback);
      if (chunks.push(bytes) === 1) process.nextTick(send);
      return true;
    },
    end() {
      send();
      return end();
    },
  });
}
