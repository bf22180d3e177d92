/** A domain box is a part of the domain, or all of it. */
import { axisOf, type DatasetFacts } from "./facts.js";
import { AXES, type AxisName } from "./plane-geometry.js";

/** Ends of a box along x, y and z: x from the first to the second number, and so on. */
export type DomainBox = readonly [number, number, number, number, number, number];

/** The whole domain; an axis of a single node counts as one spacing. */
export function wholeBox(facts: DatasetFacts): DomainBox {
  return AXES.flatMap((name) => {
    const { first, length, spacing } = axisOf(facts, name);
    return length > 0 ? [first, first + length] : [first - spacing / 2, first + spacing / 2];
  }) as unknown as DomainBox;
}

/** A box with its ends moved into the domain, in ascending order; null if nothing of it is inside. */
export function clampBox(ends: readonly number[], facts: DatasetFacts): DomainBox | null {
  const whole = wholeBox(facts);
  const inside = ends.map((end, i) => {
    const axis = i - (i % 2);
    return Math.fround(Math.max(whole[axis], Math.min(whole[axis + 1], end)));
  });
  return [0, 2, 4].every((i) => inside[i] < inside[i + 1]) ? (inside as unknown as DomainBox) : null;
}

/** The middle half of the domain along every axis, moved so that a point is in its middle if there is room. */
export function boxAround(point: readonly [number, number, number], facts: DatasetFacts): DomainBox {
  const whole = wholeBox(facts);
  return AXES.flatMap((_name: AxisName, i) => {
    const [low, high] = [whole[2 * i], whole[2 * i + 1]];
    const length = (high - low) / 2;
    const from = Math.max(low, Math.min(high - length, point[i] - length / 2));
    return [Math.fround(from), Math.fround(from + length)];
  }) as unknown as DomainBox;
}
