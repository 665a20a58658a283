/**
 * Cleanup when the process exits by itself or by a signal. OpenCode must exit as it would without us: if nothing else
 * listens to a signal, it is raised again once the last answers are sent. A worker receives no signals.
 */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Ending {
  /** Synchronous: waits for nothing. */
  withdraw(): void;
  stop(): Promise<void>;
}

/** Returns a function that unregisters it. */
export function atProcessEnd(ending: Ending): () => void {
  const onExit = () => ending.withdraw();
  const listeners = SIGNALS.map((signal) => ({ signal, listener: () => onSignal(signal) }));
  const forget = () => {
    process.off("exit", onExit);
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    const others = process.listenerCount(signal) > 1;
    ending.withdraw();
    const stopped = ending.stop().catch(() => undefined);
    forget();
    if (!others) void stopped.then(() => process.kill(process.pid, signal));
  };
  process.on("exit", onExit);
  if (Bun.isMainThread) for (const { signal, listener } of listeners) process.on(signal, listener);
  return forget;
}
