import { describe, expect, it } from "vitest";
import { pointOf, sampleOfProbe, subtract } from "../../figures/plane-samples.js";
import type { Slice } from "../../state/api.js";
import type { DatasetFacts } from "../../state/facts.js";
import type { SampleAxis } from "../../state/plane-geometry.js";

const side = (axis: SampleAxis["axis"], count: number, origin: number, spacing: number): SampleAxis => ({
  ...{ axis, count, origin, spacing },
});
const plane = (values: readonly number[], rows: SampleAxis, columns: SampleAxis): Slice => ({
  ...{ rows, columns, values: Float32Array.from(values), low: 0, high: 0 },
});
const SIDE = side("y", 1, 0, 1);

describe("the difference of two planes", () => {
  const differenceOf = (one: readonly number[], other: readonly number[]) =>
    subtract(plane(one, SIDE, side("x", one.length, 0, 1)), plane(other, SIDE, side("x", other.length, 0, 1)));

  it("has the extremes of its finite values", () => {
    const { values, low, high } = differenceOf([1, -Infinity, 5, Number.NaN, Infinity], [2, 0, 1, 0, 0]);
    expect([...values]).toEqual([-1, -Infinity, 4, Number.NaN, Infinity]);
    expect([low, high]).toEqual([-1, 4]);
  });

  it("has the extremes 0 and 0 where none of its values is finite", () => {
    const { low, high } = differenceOf([Number.NaN, -Infinity], [0, 0]);
    expect([low, high]).toEqual([0, 0]);
  });
});

describe("the point of a sample", () => {
  const facts = {
    axes: [
      { name: "x", first: -1, length: 2 },
      { name: "y", first: 3, length: 0 },
      { name: "z", first: 0, length: 8 },
    ],
  } as unknown as DatasetFacts;
  const slice = plane([], side("y", 2, 2.75, 0.5), side("x", 4, -0.75, 0.5));

  it("has the coordinates of its row, its column and its plane", () => {
    const wide = plane([], side("z", 8, 0.5, 1), side("x", 4, -0.75, 0.5));
    expect(pointOf(wide, { axis: "y", at: 3 }, { row: 6, column: 1 }, facts)).toEqual([-0.25, 3, 6.5]);
  });

  it("lies in the domain where the axis of its rows has a single node", () => {
    expect(pointOf(slice, { axis: "z", at: 2 }, { row: 0, column: 3 }, facts)).toEqual([0.75, 3, 2]);
    expect(pointOf(slice, { axis: "z", at: 2 }, { row: 1, column: 0 }, facts)).toEqual([-0.75, 3, 2]);
  });
});

describe("the sample at the probe", () => {
  const axis = (name: string, periodic: boolean) => ({ name, periodic, length: 8, spacing: 1 });
  const facts = { axes: [axis("x", true), axis("y", false), axis("z", false)] } as unknown as DatasetFacts;
  const named = (probe: readonly number[]) => sampleOfProbe([0, 2, 3], probe, "z", facts);

  it("is the probe, near it on the plane, or its foot on the plane", () => {
    expect([named([0, 2, 3]), named([8, 2.00001, 3])]).toEqual(["Probe", "Probe"]);
    expect([named([0.25, 2, 3]), named([0, 2.5, 3])]).toEqual(["Near probe", "Near probe"]);
    expect([named([0, 2, 3.5]), named([0.5, 2, 4])]).toEqual(["Probe’s foot", "Probe’s foot"]);
  });
});
