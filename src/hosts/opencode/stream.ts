/**
 * The events of one OpenCode process, for all its directories, over a single connection that reconnects. Events are
 * lost while disconnected, so consumers must also poll. Does not interpret events.
 */
import { messageOf } from "../../model/errors.ts";
import { pause } from "../../process/deadline.ts";

/** OpenCode sends a heartbeat every ten seconds. */
const SILENCE_MS = 45_000;
const AGAIN_MS = 500;
/** Far larger than any event; a stream that exceeds it is dropped. */
const MAX_BLOCK = 64 * 1024 * 1024;

interface OpenCodeStreamInput {
  url: string;
  headers: Record<string, string>;
  onEvent(directory: string, event: unknown): void;
  /** Called when a connection breaks: from now on, events are lost. */
  onBreak(reason: string): void;
  /** Called before the first event after a break: until now, events were lost. */
  onAgain(): void;
}

export interface OpenCodeStream {
  /** Resolves with the first event of the first connection: from then on no event is missed. */
  connected: Promise<void>;
  stop(): void;
}

export function openCodeStream(input: OpenCodeStreamInput): OpenCodeStream {
  const stopped = new AbortController();
  let isConnected = () => {};
  const connected = new Promise<void>((resolve) => {
    isConnected = resolve;
  });
  const follow = async () => {
    let isAgain = false;
    const onOpen = () => {
      if (isAgain) input.onAgain();
      isConnected();
    };
    while (!stopped.signal.aborted) {
      try {
        await readOnce(input, stopped.signal, onOpen);
        throw new Error("the connection was closed");
      } catch (thrown) {
        if (stopped.signal.aborted) return;
        input.onBreak(messageOf(thrown));
        isAgain = true;
      }
      await pause(AGAIN_MS, { signal: stopped.signal });
    }
  };
  void follow();
  return { connected, stop: () => stopped.abort() };
}

/** Calls `onOpen` before the first event. */
async function readOnce(input: OpenCodeStreamInput, stopped: AbortSignal, onOpen: () => void): Promise<void> {
  const silent = new AbortController();
  const signal = AbortSignal.any([stopped, silent.signal]);
  let timer = setTimeout(() => silent.abort(), SILENCE_MS);
  try {
    const response = await fetch(new URL("/global/event", input.url), { headers: input.headers, signal });
    if (!response.ok || response.body === null) throw new Error(`/global/event answered ${response.status}`);
    let buffer = "";
    let isOpen = false;
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE_MS);
      const blocks = (buffer + text).split("\n\n");
      buffer = blocks.pop() ?? "";
      if (buffer.length > MAX_BLOCK) throw new Error("an event never ended");
      if (blocks.length > 0 && !isOpen) {
        isOpen = true;
        onOpen();
      }
      for (const block of blocks) dispatch(block, input.onEvent);
    }
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(block: string, onEvent: OpenCodeStreamInput["onEvent"]): void {
  const lines = block.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  try {
    const { directory, payload } = JSON.parse(lines.join("\n")) as { directory?: unknown; payload?: unknown };
    // Events without a directory concern the process itself.
    if (typeof directory === "string") onEvent(directory, payload);
  } catch {
    // Ignore malformed events.
  }
}
