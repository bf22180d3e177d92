/** Parts of frames in which a condition cannot hold, by the extrema of levels. */
import { fieldOfName } from "../../../analysis/names.js";
import type { LevelExtrema, LevelQuantity, LevelSet, ReductionQuery } from "../../../engine/contract/query.js";
import type { Context } from "../context.js";
import type { MemberValues } from "../question/member-values.js";
import { namesOf, nodeDerivatives } from "../question/what.js";
import { boundCondition, type Interval } from "./bounds.js";

type Skip = NonNullable<ReductionQuery["skip"]>;

/** The level with extrema, and the nodes of its cubes along each axis. */
const LEVEL = 3;
const EDGE = 2 ** LEVEL;
/** Most bytes of extrema that a question reads. */
const MOST_BYTES = 2 ** 28;

/** Whether a frame has no missing values: its histogram then has the weight of all nodes. */
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
  /** The quantity with extrema that a text names, and its component if it names one. */
  const quantityOf = (text: string): readonly [LevelQuantity, number | null] | null => {
    const own = set.quantities.find((one) => one.text.replaceAll(" ", "") === text && one.array !== one.text);
    // The extrema of expressions were made with Fd4.
    if (own !== undefined) return isFd4 ? [own, null] : null;
    const [, name = "", letter] = /^(\w+)(?:\.([xyz]))?$/.exec(text) ?? [];
    const field = set.quantities.find((one) => one.array === one.text && one.text === fieldOfName(name, names));
    if (field === undefined || (letter !== undefined && field.components !== 3)) return null;
    return [field, letter === undefined ? null : "xyz".indexOf(letter)];
  };
  const used = new Set<LevelQuantity>();
  const cubes = dataset.axes.map(({ nodes }) => Math.ceil(nodes / EDGE)) as [number, number, number];
  const all = cubes[0] * cubes[1] * cubes[2];
  let extrema = new Map<LevelQuantity, LevelExtrema["values"]>();
  const { mayHold, isDefined } = boundCondition(where as string, (text) => {
    const [quantity, component] = quantityOf(text) ?? [];
    if (quantity === undefined) return null;
    used.add(quantity);
    const n = quantity.components;
    const wanted = component == null ? Array.from({ length: n }, (_, c) => c) : [component];
    return (cube) => {
      const values = extrema.get(quantity) as LevelExtrema["values"];
      return wanted.map((c): Interval => [values[2 * n * cube + c] as number, values[2 * n * cube + n + c] as number]);
    };
  });
  const components = [...used].reduce((sum, one) => sum + one.components, 0);
  if (components === 0 || (fill === 0 && !isDefined) || 8 * components * all > MOST_BYTES) return {};
  /** Cubes in which the condition can hold, by frame. */
  const known = new Map<number, Uint8Array>();
  for (const frame of frames) {
    const wholes = fill === 0 ? [...used].map((one) => isWhole(context, set, one, frame)) : [];
    if ((await Promise.all(wholes)).includes(false)) continue;
    extrema = new Map();
    for (const one of used) extrema.set(one, (await service.engine.levelExtrema(set, one, frame)).values);
    const held = Uint8Array.from({ length: all }, (_, cube) => (mayHold(cube) ? 1 : 0));
    known.set(frame, held);
  }
  const isEmpty: Skip["isEmpty"] = ({ frame, first, count, stride }) => {
    const held = known.get(frame);
    if (held === undefined) return false;
    const [xs, ys, zs] = cubes.map((length, a) => {
      const from = first[a] as number;
      const list = new Set<number>();
      const { nodes } = dataset.axes[a as 0 | 1 | 2];
      for (let node = from; node <= from + ((count[a] as number) - 1) * (stride[a] as number); node++)
        list.add(Math.floor((node % nodes) / EDGE) % length);
      return [...list];
    }) as [number[], number[], number[]];
    return zs.every((z) => ys.every((y) => xs.every((x) => held[(z * cubes[1] + y) * cubes[0] + x] === 0)));
  };
  return { skip: { fill, isEmpty } };
}
