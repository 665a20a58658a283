/** What an id of the board looks like. Checked before anything is looked up, so that a wrong text is told from an unknown id. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Every field of an operation that ends so holds one, but for the caller's own name of a request. */
export function isIdField(name: string): boolean {
  return name.endsWith("_id") && name !== "request_id";
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
