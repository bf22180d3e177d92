/** Volumes: samples of a quantity in the whole box at a stored time, and functions on volumes. */
import { askNumbers, type Numbers, type Question, Refusal, type Wanted } from "./ask.js";
import { type Axis, cellOf, coordinateOf, type Dataset, hasOtherNodes, nodeOf, type Vec3, wrapped } from "./dataset.js";
import { asFlowMap, durationOf, hasFlowMaps, PATH_SAMPLES } from "./flow-map.js";
import { memoized } from "./memoized.js";

/** Samples of a box at nodes, x fastest; missing ones are NaN. */
export interface Volume extends Numbers {
  readonly key: string;
  readonly what: string;
  readonly frame: number;
  readonly dims: readonly [number, number, number];
  /** Nodes between two samples, along the axis with most nodes and along each. */
  readonly stride: number;
  readonly strides: Vec3;
  /** What the samples are, in words: stored nodes, means of cubes of them, or samples between them. */
  readonly of: string;
  readonly isMasked: boolean;
  readonly low: number;
  readonly high: number;
}

/** Samples of a plane by the service. */
export interface Picture extends Numbers {
  readonly columns: number;
  readonly rows: number;
  readonly isMasked: boolean;
  /** Lower left corner, width and height. */
  readonly box: readonly [number, number, number, number];
  /** Whether the picture is periodic along its columns and rows. */
  readonly tiles: readonly [boolean, boolean];
}

/** Most samples along an axis of the finest volume, and of the first. */
const MAX_SAMPLES = 192;
const COARSE_SAMPLES = 72;
/** Most numbers of one request; a larger one would make the service read nodes twice. */
const SLAB = 1_800_000;
/** Requests for slabs that are open at a time, so that the service never waits for the page. */
const LANES = 2;

const mostNodes = ({ axes }: Dataset): number => Math.max(...axes.map(({ nodes }) => nodes));

/** Strides of the volumes that are loaded one after another, from coarse to fine. */
export function stridesOf(dataset: Dataset, what: string): number[] {
  const most = durationOf(what) === null ? [COARSE_SAMPLES, MAX_SAMPLES] : PATH_SAMPLES;
  const [coarse, fine] = most.map((samples) => Math.ceil(mostNodes(dataset) / samples));
  return coarse > fine ? [coarse, fine] : [fine];
}

export function volumeKey(dataset: Dataset, what: string, frame: number, stride: number): string {
  return JSON.stringify(["volume", dataset.name, dataset.digest, what, frame, stride]);
}

/** The least and the largest of the known numbers, and whether others are missing. */
export function extentOf(data: Float32Array): Pick<Volume, "isMasked" | "low" | "high"> {
  let [low, high, isMasked] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, false];
  for (let i = 0; i < data.length; i++) {
    const value = data[i];
    if (Number.isFinite(value)) {
      if (value < low) low = value;
      if (value > high) high = value;
    } else isMasked = true;
  }
  return low > high ? { low: 0, high: 0, isMasked } : { low, high, isMasked };
}

/** Samples along an axis in equal steps of a stride or some more nodes, from the first node over all of it. */
function equalSteps({ nodes, periodic }: Axis, stride: number): readonly [count: number, stride: number] {
  if (nodes === 1) return [1, stride];
  const steps = periodic ? nodes : nodes - 1;
  const count = Math.max(1, Math.floor(steps / stride));
  return [periodic ? count : count + 1, steps / count];
}

/** First planes and counts of slabs of at most some planes; the ends of an open axis are slabs of their own. */
function slabsOf(count: number, most: number, isOpen: boolean): (readonly [first: number, count: number])[] {
  if (count <= most) return [[0, count]];
  const [first, end] = isOpen ? [1, count - 1] : [0, count];
  const size = Math.ceil((end - first) / Math.ceil((end - first) / most));
  const slabs: [number, number][] = isOpen ? [[0, 1]] : [];
  for (let k = first; k < end; k += size) slabs.push([k, Math.min(size, end - k)]);
  return isOpen ? [...slabs, [end, 1]] : slabs;
}

/**
 * The want of a volume, in slabs. Sample `i` along an axis lies at node `i * strides`: stored nodes or, where strides do
 * not divide the axis, of staggered fields, moving grids, levels and flow maps, samples of the service at these places.
 */
export function wantedVolume(
  dataset: Dataset,
  what: string,
  frame: number,
  stride: number,
  priority: number,
): Wanted<Volume> {
  const key = volumeKey(dataset, what, frame, stride);
  const { axes, name, times } = dataset;
  const isPaths = durationOf(what) !== null;
  // Samples of flow maps have one stride; others of short axes need not be as coarse as those of the longest.
  const wanted = axes.map(({ nodes }) => (isPaths ? stride : Math.ceil((nodes * stride) / mostNodes(dataset))));
  const isStretched = axes.some(({ coordinates }) => coordinates !== undefined);
  const isCubic = stride > 1 && wanted.every((one) => one === stride) && !isStretched && !hasOtherNodes(dataset);
  const level = isCubic && !isPaths ? Math.min(dataset.levels, Math.floor(Math.log2(stride))) : 0;
  const spaced = axes.map((axis, a) => equalSteps(axis, wanted[a]));
  const isStored =
    level === 0 && !isPaths && !hasOtherNodes(dataset) && spaced.every(([, one], a) => one === wanted[a]);
  const [nx, ny, nz] = spaced.map(([count]) => count);
  const strides = spaced.map(([, one]) => one) as unknown as Vec3;
  const place = (a: number, i: number) => coordinateOf(axes[a], i * strides[a]);
  const questionOf = (k: number, count: number): Question => {
    const members = { dataset: name, what, frame };
    if (isStored) {
      const [across, up, normal] = strides;
      const end = Math.min(axes[2].nodes, (k + count) * normal);
      const steps = {
        ...(across === 1 ? {} : { i: `0::${across}` }),
        ...(up === 1 ? {} : { j: `0::${up}` }),
        ...(count < nz || normal > 1 ? { k: `${k * normal}:${end}:${normal}` } : {}),
      };
      return { ...members, call: "nodes", ...steps };
    }
    const how = level > 0 ? { level } : { method: dataset.plainMethod };
    if (isStretched) return { ...members, call: "values", ...how };
    const samples = [nx, ny, count];
    const ofPaths = { dataset: name, what, call: "grid", time: times[frame], samples, ...how };
    if (isPaths) return asFlowMap({ dataset: name, times }, ofPaths);
    if (count === nz) return { ...members, call: "grid", samples, ...how };
    if (count === 1) return { ...members, call: "grid", z: wrapped(axes[2], place(2, k)), samples: [nx, ny], ...how };
    // Samples of a part lie in the middle of equal intervals.
    const z = `${place(2, k - 0.5)}:${place(2, k + count - 0.5)}`;
    return { ...members, call: "grid", z, samples, ...how };
  };
  const pointsOf = (k: number, count: number): Float32Array<ArrayBuffer> => {
    const points = new Float32Array(3 * nx * ny * count);
    for (let i = 0, at = 0; at < points.length; i++)
      for (const [a, node] of [i % nx, Math.floor(i / nx) % ny, k + Math.floor(i / (nx * ny))].entries())
        points[at++] = place(a, node);
    return points;
  };
  const load = async (signal: AbortSignal): Promise<Volume> => {
    if (isPaths && !hasFlowMaps(dataset)) throw new Refusal(0, "Flow maps need a periodic box of even nodes.");
    const data = new Float32Array(nx * ny * nz);
    let unit: string | null = null;
    const slabs = slabsOf(nz, Math.max(2, Math.floor(SLAB / (nx * ny))), !isStored && !axes[2].periodic);
    const lane = async (): Promise<void> => {
      for (let slab = slabs.shift(); slab !== undefined; slab = slabs.shift()) {
        const [k, count] = slab;
        const question = questionOf(k, count);
        const points = question.call === "values" ? pointsOf(k, count) : undefined;
        const part = await askNumbers(question, nx * ny * count, signal, points);
        data.set(part.data, k * nx * ny);
        unit = part.unit;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const of = level > 0 ? `means of ${2 ** level}³ nodes` : isStored ? "nodes" : `samples by ${dataset.plainMethod}`;
    return { key, what, frame, dims: [nx, ny, nz], stride, strides, of, data, unit, ...extentOf(data) };
  };
  return { key, load, priority, sizeOf: ({ data: { byteLength } }) => byteLength };
}

/** A value between nodes by linear interpolation, as a preview; NaN where it is missing or outside. */
export const sampleAt = (volume: Volume, { axes }: Dataset, place: Vec3): number =>
  interpolated(volume, axes, (axis, a) => nodeOf(axis, place[a]) / volume.strides[a]);

/** As `sampleAt`, between samples that are equally spaced. */
export const sampleIn = (samples: Samples, { axes }: Dataset, place: Vec3): number =>
  interpolated(samples, axes, (axis, a) => (wrapped(axis, place[a]) - axis.first) / samples.spacing[a]);

type SampleOf = (axis: Axis, a: number) => number;
function interpolated({ dims, data }: Pick<Samples, "dims" | "data">, axes: Dataset["axes"], sampleOf: SampleOf) {
  const corners = axes.map((axis, a) => {
    const node = sampleOf(axis, a);
    const from = Math.min(dims[a] - 1, Math.floor(node));
    const to = axis.periodic ? (from + 1) % dims[a] : Math.min(dims[a] - 1, from + 1);
    return [from, to, node - from] as const;
  });
  let sum = 0;
  for (let corner = 0; corner < 8; corner++) {
    let [at, weight] = [0, 1];
    for (let a = 2; a >= 0; a--) {
      const [from, to, part] = corners[a];
      const upper = (corner >> a) & 1;
      weight *= upper ? part : 1 - part;
      at = at * dims[a] + (upper ? to : from);
    }
    if (weight > 0) sum += weight * data[at];
  }
  return sum;
}

export function pictureAt({ data, columns, rows, box, tiles }: Picture, h: number, v: number): number {
  const [left, below, width, height] = box;
  let [i, j] = [((h - left) / width) * columns, ((v - below) / height) * rows];
  // Samples of open axes lie in the middle of their cells, those of periodic ones at their beginning.
  if (!tiles[0]) i -= 0.5;
  if (!tiles[1]) j -= 0.5;
  if (!tiles[0] && (i < -0.51 || i > columns - 0.49)) return Number.NaN;
  if (!tiles[1] && (j < -0.51 || j > rows - 0.49)) return Number.NaN;
  const [i0, j0] = [Math.floor(i), Math.floor(j)];
  const at = (p: number, q: number): number => {
    const x = tiles[0] ? ((p % columns) + columns) % columns : Math.min(columns - 1, Math.max(0, p));
    const y = tiles[1] ? ((q % rows) + rows) % rows : Math.min(rows - 1, Math.max(0, q));
    return data[y * columns + x];
  };
  const [s, t] = [i - i0, j - j0];
  return (
    (1 - s) * (1 - t) * at(i0, j0) +
    s * (1 - t) * at(i0 + 1, j0) +
    (1 - s) * t * at(i0, j0 + 1) +
    s * t * at(i0 + 1, j0 + 1)
  );
}

const BINS = 4096;

/** Quantiles of a volume at the given parts, by a histogram weighted with the cells of nodes. */
export function quantilesOf(volume: Volume, { axes }: Dataset, parts: readonly number[]): number[] {
  const { dims, data, strides, low, high } = volume;
  if (!(high > low)) return parts.map(() => low);
  // Heavy tails would put most values into few bins: bins are equal in the cube root of the distance from the mean.
  let [sum, n] = [0, 0];
  for (let i = 0; i < data.length; i += 7) {
    if (Number.isFinite(data[i])) {
      sum += data[i];
      n++;
    }
  }
  const middle = sum / Math.max(1, n);
  const bend = (value: number) => Math.cbrt(value - middle);
  const [from, to] = [bend(low), bend(high)];
  const weights = axes.map((axis, a) => Float64Array.from({ length: dims[a] }, (_, i) => cellOf(axis, i * strides[a])));
  const counts = new Float64Array(BINS);
  let total = 0;
  let at = 0;
  for (let k = 0; k < dims[2]; k++) {
    for (let j = 0; j < dims[1]; j++) {
      const weight = weights[1][j] * weights[2][k];
      for (let i = 0; i < dims[0]; i++, at++) {
        const value = data[at];
        if (!Number.isFinite(value)) continue;
        const bin = Math.min(BINS - 1, Math.floor(((bend(value) - from) / (to - from)) * BINS));
        counts[bin] += weight * weights[0][i];
        total += weight * weights[0][i];
      }
    }
  }
  return parts.map((part) => {
    let [bin, before] = [0, 0];
    while (bin < BINS - 1 && before + counts[bin] < part * total) before += counts[bin++];
    const inside = counts[bin] === 0 ? 0 : (part * total - before) / counts[bin];
    return middle + (from + ((to - from) * (bin + inside)) / BINS) ** 3;
  });
}

/** Most nodes that interpolation reads on one side. */
const REACH = 4;

/** The node with the largest value, if possible one without missing nodes around it. */
export function largestOf({ data, dims, isMasked }: Volume): readonly [number, number, number] {
  const [nx, ny, nz] = dims;
  const nodeAt = (i: number) => [i % nx, Math.floor(i / nx) % ny, Math.floor(i / (nx * ny))] as const;
  const isWhole = (i: number) => {
    const [x, y, z] = nodeAt(i);
    const near = (at: number, by: number, n: number) => (at + by + n * REACH) % n;
    for (let c = -REACH; c <= REACH; c++)
      for (let b = -REACH; b <= REACH; b++)
        for (let a = -REACH; a <= REACH; a++)
          if (!Number.isFinite(data[near(x, a, nx) + nx * (near(y, b, ny) + ny * near(z, c, nz))])) return false;
    return true;
  };
  const largest = (fits: (i: number) => boolean) => {
    let best = -1;
    for (let i = 0; i < data.length; i++) if ((best < 0 || data[i] > data[best]) && fits(i)) best = i;
    return best;
  };
  const whole = isMasked ? largest(isWhole) : -1;
  const best = whole >= 0 ? whole : largest((i) => Number.isFinite(data[i]));
  return nodeAt(Math.max(0, best));
}

export function placeOfLargest(volume: Volume, { axes }: Dataset): Vec3 {
  const node = largestOf(volume);
  return axes.map((axis, a) => coordinateOf(axis, node[a] * volume.strides[a])) as unknown as Vec3;
}

/** Samples on an equally spaced grid, which surfaces are drawn from. */
export interface Samples {
  readonly dims: readonly [number, number, number];
  readonly first: Vec3;
  readonly spacing: Vec3;
  readonly data: Float32Array;
  readonly isMasked: boolean;
}

interface Weights {
  readonly count: number;
  readonly from: Int32Array;
  readonly weight: Float64Array;
}

const WIDTH = 8;

function lagrange(nodes: readonly number[], x: number): number[] {
  return nodes.map((own, i) =>
    nodes.reduce((product, other, j) => (i === j ? product : (product * (x - other)) / (own - other)), 1),
  );
}

/** Weights from `n` samples along an axis to `count` equally spaced ones. */
function weightsFor(axis: Axis, n: number, stride: number, count: number): Weights {
  const from = new Int32Array(count);
  const weight = new Float64Array(count * WIDTH);
  const width = Math.min(axis.coordinates === undefined ? WIDTH : 4, n);
  for (let m = 0; m < count; m++) {
    const place = axis.first + (m * axis.length) / (axis.periodic ? count : Math.max(1, count - 1));
    const node = axis.periodic ? (m * n) / count : nodeOf(axis, place) / stride;
    let begin = Math.floor(node) - Math.floor(width / 2) + 1;
    if (!axis.periodic) begin = Math.min(n - width, Math.max(0, begin));
    from[m] = begin;
    const nodes = Array.from({ length: width }, (_, i) =>
      axis.coordinates === undefined ? begin + i : coordinateOf(axis, (begin + i) * stride),
    );
    weight.set(lagrange(nodes, axis.coordinates === undefined ? node : place), m * WIDTH);
  }
  return { count, from, weight };
}

/** Interpolates along one axis of an array with `inner` numbers inside it and `n` along it. */
function along(
  source: Float32Array,
  inner: number,
  n: number,
  outer: number,
  { count, from, weight }: Weights,
): Float32Array {
  const out = new Float32Array(inner * count * outer);
  const rows = new Int32Array(WIDTH);
  const factors = new Float64Array(WIDTH);
  for (let m = 0; m < count; m++) {
    let terms = 0;
    for (let w = 0; w < WIDTH; w++) {
      if (weight[m * WIDTH + w] === 0) continue;
      rows[terms] = ((((from[m] + w) % n) + n) % n) * inner;
      factors[terms++] = weight[m * WIDTH + w];
    }
    for (let o = 0; o < outer; o++) {
      const [base, target] = [o * n * inner, (o * count + m) * inner];
      for (let i = 0; i < inner; i++) {
        let sum = 0;
        for (let w = 0; w < terms; w++) sum += factors[w] * source[base + rows[w] + i];
        out[target + i] = sum;
      }
    }
  }
  return out;
}

const MAX_FINE = 192;

/** Samples on twice the nodes by Lagrange interpolation on eight of them; a table of nodes becomes equally spaced. */
export function refined(volume: Volume, { axes }: Dataset, factor = 2): Samples {
  const counts = axes.map((axis, a) => {
    const wanted = axis.coordinates === undefined ? factor * volume.dims[a] : 3 * factor * volume.dims[a];
    return volume.dims[a] === 1 ? 1 : Math.min(Math.max(MAX_FINE, volume.dims[a]), wanted);
  }) as [number, number, number];
  let data = volume.data;
  const dims = [...volume.dims];
  for (let a = 0; a < 3; a++) {
    if (counts[a] === dims[a] && axes[a].coordinates === undefined) continue;
    const inner = dims.slice(0, a).reduce((p, q) => p * q, 1);
    const outer = dims.slice(a + 1).reduce((p, q) => p * q, 1);
    data = along(data, inner, dims[a], outer, weightsFor(axes[a], dims[a], volume.strides[a], counts[a]));
    dims[a] = counts[a];
  }
  const spacing = axes.map(({ periodic, length }, a) => length / Math.max(1, periodic ? counts[a] : counts[a] - 1));
  return {
    dims: counts,
    first: axes.map(({ first }) => first) as unknown as Vec3,
    spacing: spacing as unknown as Vec3,
    data,
    isMasked: volume.isMasked,
  };
}

export const isFinest = ({ what, stride }: Volume, set: Dataset): boolean => stridesOf(set, what).at(-1) === stride;

/** Samples between the nodes of a volume, for surfaces; not of volumes that a finer one will soon replace. */
export const refinedSamplesOf = memoized(
  (volume: Volume, set: Dataset): Samples => refined(volume, set, isFinest(volume, set) ? 2 : 1),
);
