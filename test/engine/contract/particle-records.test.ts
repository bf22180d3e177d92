/** Tracking in parts gives what the whole gives. */
import { describe, expect, it } from "vitest";
import { advectInertial, advectTracers, type PathParameters } from "../../../src/kernels/particles.js";
import type { Axis } from "../../../src/kernels/types.js";
import { generator } from "../../support/run-query.js";

const axis = (periodic: boolean): Axis => ({ nodes: 16, origin: 0, spacing: 0.4, periodic, coordinates: null });

/** A moving grid with one axis that ends; the flow turns with time. */
const PATH: PathParameters = {
  axes: [axis(true), axis(false), axis(true)],
  frameVelocity: [0.3, 0, -0.7],
  sample: (positions, count, time, out) => {
    for (let i = 0; i < 3 * count; i++) out[i] = Math.sin(1.7 * (positions[i] as number) + time + i);
  },
  start: 0.1,
  step: 0.013,
  steps: 150,
};
const CUTS = [0, 64, 65, 128, 150];

describe("tracking in parts", () => {
  it.each([
    ["tracers", null, false],
    ["particles released with the flow", 0.2, false],
    ["particles with velocities of their own", 0.2, true],
  ] as const)("gives every bit of the whole for %s", (_, responseTime, own) => {
    const count = 20;
    const random = generator(11);
    const start = Float64Array.from({ length: 3 * count }, () => 6 * random());
    const initial = own ? Float64Array.from({ length: 3 * count }, () => random() - 0.5) : null;
    const run = (
      path: PathParameters,
      positions: Float64Array,
      velocities: Float64Array | null,
      room: Float64Array,
    ): void => {
      if (responseTime === null) advectTracers(path, positions, count);
      else advectInertial(path, responseTime, positions, velocities, count, room);
    };
    const whole = start.slice();
    run(PATH, whole, initial?.slice() ?? null, new Float64Array(3 * count));
    const positions = start.slice();
    const room = initial?.slice() ?? new Float64Array(3 * count);
    for (let i = 1; i < CUTS.length; i++) {
      const part = { from: CUTS[i - 1] as number, to: CUTS[i] as number };
      run({ ...PATH, part }, positions, part.from > 0 || own ? room : null, room);
    }
    expect(positions).toEqual(whole);
  });
});
