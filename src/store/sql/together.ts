/**
 * Runs queries of one transaction together: they are sent in this order, without waiting for each other's answers, so
 * that they cost one round trip. Throws the first failure, but only when all have settled: after that nothing uses the
 * connection any more, and the transaction can be rolled back.
 */
export async function together<Results extends readonly unknown[]>(
  queries: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> | null }],
): Promise<Results> {
  const settled = await Promise.allSettled(queries);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  }) as unknown as Results;
}
