/** The format of the board's ids. Checked before any lookup, to tell a malformed id from an unknown one. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Every operation field with this suffix holds an id, except the caller's own `request_id`. */
export function isIdField(name: string): boolean {
  return name.endsWith("_id") && name !== "request_id";
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
