/** Amounts for people: dollars, and large numbers in few characters. Pure. */

/** `$0.0042`, `$12.30`. */
export function money(dollars: number): string {
  return `$${dollars.toFixed(dollars > 0 && dollars < 1 ? 4 : 2)}`;
}

/** `950`, `12.3k`, `4.5M`. */
export function shortNumber(value: number): string {
  if (value < 1000) return String(value);
  const [size, unit] = value < 999_950 ? [1000, "k"] : value < 999_950_000 ? [1_000_000, "M"] : [1_000_000_000, "G"];
  return `${(value / size).toFixed(1).replace(/\.0$/, "")}${unit}`;
}
