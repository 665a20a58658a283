/** Makes an id that is unique across processes: `ins_6f1c…`. The prefix says what it identifies. */
export function makeId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}
