/** Evaluates flows given by formulas as sums of separable terms: any box of nodes is a few outer products. */
import ndarray, { type NdArray } from "ndarray";
import ops from "ndarray-ops";
import { randomAt, randomStream } from "./random.js";

/** One factor of a term: `cos(wavenumber * s + phase)` along an axis of period 2 pi. */
export interface Wave {
  readonly wavenumber: number;
  readonly phase: number;
}

/** `amplitude * exp(-decay * t) * cos(frequency * t)` times a wave along each of x, y, z. */
export interface WaveTerm {
  readonly amplitude: number;
  readonly decay: number;
  readonly frequency: number;
  readonly waves: readonly [Wave, Wave, Wave];
}

/** The terms of each component of the fields of a cube, one field after the other: u, v, w, p, ... */
export type Flow = readonly (readonly WaveTerm[])[];

const one: Wave = { wavenumber: 0, phase: 0 };
const cos = (wavenumber = 1): Wave => ({ wavenumber, phase: 0 });
const sin = (wavenumber = 1): Wave => ({ wavenumber, phase: -Math.PI / 2 });
const term = (amplitude: number, decay: number, x: Wave, y: Wave, z: Wave): WaveTerm => {
  return { amplitude, decay, frequency: 0, waves: [x, y, z] };
};

/**
 * The Arnold-Beltrami-Childress flow with A = 1, B = sqrt(2/3), C = sqrt(1/3) under viscosity `nu`:
 * u = exp(-nu t) (A sin z + C cos y, B sin x + A cos z, C sin y + B cos x), which solves the Navier-Stokes equations
 * because curl u = u, with p = -|u|^2 / 2 up to its mean, which is taken out.
 *
 * Source: Dombre et al., J. Fluid Mech. 167 (1986), section 2.
 */
export function abcFlow(nu: number): Flow {
  const [a, b, c] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
  return [
    [term(a, nu, one, one, sin()), term(c, nu, one, cos(), one)],
    [term(b, nu, sin(), one, one), term(a, nu, one, one, cos())],
    [term(c, nu, one, sin(), one), term(b, nu, cos(), one, one)],
    [
      term(-a * c, 2 * nu, one, cos(), sin()),
      term(-a * b, 2 * nu, sin(), one, cos()),
      term(-b * c, 2 * nu, cos(), sin(), one),
    ],
  ];
}

/**
 * The Taylor-Green vortex u = exp(-3 nu t) (sin x cos y cos z, -cos x sin y cos z, 0) with the pressure that keeps it
 * free of divergence, exp(-6 nu t) (cos 2x + cos 2y)(cos 2z + 2) / 16. It solves the Navier-Stokes equations at t = 0;
 * later it is the vortex under viscosity alone, without the cascade.
 *
 * Source: Brachet et al., J. Fluid Mech. 130 (1983), section 2.
 */
export function taylorGreenFlow(nu: number): Flow {
  return [
    [term(1, 3 * nu, sin(), cos(), cos())],
    [term(-1, 3 * nu, cos(), sin(), cos())],
    [],
    [
      term(1 / 16, 6 * nu, cos(2), one, cos(2)),
      term(1 / 16, 6 * nu, one, cos(2), cos(2)),
      term(1 / 8, 6 * nu, cos(2), one, one),
      term(1 / 8, 6 * nu, one, cos(2), one),
    ],
  ];
}

/**
 * A conducting flow: the ABC flow with a magnetic field of the same kind, half as long waves and half the amplitude,
 * and its vector potential, of which it is the curl: both are eigenfunctions of the curl with the eigenvalue 2.
 * Components are those of velocity, pressure, magnetic field and vector potential; both fields decay by `nu`.
 */
export function magneticFlow(nu: number): Flow {
  const [a, b, c] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
  const field = (scale: number): Flow => [
    [term(scale * a, 4 * nu, one, one, sin(2)), term(scale * c, 4 * nu, one, cos(2), one)],
    [term(scale * b, 4 * nu, sin(2), one, one), term(scale * a, 4 * nu, one, one, cos(2))],
    [term(scale * c, 4 * nu, one, sin(2), one), term(scale * b, 4 * nu, cos(2), one, one)],
  ];
  return [...abcFlow(nu), ...field(0.5), ...field(0.25)];
}

/**
 * The Taylor-Green vortex with a density around 1.5 and a temperature around 0, both decaying as scalars of diffusivity
 * `nu`.
 */
export function mixingFlow(nu: number): Flow {
  return [
    ...taylorGreenFlow(nu),
    [term(1.5, 0, one, one, one), term(0.5, 3 * nu, cos(), cos(), cos())],
    [term(1, 2 * nu, sin(), one, cos()), term(0.5, 4 * nu, one, sin(2), one)],
  ];
}

/** Terms per component of a smooth random flow, and the highest wavenumber and frequency among them. */
const SMOOTH = { terms: 6, wavenumber: 4, frequency: 2 };

/** A smooth random field in four components: standing waves of seeded amplitude, wavenumber, phase and frequency. */
export function smoothFlow(seed: number): Flow {
  const component = (c: number): WaveTerm[] => {
    const stream = randomStream(seed, c);
    let index = 0;
    const draw = () => randomAt(stream, index++);
    const wave = (): Wave => ({
      wavenumber: Math.floor(draw() * (SMOOTH.wavenumber + 1)),
      phase: 2 * Math.PI * draw(),
    });
    return Array.from({ length: SMOOTH.terms }, () => ({
      amplitude: 2 * draw() - 1,
      decay: 0,
      frequency: SMOOTH.frequency * draw(),
      waves: [wave(), wave(), wave()] as const,
    }));
  };
  return [component(0), component(1), component(2), component(3)];
}

/** A box of nodes: per axis x, y, z the first node, their count, and the nodes of the whole period. */
export type PeriodicBox = readonly { readonly first: number; readonly count: number; readonly nodes: number }[];

/** Samples a wave at the nodes of a box along one axis. */
function sample(wave: Wave, axis: PeriodicBox[number]): Float64Array {
  return Float64Array.from({ length: axis.count }, (_, i) => {
    return Math.cos((2 * Math.PI * wave.wavenumber * (axis.first + i)) / axis.nodes + wave.phase);
  });
}

/**
 * Adds a flow's component at a time to `sum`, of shape (z, y, x) of the box: each term is an outer product of three
 * profiles, built as a plane (y, x) from views of stride zero and added to the layers in proportion to the third.
 */
export function addTerms(terms: readonly WaveTerm[], time: number, box: PeriodicBox, sum: NdArray<Float64Array>): void {
  const [nz, ny, nx] = sum.shape as [number, number, number];
  const plane = ndarray(new Float64Array(ny * nx), [ny, nx]);
  const scaled = ndarray(new Float64Array(ny * nx), [ny, nx]);
  for (const { amplitude, decay, frequency, waves } of terms) {
    const scale = amplitude * Math.exp(-decay * time) * Math.cos(frequency * time);
    const [x, y, z] = box.map((axis, d) => sample(waves[d], axis)) as [Float64Array, Float64Array, Float64Array];
    ops.mul(plane, ndarray(y, [ny, nx], [1, 0]), ndarray(x, [ny, nx], [0, 1]));
    for (let k = 0; k < nz; k++) {
      ops.muls(scaled, plane, scale * z[k]);
      ops.addeq(sum.pick(k, null, null), scaled);
    }
  }
}
