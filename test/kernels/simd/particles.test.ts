/** Particle steps with velocities of the SIMD module and of the plain kernels: the same bits. */
import { expect, it } from "vitest";
import { createScheme } from "../../../src/kernels/index.js";
import { advectInertial, advectTracers, type PathParameters } from "../../../src/kernels/particles.js";
import { frameWeights } from "../../../src/kernels/time.js";
import type { BrickField, Scheme, TimeAxis, Triple, VelocitySampler } from "../../../src/kernels/types.js";
import { Arena, brickField, bricking, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const NODES: Triple = [24, 20, 18];
const TIME: TimeAxis = { count: 6, origin: 0, step: 0.1, values: null, guardBefore: 1, guardAfter: 1 };
const PARTICLES = 200;

it.each(["None", "Lag4", "Lag6", "Lag8", "M2Q8"])("moves particles to the same places, by %s", (method) => {
  const random = randomNumbers(77);
  const arena = new Arena(2 ** 25);
  const axes = periodicAxes(NODES, [0.1, 0.125, 0.07], [0, 0, 0]);
  const cut = bricking(NODES, [16, 16, 16]);
  const frames = Array.from({ length: TIME.count }, () =>
    brickField(arena, NODES, cut, 3, random, () => 2 * random() - 1),
  );
  const [at, velocity] = [arena.doubles(3 * PARTICLES), arena.doubles(3 * PARTICLES)];
  const sampleOf =
    (scheme: Scheme): VelocitySampler =>
    (positions, count, time, out) => {
      const { frames: chosen, weights } = frameWeights(TIME, time, "PCHIP");
      const fields = chosen.map((frame) => [frames[frame] as BrickField]);
      at.set(positions);
      if (fields.length === 1) scheme.evaluate(fields[0] as BrickField[], at, 0, count, velocity);
      else scheme.combine(fields, weights, at, 0, count, velocity);
      out.set(velocity);
    };
  const starts = Float64Array.from({ length: 3 * PARTICLES }, () => 4 * random() - 2);
  const [plain, simd] = [undefined, arena.accelerator()].map((accelerator) => {
    const sample = sampleOf(createScheme("velocity", method, axes, { fd8Legacy: false }, accelerator));
    const path: PathParameters = { axes, frameVelocity: [0.3, 0, -0.1], sample, start: 0.11, step: 0.02, steps: 12 };
    const [tracers, heavy] = [starts.slice(), starts.slice()];
    advectTracers(path, tracers, PARTICLES);
    advectInertial(path, 0.05, heavy, null, PARTICLES);
    return { tracers, heavy };
  }) as [{ tracers: Float64Array; heavy: Float64Array }, { tracers: Float64Array; heavy: Float64Array }];
  expect(simd).toEqual(plain);
  expect(plain.tracers).not.toEqual(starts);
  expect(plain.heavy).not.toEqual(plain.tracers);
});
