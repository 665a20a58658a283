/**
 * The part of the store suite about tokens and the audit log. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import type { AccessToken } from "../../../model/access-token.ts";
import type { Store } from "../../../store/store.ts";
import type { StoreBed } from "./store-bed.ts";

function sampleToken(name: string, fields: Partial<AccessToken> = {}): AccessToken {
  const never = { expiresAt: null, lastUsedAt: null, revokedAt: null };
  return { id: `id-${name}`, name, role: "launch", createdAt: 1, ...never, ...fields };
}

export function accessSuite(bed: StoreBed): void {
  test("a token is found by its hash only, newest first in the list, and its name is never given twice", async () => {
    const { access } = await bed.fresh();
    expect(await access.hasUsableToken(1)).toBe(false);
    const [one, two] = [sampleToken("one"), sampleToken("two", { createdAt: 2, role: "admin", expiresAt: 50 })];
    expect([await access.addToken(one, "h1"), await access.addToken(two, "h2")]).toEqual([true, true]);
    expect(await access.addToken(sampleToken("one", { id: "other" }), "h3")).toBe(false);
    expect([await access.tokenOf("h2"), await access.tokenOf("h3"), await access.tokenOf("H1")]).toEqual([
      two,
      null,
      null,
    ]);
    expect(await access.tokens()).toEqual([two, one]);
    expect(await access.revokeToken("id-one", 9)).toBe(true);
    expect([await access.revokeToken("id-one", 10), await access.revokeToken("nobody", 9)]).toEqual([false, false]);
    expect(await access.tokenOf("h1")).toEqual({ ...one, revokedAt: 9 });
    expect(await access.addToken(sampleToken("one", { id: "other" }), "h3")).toBe(false);
    expect([await access.hasUsableToken(49), await access.hasUsableToken(50)]).toEqual([true, false]);
  });

  test("the time of the last use only moves forward", async () => {
    const { access } = await bed.fresh();
    await access.addToken(sampleToken("one"), "h1");
    for (const at of [20, 10]) await access.touchToken("id-one", at);
    await access.touchToken("nobody", 30);
    expect((await access.tokenOf("h1"))?.lastUsedAt).toBe(20);
  });

  test("of many tokens with one name, one is added; names that differ only in case are one", async () => {
    const stores = await bed.handles(3);
    const [{ access }] = stores as [Store];
    const names = ["ci", "CI", "Ci"];
    const add = (store: Store, index: number) =>
      store.access.addToken(sampleToken(names[index] ?? "", { id: `${index}` }), `h${index}`);
    expect((await Promise.all(stores.map(add))).filter((added) => added)).toHaveLength(1);
    const [only] = await access.tokens();
    await access.revokeToken(only?.id ?? "", 9);
    for (const name of names) expect(await access.addToken(sampleToken(name), "h9")).toBe(false);
    expect(await access.addToken(sampleToken("c_"), "h8")).toBe(true);
  });

  test("the audit log shows what was started and how it ended, newest first, of one subject or of all", async () => {
    const { access } = await bed.fresh();
    const entry = { at: 5, by: "ci", operation: "cancel", subject: "t" };
    const first = await access.openAudit(entry);
    const second = await access.openAudit({ ...entry, operation: "launch", subject: null });
    expect(await access.audit({ subject: "t" })).toEqual([{ ...entry, seq: first, outcome: "started" }]);
    await access.closeAudit(first, { outcome: "failed", subject: "t" });
    await access.closeAudit(second, { outcome: "done", subject: "u" });
    const third = await access.openAudit({ ...entry, at: 6 });
    expect((await access.audit({ subject: null })).map(({ seq, outcome }) => [seq, outcome])).toEqual([
      [third, "started"],
      [second, "done"],
      [first, "failed"],
    ]);
    expect((await access.audit({ subject: "t", before: third })).map(({ seq }) => seq)).toEqual([first]);
    expect((await access.audit({ subject: null, limit: 1 })).map(({ seq }) => seq)).toEqual([third]);
    expect(await access.audit({ subject: "u" })).toMatchObject([{ by: "ci", operation: "launch", outcome: "done" }]);
  });
}
