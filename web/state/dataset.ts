/** Description of a dataset, and the geometry of its axes. */
import { digitsFor, exact, plainNumber } from "./format.js";
import { memoized } from "./memoized.js";

/** An axis; stretched ones list the coordinates of their nodes. */
export interface Axis {
  readonly name: "x" | "y" | "z";
  readonly nodes: number;
  readonly first: number;
  readonly last: number;
  readonly length: number;
  readonly spacing: number;
  readonly periodic: boolean;
  readonly faces?: readonly ["wall" | "open", "wall" | "open"];
  readonly coordinates?: readonly number[];
  /** Edges of the cells around the nodes, if they are stated. */
  readonly edges?: readonly number[];
}

export interface Field {
  readonly name: string;
  readonly components: number;
  readonly title?: string;
  readonly unit?: string;
  /** Staggered fields have nodes of their own. */
  readonly nodes?: unknown;
}

export interface Dataset {
  readonly name: string;
  readonly title: string;
  readonly digest: string;
  readonly axes: readonly [Axis, Axis, Axis];
  readonly times: readonly number[];
  /** Snapshots before the first time and after the last one, needed by interpolation in time. */
  readonly guards: number;
  readonly fields: readonly Field[];
  readonly viscosity: number | null;
  readonly source: string;
  readonly warnings: readonly string[];
  readonly methods: readonly string[];
  /** The method of previews and dye: sets with one node along an open axis have nearest only. */
  readonly plainMethod: string;
  /** Velocity of the nodes; absent: they rest. */
  readonly frameVelocity?: readonly number[];
  /** Number of levels of means; known only of datasets too large to be loaded whole. */
  readonly levels: number;
}

export interface Listed {
  readonly name: string;
  readonly title: string;
}

export type Vec3 = readonly [number, number, number];
export const AXIS_NAMES = ["x", "y", "z"] as const;
export type AxisName = (typeof AXIS_NAMES)[number];

interface Described extends Omit<Dataset, "times" | "guards" | "levels" | "plainMethod"> {
  readonly times: { readonly stored: readonly number[]; readonly guardBefore: number; readonly guardAfter: number };
}

export function datasetOf(described: unknown): Dataset {
  const { times, ...rest } = described as Described;
  const plainMethod = rest.methods.includes("Lag4") ? "Lag4" : "nearest";
  return { ...rest, plainMethod, times: times.stored, guards: times.guardBefore + times.guardAfter, levels: 0 };
}

export const hasTwoWalls = ({ faces }: Axis): boolean => faces?.every((face) => face === "wall") ?? false;

/** The axis of wall units: with a wall, the only one that is not periodic, of a flow along it with a viscosity. */
export function wallAxis(set: Dataset): Axis | null {
  const [axis, ...more] = set.axes.filter(({ periodic }) => !periodic);
  if (!hasVelocity(set) || set.viscosity === null || more.length > 0 || axis?.name === "x") return null;
  return axis?.faces?.includes("wall") ? axis : null;
}

export const hasSameAxes = memoized(
  (a: Dataset, b: Dataset): boolean => JSON.stringify(a.axes) === JSON.stringify(b.axes),
);

/** Axes of what the boxes of two datasets have in common, at the finer nodes; null if they have nothing in common. */
export const sharedAxes = memoized((a: Dataset, b: Dataset): Dataset["axes"] | null => {
  const axes = a.axes.map((one, i): Axis => {
    const other = b.axes[i];
    if (JSON.stringify(one) === JSON.stringify(other)) return one;
    const periodic = one.periodic && other.periodic && Math.abs(one.length / other.length - 1) < 1e-6;
    const first = periodic ? one.first : Math.max(one.first, other.first);
    const last = periodic ? one.last : Math.min(...[one, other].map((own) => own.first + own.length));
    const length = periodic ? one.length : last - first;
    const nodes = Math.ceil(Math.max(...[one, other].map((own) => (own.nodes * length) / own.length)));
    return { name: one.name, nodes, first, last, length, spacing: length / nodes, periodic };
  });
  return axes.every((axis, i) => axis.length > 0 || axis === a.axes[i]) ? (axes as unknown as Dataset["axes"]) : null;
});

export function coordinateOf({ first, spacing, coordinates, nodes }: Axis, node: number): number {
  if (coordinates === undefined) return first + node * spacing;
  const at = Math.min(nodes - 1, Math.max(0, Math.floor(node)));
  const next = Math.min(nodes - 1, at + 1);
  return coordinates[at] + (node - at) * (coordinates[next] - coordinates[at]);
}

/** The fractional node at a coordinate; on a periodic axis within one period. */
export function nodeOf(axis: Axis, place: number): number {
  const { first, spacing, coordinates, nodes } = axis;
  if (coordinates === undefined) return (wrapped(axis, place) - first) / spacing;
  let [from, to] = [0, nodes - 1];
  if (place <= coordinates[0]) return 0;
  if (place >= coordinates[to]) return to;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (coordinates[middle] <= place) from = middle;
    else to = middle;
  }
  return from + (place - coordinates[from]) / (coordinates[to] - coordinates[from]);
}

/** A coordinate in [first, first + length) of a periodic axis, or clamped to an open one. */
export function wrapped({ first, length, periodic, last }: Axis, place: number): number {
  if (!periodic) return Math.min(last, Math.max(first, place));
  const turns = (place - first) / length;
  return first + (turns - Math.floor(turns)) * length;
}

/** Whether a coordinate is on an axis, but for the digits of links and of float32. */
export function isOnAxis({ first, last, length, periodic }: Axis, place: number): boolean {
  const slack = Math.max(1e-8 * length, 2 ** -24 * Math.abs(place));
  return periodic || (place >= first - slack && place <= last + slack);
}

/** Whether float32, in which the service takes positions, is coarse beside the nodes of an axis. */
export const isCoarse = ({ first, last, spacing }: Axis): boolean =>
  Math.max(Math.abs(first), Math.abs(last)) * 2 ** -24 > spacing / 100;

/** A coordinate with digits to a hundred-millionth of its axis. */
export function roundedOn({ first, length, last }: Axis, place: number): number {
  if (place === first || place === last) return place;
  const step = 10 ** Math.floor(Math.log10(length || 1) - 8);
  return exact(Math.round(place / step) * step);
}

const digitsOfTimes = memoized((times: readonly number[]) => {
  const size = Math.max(Math.abs(times[0]), Math.abs(times.at(-1) as number));
  const gaps = times.slice(1).map((one, i) => (one - times[i]) / 10);
  return digitsFor(size, gaps.length === 0 ? size / 1e5 : Math.min(...gaps));
});
/** A time with the digits that tell stored times apart. */
export const timeText = ({ times }: Pick<Dataset, "times">, time: number, write = plainNumber): string =>
  write(time, digitsOfTimes(times));

/** A coordinate with the digits that tell nodes apart. */
export const placeText = ({ first, last, spacing }: Axis, place: number, write = plainNumber): string =>
  write(place, digitsFor(Math.max(Math.abs(first), Math.abs(last)), spacing));

/** The shortest interval between stored times; 0 for one time. */
export const shortestOf = memoized((times: readonly number[]) =>
  times.length < 2 ? 0 : Math.min(...times.slice(1).map((time, i) => time - times[i])),
);

/** The periodic image of a coordinate that is nearest to another one. */
export function nearestImage({ periodic, length }: Axis, place: number, to: number): number {
  return periodic ? place + Math.round((to - place) / length) * length : place;
}

export function nearest(numbers: readonly number[], value: number): number {
  let best = 0;
  for (const [i, number] of numbers.entries()) if (Math.abs(number - value) < Math.abs(numbers[best] - value)) best = i;
  return best;
}

/** The middle of a box; of axes of one node, the place of it. */
export const middleOf = ({ axes }: Dataset): Vec3 =>
  axes.map(({ first, length, nodes }) => (nodes === 1 ? first : first + length / 2)) as unknown as Vec3;

/** The longest side of a box. */
export const sizeOf = ({ axes }: { readonly axes: readonly Axis[] }): number =>
  Math.max(...axes.map(({ length }) => length));

/** The length of the cell of a node along an axis: between stated edges, else half a cell at an open end. */
export function cellOf(axis: Axis, node: number): number {
  const { coordinates, edges, spacing, nodes, periodic } = axis;
  if (edges !== undefined) return edges[Math.floor(node) + 1] - edges[Math.floor(node)];
  if (coordinates === undefined) return periodic || (node > 0 && node < nodes - 1.0001) ? spacing : spacing / 2;
  return (coordinateOf(axis, Math.min(nodes - 1, node + 1)) - coordinateOf(axis, Math.max(0, node - 1))) / 2;
}

/** The volume of the cells of all nodes; an axis of one node has the length 1. */
export const volumeOfCells = ({ axes }: Dataset): number =>
  axes.reduce((all, { edges, length }) => all * (edges ? (edges.at(-1) as number) - edges[0] : length || 1), 1);

export const flatAxis = ({ axes }: Dataset): AxisName | undefined => axes.find(({ nodes }) => nodes === 1)?.name;

export const hasVelocity = ({ fields }: Dataset): boolean => fields.some(({ name }) => name === "velocity");

export const isMoving = ({ frameVelocity = [] }: Dataset): boolean => frameVelocity.some((speed) => speed !== 0);

/** Whether nodes are not the places of samples: fields have nodes of their own, or the grid moves. */
export const hasOtherNodes = (set: Dataset) => isMoving(set) || set.fields.some(({ nodes }) => nodes !== undefined);

/** The stored frame nearest to a time. */
export const frameOf = (time: number | null, { times }: Dataset): number => (time === null ? 0 : nearest(times, time));

/** The frame of a time, and the one at its other side if the time lies between stored ones. */
export function framesAround(time: number | null, set: Dataset): number[] {
  const frame = frameOf(time, set);
  if (time === null || isStored(time, set) || !isWithin(time, set)) return [frame];
  return [frame, set.times[frame] > time ? frame - 1 : frame + 1];
}

/** Whether a time is stored, but for rounding. */
export function isStored(time: number, { times }: Dataset): boolean {
  return times.some((one) => Math.abs(one - time) <= 1e-6 * shortestOf(times) || one === exact(time));
}

export const isWithin = (time: number, set: Dataset): boolean =>
  isStored(time, set) || (time > set.times[0] && time < (set.times.at(-1) as number));

/** A position in the box with the digits of links. */
export const toLinkPrecision = ({ axes }: Dataset, place: Vec3): Vec3 =>
  place.map((one, a) => roundedOn(axes[a], one)) as unknown as Vec3;

/** The position whose values the service answers: rounded to float32 where that is coarse. */
export const toServicePrecision = ({ axes }: Dataset, place: Vec3): Vec3 =>
  place.map((one, a) => (isCoarse(axes[a]) ? Math.fround(one) : one)) as unknown as Vec3;

/** A position to ask for: within a period along periodic axes, and as it is along others, whose outside is refused. */
export function placeIn(set: Dataset, place: readonly number[]): Vec3 {
  const inside = place.map((one, a) => (set.axes[a].periodic ? wrapped(set.axes[a], one) : one));
  return toServicePrecision(set, toLinkPrecision(set, inside as unknown as Vec3));
}

/** A centre of the view at a position: along periodic axes the position itself, along others the middle of the box. */
export function centreAt(set: Dataset, place: Vec3): Vec3 {
  const middle = middleOf(set);
  return set.axes.map(({ periodic }, a) => (periodic ? place[a] : middle[a])) as unknown as Vec3;
}
