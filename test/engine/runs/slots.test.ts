import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Place, Slots } from "../../../src/engine/runs/slots.ts";

test("without a limit everyone enters immediately", () => {
  const slots = new Slots(null);
  const places = Array.from({ length: 100 }, () => slots.take(() => {}));
  expect(places.some(({ waits }) => waits)).toBe(false);
});

test("running work counts already, and is never kept out", () => {
  const slots = new Slots(1);
  const [first, second] = [slots.occupy(), slots.occupy()];
  let begun = false;
  slots.take(() => {
    begun = true;
  });
  first.leave();
  expect(begun).toBe(false);
  second.leave();
  expect(begun).toBe(true);
});

test("never more than the limit, in order of arrival, and nobody is forgotten", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (limit, steps) => {
      const slots = new Slots(limit);
      const begun: number[] = [];
      const places: Place[] = [];
      const left = new Set<number>();
      for (const step of steps) {
        // Two of three enter, one leaves; one that has left may leave again.
        if (step < 6) {
          const number = places.length;
          places.push(slots.take(() => begun.push(number)));
        } else if (places.length > 0) {
          const number = step % places.length;
          places[number]?.leave();
          left.add(number);
        }
        const inside = begun.filter((number) => !left.has(number)).length;
        const waiting = places.filter(({ waits }) => waits).length;
        expect(inside).toBeLessThanOrEqual(limit);
        expect(waiting === 0 || inside === limit).toBe(true);
      }
      expect(begun).toEqual([...begun].sort((one, other) => one - other));
    }),
  );
});
