import { expect, test } from "bun:test";
import { withoutCredentials } from "../../src/model/text/without-credentials.ts";

test("an address of the web loses its user, its token and what follows ? or #; others stay as they are", () => {
  const plain = "https://example.com/b.git";
  for (const address of [
    "https://ghp_x@example.com/b.git",
    "https://me:secret@example.com/b.git",
    "https://oauth2%3Asecret@example.com/b.git",
    "https://a@b@example.com/b.git",
    "https://example.com/b.git?private_token=secret",
    "https://x@example.com/b.git#secret",
  ]) {
    expect([address, withoutCredentials(address)]).toEqual([address, plain]);
  }
  expect(withoutCredentials("HTTPS://x@Example.com:8443/b")).toBe("HTTPS://Example.com:8443/b");
  const kept = [plain, "https://example.com/@scope/b", "git@example.com:b", "ssh://git@example.com/b?c", "/srv/a@b#1"];
  for (const address of kept) expect(withoutCredentials(address)).toBe(address);
});

test("so do addresses within what git says", () => {
  const said = `fatal: could not read Password for 'https://ghp_x@example.com': terminal prompts disabled
fatal: unable to access 'https://me:y@example.com/b.git/?token=z': (see https://docs.example.com/a), ask x@example.com`;
  expect(
    withoutCredentials(said),
  ).toBe(`fatal: could not read Password for 'https://example.com': terminal prompts disabled
fatal: unable to access 'https://example.com/b.git/': (see https://docs.example.com/a), ask x@example.com`);
});

test("a long text without an end takes no long time", () => {
  const started = performance.now();
  for (const part of ["https://", "https://x", "https://x?"]) withoutCredentials(part.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
