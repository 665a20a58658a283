/** The end of an axis: a round amount that is not below the given one. Pure. */

const STEPS = [1, 2, 4, 5, 10];

export function roundAbove(amount: number): number {
  if (!(amount > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = STEPS.find((each) => each * power >= amount * (1 - 1e-9)) ?? 10;
  return step * power;
}
