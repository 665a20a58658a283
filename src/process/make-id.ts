/** Makes ids that no other process makes: `ins_6f1c…`. The prefix says what it is the id of. */
export function makeId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}
