/** Evaluates a batch, from float32 positions to float32 results, by the family of its operation. */
import { type BoxFilter, createBoxFilter } from "../../kernels/filter/box-filter.js";
import { closedForceOf, forceAt } from "../../kernels/forcing.js";
import { invariantsOf } from "../../kernels/invariant.js";
import { firstOutside } from "../../kernels/stencil.js";
import type { BrickReader } from "../../kernels/types.js";
import { RequestError } from "../../shared/errors.js";
import { type Family, operationOf, RECORDS } from "../../shared/operations.js";
import { axesOfField, type Dataset, type FieldName, partsOfField } from "../../storage/dataset/dataset.js";
import type { Message } from "../contract/dataset-copy.js";
import { fillPositions, frameShift, outsideError } from "../contract/positions.js";
import type { Query } from "../contract/query.js";
import { framesOf } from "../contract/query-frames.js";
import { rowFor } from "../contract/requested-fields.js";
import type { AheadTask, BatchTask, Progress } from "../contract/task.js";
import { type BatchContext, scatterInto } from "./batch-context.js";
import { CombinedField } from "./combined-field.js";
import { evaluateBoxes } from "./node-filters.js";
import type { OpenDataset } from "./open-dataset.js";
import { makeForGrid, throwIfCancelled } from "./refusals.js";
import type { Emit, Pause, Sampler, Sampling } from "./sampler.js";
import { areStaggered, sampleComponents } from "./staggered.js";
import { trackParticles } from "./tracking.js";

/** Points between two checks of the cancel flag for forces in closed form. */
const FORCE_POINTS = 1024;
const ONE_FRAME = { frames: [0], weights: [1] } as const;

/**
 * Evaluates a batch and fills `task.out`.
 *
 * @param mustPause called between groups of points, points or steps; returns true to end the time slice
 * @returns the progress if the time slice ended before the batch was complete, else null
 * @throws RequestError for a coordinate outside the domain, DataError, CancelledError
 */
export function evaluateBatch(
  task: Omit<BatchTask, "dataset">,
  opened: OpenDataset,
  sampler: Sampler,
  mustPause: Pause,
): Progress | null {
  const operation = rowFor(operationOf(task.query.operation), task.fields, opened.dataset);
  const checkCancel = () => throwIfCancelled(task.cancel);
  const context: BatchContext = { task, operation, opened, sampler, checkCancel, mustPause };
  const hasOwnPositions = operation.family === "track" && task.progress !== undefined;
  if (!hasOwnPositions) loadPositions(context, task.query.time ?? task.query.StartTime ?? 0);
  return EVALUATE[operation.family as keyof typeof EVALUATE](context);
}

const EVALUATE = {
  points: evaluatePoints,
  box: evaluateBoxes,
  force: evaluateForce,
  filter: evaluateFilter,
  track: trackParticles,
} as const satisfies Partial<Record<Family, (context: BatchContext) => Progress | null>>;

/** Reads the bricks of a waiting batch into the cache until `pause` reports that other queries need the thread. */
export function readAhead(
  task: Message<AheadTask>,
  opened: OpenDataset,
  sampler: Sampler,
  mustPause: () => boolean,
): null {
  loadPositions({ task, opened, sampler }, task.query.time ?? 0);
  if (areStaggered(opened, task.fields)) return null;
  const mustStop = (): boolean => Atomics.load(task.cancel, 0) !== 0 || mustPause();
  sampler.readAhead(samplingOf(task, opened), task.count, mustStop);
  return null;
}

/** The sampling of a batch of interpolated or differentiated fields. */
function samplingOf(task: Omit<AheadTask | BatchTask, "dataset">, opened: OpenDataset): Sampling {
  const { query, fields, outIndices, combined, first, count } = task;
  const { axes, time } = opened.dataset;
  const frames = framesOf(time, query);
  const stored = fields.map((field) => opened.source(field));
  const combinedBricks = combined && { ...combined, isResumed: task.progress !== undefined };
  const sources = combinedBricks
    ? stored.map((one, i) => new CombinedField(axes, one, frames, combinedBricks, i))
    : stored;
  const weights = query.weights && weightsOf(query.weights, frames.frames.length, { outIndices, first, count });
  const { kernel } = rowFor(operationOf(query.operation), fields, opened.dataset);
  const scheme = opened.scheme(kernel, query.spatialInterpolation ?? "None");
  const sampling = { axes, scheme, sources, combination: combined ? ONE_FRAME : frames, sorted: outIndices !== null };
  return weights === undefined ? sampling : { ...sampling, weights };
}

/** The weights of a batch, taken from the weights of all points. */
function weightsOf(
  all: Float64Array,
  frames: number,
  { outIndices, first, count }: Pick<BatchTask, "outIndices" | "first" | "count">,
): Float64Array {
  if (outIndices === null) return all.subarray(frames * first, frames * (first + count));
  const batchWeights = new Float64Array(frames * count);
  for (let i = 0; i < count; i++)
    for (let f = 0; f < frames; f++) batchWeights[frames * i + f] = all[frames * outIndices[i] + f];
  return batchWeights;
}

function evaluatePoints(context: BatchContext): Progress | null {
  const { task, operation, opened, sampler, checkCancel, mustPause } = context;
  const { count, outIndices, out, query, fields } = task;
  const scatter = scatterInto(out, RECORDS[operation.result].length, outIndices);
  const emit = operation.postProcess === undefined ? scatter : toInvariants(scatter);
  if (areStaggered(opened, fields)) {
    const frames = framesOf(opened.dataset.time, query);
    const weights = query.weights && weightsOf(query.weights, frames.frames.length, task);
    // Components are sampled one after the other, so that the batch cannot pause within its points.
    const sample = sampleComponents(context, fields, operation.kernel, query.spatialInterpolation ?? "None");
    sample({ combination: frames, ...(weights === undefined ? {} : { weights }) }, count, emit);
    return null;
  }
  const done = sampler.sample(samplingOf(task, opened), count, emit, checkCancel, task.progress?.done, mustPause);
  return done === count ? null : { done };
}

/** Replaces gradients by their invariants. */
function toInvariants(next: Emit): Emit {
  return (values, order, count) => {
    for (let i = 0; i < count; i++) invariantsOf(values, 9 * i, values, 3 * i);
    next(values, order, count);
  };
}

/** Evaluates the force: like any other field if it is stored, else in closed form. */
function evaluateForce(context: BatchContext): Progress | null {
  const { task, opened, sampler, checkCancel, mustPause } = context;
  const { query, count, out } = task;
  const { axes, time } = opened.dataset;
  const forcing = closedForceOf(opened.dataset.forcing);
  if (forcing === null) return evaluatePoints(context);
  const frames = forcing.kind === "modes" && forcing.frames > 1 ? framesOf(time, query) : ONE_FRAME;
  const values = new Float64Array(3 * Math.min(count, FORCE_POINTS));
  const from = task.progress?.done ?? 0;
  for (let first = from; first < count; first += FORCE_POINTS) {
    checkCancel();
    if (first > from && mustPause()) return { done: first };
    const size = Math.min(FORCE_POINTS, count - first);
    const positions = sampler.positions.subarray(3 * first, 3 * (first + size));
    forceAt(axes, forcing, frames, positions, size, values);
    for (let i = 0; i < 3 * size; i++) out[3 * first + i] = values[i];
  }
  return null;
}

/** Filter of a field, or of one component if it is staggered, and the offset of its values in a record. */
interface FilteredPart {
  readonly filter: BoxFilter;
  readonly readers: readonly BrickReader[];
  readonly offset: number;
  readonly values: Float64Array;
}

/** Evaluates box filters point by point, because the result of a single point may be large. */
function evaluateFilter(context: BatchContext): Progress | null {
  const { task, sampler, checkCancel, mustPause, opened, operation } = context;
  const { count, first, out } = task;
  const frames = framesOf(opened.dataset.time, task.query);
  const parts = filteredParts(context);
  const components = RECORDS[operation.result].length;
  const from = task.progress?.done ?? 0;
  for (let i = from; i < count; i++) {
    checkCancel();
    if (i > from && mustPause()) return { done: i };
    const position = sampler.positions.subarray(3 * i, 3 * i + 3);
    for (const { filter, readers, offset, values } of parts) {
      if (!filter.boxInside(position)) {
        const text = "The box of the filter, with its stencils, leaves the domain.";
        throw new RequestError("OutOfRange", text, { member: `points[${first + i}]` });
      }
      filter.evaluate(readers, frames, position, 0, 1, values, checkCancel);
      const { components: width, itemsPerPoint: items } = filter;
      const start = i * items * components;
      if (width === components) out.set(values, start);
      else
        for (let item = 0; item < items; item++)
          out.set(values.subarray(item * width, (item + 1) * width), start + item * components + offset);
    }
  }
  return null;
}

type FilterAxes = Parameters<typeof createBoxFilter>[1];

/** Kernel that filters a single component, by the kernel of the vector. */
const FILTERS_OF_COMPONENTS: ReadonlyMap<string, string> = new Map([
  ["boxVelocity", "boxPressure"],
  ["boxVelocityGradient", "boxPressureGradient"],
]);

function filteredParts({ task, operation, opened, sampler }: BatchContext): readonly FilteredPart[] {
  const { dataset } = opened;
  const [field] = task.fields as [FieldName];
  const names = partsOfField(dataset, field);
  // The SGS stress multiplies components, so it needs all of them at once.
  const componentKernel = names.length === 1 ? undefined : FILTERS_OF_COMPONENTS.get(operation.kernel);
  const groups = componentKernel === undefined ? [names] : names.map((part) => [part]);
  return groups.map((group, c) => {
    const grids = group.map((part) => axesOfField(dataset, part));
    const axes = (grids.length === 1 ? grids[0] : grids) as FilterAxes;
    const filter = boxFilter(componentKernel ?? operation.kernel, task.query, { name: dataset.name, axes });
    const numbers = filter.components * filter.itemsPerPoint;
    const values = groups.length === 1 ? sampler.recordsOfPoint(numbers) : new Float64Array(numbers);
    const readers = group.map((part) => sampler.reader(opened.source(part)));
    return { filter, readers, offset: c * filter.components, values };
  });
}

function boxFilter(
  kernel: string,
  query: Query,
  { name, axes }: Pick<Dataset, "name"> & { readonly axes: FilterAxes },
): BoxFilter {
  const { filterlength, nlayers } = query as { filterlength: number; nlayers: number };
  const text = `The grid of "${name}" is too small for box filters.`;
  return makeForGrid(text, "dataset", () => createBoxFilter(kernel, axes, filterlength, nlayers));
}

/** Fills the sampler with the points of the batch, relative to the grid, and checks them. */
function loadPositions(
  {
    task,
    opened,
    sampler,
  }: Pick<BatchContext, "opened" | "sampler"> & { readonly task: Omit<AheadTask | BatchTask, "dataset"> },
  time: number,
): void {
  const { axes, frameVelocity } = opened.dataset;
  fillPositions(task.points, sampler.positions, frameShift(frameVelocity, time));
  const outside = firstOutside(axes, sampler.positions, task.count);
  if (outside >= 0) throw outsideError(axes, sampler.positions, outside, task.first + outside);
}
