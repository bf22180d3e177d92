/** Parts of frames in which a condition cannot hold, by the extrema of levels. */
import { fieldOfName, type Names } from "../../../analysis/names.js";
import type { LevelExtrema, LevelQuantity, LevelSet, ReductionQuery } from "../../../engine/contract/query.js";
import type { Context } from "../context.js";
import type { MemberValues } from "../question/member-values.js";
import { nodeDerivatives } from "../question/schemes.js";
import { namesOf } from "../question/what.js";
import { boundCondition, type Interval } from "./bounds.js";

type Skip = NonNullable<ReductionQuery["skip"]>;

/** The level whose extrema bound a condition, and the nodes of its cubes along each axis. */
const LEVEL = 3;
const CUBE_EDGE = 2 ** LEVEL;
const MAX_BYTES = 2 ** 28;

/** Whether a frame has no missing values: its histogram then has the weight of all nodes. */
async function hasAllValues(
  { service }: Context,
  set: LevelSet,
  quantity: LevelQuantity,
  frame: number,
): Promise<boolean> {
  const { weights, known } = await service.engine.levelWeights(set, quantity, frame);
  return known.every((weight) => Math.abs(weight - weights.all) < weights.least / 2);
}

/** The quantity with extrema that a text names, and its component if it names one; null if levels have none. */
function quantityNamed(
  text: string,
  set: LevelSet,
  names: Names,
  isFd4: boolean,
): readonly [LevelQuantity, number | null] | null {
  const isExpression = ({ array, text: name }: LevelQuantity) => array !== name;
  const expression = set.quantities.find((one) => one.text.replaceAll(" ", "") === text && isExpression(one));
  // The extrema of expressions were made with Fd4.
  if (expression !== undefined) return isFd4 ? [expression, null] : null;
  const [, name = "", letter] = /^(\w+)(?:\.([xyz]))?$/.exec(text) ?? [];
  const field = set.quantities.find((one) => !isExpression(one) && one.text === fieldOfName(name, names));
  if (field === undefined || (letter !== undefined && field.components !== 3)) return null;
  return [field, letter === undefined ? null : "xyz".indexOf(letter)];
}

/**
 * The boxes that a reduction may skip, since a condition holds nowhere in them.
 * @param fill value of skipped nodes: NaN; or 0, if the caller must tell failing nodes from nodes without a value
 * @returns nothing if levels do not bound the condition
 */
export async function emptyBoxesOf(
  context: Context,
  question: MemberValues,
  where: string | undefined,
  frames: readonly number[],
  fill: number,
): Promise<{ readonly skip?: Skip }> {
  const { service, dataset } = context;
  const set = where === undefined || service.config.nats.servers !== null ? null : service.engine.levels(dataset);
  if (set === null || question.filter !== undefined || set.datasets.length < LEVEL) return {};
  const names = namesOf(question, dataset);
  const isFd4 = nodeDerivatives(question) === "None_Fd4";
  const used = new Set<LevelQuantity>();
  const cubes = dataset.axes.map(({ nodes }) => Math.ceil(nodes / CUBE_EDGE)) as [number, number, number];
  const all = cubes[0] * cubes[1] * cubes[2];
  /** Extrema of the frame that is being judged: `mayHold` reads them here. */
  let extrema = new Map<LevelQuantity, LevelExtrema["values"]>();
  const { mayHold, isDefined } = boundCondition(where as string, (text) => {
    const [quantity, component] = quantityNamed(text, set, names, isFd4) ?? [];
    if (quantity === undefined) return null;
    used.add(quantity);
    const n = quantity.components;
    const wanted = component == null ? Array.from({ length: n }, (_, c) => c) : [component];
    return (cube) => {
      const values = extrema.get(quantity) as LevelExtrema["values"];
      return wanted.map((c): Interval => [values[2 * n * cube + c], values[2 * n * cube + n + c]]);
    };
  });
  const components = [...used].reduce((sum, quantity) => sum + quantity.components, 0);
  if (components === 0 || (fill === 0 && !isDefined) || 8 * components * all > MAX_BYTES) return {};
  /** By frame, whether the condition can hold in each cube. */
  const byFrame = new Map<number, Uint8Array>();
  for (const frame of frames) {
    const checks = fill === 0 ? [...used].map((one) => hasAllValues(context, set, one, frame)) : [];
    if ((await Promise.all(checks)).includes(false)) continue;
    extrema = new Map();
    for (const one of used) extrema.set(one, (await service.engine.levelExtrema(set, one, frame)).values);
    const mayHoldIn = Uint8Array.from({ length: all }, (_, cube) => (mayHold(cube) ? 1 : 0));
    byFrame.set(frame, mayHoldIn);
  }
  const isEmpty: Skip["isEmpty"] = ({ frame, first, count, stride }) => {
    const mayHoldIn = byFrame.get(frame);
    if (mayHoldIn === undefined) return false;
    const [xs, ys, zs] = cubes.map((length, a) => {
      const { nodes } = dataset.axes[a as 0 | 1 | 2];
      const cubeOf = (i: number): number => Math.floor(((first[a] + i * stride[a]) % nodes) / CUBE_EDGE) % length;
      return [...new Set(Array.from({ length: count[a] }, (_, i) => cubeOf(i)))];
    }) as [number[], number[], number[]];
    return zs.every((z) => ys.every((y) => xs.every((x) => mayHoldIn[(z * cubes[1] + y) * cubes[0] + x] === 0)));
  };
  return { skip: { fill, isEmpty } };
}
