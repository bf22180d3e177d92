/** Everything about a query that can be judged before its points: the order and texts are those of the public service. */
import { excerpt, type FieldprobeError, NotFoundError, RequestError } from "../errors.js";
import { controlledSteps } from "../kernels/advect.js";
import { checkFilter, itemsPerPoint, totalLayers } from "../kernels/box-filter.js";
import { KERNELS, type Kernel } from "../kernels/index.js";
import { timeInRange } from "../kernels/pchip.js";
import { INTERPOLATIONS, type KernelName, OPERATIONS, type Operation, type OperationName } from "../operations.js";
import type { Dataset } from "../storage/grid.js";
import type { Query } from "./query.js";

/** A row of the table with its kernel's name as a literal. */
type OperationRow = Operation & { readonly kernel: KernelName };

/** A query found good: what it runs on and how much work a point is. */
export interface CheckedQuery {
  readonly query: Query;
  readonly operation: OperationRow;
  readonly kernel: Kernel;
  /** Absent in NullOp. */
  readonly dataset: Dataset | null;
  /** Tracking: number of steps and signed step; else 0. */
  readonly steps: number;
  readonly step: number;
  /** Box filters: samples a point stands for; else 1. */
  readonly samples: number;
  readonly itemsPerPoint: number;
}

/** Step of the simulation assumed where a dataset does not state it: a tenth of the stored interval. */
const STEPS_PER_FRAME = 10;

function operationOf(name: OperationName): OperationRow {
  return OPERATIONS.find((row) => row.name === name) as OperationRow;
}

/**
 * Checks a query: dataset, time range (start, then end), availability, options.
 *
 * @throws NotFoundError, or RequestError with code OutOfRange, Unsupported or InvalidRequest
 */
export function checkQuery(query: Query, find: (name: string) => Dataset | undefined): CheckedQuery {
  const operation = operationOf(query.operation);
  const kernel: Kernel = KERNELS[operation.kernel];
  if (kernel.family === "echo") {
    return {
      query,
      operation,
      kernel,
      dataset: null,
      steps: 0,
      step: 0,
      samples: 1,
      itemsPerPoint: 1,
    };
  }
  if (query.dataset === undefined) {
    throw new RequestError("InvalidRequest", "The request names no dataset.", { member: "dataset" });
  }
  const dataset = find(query.dataset);
  if (!dataset) throw new NotFoundError(`Invalid set name: ${excerpt(query.dataset)}`);
  checkTimes(query, kernel, dataset);
  checkAvailable(operation, kernel, dataset);
  checkMethod(query, operation, kernel, dataset);
  const { steps, step } = checkSteps(query, kernel, dataset);
  const samples = checkLayers(query, kernel, dataset);
  const layered = kernel.family === "filter" ? itemsPerPoint(query.nlayers as number) : 1;
  return {
    query,
    operation,
    kernel,
    dataset,
    steps,
    step,
    samples,
    itemsPerPoint: countRecords(query, steps) ?? layered,
  };
}

/** Records of a particle with `recordEvery`: the start, every so many steps, the end. */
function countRecords({ recordEvery }: Query, steps: number): number | null {
  if (recordEvery === undefined) return null;
  if (!Number.isInteger(recordEvery) || recordEvery < 1) {
    throw invalid("recordEvery", `recordEvery must be a whole number of steps, at least 1: ${recordEvery}`);
  }
  return 1 + Math.ceil(steps / recordEvery);
}

/** Times of the records of a particle; null without `recordEvery`. */
export function recordTimes({ query, steps, step, itemsPerPoint: records }: CheckedQuery): Float64Array | null {
  const { recordEvery, StartTime = 0 } = query;
  if (recordEvery === undefined) return null;
  const times = new Float64Array(records);
  for (let i = 0; i < records; i++) times[i] = StartTime + Math.min(i * recordEvery, steps) * step;
  return times;
}

/** Float32 members are shown as the caller wrote them, not with the digits of their float64 value. */
function show(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}

function checkTimes(query: Query, kernel: Kernel, dataset: Dataset): void {
  if (kernel.family === "force" && dataset.forcing.kind === "taylorGreen") return;
  const check = (member: string, time: number): void => {
    if (timeInRange(dataset.time, time)) return;
    throw new RequestError("OutOfRange", `Time ${show(time)} out of range for "${dataset.name}".`, { member });
  };
  if (query.time !== undefined) check("time", query.time);
  if (query.StartTime !== undefined) check("StartTime", query.StartTime);
  if (query.EndTime !== undefined) check("EndTime", query.EndTime);
  else if (query.StartTime !== undefined && query.dt !== undefined && query.nt !== undefined && query.nt > 0) {
    check("nt", query.StartTime + query.nt * query.dt);
  }
}

function unsupported(): FieldprobeError {
  return new RequestError("Unsupported", "Invalid dataset specified!", { member: "dataset" });
}

function checkAvailable(operation: Operation, kernel: Kernel, dataset: Dataset): void {
  if (kernel.family === "force" && dataset.forcing.kind === "none") throw unsupported();
  for (const field of operation.fields) if (!dataset.fields[field]) throw unsupported();
  if (kernel.family === "track" && dataset.time.count === 1) throw unsupported();
  if (kernel.family === "filter" && dataset.axes.some((axis) => axis.coordinates !== null)) throw unsupported();
}

function checkMethod(query: Query, operation: Operation, kernel: Kernel, dataset: Dataset): void {
  const method = query.spatialInterpolation;
  if (method === undefined) return;
  const stored = kernel.family === "force" && dataset.forcing.kind === "stored";
  const accepted: readonly string[] = stored ? INTERPOLATIONS : operation.spatial;
  if (accepted.includes(method)) return;
  const text =
    kernel.family === "track"
      ? "Invalid interpolation option specified!"
      : `Invalid Spatial Interpolation Option: ${method}`;
  throw new RequestError("InvalidRequest", text, { member: "spatialInterpolation" });
}

function invalid(member: string, text: string): RequestError {
  return new RequestError("InvalidRequest", text, { member });
}

/** Number of steps and signed step of a tracking query. */
function checkSteps(query: Query, kernel: Kernel, dataset: Dataset): { steps: number; step: number } {
  if (kernel.family !== "track") return { steps: 0, step: 0 };
  const { StartTime: start = 0, EndTime: end, dt, nt, Tp: responseTime } = query;
  if (nt !== undefined && dt !== undefined) {
    if (nt < 0) throw invalid("nt", `The number of steps nt must not be negative: ${nt}`);
    return { steps: nt, step: dt };
  }
  if (end === undefined) throw invalid("EndTime", "The request has no EndTime.");
  if (responseTime !== undefined) {
    if (!(responseTime >= 0)) throw invalid("Tp", `The response time Tp must not be negative: ${show(responseTime)}`);
    if (end < start)
      throw invalid("EndTime", "Particles with drag cannot be tracked backward: EndTime is before StartTime.");
  }
  const { values, step: frameStep } = dataset.time;
  const interval = values ? (values.at(-1) as number) - (values[0] as number) : frameStep;
  const largest = dataset.dnsStep ?? interval / (values ? values.length - 1 : 1) / STEPS_PER_FRAME;
  return controlledSteps(start, end, largest);
}

/** Samples per point of a box filter. */
function checkLayers({ filterlength, nlayers }: Query, kernel: Kernel, dataset: Dataset): number {
  if (kernel.family !== "filter" || filterlength === undefined || nlayers === undefined) return 1;
  const problem = checkFilter(filterlength, nlayers, dataset.axes);
  if (problem) throw invalid(problem.includes("nlayers") ? "nlayers" : "filterlength", problem);
  return 8 ** totalLayers(filterlength, dataset.axes);
}
