/** Averages over paths of particles: displacements, velocities, and the shapes of pairs and tetrads. */
import { eigenvalues } from "./array-functions.js";
import { binOf } from "./histogram.js";
import { edgesOf } from "./reductions.js";

/** Number of particles that are evaluated together: 1, a pair, or a tetrad. */
export type GroupSize = 1 | 2 | 4;

/** Some particles at all records; the particles of a pair or tetrad are consecutive. */
export interface PathPart {
  readonly particles: number;
  readonly records: number;
  /** `width` numbers a record, the first three of which are the position; records of a particle follow one another. */
  readonly width: number;
  readonly positions: Float32Array;
  /** Three numbers a record; NaN once a particle has left the domain. */
  readonly velocities: Float32Array;
  /** The numbers of a quantity a record; NaN where it is not known. */
  readonly values: Float32Array;
}

/** Requested statistics of a quantity along paths: of its increments q(t0 + lag) - q(t0), or of its values. */
export interface RequestedAlong {
  readonly names: readonly string[];
  /** Powers of increments; null for values. */
  readonly orders: readonly number[] | null;
  /** Whether all records are origins t0, or only the first. */
  readonly isAll: boolean;
  /** Bins of histograms; null for none. */
  readonly bins: { readonly count: number; readonly range: readonly [number, number] } | null;
}

/** Sums by lag or record: their number, then of each order and component, and by component the bins of each lag. */
interface AlongSums extends RequestedAlong {
  readonly count: Float64Array;
  readonly powers: readonly Float64Array[];
  readonly counts: readonly Float64Array[];
}

/** Sums over particles for each record, in the order of the particles, so that parts do not change their bits. */
export interface DispersionSums {
  readonly groupSize: GroupSize;
  readonly orders: readonly number[];
  /** Particles, then the sums of dx^2, dy^2, dz^2, u(0).u(t), u(0)^2, u(t)^2, u(0) and u(t) over them. */
  readonly particleSums: readonly Float64Array[];
  /** Pairs or tetrads that are still complete, then their sums of powers or of eigenvalues, largest first. */
  readonly groupSums: readonly Float64Array[];
  readonly along: AlongSums | null;
}

const PARTICLE_SUMS = 13;

export function dispersionSums(
  records: number,
  groupSize: GroupSize,
  orders: readonly number[],
  requested: RequestedAlong | null = null,
): DispersionSums {
  const sums = (size: number) => Array.from({ length: size }, () => new Float64Array(records));
  const groupSums = { 1: 0, 2: 1 + orders.length, 4: 4 }[groupSize];
  const along = requested && {
    ...requested,
    count: new Float64Array(records),
    powers: sums(requested.names.length * (requested.orders?.length ?? 0)),
    counts: requested.names.map(() => new Float64Array(records * (requested.bins?.count ?? 0))),
  };
  return { groupSize, orders, particleSums: sums(PARTICLE_SUMS), groupSums: sums(groupSums), along };
}

/** Adds the pairs or tetrads `from .. to - 1` of a part. */
export function addPaths(sums: DispersionSums, part: PathPart, from: number, to: number): void {
  const { groupSize } = sums;
  for (let i = groupSize * from; i < groupSize * to; i++) {
    addPath(sums.particleSums, part, i);
    if (sums.along !== null) addAlong(sums.along, part, i);
  }
  if (groupSize === 2) addPairs(sums, part, from, to);
  if (groupSize === 4) addTetrads(sums, part, from, to);
}

function addPath(sums: DispersionSums["particleSums"], part: PathPart, particle: number): void {
  const { records, width, positions, velocities: u } = part;
  const first = particle * records;
  for (let r = 0; r < records; r++) {
    if (!isInside(part, particle, r)) continue;
    const [at, of] = [width * (first + r), 3 * (first + r)];
    sums[0][r]++;
    for (let c = 0; c < 3; c++) {
      const moved = positions[at + c] - positions[width * first + c];
      sums[1 + c][r] += moved * moved;
      sums[4][r] += u[3 * first + c] * u[of + c];
      sums[5][r] += u[3 * first + c] * u[3 * first + c];
      sums[6][r] += u[of + c] * u[of + c];
      sums[7 + c][r] += u[3 * first + c];
      sums[10 + c][r] += u[of + c];
    }
  }
}

function addAlong({ names, orders, isAll, bins, count, powers, counts }: AlongSums, part: PathPart, i: number): void {
  const [{ records, values }, size] = [part, names.length];
  const known = Array.from({ length: records }, (_, r) =>
    values.subarray(size * (i * records + r), size * (i * records + r + 1)).every(Number.isFinite),
  );
  for (let origin = 0; origin < (isAll || orders === null ? records : 1); origin++) {
    if (!known[origin]) continue;
    const from = size * (i * records + origin);
    for (let r = origin; r < (orders === null ? origin + 1 : records); r++) {
      if (!known[r]) continue;
      const to = size * (i * records + r);
      const lag = orders === null ? r : r - origin;
      count[lag]++;
      for (let c = 0; c < size; c++) {
        const d = values[to + c] - (orders === null ? 0 : values[from + c]);
        for (let k = 0; orders !== null && k < orders.length; k++)
          powers[size * k + c][lag] += (Number.isInteger(orders[k]) ? d : Math.abs(d)) ** orders[k];
        if (bins !== null && d >= bins.range[0] && d <= bins.range[1])
          counts[c][lag * bins.count + binOf(bins.range[0], bins.range[1], bins.count, d)]++;
      }
    }
  }
}

/** Means of the powers of increments, of real orders of their absolute values, and histograms. */
function alongMembers({ names, orders, isAll, bins, count, powers, counts }: AlongSums): object {
  const each = (value: (c: number) => unknown) => Object.fromEntries(names.map((name, c) => [name, value(c)]));
  const edges = edgesOf(bins?.range ?? [0, 0], bins?.count ?? 0);
  const rows = (list: Float64Array) =>
    Array.from(count, (_, lag) => [...list.subarray(lag * (edges.length - 1), (lag + 1) * (edges.length - 1))]);
  const histogram = { edges, counts: each((c) => rows(counts[c])) };
  if (orders === null) return { histogram: { count: [...count], ...histogram } };
  const moments = orders.map((p, k) => [
    p,
    each((c) => Array.from(powers[names.length * k + c], (sum, lag) => finite(sum / count[lag]))),
  ]);
  return {
    increments: { origins: isAll ? "all" : "start", count: [...count], moments: Object.fromEntries(moments) },
    ...(bins === null ? {} : { increment_histogram: histogram }),
  };
}

function isInside({ records, velocities }: PathPart, particle: number, record: number): boolean {
  return [0, 1, 2].every((c) => Number.isFinite(velocities[3 * (particle * records + record) + c]));
}

/** The distance from a particle to another along an axis. */
function between({ records, width, positions }: PathPart, from: number, to: number, record: number, c: number): number {
  return positions[width * (to * records + record) + c] - positions[width * (from * records + record) + c];
}

function addPairs({ groupSums, orders }: DispersionSums, part: PathPart, from: number, to: number): void {
  for (let pair = from; pair < to; pair++)
    for (let r = 0; r < part.records; r++) {
      const [a, b] = [2 * pair, 2 * pair + 1];
      if (!isInside(part, a, r) || !isInside(part, b, r)) continue;
      const [x, y, z] = [0, 1, 2].map((c) => between(part, a, b, r, c));
      const distance = Math.sqrt(x * x + y * y + z * z);
      groupSums[0][r]++;
      for (let k = 0; k < orders.length; k++) groupSums[1 + k][r] += distance ** orders[k];
    }
}

/**
 * Adds the eigenvalues of g = sum of r_k r_k^T over the three vectors of the shape of a tetrad: r_1 = (x_2 - x_1) /
 * sqrt 2, r_2 = (2 x_3 - x_2 - x_1) / sqrt 6, r_3 = (3 x_4 - x_3 - x_2 - x_1) / sqrt 12. Source: Biferale et al.,
 * Physics of Fluids 17 (2005) 111701.
 */
function addTetrads({ groupSums }: DispersionSums, part: PathPart, from: number, to: number): void {
  const scratch = () => new Float64Array(to - from);
  const g = Array.from({ length: 9 }, scratch);
  for (let r = 0; r < part.records; r++) {
    for (let tetrad = from; tetrad < to; tetrad++) {
      const vectors = shapeOf(part, 4 * tetrad, r);
      for (let i = 0; i < 9; i++) {
        const [a, b] = [Math.floor(i / 3), i % 3];
        g[i][tetrad - from] = vectors.reduce((sum, vector) => sum + vector[a] * vector[b], 0);
      }
    }
    const values = eigenvalues(g, scratch);
    for (let tetrad = from; tetrad < to; tetrad++) {
      if (![0, 1, 2, 3].every((k) => isInside(part, 4 * tetrad + k, r))) continue;
      groupSums[0][r]++;
      for (let k = 0; k < 3; k++) groupSums[1 + k][r] += values[k][tetrad - from];
    }
  }
}

function shapeOf(part: PathPart, first: number, record: number): readonly (readonly number[])[] {
  const from = (k: number, c: number) => between(part, first, first + k, record, c);
  const vector = (c: number) => [from(1, c), 2 * from(2, c) - from(1, c), 3 * from(3, c) - from(2, c) - from(1, c)];
  const [x, y, z] = [0, 1, 2].map(vector);
  return [2, 6, 12].map((square, k) => [x[k], y[k], z[k]].map((one) => one / Math.sqrt(square)));
}

/** The means at each record; null without particles. @param removesMean of the autocorrelation: over the particles */
export function dispersionMeans(
  { groupSize, orders, particleSums, groupSums, along }: DispersionSums,
  removesMean: boolean,
): Readonly<Record<string, unknown>> {
  const [count, dx, dy, dz, product, before, now] = particleSums;
  /** The sum of products a.b less the product of their means; the components of a begin at sum `a`. */
  const centred = (sum: Float64Array, a: number, b: number, r: number): number => {
    const means = [0, 1, 2].reduce((all, c) => all + particleSums[a + c][r] * particleSums[b + c][r], 0) / count[r];
    return removesMean ? sum[r] - means : sum[r];
  };
  const each = (value: (r: number) => number) => [...count].map((_, r) => finite(value(r)));
  const answer = {
    ...(along === null ? {} : alongMembers(along)),
    particles: [...count],
    mean_square: each((r) => (dx[r] + dy[r] + dz[r]) / count[r]),
    mean_square_axes: [...count].map((_, r) => [dx, dy, dz].map((sum) => finite(sum[r] / count[r]))),
    velocity_square: each((r) => now[r] / count[r]),
    autocorrelation: each(
      (r) => centred(product, 7, 10, r) / Math.sqrt(centred(before, 7, 7, r) * centred(now, 10, 10, r)),
    ),
  };
  if (groupSize === 1) return answer;
  const [groups, ...sums] = groupSums;
  if (groupSize === 4) {
    const values = [...groups].map((n, r) => sums.map((sum) => finite(sum[r] / n)));
    return { ...answer, tetrads: { count: [...groups], eigenvalues: values } };
  }
  const separation = Object.fromEntries(orders.map((order, k) => [order, each((r) => sums[k][r] / groups[r])]));
  return { ...answer, pairs: { count: [...groups], separation } };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
