/** Fields at the nodes against sums over modes by definition, for lengths that are no multiple of a group of planes. */
import { describe, expect, it } from "vitest";
import { NavierStokes } from "../../../tools/generate/navier-stokes.js";
import { randomAt, randomStream } from "../../../tools/generate/random.js";

describe("CubeTransforms", () => {
  it.each([8, 10, 18, 20])("takes modes to %i^3 nodes and their products back", (nodes) => {
    const simulation = new NavierStokes(nodes, 0.1, 3);
    const { modes, velocity } = simulation;
    velocity.values.forEach((_, e) => {
      velocity.values[e] = randomAt(randomStream(12, 0), e) - 0.5;
    });
    const fields = [0, 1, 2].map((c) => simulation.physical(velocity, c));
    const at = (c: number, x: number, y: number, z: number): number => {
      let sum = 0;
      for (let m = 0; m < modes.count; m++) {
        const [kx = 0, ky = 0, kz = 0] = modes.k.subarray(3 * m, 3 * m + 3);
        const angle = (2 * Math.PI * (kx * x + ky * y + kz * z)) / nodes;
        const [re = 0, im = 0] = velocity.values.subarray(6 * m + 2 * c, 6 * m + 2 * c + 2);
        sum += 2 * (re * Math.cos(angle) - im * Math.sin(angle));
      }
      return sum;
    };
    for (const [x, y, z] of [
      [0, 0, 0],
      [1, 3, nodes - 1],
      [nodes - 1, 5, 7],
    ] as const)
      for (const [c, field] of fields.entries())
        expect(field[(z * nodes + y) * nodes + x]).toBeCloseTo(at(c, x, y, z), 11);
    // -k^2 p is the transform of d_i d_j (u_i u_j): its mean square by the modes of p, and by products at the nodes.
    const pressure = simulation.pressure();
    const [u, v, w] = fields as [Float64Array, Float64Array, Float64Array];
    const pairs = [
      [u, u, 0, 0, 1],
      [v, v, 1, 1, 1],
      [w, w, 2, 2, 1],
      [u, v, 0, 1, 2],
      [u, w, 0, 2, 2],
      [v, w, 1, 2, 2],
    ] as const;
    for (const m of [0, 5, modes.count - 1]) {
      const k = modes.k.subarray(3 * m, 3 * m + 3) as unknown as [number, number, number];
      let [re, im] = [0, 0];
      for (const [a, b, i, j, times] of pairs)
        for (let n = 0; n < nodes ** 3; n++) {
          const [x, y, z] = [n % nodes, Math.floor(n / nodes) % nodes, Math.floor(n / nodes ** 2)];
          const angle = (2 * Math.PI * (k[0] * x + k[1] * y + k[2] * z)) / nodes;
          const value = (times * k[i] * k[j] * (a[n] as number) * (b[n] as number)) / nodes ** 3;
          re -= (value * Math.cos(angle)) / (modes.square[m] as number);
          im += (value * Math.sin(angle)) / (modes.square[m] as number);
        }
      expect(pressure.values[2 * m]).toBeCloseTo(re, 11);
      expect(pressure.values[2 * m + 1]).toBeCloseTo(im, 11);
    }
  });
});
