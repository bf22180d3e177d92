/** Flow between walls decays, rests and keeps its energy budget as the Navier-Stokes equations say. */
import { describe, expect, it } from "vitest";
import { ChannelFlow, type ChannelOptions } from "../../../tools/channel/channel-flow.js";
import { randomNumbers } from "../../support/simd-memory.js";

const HEIGHTS = 33;
const [NX, NZ] = [16, 16] as const;
const [LX, LZ] = [2 * Math.PI, Math.PI] as const;

const flowOf = (options: Partial<ChannelOptions>) =>
  new ChannelFlow({
    nodes: [NX, NZ],
    lengths: [LX, LZ],
    heights: HEIGHTS,
    viscosity: 0.1,
    force: 0,
    timeStep: 0.002,
    ...options,
  });

/** A flow in which all modes of some length have random amplitudes, on a parabola. */
function disturbed(options: Partial<ChannelOptions>): ChannelFlow {
  const flow = flowOf(options);
  flow.y.forEach((y, j) => {
    flow.state[j] = 5 * (1 - y * y);
  });
  const random = randomNumbers(7);
  const next = () => random() - 0.5;
  for (let m = 1; m < flow.modes.count; m++)
    flow.addMode(
      m,
      [next(), next()],
      [3 * next(), 3 * next()],
      [flow.y.map((y) => (1 - y * y) ** 2 * (1 + y)), flow.y.map((y) => (1 - y * y) * (1 - y / 2))],
    );
  return flow;
}

/** Wavenumbers along an axis of a plain Fourier sum. */
const waves = (nodes: number, length: number) =>
  Array.from({ length: nodes }, (_, i) => ((i < nodes / 2 ? i : i - nodes) * 2 * Math.PI) / length);

function periodicDerivative(values: readonly number[], length: number): number[] {
  const n = values.length;
  const k = waves(n, length);
  return values.map((_, at) => {
    let sum = 0;
    for (let m = 0; m < n; m++) {
      if (2 * m === n) continue;
      for (let i = 0; i < n; i++)
        sum -= ((k[m] as number) * (values[i] as number) * Math.sin((2 * Math.PI * m * (at - i)) / n)) / n;
    }
    return sum;
  });
}

/** The derivative at `y[at]` of the polynomial through the values, by its barycentric form. */
function polynomialDerivative(y: Float64Array, values: readonly number[], at: number): number {
  const weight = (i: number) => (i % 2 === 0 ? 1 : -1) * (i === 0 || i === y.length - 1 ? 0.5 : 1);
  let sum = 0;
  for (let i = 0; i < y.length; i++)
    if (i !== at)
      sum +=
        ((weight(i) / weight(at)) * ((values[i] as number) - (values[at] as number))) /
        ((y[at] as number) - (y[i] as number));
  return sum;
}

describe("ChannelFlow", () => {
  it("lets a Stokes mode decay at the rate of its dispersion relation, and the vorticity along y at its own", () => {
    const flow = flowOf({});
    const [kx, kz] = [1, 2];
    const mode = flow.modes.kx.findIndex((k, m) => k === kx && flow.modes.kz[m] === kz);
    const k = Math.hypot(kx, kz);
    // Even v: mu tan(mu) = -k tanh(k), pi/2 < mu < pi (Dolph and Lewis, Q. Appl. Math. 16, 1958).
    let [low, high] = [Math.PI / 2 + 1e-9, Math.PI];
    for (let i = 0; i < 100; i++) {
      const middle = (low + high) / 2;
      if (middle * Math.tan(middle) < -k * Math.tanh(k)) low = middle;
      else high = middle;
    }
    const shape = flow.y.map((y) => Math.cos(low * y) / Math.cos(low) - Math.cosh(k * y) / Math.cosh(k));
    flow.addMode(mode, [1e-6, 0], [0, 1e-6], [shape, flow.y.map((y) => Math.cos((Math.PI * y) / 2))]);
    const centre = 2 * mode * HEIGHTS + (HEIGHTS - 1) / 2;
    const other = flow.state.length / 2 + centre + HEIGHTS;
    const before = [flow.state[centre] as number, flow.state[other] as number] as const;
    for (let i = 0; i < 100; i++) flow.step();
    const rate = (at: number, from: number) => Math.log((flow.state[at] as number) / from) / 0.2;
    expect(rate(centre, before[0]) / (-0.1 * (k * k + low * low))).toBeCloseTo(1, 6);
    expect(rate(other, before[1]) / (-0.1 * (k * k + Math.PI ** 2 / 4))).toBeCloseTo(1, 6);
  });

  it("reaches the laminar profile to rounding", () => {
    const flow = flowOf({ nodes: [4, 4], heights: 17, force: 1, timeStep: 0.01, viscosity: 0.5 });
    const laminar = flow.y.map((y) => 1 - y * y);
    for (let i = 0; i < 2500; i++) flow.step();
    const error = laminar.map((u, j) => Math.abs(u - (flow.state[j] as number)));
    expect(Math.max(...error)).toBeLessThan(1e-12);
  });

  it("has a divergence and a velocity at the walls of zero to rounding", () => {
    const flow = disturbed({ viscosity: 0.02, force: 1, timeStep: 0.001 });
    for (let i = 0; i < 3; i++) flow.step();
    const [u, v, w] = [0, 1, 2].map((c) => flow.values(c)) as [Float64Array, Float64Array, Float64Array];
    const at = (field: Float64Array, x: number, j: number, z: number) => field[(z * HEIGHTS + j) * NX + x] as number;
    const range = (n: number) => Array.from({ length: n }, (_, i) => i);
    let [divergence, gradient, wall] = [0, 0, 0];
    for (const [x, z] of [
      [0, 0],
      [5, 11],
    ] as const)
      for (let j = 0; j < HEIGHTS; j++) {
        const line = (field: Float64Array) => range(NX).map((i) => at(field, i, j, z));
        const dudx = periodicDerivative(line(u), LX)[x] as number;
        const across = range(NZ).map((k) => at(w, x, j, k));
        const dwdz = periodicDerivative(across, LZ)[z] as number;
        const column = range(HEIGHTS).map((i) => at(v, x, i, z));
        const dvdy = polynomialDerivative(flow.y, column, j);
        divergence = Math.max(divergence, Math.abs(dudx + dvdy + dwdz));
        gradient = Math.max(gradient, Math.abs(dudx), Math.abs(dvdy));
        if (j === 0 || j === HEIGHTS - 1)
          wall = Math.max(wall, ...[u, v, w].map((field) => Math.abs(at(field, x, j, z))), Math.abs(dvdy));
      }
    expect(gradient).toBeGreaterThan(1);
    expect(divergence / gradient).toBeLessThan(1e-11);
    expect(wall).toBeLessThan(1e-11);
  });

  it("changes its energy by what the force puts in less what viscosity takes", () => {
    const flow = disturbed({ viscosity: 0.02, force: 1, timeStep: 0.001 });
    flow.step();
    const before = flow.budget().energy;
    flow.step();
    const { bulk, dissipation } = flow.budget();
    flow.step();
    const change = (flow.budget().energy - before) / 0.002;
    expect(Math.abs(change - (bulk - dissipation)) / dissipation).toBeLessThan(1e-4);
  });

  it("has the pressure that the rate of change of the velocity leaves over", () => {
    const flow = disturbed({ viscosity: 0.1, force: 1, timeStep: 2e-4 });
    flow.step();
    const before = flow.values(1);
    flow.step();
    const [u, v, w, p] = [0, 1, 2, 3].map((c) => flow.values(c)) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    flow.step();
    const after = flow.values(1);
    const j = 10;
    const range = (n: number) => Array.from({ length: n }, (_, i) => i);
    const at = (field: Float64Array, x: number, y: number, z: number) => field[(z * HEIGHTS + y) * NX + x] as number;
    const mean = (of: (x: number, z: number) => number) =>
      range(NX).reduce((sum, x) => sum + range(NZ).reduce((part, z) => part + of(x, z), 0), 0) / (NX * NZ);
    // The mean of v is zero, so that d<v v>/dy = -d<p>/dy.
    const vv = range(HEIGHTS).map((y) => mean((x, z) => at(v, x, y, z) ** 2));
    const pp = range(HEIGHTS).map((y) => mean((x, z) => at(p, x, y, z)));
    const slopes = [vv, pp].map((values) => polynomialDerivative(flow.y, values, j)) as [number, number];
    expect(slopes[1] / slopes[0]).toBeCloseTo(-1, 3);
    // One mode of the momentum equation along y: the products of two kept modes are exact on these nodes.
    const mode = (of: (x: number, z: number) => number) =>
      [Math.cos, (angle: number) => -Math.sin(angle)].map((part) =>
        mean((x, z) => of(x, z) * part((2 * Math.PI * x) / NX + (2 * Math.PI * z) / NZ)),
      ) as [number, number];
    const [kx, kz] = [(2 * Math.PI) / LX, (2 * Math.PI) / LZ];
    const profile = (of: (x: number, y: number, z: number) => number) =>
      range(HEIGHTS).map((y) => mode((x, z) => of(x, y, z)));
    const slope = (values: readonly [number, number][], order: number) =>
      [0, 1].map((part) => {
        let line = values.map((value) => value[part] as number);
        for (let n = 1; n < order; n++) line = line.map((_, i) => polynomialDerivative(flow.y, line, i));
        return polynomialDerivative(flow.y, line, j);
      }) as [number, number];
    const rate = mode((x, z) => (at(after, x, j, z) - at(before, x, j, z)) / 4e-4);
    const uv = mode((x, z) => at(u, x, j, z) * at(v, x, j, z));
    const wv = mode((x, z) => at(w, x, j, z) * at(v, x, j, z));
    const advection = slope(
      profile((x, y, z) => at(v, x, y, z) ** 2),
      1,
    ).map((value, part) => {
      const along = kx * (uv[1 - part] as number) + kz * (wv[1 - part] as number);
      return value + (part === 0 ? -along : along);
    });
    const values = profile((x, y, z) => at(v, x, y, z));
    const viscous = slope(values, 2).map(
      (value, part) => 0.1 * (value - (kx * kx + kz * kz) * (values[j]?.[part] as number)),
    );
    const pressure = slope(
      profile((x, y, z) => at(p, x, y, z)),
      1,
    );
    const errors = pressure.map(
      (value, part) => value + (rate[part] as number) + (advection[part] as number) - (viscous[part] as number),
    ) as [number, number];
    expect(Math.hypot(...errors) / Math.hypot(...pressure)).toBeLessThan(2e-3);
  });
});
