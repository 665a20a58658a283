/**
 * Web addresses without what may be a secret in them: a user or token before the host, and everything from `?` or `#`
 * on. For an address, and for text with addresses in it, such as git's errors. Addresses for ssh keep their user, which
 * is a login name. Pure.
 */

/** At most so long, so that a long text without an end of an address is no work. */
const USER = /\b(https?:\/\/)[^\s/]{0,2000}@/gi;
const QUERY = /\b(https?:\/\/[^\s'"?#]{0,2000})[?#][^\s'"]*/gi;

export function withoutCredentials(text: string): string {
  return text.replace(USER, "$1").replace(QUERY, "$1");
}
