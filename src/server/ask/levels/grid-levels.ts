/** Samples from levels: the level that is fine enough for a grid, interpolated linearly. */
import { compileExpression, type Expression } from "../../../analysis/expression.js";
import { otherDataset, partsOfInput } from "../../../analysis/names.js";
import type { Axis, Dataset } from "../../../engine/contract/dataset.js";
import { frameShift } from "../../../engine/contract/positions.js";
import { type LevelSet, nodeQuantity, type Query } from "../../../engine/contract/query.js";
import { framesOf } from "../../../engine/contract/query-frames.js";
import { RequestError } from "../../../shared/errors.js";
import { levelNumber } from "../answer.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues, RequestedQuantity } from "../question/member-values.js";
import { readWhat } from "../question/read-member.js";
import { pointsOf, type SampleGrid } from "../question/sample-grid.js";
import { compileWhat, namesOf, type Quantity } from "../question/what.js";
import { coordinateOf, type Samples } from "../question/where.js";
import { runQuery } from "../run-query.js";

/** Values of a level read at a time. */
const GROUP_VALUES = 2 ** 21;

function largestSpacing(axis: Axis, from: number, to: number): number {
  const { coordinates, nodes, spacing } = axis;
  if (coordinates === null) return spacing;
  let largest = 0;
  for (let i = 1; i < nodes; i++) {
    const [before, at] = [coordinates[i - 1], coordinates[i]];
    if (at >= from && before <= to) largest = Math.max(largest, at - before);
  }
  return largest === 0 ? spacing : largest;
}

function spacingsIn({ grid }: Samples, { axes }: Dataset): readonly number[] {
  return axes.map((axis, a) => {
    const { origin, spacing, count } = grid[2 - a] as SampleGrid[0];
    return largestSpacing(axis, origin, origin + (count - 1) * spacing);
  });
}

/** The coarsest level whose spacing does not exceed the spacing of the samples; for a plane, in the plane. */
function fittingLevel(samples: Samples, dataset: Dataset, most: number): number {
  const inside = Math.min(...samples.axes.filter(({ count }) => count > 1).map(({ spacing }) => spacing));
  let level = most;
  for (const [a, d] of spacingsIn(samples, dataset).entries()) {
    const { nodes, periodic } = dataset.axes[a as 0 | 1 | 2];
    if (nodes === 1) continue;
    const one = samples.grid[2 - a] as SampleGrid[0];
    const s = samples.axes.includes(one) && one.count > 1 ? one.spacing : inside;
    while (level > 0 && 2 ** level * d > s * (1 + 1e-6)) level--;
    // Only samples between the first and the last cube are interpolated.
    while (level > 0 && !periodic && Math.ceil(nodes / 2 ** level) < 3) level--;
  }
  return Number.isFinite(inside) ? level : 0;
}

export interface GridLevel {
  readonly level: number;
  readonly set: LevelSet;
  readonly dataset: Dataset;
  readonly quantities: readonly Quantity[];
}

/** The level of a question; null for the stored nodes. Throws RequestError for a level that is not there. */
export function levelOf(
  { service }: Pick<Context, "service">,
  question: MemberValues,
  what: readonly RequestedQuantity[],
  dataset: Dataset,
  samples: Samples,
  used: readonly Quantity[],
): GridLevel | null {
  const { level: wanted = 0 } = question;
  if (wanted === 0) return null;
  const set = service.engine.levels(dataset);
  const inputs = used.flatMap(({ expressions }) => expressions.flatMap((one) => one.inputs));
  const known = [undefined, ...(set?.quantities.map(({ text }) => text) ?? [])];
  const apart = inputs.map((key) => key.split(":")[1]).find((field) => !known.includes(field));
  const jumping = inputs.find((key) => dataset.axes["xyz".indexOf(key)]?.periodic);
  const isRefused = question.filter !== undefined || apart !== undefined || jumping !== undefined;
  if (wanted === "auto" && (set === null || isRefused)) return null;
  const level = wanted === "auto" ? fittingLevel(samples, dataset, set?.datasets.length ?? 0) : wanted;
  if (level === 0) return null;
  if (question.filter !== undefined) throw wrong("filter", "levels are not filtered; take level=0");
  const found = requireLevel(set, dataset, level);
  if (apart !== undefined) throw wrong("level", `${apart} has none: it does not lie on the nodes of ${dataset.name}`);
  if (jumping !== undefined) throw wrong("level", `${jumping} jumps at the seam of its periodic axis; take level=0`);
  return { level, set: set as LevelSet, dataset: found, quantities: compileWhat(what, namesOf(question, found)) };
}

/** A level as a dataset. Throws RequestError if there is none. */
export function requireLevel(set: LevelSet | null, { name }: Dataset, level: number): Dataset {
  const found = set?.datasets[level - 1];
  if (found !== undefined) return found;
  const none = `no levels; fieldprobe levels ${name} makes them`;
  const own = set === null ? none : `levels 0 to ${set.datasets.length}, not ${level}`;
  throw new RequestError("OutOfRange", `level: "${name}" has ${own}.`, { member: "level" });
}

/** What an answer says about its level. @param what texts of quantities, `reduced` of those of `reduce` */
export function describeLevel(
  level: Dataset,
  question: MemberValues,
  what: readonly string[],
  reduced: readonly string[],
) {
  const note = { level: levelNumber(level), spacing: level.axes.map((one) => (one.coordinates ? null : one.spacing)) };
  const wanted = what.length > 0 ? readWhat(what) : reduced.map((text) => ({ name: text, text, isNamed: false }));
  if (note.level === 0 || wanted.length === 0) return note;
  const isMean = (one: Expression): boolean => isMeanIn(level, one, question);
  const compiled = compileWhat(wanted, namesOf(question, level));
  const kinds = compiled.map(({ expressions }) => (expressions.every(isMean) ? "mean" : "of means"));
  return {
    ...note,
    level_of: what.length > 0 ? kinds : Object.fromEntries(kinds.map((kind, q) => [reduced[q], kind])),
  };
}

/** Whether an expression is a stored mean of a level, also by `field` of another frame or level. */
function isMeanIn(level: Dataset, { field, key, inputs }: Expression, question: MemberValues): boolean {
  if (field !== null) return levelNumber(level) > 0 && Object.hasOwn(level.fields, field);
  const [input] = inputs;
  const parts = input !== undefined && key.startsWith(`${input}[`) ? partsOfInput(input) : null;
  if (parts?.kind !== "frame" || parts.expression === null) return false;
  const there = question.others?.[otherDataset(parts) ?? ""] ?? level;
  return isMeanIn(there, compileExpression(parts.expression, namesOf(question, there)), question);
}

/** Of a plane, what the cubes across it average over. */
export function thicknessOf(level: number, samples: Samples, dataset: Dataset): { readonly thickness?: number } {
  const [a, ...others] = [0, 1, 2].filter((a) => !samples.axes.includes(samples.grid[2 - a] as SampleGrid[0]));
  if (a === undefined || others.length > 0) return {};
  return { thickness: 2 ** level * (spacingsIn(samples, dataset)[a] as number) };
}

/** The position of the samples of an axis between the positions of a level. */
interface AlongAxis {
  /** The first of both neighbours of each sample, ascending without wrapping, and the weight of the second. */
  readonly first: Int32Array;
  readonly part: Float64Array;
  /** Samples in the first or last cube of an open axis. */
  readonly isEnd: Uint8Array;
  readonly cubes: number;
}

function along(fine: Axis, coarse: Axis, { origin, spacing, count }: SampleGrid[0], shift: number): AlongAxis {
  const cubes = coarse.nodes;
  const at = (j: number): number => {
    const turn = Math.floor(j / cubes);
    return coordinateOf({ ...coarse, periodic: false }, j - turn * cubes) + turn * fine.nodes * fine.spacing;
  };
  const [first, part] = [new Int32Array(count), new Float64Array(count)];
  const isEnd = new Uint8Array(count);
  const { edges } = coarse;
  for (let i = 0, j = -1; i < count; i++) {
    const x = origin + i * spacing - shift;
    if (fine.nodes === 1) continue;
    if (!fine.periodic && (x < (edges?.[1] as number) || x > (edges?.[cubes - 1] as number))) {
      isEnd[i] = 1;
      first[i] = Math.min(j < 0 ? 0 : j, cubes - 1);
      continue;
    }
    if (i === 0 || j < 0) j = fine.periodic ? Math.floor((x - at(0)) / (fine.nodes * fine.spacing)) * cubes : 0;
    while (at(j + 1) <= x) j++;
    first[i] = j;
    part[i] = (x - at(j)) / (at(j + 1) - at(j));
  }
  return { first, part, isEnd, cubes };
}

/** The positions read along an axis, and the offset of each. */
interface Window {
  readonly from: number;
  readonly count: number;
  readonly place: (j: number) => number;
}

function windowOf({ first, part, isEnd, cubes }: AlongAxis, coarse: Axis, from: number, to: number): Window | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    if (isEnd[i] === 1) continue;
    low = Math.min(low, first[i]);
    high = Math.max(high, first[i] + (part[i] > 0 ? 1 : 0));
  }
  if (low > high) return null;
  const start = ((low % cubes) + cubes) % cubes;
  const isWhole = high - low + 1 >= cubes || (start + high - low >= cubes && !coarse.periodic);
  if (isWhole) return { from: 0, count: cubes, place: (j) => ((j % cubes) + cubes) % cubes };
  return { from: start, count: high - low + 1, place: (j) => j - low };
}

/**
 * Fills the samples of a time by a level, linear between its positions.
 * @param into where the values of each quantity go, its components side by side
 * @returns the numbers of the samples in first and last cubes, which the level does not fill
 */
export async function fillLevel(
  { life }: Context,
  { dataset, quantities }: GridLevel,
  fine: Dataset,
  { grid }: Samples,
  time: number,
  question: MemberValues,
  into: readonly Float32Array[],
): Promise<Int32Array> {
  const shift = frameShift(fine.frameVelocity, time);
  const places = [0, 1, 2].map((a) =>
    along(fine.axes[a as 0], dataset.axes[a as 0], grid[2 - a] as SampleGrid[0], shift[a as 0]),
  ) as [AlongAxis, AlongAxis, AlongAxis];
  const [px, py, pz] = places;
  const [nx, ny, nz] = [px.first.length, py.first.length, pz.first.length];
  const temporalInterpolation = question.time_method === "nearest" ? "None" : "PCHIP";
  const { frames, weights } = framesOf(fine.time, { operation: "GetAnyCutoutWeb", time, temporalInterpolation });
  const [wx, wy] = [windowOf(px, dataset.axes[0], 0, nx), windowOf(py, dataset.axes[1], 0, ny)];
  for (let from = 0; wx !== null && wy !== null && from < nz; ) {
    let [to, wz] = [from + 1, windowOf(pz, dataset.axes[2], from, from + 1)];
    for (let more = to; more < nz; more++) {
      const next = windowOf(pz, dataset.axes[2], from, more + 1);
      if (next !== null && next.count * wx.count * wy.count > GROUP_VALUES) break;
      [to, wz] = [more + 1, next];
    }
    if (wz !== null) {
      const [first, count] = [[wx.from, wy.from, wz.from] as const, [wx.count, wy.count, wz.count] as const];
      const box = { first, count, stride: [1, 1, 1] } as const;
      // Of both neighbours of each sample; the same twice if the second has no weight.
      const next = Int32Array.from(px.first, (j, i) => wx.place(px.part[i] === 0 ? j : j + 1));
      const offsets = [Int32Array.from(px.first, wx.place), next] as const;
      for (const [q, quantity] of quantities.entries()) {
        const own = nodeQuantity(quantity.components, namesOf(question, dataset));
        const n = quantity.columns.length;
        const values = new Float64Array(n * box.count[0] * box.count[1] * box.count[2]);
        for (const [f, frame] of frames.entries()) {
          const nodes = { ...box, field: Object.keys(dataset.fields)[0] as string, frame };
          const query = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, quantity: own } as const;
          await addNodes(life, query, weights[f], values);
        }
        const out = into[q];
        await life.slices.each((to - from) * ny, (first, last) => {
          for (let row = first; row < last; row++) {
            const [y, z] = [row % ny, from + Math.floor(row / ny)];
            if (py.isEnd[y] === 1 || pz.isEnd[z] === 1) continue;
            const rows = rowsAround([wx, wy, wz as Window], places, y, z);
            sampleRow(values, n, rows, wx.count, offsets, px, out, n * (z * ny + y) * nx);
          }
        });
      }
    }
    from = to;
  }
  const left: number[] = [];
  const isOpen = places.some(({ isEnd }) => isEnd.includes(1));
  for (let i = 0; isOpen && i < pointsOf(grid); i++)
    if (px.isEnd[i % nx] === 1 || py.isEnd[Math.floor(i / nx) % ny] === 1 || pz.isEnd[Math.floor(i / (nx * ny))] === 1)
      left.push(i);
  return Int32Array.from(left);
}

async function addNodes(life: Context["life"], query: Query, weight: number, values: Float64Array): Promise<void> {
  const result = await runQuery(life, query);
  let at = 0;
  for await (const part of result.stream ?? result.values) {
    for (let i = 0; i < part.length; i++) values[at + i] = values[at + i] + weight * part[i];
    at += part.length;
  }
  result.release();
}

/** Rows of values that a row of samples lies between, and their weights. */
function rowsAround(
  [, wy, wz]: readonly Window[],
  [, py, pz]: readonly AlongAxis[],
  y: number,
  z: number,
): readonly (readonly [row: number, weight: number])[] {
  const ends = ({ first, part }: AlongAxis, { place }: Window, i: number) => {
    const [j, t] = [first[i], part[i]];
    return t === 0 ? [[place(j), 1] as const] : [[place(j), 1 - t] as const, [place(j + 1), t] as const];
  };
  return ends(pz as AlongAxis, wz as Window, z).flatMap(([k, a]) =>
    ends(py as AlongAxis, wy as Window, y).map(([j, b]) => [k * (wy as Window).count + j, a * b] as const),
  );
}

/** Interpolates a row of samples; positions without weight are not read, so that missing values do not spread. */
function sampleRow(
  values: Float64Array,
  n: number,
  rows: ReturnType<typeof rowsAround>,
  width: number,
  [lows, highs]: readonly [Int32Array, Int32Array],
  { part, isEnd }: AlongAxis,
  out: Float32Array,
  to: number,
): void {
  const starts = rows.map(([row]) => n * row * width);
  const weights = rows.map(([, weight]) => weight);
  for (let x = 0; x < lows.length; x++) {
    if (isEnd[x] === 1) continue;
    const [t, low, high] = [part[x], n * lows[x], n * highs[x]];
    for (let c = 0; c < n; c++) {
      let sum = 0;
      for (let r = 0; r < starts.length; r++) {
        const at = starts[r] + c;
        const value = values[at + low];
        sum += weights[r] * (t === 0 ? value : (1 - t) * value + t * values[at + high]);
      }
      out[to + n * x + c] = sum;
    }
  }
}
