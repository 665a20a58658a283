/**
 * Limits for reads: clamps a number to whole numbers from 0 to a maximum. Invalid input is corrected here; doors reject
 * it.
 */

export function clamp(value: number | undefined, otherwise: number, most: number): number {
  if (value === undefined || Number.isNaN(value)) return otherwise;
  return Math.min(Math.max(Math.floor(value), 0), most);
}
