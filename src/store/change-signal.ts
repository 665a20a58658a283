/**
 * Calls listeners once per turn of the event loop, however often `raise` was called, and isolates them from each
 * other's errors. Does not know what changed or who changed it. `watch` runs only while there are listeners.
 */

interface ChangeSignal {
  raise(): void;
  listen(listener: () => void): () => void;
  stop(): void;
}

/** `watch` starts watching for changes by other processes and returns a function that stops. */
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
        // A failing listener must not affect the others; its error becomes an unhandled rejection.
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
