/** Numbers that bound a read: whole, not negative, never above the most. Wrong ones are brought in, not refused: doors refuse. */

export function bounded(value: number | undefined, otherwise: number, most: number): number {
  if (value === undefined || Number.isNaN(value)) return otherwise;
  return Math.min(Math.max(Math.floor(value), 0), most);
}
