/** Checks of a query before its points arrive, in the order and with the messages of the public service. */
import { shortestDecimal, shortestFloat32 } from "../../float32/format.js";
import { checkFilter, itemsPerPoint, totalLayers } from "../../kernels/filter/box-filter.js";
import { filterNodes } from "../../kernels/filter/node-filter.js";
import { controlledSteps, intervalSteps } from "../../kernels/particles.js";
import { axisEnd, axisStart } from "../../kernels/stencil.js";
import { timeInRange, timeOfFloat32 } from "../../kernels/time.js";
import type { Limits } from "../../shared/config.js";
import { LimitError, namesOf, RequestError, unknownDataset } from "../../shared/errors.js";
import {
  type Integrator,
  type Operation,
  type OperationRow,
  operationOf,
  plainSpatialOf,
  spatialOf,
} from "../../shared/operations.js";
import {
  axesOfField,
  type Dataset,
  type FieldName,
  partsOfField,
  type TimeAxis,
} from "../../storage/dataset/dataset.js";
import { checkAvailable } from "../contract/check-available.js";
import { cutoutRegion, type NodeRegion, searchRegion } from "../contract/node-region.js";
import { countRecords } from "../contract/particle-records.js";
import { type Evaluation, type Query, SMALL_WORK } from "../contract/query.js";
import { cutoutText, fieldText, filterFields, rowFor } from "../contract/requested-fields.js";
import { fieldsOf, requireNodes, requireNodesOf } from "../contract/require-nodes.js";
import type { StepBudget } from "../contract/task.js";

/** A checked query: its dataset and the work per point. */
export interface CheckedQuery {
  readonly query: Query;
  readonly operation: OperationRow;
  readonly dataset: Dataset | null;
  /** Fields that it reads, in the order of its kernel. */
  readonly fields: readonly FieldName[];
  /** Searches and cutouts: the nodes; else null. */
  readonly region: NodeRegion | null;
  /** Tracking: number of steps and signed step; else 0. */
  readonly steps: number;
  readonly step: number;
  /** The last step if it is shorter than the others. */
  readonly last: number;
  /** Box filters: samples that a point stands for; else 1. */
  readonly samples: number;
  readonly itemsPerPoint: number;
}

/** Least tolerance of adaptive steps, relative to the largest coordinate: rounding costs about 1e-16 a step. */
const MIN_TOLERANCE = 1e-13;

/** Steps per stored interval, if the dataset does not state the step of the simulation. */
const STEPS_PER_FRAME = 10;

/** Bound on the particle steps of a background query, as a multiple of the bound of other queries. */
const BACKGROUND_STEP_FACTOR = 16;

const STAGES: Readonly<Record<Integrator, number>> = { heun: 2, rk4: 4, dopri5: 6 };

/** Cost of evaluating velocity and gradient, in evaluations of the velocity. */
const GRADIENT_WORK = 4;

const NO_WORK = { dataset: null, fields: [], region: null, steps: 0, step: 0, last: 0, samples: 1, itemsPerPoint: 1 };

/**
 * Checks a query: dataset, time range (start, then end), availability, options.
 *
 * @param served all datasets, which the error of an unknown name lists
 * @throws NotFoundError, or RequestError with code OutOfRange, Unsupported or InvalidRequest
 */
export function checkQuery(
  requested: Query,
  find: (name: string) => Dataset | undefined,
  served: readonly Dataset[] = [],
): CheckedQuery {
  const row = operationOf(requested.operation);
  const { family } = row;
  if (family === "echo") return { ...NO_WORK, query: requested, operation: row };
  if (requested.dataset === undefined || requested.dataset === "") {
    const text = `The request names no dataset (${namesOf(served)}).`;
    throw new RequestError("InvalidRequest", text, { member: "dataset" });
  }
  const dataset = find(requested.dataset);
  if (!dataset) throw unknownDataset(requested.dataset, served);
  const query = requested.singleTimes === true ? fromSoapValues(requested, dataset) : requested;
  checkTimes(query, row, dataset);
  checkAvailable(row, dataset);
  checkMethod(query, row, dataset);
  checkFinite(query);
  const { steps, step, last = step } = family === "track" ? checkSteps(query, dataset) : { steps: 0, step: 0 };
  const hasFieldMember = row.fields.length === 0 && (family === "box" || family === "points");
  const fields = hasFieldMember ? filterFields(row, query.field, dataset) : row.fields;
  const operation = rowFor(row, fields, dataset);
  checkNodes(query, row, fields, dataset);
  const region = REGIONS[family]?.(query, operation, dataset) ?? null;
  const layered = family === "filter" ? itemsPerPoint(query.nlayers as number) : 1;
  const { plan } = query.reduction ?? {};
  // The dataset's rule for open faces, if the query states none.
  const stops = family === "track" && query.openFaces === undefined && dataset.openFaces === "stop";
  return {
    query: hasFieldMember ? { ...query, field: fieldText(fields) } : stops ? { ...query, openFaces: "stop" } : query,
    operation,
    dataset,
    fields: plan ? fieldsOf(plan.columns, plan.names) : region === null ? fields : [region.field],
    region,
    steps,
    step,
    last,
    samples: SAMPLES[family]?.(query, dataset) ?? 1,
    itemsPerPoint: countRecords(query, steps) ?? layered,
  };
}

/** Refuses queries that need values at the nodes of the dataset if fields have nodes of their own. */
function checkNodes(
  { reduction, spectrum, derivedAt, quantity }: Query,
  row: Operation,
  fields: readonly FieldName[],
  dataset: Dataset,
): void {
  if (row.kernel === "covariance") requireNodes(dataset, fields, `${row.name}, which multiplies components,`);
  if (row.family === "filter") checkEvenParts(fields, row, dataset);
  const plan = reduction?.plan ?? spectrum?.plan ?? derivedAt?.plan;
  if (plan !== undefined) requireNodesOf(dataset, plan.columns, plan.names, "An analysis of nodes");
  if (quantity !== undefined) requireNodesOf(dataset, [quantity.expression], quantity.names, "A cutout of a quantity");
}

function checkEvenParts(fields: readonly FieldName[], { name }: Operation, dataset: Dataset): void {
  const parts = fields.flatMap((field) => partsOfField(dataset, field));
  const uneven = parts.find((part) => axesOfField(dataset, part).some(({ coordinates }) => coordinates !== null));
  if (uneven === undefined || dataset.axes.some(({ coordinates }) => coordinates !== null)) return;
  const text = `${name} needs evenly spaced nodes, and those of ${uneven} are not.`;
  throw new RequestError("Unsupported", text, { member: "dataset" });
}

/** The query with stored times for float32 times, and with a field of this dataset for the text of a cutout. */
function fromSoapValues(requested: Query, dataset: Dataset): Query {
  const query = withDoubleTimes(requested, dataset);
  const isCutout = query.operation === "GetAnyCutoutWeb" && query.field !== undefined;
  return isCutout ? { ...query, field: cutoutText(query.field as string, dataset) } : query;
}

/** Replaces float32 times by the stored times they stand for. Throws RequestError if two frames share a float32. */
function withDoubleTimes({ singleTimes: _, ...query }: Query, { name, time }: Dataset): Query {
  const times: { [member: string]: number } = {};
  for (const member of ["time", "StartTime", "EndTime"] as const) {
    const single = query[member];
    if (single === undefined || !Number.isFinite(single)) continue;
    const meant = timeOfFloat32(time, single);
    if (meant === null)
      throw new RequestError(
        "Unsupported",
        `SOAP sends times as float32, which cannot tell the frames of "${name}" apart at ${shortestFloat32(single)}; /api, POST values and the command line can.`,
        { member },
      );
    times[member] = meant;
  }
  return { ...query, ...times };
}

function checkTimes(query: Query, { family }: Operation, dataset: Dataset): void {
  const anyTime = family === "force" && ["constant", "taylorGreen"].includes(dataset.forcing.kind);
  const check = (member: string, time: number): void => {
    if (anyTime ? Number.isFinite(time) : timeInRange(dataset.time, time)) return;
    const why = family === "track" && dataset.time.count === 1 ? ", and no particle can be tracked in a snapshot" : "";
    const range = anyTime ? "" : ` It has ${rangeOf(dataset.time)}${why}.`;
    throw new RequestError("OutOfRange", `Time ${shortestDecimal(time)} out of range for "${dataset.name}".${range}`, {
      member,
    });
  };
  if (query.time !== undefined) check("time", query.time);
  if (query.StartTime !== undefined) check("StartTime", query.StartTime);
  if (query.frozen) return;
  if (query.EndTime !== undefined) check("EndTime", query.EndTime);
  // An infinite or NaN step is a fault of the options, which are checked later.
  const { StartTime: start, EndTime: end, dt = Number.NaN, nt = 0 } = query;
  if (end === undefined && start !== undefined && Number.isFinite(dt) && nt > 0) check("nt", start + nt * dt);
}

/** The queryable times of a dataset, in words. */
function rangeOf({ values, origin, step, count, guardBefore, guardAfter }: TimeAxis): string {
  const [first, last] = [guardBefore, count - 1 - guardAfter].map((k) =>
    Number((values?.[k] ?? origin + k * step).toPrecision(12)),
  );
  return first === last ? `the time ${first} only` : `times from ${first} to ${last}`;
}

/** The words of the public service for an option that an operation does not accept. */
function methodRefusal({ family, kernel }: Operation, method: string): string {
  if (family === "track" || family === "search") return "Invalid interpolation option specified!";
  if (kernel.endsWith("LaplacianOfGradient")) return "Invalid spatial interpolation option specified!";
  return `Invalid Spatial Interpolation Option: ${method}.`;
}

function checkMethod(query: Query, operation: Operation, dataset: Dataset): void {
  const method = query.spatialInterpolation;
  if (method === undefined) return;
  // Only plain HTTP and the command line state an integrator.
  const isPlain = query.integrator !== undefined;
  const accepted: readonly string[] = (isPlain ? plainSpatialOf : spatialOf)(operation, dataset);
  if (accepted.includes(method)) return;
  const takes = `${operation.name} takes ${accepted.join(", ")}.`;
  if (/(?:Hessian|Laplacian)$/.test(operation.kernel) && method.startsWith("M1Q")) {
    const refusal = "This interpolation option does not support second order derivatives!";
    throw invalid("spatialInterpolation", `${refusal} ${takes}`);
  }
  throw invalid("spatialInterpolation", `${methodRefusal(operation, method)} ${takes}`);
}

/** Checks the other numbers: times were checked by their range, coordinates are checked as they are read. */
function checkFinite(query: Query): void {
  for (const member of ["dt", "Tp", "filterlength", "filterwidth", "spacing", "threshold"] as const) {
    const value = query[member];
    if (value === undefined || Number.isFinite(value)) continue;
    throw new RequestError("OutOfRange", `The value of ${member} must be a finite number: ${value}`, { member });
  }
}

const invalid = (member: string, text: string): RequestError => new RequestError("InvalidRequest", text, { member });

function checkSteps(query: Query, dataset: Dataset): { steps: number; step: number; last?: number } {
  const { StartTime: start = 0, EndTime: end, dt, nt, Tp: responseTime } = query;
  const { integrator = "heun", tolerance, flowMap } = query;
  if (responseTime !== undefined && integrator !== "heun")
    throw invalid("integrator", `Only heun tracks particles with drag: integrator is ${integrator}.`);
  if (flowMap !== undefined && integrator === "dopri5")
    throw invalid("integrator", "Gradients of flow maps are integrated by heun or rk4.");
  const gradient = operationOf("GetVelocityGradient");
  if (flowMap !== undefined && !spatialOf(gradient, dataset).includes(flowMap))
    throw invalid("derivatives", `derivatives must be one of ${spatialOf(gradient, dataset).join(", ")}.`);
  if (flowMap !== undefined && start === end) throw invalid("end", "The end of a flow map must not be its start.");
  if (tolerance !== undefined && integrator !== "dopri5")
    throw invalid("tolerance", `Only dopri5 takes a tolerance: integrator is ${integrator}.`);
  if (tolerance !== undefined) checkTolerance(tolerance, dataset);
  if (dt === 0) throw invalid("dt", "The time step dt must not be 0.");
  if (nt !== undefined && dt !== undefined) {
    if (nt < 0) throw invalid("nt", `The number of steps nt must not be negative: ${nt}`);
    return { steps: nt, step: dt };
  }
  if (end === undefined) throw invalid("EndTime", "The request has no EndTime.");
  if (responseTime !== undefined) {
    if (!(responseTime >= 0))
      throw invalid("Tp", `The response time Tp must not be negative: ${shortestFloat32(responseTime)}`);
    if (end < start)
      throw invalid("EndTime", "Particles with drag cannot be tracked backward: EndTime is before StartTime.");
  }
  if (dt !== undefined) return stepsToEnd(start, end, dt);
  const { values, step: frameStep } = dataset.time;
  const interval = values ? values[values.length - 1] - values[0] : frameStep;
  const largest = dataset.dnsStep ?? interval / (values ? values.length - 1 : 1) / STEPS_PER_FRAME;
  return controlledSteps(start, end, largest);
}

/** Refuses a tolerance that no step can keep because coordinates are rounded to float64. */
function checkTolerance(tolerance: number, { axes, name }: Dataset): void {
  if (!(tolerance > 0)) throw invalid("tolerance", "tolerance must be a number above 0.");
  const farthest = Math.max(...axes.flatMap((axis) => [Math.abs(axisStart(axis)), Math.abs(axisEnd(axis))]));
  const least = MIN_TOLERANCE * farthest;
  if (tolerance >= least) return;
  const text = `tolerance ${tolerance} is below what coordinates of "${name}" keep in float64: ask for at least ${least.toPrecision(2)}.`;
  throw new RequestError("OutOfRange", text, { member: "tolerance" });
}

/**
 * Steps of length |dt| towards the end; a shorter last one ends there. A positive `dt` is the length of a step in
 * either direction, as the public service takes it; a negative one only leads back.
 */
function stepsToEnd(start: number, end: number, dt: number): { steps: number; step: number; last: number } {
  if (Math.abs(end - start) - Math.abs(dt) < -1e-6) {
    throw invalid("dt", "The time step dt cannot be greater than the StartTime : EndTime range!");
  }
  if (dt < 0 && end > start) {
    throw invalid("dt", `The time step dt is negative (${shortestFloat32(dt)}), but EndTime is after StartTime.`);
  }
  return intervalSteps(start, end, dt);
}

/** Nodes that a mean over a box of nodes reads for a point; six means make a gradient. */
function boxSamples({ filterwidth, spacing }: Query, dataset: Dataset): number {
  if (filterwidth === undefined) return 1;
  if (filterwidth < 0) throw invalid("filterwidth", "The filter width must not be negative.");
  const step = dataset.axes[0].spacing;
  const width = filterNodes(filterwidth, step);
  if (dataset.axes.some(({ nodes }) => width > nodes)) {
    throw invalid("filterwidth", `The filter width is ${width} nodes, more than "${dataset.name}" has.`);
  }
  if (spacing === undefined) return width ** 3;
  const spacingNodes = Math.round(spacing / step);
  if (spacingNodes < 1) throw invalid("spacing", `The spacing must be at least half a grid spacing, which is ${step}.`);
  if (dataset.axes.some(({ nodes }) => spacingNodes > nodes)) {
    throw invalid("spacing", `The spacing is ${spacingNodes} nodes, more than "${dataset.name}" has.`);
  }
  return 6 * width ** 3;
}

/** Leaves of the octree that a box filter reads for a point. */
function octreeSamples({ filterlength, nlayers }: Query, dataset: Dataset): number {
  if (filterlength === undefined || nlayers === undefined) return 1;
  const problem = checkFilter(filterlength, nlayers, dataset.axes);
  if (problem) throw invalid(problem.includes("nlayers") ? "nlayers" : "filterlength", problem);
  return 8 ** totalLayers(filterlength, dataset.axes);
}

/** The largest number of points of a query, and the limit that sets it. */
export function pointLimit(limits: Limits, checked: CheckedQuery | null): Evaluation["limit"] {
  const bounds: Evaluation["limit"][] = [recordLimit(limits, checked)];
  if (checked && checked.steps > 0) {
    const weight = stepWeight(checked);
    const most = limits["query.particleSteps"];
    const points = Math.floor(most / (checked.steps * weight));
    bounds.push({ points, name: "query.particleSteps", tracking: { most, steps: checked.steps, weight } });
  }
  if (checked && checked.samples > 1) {
    bounds.push({ points: Math.floor(limits["query.filterSamples"] / checked.samples), name: "query.filterSamples" });
  }
  return bounds.reduce((least, bound) => (bound.points < least.points ? bound : least));
}

/** The error of a job in which a single particle takes more steps than a task may; else null. */
export function taskStepsError(limits: Limits, checked: CheckedQuery): LimitError | null {
  const [most, taken] = [BACKGROUND_STEP_FACTOR * limits["query.particleSteps"], checked.steps * stepWeight(checked)];
  if (taken <= most) return null;
  return new LimitError("query.particleSteps", `Path too long (${taken} > ${most} particle steps of a task of a job)`);
}

/** The largest number of points by their records alone: the limit of background queries, which may take any time. */
export function recordLimit(limits: Limits, checked: CheckedQuery | null): Evaluation["limit"] {
  return { points: Math.floor(limits["query.points"] / (checked?.itemsPerPoint ?? 1)), name: "query.points" };
}

/** Particle steps that one step costs: 1 for Heun, for other schemes in proportion to their evaluations. */
const stepWeight = (checked: CheckedQuery): number => evaluationsOf(checked) / STAGES.heun;

/** Evaluations of a field for a number of points. A query with adaptive steps is never small. */
export function workOf(checked: CheckedQuery, points: number): number {
  const work = points * checked.samples * Math.max(1, evaluationsOf(checked) * checked.steps);
  return checked.query.integrator === "dopri5" && points > 0 ? Math.max(work, SMALL_WORK + 1) : work;
}

/** The bound on the adaptive steps of a query; null if its steps are known in advance. */
export function stepBudgetOf(limits: Limits, checked: CheckedQuery, isBackground: boolean): StepBudget | null {
  if (checked.query.integrator !== "dopri5") return null;
  const particleSteps = limits["query.particleSteps"] * (isBackground ? BACKGROUND_STEP_FACTOR : 1);
  const most = Math.floor((particleSteps * STAGES.heun) / STAGES.dopri5);
  return { most, tried: new BigInt64Array(new SharedArrayBuffer(8)) };
}

/** Evaluations of the velocity in one step of a particle, or their equivalent. */
function evaluationsOf({ query: { integrator = "heun", flowMap } }: CheckedQuery): number {
  return STAGES[integrator] * (flowMap === undefined ? 1 : GRADIENT_WORK);
}

/** Samples per point, by family, where they differ from one. */
const SAMPLES: Partial<Record<Operation["family"], (query: Query, dataset: Dataset) => number>> = {
  filter: octreeSamples,
  box: boxSamples,
};

const REGIONS: Partial<
  Record<Operation["family"], (query: Query, operation: Operation, dataset: Dataset) => NodeRegion>
> = { search: searchRegion, cutout: cutoutRegion };
