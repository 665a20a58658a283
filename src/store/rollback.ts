/**
 * Lets a refused write leave nothing behind: the work throws its result, the transaction is rolled back, and the caller
 * gets that result. Returning it instead would commit what was written before the refusal.
 */
export class RolledBack<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** Returns the value of a write that rolled itself back; other failures pass through. */
export async function unlessRolledBack<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.value as T;
    throw thrown;
  }
}
