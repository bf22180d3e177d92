/**
 * Types the answers of the service about itself and about a dataset, and tells from them what operations and methods a
 * dataset can be asked for, and the units of measures.
 */
import { type OperationName, operationOf } from "../../src/shared/operations.js";

export interface Catalogue {
  readonly version: string;
  readonly namespace: string;
  readonly service: string;
  readonly points: number;
  /** Whether calls may become jobs. */
  readonly jobs: boolean;
  readonly datasets: readonly {
    readonly name: string;
    readonly title: string;
    readonly nodes: readonly number[];
    readonly times: { readonly count: number; readonly first: number; readonly last: number };
    readonly fields: readonly string[];
  }[];
}

export interface AxisFacts {
  readonly name: "x" | "y" | "z";
  readonly nodes: number;
  readonly first: number;
  readonly last: number;
  readonly length: number;
  readonly spacing: number;
  readonly periodic: boolean;
  /** The faces at the first and last node of an axis that is not periodic. */
  readonly faces?: readonly ("wall" | "open")[];
  /** Positions of the nodes of a stretched axis. */
  readonly coordinates?: readonly number[];
}

/** A field: those under names of their own may state a unit and a title. */
export interface FieldFacts {
  readonly name: string;
  readonly components: number;
  readonly unit?: string;
  readonly title?: string;
}

export interface OperationFacts {
  readonly name: string;
  readonly available: boolean;
  readonly spatialInterpolation: readonly string[];
  readonly components: readonly string[];
}

export interface DatasetFacts {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly digest: string;
  readonly axes: readonly AxisFacts[];
  readonly times: {
    readonly count: number;
    readonly first: number;
    readonly last: number;
    readonly stored: readonly number[];
    /** Stored frames before the first time that may be asked for, and after the last one: interpolation reads them. */
    readonly guardBefore: number;
    readonly guardAfter: number;
  };
  readonly fields: readonly FieldFacts[];
  readonly units: Readonly<Record<string, string>>;
  readonly forcing: string;
  readonly dnsStep: number | null;
  /** Kinematic viscosity; null if the dataset states none. */
  readonly viscosity?: number | null;
  readonly source: string;
  readonly warnings: readonly string[];
  readonly operations: readonly OperationFacts[];
  /** Points that one request may hold: the limit of the service, or of the token if it admits fewer. */
  readonly points: number;
}

/** The axis of that name. */
export function axisOf(facts: DatasetFacts, name: string): AxisFacts {
  return facts.axes.find((axis) => axis.name === name) as AxisFacts;
}

/** The period of an axis; 0 if it is not periodic. */
export function periodOf({ periodic, length, nodes }: AxisFacts): number {
  return periodic && nodes > 1 ? length : 0;
}

/** The upper end of an axis: the end of its period, or its last node. */
export function endOf(axis: AxisFacts): number {
  return axis.first + axis.length;
}

/** The axis of a single node of data on a plane; null if the data fill a box. */
export function flatAxis(facts: DatasetFacts): AxisFacts["name"] | null {
  return facts.axes.find((axis) => axis.nodes === 1)?.name ?? null;
}

/** Whether particles may leave: some end of an axis is neither periodic nor a wall. */
export function hasOpenFaces({ axes }: Pick<DatasetFacts, "axes">): boolean {
  return axes.some(({ faces }) => faces?.includes("open") === true);
}

/**
 * Nodes that an axis that is not periodic must have for a kernel by a method: those of its stencil. A spline M{m}Q{q}
 * uses one fewer at the ends, and one-sided differences take one more for other than first derivatives.
 */
function nodesNeeded(kernel: string, method: string): number {
  const [, kind, order] = /(Lag|Fd|Q)(\d+)$/.exec(method === "Fd4Lag4" ? "Fd4" : method) ?? [];
  if (kind === "Lag") return Number(order);
  if (kind === "Q") return Number(order) - 1;
  if (kind === "Fd") return Number(order) + (/^[a-z]+Gradient$/.test(kernel) ? 1 : 2);
  return 1;
}

/** The spatial options that an operation answers on a dataset, those whose stencil does not fit left out. */
export function methodsOf(facts: DatasetFacts, operation: string): readonly string[] {
  const row = facts.operations.find(({ name }) => name === operation);
  if (row === undefined || !row.available) return [];
  return row.spatialInterpolation.filter((method) => nodesNeeded(kernelOf(operation), method) <= fewestNodes(facts));
}

/** The spatial options that some operation answers on a dataset. */
export function knownMethods(facts: DatasetFacts): ReadonlySet<string> {
  return new Set(facts.operations.flatMap(({ name }) => methodsOf(facts, name)));
}

/** The fewest nodes of an axis that is not periodic; infinite if all are. */
function fewestNodes({ axes }: DatasetFacts): number {
  return Math.min(...axes.filter(({ periodic }) => !periodic).map(({ nodes }) => nodes));
}

/** Whether a dataset has what the stretching of a flow follows from: gradients of its velocity at several times. */
export function canStretch(facts: DatasetFacts): boolean {
  return facts.times.count > 1 && offers(facts, "GetVelocityGradient");
}

/** The kernel of an operation. */
function kernelOf(operation: string): string {
  return operationOf(operation as OperationName).kernel;
}

/**
 * Nodes that an axis that is not periodic must have for an operation without methods: box filters interpolate or
 * differentiate before they take means.
 */
function filterNodes(operation: string): number {
  const kernel = kernelOf(operation);
  if (!kernel.startsWith("box")) return 1;
  return kernel.endsWith("Gradient") ? nodesNeeded("velocityGradient", "Fd4Lag4") : nodesNeeded("velocity", "Lag4");
}

/** Whether a dataset answers an operation by some method. */
export function offers(facts: DatasetFacts, operation: string): boolean {
  const row = facts.operations.find(({ name }) => name === operation);
  if (row === undefined || !row.available) return false;
  if (row.spatialInterpolation.length === 0) return filterNodes(operation) <= fewestNodes(facts);
  return methodsOf(facts, operation).length > 0;
}
