/**
 * How a write that turns out to be refused leaves nothing behind: the work throws the value that it would answer, the transaction is
 * rolled back, and the caller gets the value. Returning it instead would commit what was written before the refusal.
 */
export class RolledBack<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** Gives the value of a write that rolled itself back; other failures pass. */
export async function unlessRolledBack<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.value as T;
    throw thrown;
  }
}
