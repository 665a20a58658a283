/**
 * Reads a server's event stream and counts the progress of tasks: how many events arrived, and how long after the work
 * that they report. Does not parse what it does not need.
 */
export class ProgressReader {
  readonly #abort = new AbortController();
  #arrived = 0;
  #lags: number[] = [];
  #isCounting = false;

  /** Resolves with the first bytes. */
  async open(url: string): Promise<void> {
    const { body } = await fetch(`${url}/v1/events`, { signal: this.#abort.signal });
    if (body === null) throw new Error("The event stream has no content.");
    const first = Promise.withResolvers<void>();
    void this.#read(body, first.resolve).catch((thrown) => {
      if (!this.#abort.signal.aborted) first.reject(thrown);
    });
    await first.promise;
  }

  /** So far. */
  get arrived(): number {
    return this.#arrived;
  }

  begin(): void {
    this.#arrived = 0;
    this.#lags = [];
    this.#isCounting = true;
  }

  end(): { arrived: number; lags: number[] } {
    this.#isCounting = false;
    return { arrived: this.#arrived, lags: this.#lags };
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>, opened: () => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of body) {
      opened();
      const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      if (this.#isCounting) for (const event of events) this.#count(event);
    }
    throw new Error("The server closed the event stream.");
  }

  #count(event: string): void {
    if (!event.includes("event: task.updated")) return;
    this.#arrived++;
    const lastUpdate = /"lastUpdate":"([^"]+)"/.exec(event)?.[1];
    if (lastUpdate !== undefined) this.#lags.push(Date.now() - Date.parse(lastUpdate));
  }
}
