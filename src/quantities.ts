/** Derived quantities: each is a formula on the record of one operation. */
import { DERIVATIVES, INTERPOLATIONS, type OperationName, type SpatialInterpolation } from "./operations.js";

/** A scalar that can be drawn: a formula and the operation whose records it reads. */
export interface Quantity {
  readonly name: string;
  readonly title: string;
  /** Whether it takes both signs, so that colours are centred on zero. */
  readonly signed: boolean;
  /** Physical dimension, from which its unit follows. */
  readonly measure: "velocity" | "pressure" | "rate" | "rateSquared";
  readonly operation: OperationName;
  readonly methods: readonly SpatialInterpolation[];
  readonly method: SpatialInterpolation;
  /** Computes the quantity of the record that starts at `at`, in float64. */
  readonly of: (values: ArrayLike<number>, at: number) => number;
}

const component = (index: number) => (values: ArrayLike<number>, at: number) => values[at + index] as number;

function speed(values: ArrayLike<number>, at: number): number {
  return Math.hypot(values[at] as number, values[at + 1] as number, values[at + 2] as number);
}

/** Computes the magnitude of the curl of a vector from its gradient, rows by component. */
function vorticity(g: ArrayLike<number>, at: number): number {
  const x = (g[at + 7] as number) - (g[at + 5] as number);
  const y = (g[at + 2] as number) - (g[at + 6] as number);
  const z = (g[at + 3] as number) - (g[at + 1] as number);
  return Math.hypot(x, y, z);
}

function divergence(g: ArrayLike<number>, at: number): number {
  return (g[at] as number) + (g[at + 4] as number) + (g[at + 8] as number);
}

/** Computes half the difference of squared rotation and squared strain: -(A_ij A_ji) / 2. */
function secondInvariant(g: ArrayLike<number>, at: number): number {
  const diagonal = (g[at] as number) ** 2 + (g[at + 4] as number) ** 2 + (g[at + 8] as number) ** 2;
  const crossed =
    (g[at + 1] as number) * (g[at + 3] as number) +
    (g[at + 2] as number) * (g[at + 6] as number) +
    (g[at + 5] as number) * (g[at + 7] as number);
  return -0.5 * (diagonal + 2 * crossed);
}

const VELOCITY = { operation: "GetVelocity", methods: INTERPOLATIONS, method: "Lag6", measure: "velocity" } as const;
const PRESSURE = {
  operation: "GetVelocityAndPressure",
  methods: INTERPOLATIONS,
  method: "Lag6",
  measure: "pressure",
} as const;
const GRADIENT = { operation: "GetVelocityGradient", methods: DERIVATIVES, method: "Fd4Lag4" } as const;

/** All quantities, in the order in which they are offered. */
export const QUANTITIES = [
  { name: "ux", title: "Velocity x", signed: true, ...VELOCITY, of: component(0) },
  { name: "uy", title: "Velocity y", signed: true, ...VELOCITY, of: component(1) },
  { name: "uz", title: "Velocity z", signed: true, ...VELOCITY, of: component(2) },
  { name: "p", title: "Pressure", signed: true, ...PRESSURE, of: component(3) },
  { name: "speed", title: "Speed |u|", signed: false, ...VELOCITY, of: speed },
  { name: "vorticity", title: "Vorticity magnitude", signed: false, ...GRADIENT, measure: "rate", of: vorticity },
  { name: "Q", title: "Second invariant Q", signed: true, ...GRADIENT, measure: "rateSquared", of: secondInvariant },
  { name: "divergence", title: "Divergence", signed: true, ...GRADIENT, measure: "rate", of: divergence },
] as const satisfies readonly Quantity[];

export type QuantityName = (typeof QUANTITIES)[number]["name"];

/** Returns the quantity of a name. */
export function quantityOf(name: QuantityName): Quantity {
  return QUANTITIES.find((row) => row.name === name) as Quantity;
}
