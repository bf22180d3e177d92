/** Parts of frames in which a condition cannot hold, by the extrema of levels. */
import type { LevelExtrema, LevelQuantity, LevelSet, ReductionQuery } from "../../engine/contract/query.js";
import type { Context } from "./context.js";

import type { MemberValues } from "./read-member.js";
import { nodeDerivatives } from "./what.js";

type Skip = NonNullable<ReductionQuery["skip"]>;

/** The finest level with extrema, and the nodes of its cubes along each axis. */
const LEVEL = 3;
const EDGE = 2 ** LEVEL;
/** Bytes of extrema that a question reads at most. */
const MOST_BYTES = 2 ** 28;
const BOUND = /^\s*(.+?)\s*(>=?|<=?)\s*\(*\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*\)*\s*$/is;

/** A quantity with extrema, and the number that it is compared with. */
interface Bound {
  readonly quantity: LevelQuantity;
  /** The component; null: the norm of all. */
  readonly component: number | null;
  readonly isAbove: boolean;
  readonly number: number;
}

/** The comparison that a condition is; null for any other condition. */
function boundOf(where: string, { quantities }: LevelSet, isFd4: boolean): Bound | null {
  const [, left = "", sign = "", right = ""] = BOUND.exec(where) ?? [];
  const text = left.replaceAll(/\s/g, "");
  const number = Number(right);
  const named = (name: string) => {
    const full = name.replace(/^u(?=$|\.)/, "velocity").replace(/^p$/, "pressure");
    return quantities.find((one) => one.text === full);
  };
  if (text === "" || !Number.isFinite(number)) return null;
  const common = { isAbove: sign.startsWith(">"), number };
  const [, inside, of = text, letter] = /^norm\((\w+)\)$|^(\w+?)(?:\.([xyz]))?$/.exec(text) ?? [];
  const own = quantities.find((one) => one.text === text && one.array !== one.text);
  // Levels of expressions are made by Fd4.
  if (own !== undefined && own.components === 1) return isFd4 ? { quantity: own, component: 0, ...common } : null;
  const field = named(inside ?? of);
  if (field === undefined) return null;
  if (inside !== undefined) return common.isAbove ? { quantity: field, component: null, ...common } : null;
  if ((field.components === 3) !== (letter !== undefined)) return null;
  return { quantity: field, component: letter === undefined ? 0 : "xyz".indexOf(letter), ...common };
}

/** Whether no value of a frame is missing: a histogram weighs what all nodes weigh. */
async function isWhole({ service }: Context, set: LevelSet, quantity: LevelQuantity, frame: number): Promise<boolean> {
  const { weights, known } = await service.engine.levelWeights(set, quantity, frame);
  return known.every((weight) => Math.abs(weight - weights.all) < weights.least / 2);
}

/**
 * What a reduction may skip of a condition.
 *
 * @param fill what nodes have there: NaN, or 0 if a node where the condition fails differs from one without a value
 * @returns nothing if levels do not bound it
 */
export async function skipOf(
  context: Context,
  asked: MemberValues,
  where: string | undefined,
  frames: readonly number[],
  fill: number,
): Promise<{ readonly skip?: Skip }> {
  const { service, dataset } = context;
  const set = where === undefined || service.config.nats.servers !== null ? null : service.engine.levels(dataset);
  if (set === null || asked.filter !== undefined || set.datasets.length < LEVEL) return {};
  const bound = boundOf(where as string, set, nodeDerivatives(asked) === "None_Fd4");
  if (bound === null) return {};
  const { quantity, component, isAbove, number } = bound;
  const cubes = dataset.axes.map(({ nodes }) => Math.ceil(nodes / EDGE)) as [number, number, number];
  const n = quantity.components;
  if (8 * n * frames.length * cubes[0] * cubes[1] * cubes[2] > MOST_BYTES) return {};
  const known = new Map<number, LevelExtrema["values"]>();
  for (const frame of frames) {
    if (fill === 0 && !(await isWhole(context, set, quantity, frame))) continue;
    known.set(frame, (await service.engine.levelExtrema(set, quantity, LEVEL, frame)).values);
  }
  // Levels of expressions are rounded to float32.
  const most = number - 2 ** -22 * Math.abs(number);
  const least = number + 2 ** -22 * Math.abs(number);
  const mayHold = (values: Float32Array, at: number): boolean => {
    if (component !== null)
      return isAbove ? (values[at + n + component] as number) >= most : (values[at + component] as number) <= least;
    let square = 0;
    for (let c = 0; c < n; c++)
      square += Math.max((values[at + c] as number) ** 2, (values[at + n + c] as number) ** 2);
    return Math.sqrt(square) >= most;
  };
  const isEmpty: Skip["isEmpty"] = ({ frame, first, count, stride }) => {
    const values = known.get(frame);
    if (values === undefined) return false;
    const [xs, ys, zs] = cubes.map((all, a) => {
      const [from, to] = [
        first[a] as number,
        (first[a] as number) + ((count[a] as number) - 1) * (stride[a] as number),
      ];
      const list = new Set<number>();
      const { nodes } = dataset.axes[a as 0 | 1 | 2];
      for (let node = from; node <= to; node++) list.add(Math.floor((node % nodes) / EDGE) % all);
      return [...list];
    }) as [number[], number[], number[]];
    for (const z of zs)
      for (const y of ys)
        for (const x of xs) if (mayHold(values, 2 * n * ((z * cubes[1] + y) * cubes[0] + x))) return false;
    return true;
  };
  return { skip: { fill, isEmpty } };
}
