/** Particles leave through open faces where and when the exact path does, to second order; walls hold them. */
import { describe, expect, it } from "vitest";
import { leaves, type Outlet, type Step } from "../../src/kernels/exits.js";
import { advectInertial, advectTracers, type PathParameters } from "../../src/kernels/particles.js";
import type { Axes, Axis, VelocitySampler, Walls } from "../../src/kernels/types.js";
import { flow } from "./particles-support.js";

const axis = (first: number, last: number): Axis => ({
  nodes: 11,
  origin: first,
  spacing: (last - first) / 10,
  periodic: false,
  coordinates: null,
});
/** x from 1 to 2, y from -1 to 1, z periodic. */
const AXES: Axes = [axis(1, 2), axis(-1, 1), { ...axis(0, 1), periodic: true }];
const OPEN: Walls = [false, false];
const WALLS: Walls = [true, true];

const stretching = flow((x) => [x, 0, 0]);

function outletOf(count: number, x: Walls = OPEN, y: Walls = WALLS): Outlet {
  return { walls: [x, y, OPEN], exits: new Float64Array(count).fill(Number.NaN), leave: () => undefined };
}

function path(
  sample: VelocitySampler,
  step: number,
  steps: number,
  outlet: Outlet,
  more: Partial<PathParameters> = {},
): PathParameters {
  return { axes: AXES, frameVelocity: [0, 0, 0], sample, start: 0, step, steps, outlet, ...more };
}

const EAST = flow(() => [1, 0, 0]);

describe("particles at open faces", () => {
  it("stop at the face, at the time of the exact path, to second order", () => {
    const miss = (steps: number) => {
      const outlet = outletOf(2);
      const positions = Float64Array.of(1.3, 0, 0.5, 1.01, 0, 0.5);
      advectTracers(path(stretching, 0.6 / steps, steps, outlet), positions, 2);
      expect(positions[0]).toBe(2);
      expect(outlet.exits[1]).toBeNaN();
      expect(positions[3]).toBeCloseTo(1.01 * Math.exp(0.6), 2);
      return Math.abs((outlet.exits[0] as number) - Math.log(2 / 1.3));
    };
    expect(miss(10)).toBeLessThan(5e-4);
    expect(miss(160)).toBeLessThan(5e-4 / 50);
  });

  it("stop exactly where a straight path meets the face, and stay there", () => {
    const outlet = outletOf(1);
    const positions = Float64Array.of(1.5, 0, 0.5);
    const seen: number[][] = [];
    const record = (_: number, at: Float64Array) => seen.push([...at.subarray(0, 3)]);
    const slanted = flow(() => [1, 0.25, 2]);
    advectTracers(path(slanted, 0.125, 8, outlet, { record }), positions, 1);
    expect([...positions]).toEqual([2, 0.125, 1.5]);
    expect(outlet.exits[0]).toBe(0.5);
    expect(seen.slice(3)).toEqual(Array.from({ length: 5 }, () => [2, 0.125, 1.5]));
  });

  it("leave by the first of two faces", () => {
    const outlet = outletOf(1, OPEN, OPEN);
    const positions = Float64Array.of(1.5, 0.75, 0.5);
    const diagonal = flow(() => [1, 1, 0]);
    advectTracers(path(diagonal, 1, 2, outlet), positions, 1);
    expect([...positions]).toEqual([1.75, 1, 0.5]);
    expect(outlet.exits[0]).toBe(0.25);
  });

  it("leave backward in time too", () => {
    const outlet = outletOf(1);
    const positions = Float64Array.of(1.25, 0, 0.5);
    advectTracers(path(EAST, -0.5, 2, outlet), positions, 1);
    expect([positions[0], outlet.exits[0]]).toEqual([1, -0.25]);
  });

  it("leave through a face beside a wall, which holds the others", () => {
    const outlet = outletOf(2, [true, false]);
    const positions = Float64Array.of(1.5, 0, 0.5, 1.5, 0, 0.5);
    const apart: VelocitySampler = (_at, count, _time, out) => {
      for (let i = 0; i < count; i++) out.set([i === 0 ? 1 : -1, 0, 0], 3 * i);
    };
    advectTracers(path(apart, 0.25, 8, outlet), positions, 2);
    expect([positions[0], positions[3]]).toEqual([2, 1]);
    expect([...outlet.exits]).toEqual([0.5, Number.NaN]);
  });

  it("begin on the face: they leave at once, slide along it, or come in", () => {
    for (const [u, x, exit] of [
      [1, 2, 0],
      [0, 2, Number.NaN],
      [-1, 1.75, Number.NaN],
    ] as const) {
      const outlet = outletOf(1);
      const positions = Float64Array.of(2, 0, 0.5);
      const along = flow(() => [u, 0, 0]);
      advectTracers(path(along, 0.125, 2, outlet), positions, 1);
      expect([positions[0], outlet.exits[0]]).toEqual([x, exit]);
    }
  });

  it("tell who leaves, along which axis and in which step, in time for an error", () => {
    const left: number[][] = [];
    const outlet = {
      ...outletOf(3),
      leave: (i: number, axis: number, step: Step) => left.push([i, axis, step.number]),
    };
    const positions = Float64Array.of(1.1, 0, 0, 1.9, 0, 0, 1.5, 0, 0);
    advectTracers(path(EAST, 0.25, 3, outlet), positions, 3);
    expect(left).toEqual([
      [1, 0, 1],
      [2, 0, 3],
    ]);
  });

  it("with drag stop as tracers do, where the drag is all", () => {
    const outlet = outletOf(1);
    const positions = Float64Array.of(1.5, 0, 0.5);
    advectInertial(path(EAST, 0.125, 8, outlet), 0.01, positions, Float64Array.of(1, 0, 0), 1);
    expect([positions[0], outlet.exits[0]]).toEqual([2, 0.5]);
  });

  it("have the place of a moving grid at the time of the exit", () => {
    const outlet = outletOf(1);
    const positions = Float64Array.of(1.5, 0, 0.5);
    const frameVelocity = [0.5, 0, 0] as const;
    advectTracers(path(EAST, 0.25, 8, outlet, { frameVelocity }), positions, 1);
    // The grid follows at half the speed: the last node, at 2 + t / 2, is met at time 1.
    expect([positions[0], outlet.exits[0]]).toEqual([2.5, 1]);
  });

  it("give the same bits in one go and in parts", () => {
    const start = Float64Array.from({ length: 90 }, (_, i) => (i % 3 === 0 ? 1 + i / 100 : i / 200));
    const whole = { outlet: outletOf(30), positions: start.slice() };
    advectTracers(path(stretching, 0.05, 12, whole.outlet), whole.positions, 30);
    const parts = { outlet: outletOf(30), positions: start.slice() };
    for (const [from, to] of [
      [0, 5],
      [5, 6],
      [6, 12],
    ] as const)
      advectTracers(path(stretching, 0.05, 12, parts.outlet, { part: { from, to } }), parts.positions, 30);
    expect([...parts.positions]).toEqual([...whole.positions]);
    expect([...parts.outlet.exits]).toEqual([...whole.outlet.exits]);
    expect(whole.outlet.exits.some(Number.isFinite)).toBe(true);
  });
});

describe("a place beyond an open face", () => {
  const LAST_OPEN: Walls = [true, false];

  it.each<[string, number, number, number, Walls, boolean]>([
    ["inside", 1.5, 0, 0.5, OPEN, false],
    ["on the first face", 1, 0, 0.5, OPEN, false],
    ["on the last face", 2, 0, 0.5, OPEN, false],
    ["less than 1e-6 of the axis beyond", 2 + 0.9e-6, 0, 0.5, OPEN, false],
    ["more than 1e-6 of the axis beyond", 2 + 1.1e-6, 0, 0.5, OPEN, true],
    ["more than that before the first node", 1 - 1.1e-6, 0, 0.5, OPEN, true],
    ["beyond the last node, where alone there is no wall", 2.5, 0, 0.5, LAST_OPEN, true],
    ["before the first node, where there is a wall", 0.5, 0, 0.5, LAST_OPEN, false],
    ["beyond a wall of y", 1.5, 1.5, 0.5, OPEN, false],
    ["beyond the period of z", 1.5, 0, 1.5, OPEN, false],
  ])("%s", (_, x, y, z, walls, expected) => {
    expect(leaves(AXES, [walls, WALLS, OPEN], Float64Array.of(9, 9, 9, x, y, z), 1)).toBe(expected);
  });
});
