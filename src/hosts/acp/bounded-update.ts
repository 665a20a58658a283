/**
 * An update as far as this host keeps it: an agent may send anything, of any length and depth. What a live run holds of
 * it is then what its transcript counts. Pure.
 */

/** The longest text inside an update; what is longer is cut in the middle. */
const LONGEST_TEXT = 512 * 1024;
const LONGEST_LIST = 1000;
const DEEPEST = 20;

export function bounded<Value>(value: Value, depth = 0): Value {
  if (typeof value === "string") return (value.length > LONGEST_TEXT ? cutInTheMiddle(value) : value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return undefined as Value;
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((each) => bounded(each, depth + 1)) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bounded(each, depth + 1)])) as Value;
}

function cutInTheMiddle(text: string): string {
  const half = LONGEST_TEXT / 2;
  return `${text.slice(0, half)}\n… ${text.length - LONGEST_TEXT} characters cut …\n${text.slice(-half)}`;
}
