/**
 * Listeners that are called once per turn of the event loop however often `raise` was called, each shielded from the
 * other's errors. Does not know what changed, nor who changed it: `watch` runs only while somebody listens.
 */

export interface ChangeSignal {
  raise(): void;
  listen(listener: () => void): () => void;
  stop(): void;
}

/** `watch` starts to look for changes of other processes and returns the way to stop. */
export function changeSignal(watch: () => () => void): ChangeSignal {
  const listeners = new Set<{ call: () => void }>();
  let unwatch: (() => void) | null = null;
  let raised = false;

  const deliver = () => {
    raised = false;
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue;
      try {
        listener.call();
      } catch (thrown) {
        // A listener's fault must not keep the others from hearing; it surfaces as an unhandled rejection of its own.
        void Promise.reject(thrown);
      }
    }
  };
  const quiet = () => {
    if (listeners.size > 0) return;
    unwatch?.();
    unwatch = null;
  };

  return {
    raise() {
      if (raised || listeners.size === 0) return;
      raised = true;
      setImmediate(deliver);
    },
    listen(call) {
      const listener = { call };
      listeners.add(listener);
      unwatch ??= watch();
      return () => {
        listeners.delete(listener);
        quiet();
      };
    },
    stop() {
      listeners.clear();
      quiet();
    },
  };
}
