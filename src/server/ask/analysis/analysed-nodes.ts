/** The nodes and frames of an analysis, and the reductions over them. */
import type { DerivativeScheme, DerivedPlan, FieldFilter } from "../../../analysis/derived.js";
import { compileScalar } from "../../../analysis/expression.js";
import type { ReductionPlan } from "../../../analysis/plan.js";
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import { type Axis, cellWidths, type Dataset, fieldNames } from "../../../engine/contract/dataset.js";
import type { ReductionQuery } from "../../../engine/contract/query.js";
import type { FieldName } from "../../../shared/operations.js";
import { timesOf } from "../../http/describe.js";
import { refuse } from "../../http/refusal.js";
import type { MemberValues } from "../question/member-values.js";
import { nodeDerivatives } from "../question/schemes.js";
import { namesOf } from "../question/what.js";
import { coordinateOf, type NodeRun, runsIn } from "../question/where.js";
import { derivedFor, schemeOf } from "../transforms.js";

export type AxisNumber = 0 | 1 | 2;
export type Direction = "x" | "y" | "z" | "t";
export const AXES = [0, 1, 2] as const;
export const LETTERS = ["x", "y", "z"] as const;
export const DIRECTIONS = ["x", "y", "z", "t"] as const;
type OfAxes<T> = readonly [T, T, T];

/** Nodes and frames of an analysis: for its plans, and for its answer. */
export interface AnalysedNodes {
  readonly base: Omit<ReductionPlan, "columns" | "reductions">;
  readonly first: OfAxes<number>;
  readonly stride: OfAxes<number>;
  /** Frames as the engine numbers them, guard frames included. */
  readonly frames: readonly number[];
  /** Frames as callers number them. */
  readonly publicFrames: readonly number[];
  /** Whether the nodes along an axis cover a whole period. */
  readonly wraps: OfAxes<boolean>;
  readonly field: FieldName;
  readonly weights: "volume" | "nodes";
  readonly transforms: {
    readonly dataset: Dataset;
    readonly filter: FieldFilter | null;
    readonly scheme: DerivativeScheme;
  };
}

/** Whether results are resolved along each direction: if it is not in `over`; along t only for several frames. */
export function keptAxes(over: readonly Direction[], frames: number): ReductionPlan["kept"] {
  return DIRECTIONS.map((one) => !over.includes(one) && (one !== "t" || frames > 1)) as never;
}

/** The same nodes, grouped along other directions. */
export function regrouped(nodes: AnalysedNodes, kept: ReductionPlan["kept"]): AnalysedNodes {
  return { ...nodes, base: { ...nodes.base, kept } };
}

/** All nodes in one group. */
export function pooled(nodes: AnalysedNodes): AnalysedNodes {
  return regrouped(nodes, [false, false, false, false]);
}

export function nodesOfFrame({ base, frames, publicFrames, ...nodes }: AnalysedNodes, k: number): AnalysedNodes {
  const [nx, ny, nz] = base.extent;
  const own = { ...base, extent: [nx, ny, nz, 1] as const, times: [base.times[k]] };
  return { ...nodes, base: own, frames: [frames[k]], publicFrames: [publicFrames[k]] };
}

/** Other nodes along some axes, which weigh 1 there, instead of those of the question. */
export function replacedAlong(
  nodes: AnalysedNodes,
  axes: readonly boolean[],
  run: (a: AxisNumber) => Omit<NodeRun, "from">,
): AnalysedNodes {
  const { base, transforms } = nodes;
  const along = <T>(own: readonly T[], other: (run: Omit<NodeRun, "from">, a: AxisNumber) => T) =>
    own.map((one, a) => (a < 3 && axes[a] ? other(run(a as AxisNumber), a as AxisNumber) : one)) as never;
  return {
    ...{ ...nodes, first: along(nodes.first, ({ first }) => first), stride: along(nodes.stride, ({ step }) => step) },
    base: {
      ...{ ...base, extent: along(base.extent, ({ count }) => count), weights: along(base.weights, () => null) },
      coordinates: along(base.coordinates, ({ first, count, step }, a) =>
        Float64Array.from({ length: count }, (_, i) => coordinateOf(transforms.dataset.axes[a], first + i * step)),
      ),
    },
  };
}

/** The nodes of a question. Frames are counted from 0, without guard frames. Throws RequestError. */
export function regionNodes(question: MemberValues, dataset: Dataset, frames: readonly number[]): AnalysedNodes {
  const runs = runsIn(question, dataset, dataset.axes);
  return makeNodes(runs, schemeOf(nodeDerivatives(question)), question.weights ?? "volume", question, dataset, frames);
}

/** Frames and names for an analysis of points, where derivatives are not differences at nodes. */
export function pointNodes(question: MemberValues, dataset: Dataset, frames: readonly number[]): AnalysedNodes {
  const runs = dataset.axes.map(({ nodes: count }) => ({ first: 0, from: 0, count, step: 1 }));
  return makeNodes(runs as never, 4, "nodes", question, dataset, frames);
}

function makeNodes(
  runs: OfAxes<NodeRun>,
  scheme: DerivativeScheme,
  weights: AnalysedNodes["weights"],
  question: MemberValues,
  dataset: Dataset,
  frames: readonly number[],
): AnalysedNodes {
  const { axes, time } = dataset;
  const stored = timesOf(time);
  const filter = (question.filter ?? null) as FieldFilter | null;
  const ofRuns = <T>(of: (run: NodeRun, axis: Axis, a: AxisNumber) => T) =>
    AXES.map((a) => of(runs[a], axes[a], a)) as unknown as OfAxes<T>;
  // The weight of a node does not depend on the region.
  const widths = axes.map((axis) => (weights === "nodes" ? new Float64Array(axis.nodes).fill(1) : cellWidths(axis)));
  const haveEqualWidths = widths.map((all) => all.every((width) => width === all[0]));
  const numbersAlong = ({ count, step }: NodeRun, from: number, of: (node: number) => number) =>
    Float64Array.from({ length: count }, (_, i) => of(from + i * step));
  return {
    transforms: { dataset, filter, scheme },
    base: {
      order: scheme === "spectral" ? 4 : scheme,
      names: { ...namesOf(question, dataset), isFiltered: filter !== null },
      extent: [runs[0].count, runs[1].count, runs[2].count, frames.length],
      kept: [false, false, false, false],
      coordinates: ofRuns((run, axis) => numbersAlong(run, run.from, (node) => coordinateOf(axis, node))),
      periods: ofRuns((_, { periodic, nodes, spacing }) => (periodic ? nodes * spacing : 0)),
      times: frames.map((frame) => stored[frame]),
      weights: ofRuns((run, _, a) =>
        haveEqualWidths[a] ? null : numbersAlong(run, run.first, (node) => widths[a]?.[node] as number),
      ),
      cell: widths.reduce((product, all, a) => product * (haveEqualWidths[a] ? all[0] : 1), 1),
    },
    weights,
    first: ofRuns(({ first }) => first),
    stride: ofRuns(({ step }) => step),
    frames: frames.map((frame) => frame + time.guardBefore),
    publicFrames: frames,
    wraps: ofRuns(({ count, step }, { periodic, nodes }) => periodic && count * step === nodes),
    field: fieldNames(dataset)[0] as FieldName,
  };
}

/** Refuses strides for analyses of neighbouring nodes. Throws RequestError. */
export function requireEveryNode({ stride }: AnalysedNodes): void {
  if (stride.some((step) => step !== 1))
    throw refuse("i", "i, j, k: neighbouring nodes are compared, so the stride must be 1.");
}

/** Columns, and the reductions of their values. */
export interface Reducing {
  readonly columns: readonly string[];
  readonly reductions: readonly AnyReduction[];
  readonly skip?: ReductionQuery["skip"];
}

/** The query of reductions over nodes. Throws RequestError. */
export function reductionOf(nodes: AnalysedNodes, { columns, reductions, ...skipped }: Reducing): ReductionQuery {
  const derived = derivedOf(nodes, columns);
  return {
    plan: { ...nodes.base, columns, reductions },
    frames: nodes.frames,
    ...(derived === null ? {} : { derived }),
    ...(skipped as Pick<ReductionQuery, "skip">),
  };
}

/** Plan of the inputs that transforms compute; null if none. Throws RequestError if the grid has no transforms. */
export function derivedOf(
  { base: { names }, transforms: { dataset, filter, scheme } }: AnalysedNodes,
  columns: readonly string[],
): DerivedPlan | null {
  const keys = new Set(columns.flatMap((text) => compileScalar(text, names).reads));
  return derivedFor(keys, dataset, names, filter, scheme);
}

/** Frames and times in the form of an answer. */
export function framesIn({ publicFrames, base }: AnalysedNodes): readonly GroupAnswer[] {
  return publicFrames.map((frame, i) => ({ frame, time: base.times[i] }));
}
