/** Answers `grid`: samples of quantities in a volume, on a plane or along a line. */
import type { Values } from "../../../storage/tools/long-numbers.js";
import { type CallAnswer, type GridAnswer, type GridDimension, levelNumber } from "../answer.js";
import { answered, type Context, checkFits, DryRun } from "../context.js";
import { fillLevel, type GridLevel, levelOf, thicknessOf } from "../levels/grid-levels.js";
import { compute } from "../parts.js";
import type { PointOptions } from "../points/point-columns.js";
import { RANDOM_POINT_RECORDS } from "../points/random-points.js";
import type { MemberValues } from "../question/member-values.js";
import { fillPoints, pointsOf, type SampleAxis } from "../question/sample-grid.js";
import { pointOptions } from "../question/schemes.js";
import type { Quantity } from "../question/what.js";
import { compileWhat, defaultWhat, namesOf, whatText } from "../question/what.js";
import { timesIn } from "../question/when.js";
import { type Samples, samplesIn } from "../question/where.js";
import { timeText } from "../restate.js";
import { fillValues, unitOf } from "./values.js";

/** Dimensions of samples, and the positions along the axes that are none. */
export function gridOf({ grid, axes }: Samples, { dataset }: Context): Pick<GridAnswer, "dims" | "scalars"> {
  const unit = unitOf(dataset, "length");
  const along = ({ axis, count, origin, spacing }: SampleAxis): GridDimension => ({
    ...{ name: axis, unit },
    coordinates: Float64Array.from({ length: count }, (_, i) => origin + i * spacing),
  });
  return {
    dims: axes.map(along),
    scalars: grid
      .filter((one) => !axes.includes(one))
      .map(along)
      .reverse(),
  };
}

/** Points written between two checks of the clock. */
const TOGETHER = 8192;

/** The points of samples, three float32 each, x fastest; or those from one number to before another. */
export async function samplePoints(
  { grid }: Samples,
  { life }: Context,
  from = 0,
  to = pointsOf(grid),
): Promise<Float32Array> {
  const points = life.floats(3 * (to - from));
  const fill = (first: number, end: number): void =>
    fillPoints(grid, from + first, from + end, points.subarray(3 * first, 3 * end));
  await life.slices.each(to - from, fill, TOGETHER);
  return points;
}

export async function grid(context: Context, question: MemberValues): Promise<CallAnswer<GridAnswer>> {
  const { life, dataset } = context;
  const what = question.what ?? defaultWhat(dataset);
  const quantities = compileWhat(what, namesOf(question, dataset));
  const samples = samplesIn(question, dataset);
  const level = levelOf(context, question, what, dataset, samples, quantities);
  const { times, isList } = timesIn(question, dataset);
  const count = pointsOf(samples.grid);
  const isWhole = context.part === null || level !== null;
  if (context.part instanceof DryRun && level !== null)
    return { answer: { ...gridOf(samples, context), kind: "grid", quantities: [] }, restatements: {} };
  if (isWhole) {
    checkFits(context, count, times.length, "samples");
    await life.reserveGeneratedPoints(count, times.length * RANDOM_POINT_RECORDS);
  }
  const points = isWhole ? await samplePoints(samples, context) : null;
  const work = {
    ...{ count, times: times.length, widths: quantities.map(({ columns }) => columns.length) },
    fill: async (time: number, from: number, to: number, into: readonly Float32Array[]) => {
      const options = { ...pointOptions(question), time: times[time] };
      const some = points ?? (await samplePoints(samples, context, from, to));
      if (level === null) await fillValues(context, quantities, some, options, into);
      else await fillByLevel(context, level, samples, quantities, some, options, question, into);
    },
  };
  const numbers = await compute(context, work);
  const { dims, scalars } = gridOf(samples, context);
  const t: GridDimension = { name: "t", coordinates: Float64Array.from(times), unit: unitOf(dataset, "time") };
  return {
    answer: {
      ...{ kind: "grid", dims: isList ? [t, ...dims] : dims, scalars: isList ? scalars : [...scalars, t] },
      quantities: quantities.map((one, q) => answered(one, numbers[q] as Values)),
      ...((question.level || levelNumber(dataset)) && { more: thicknessOf(level?.level ?? 0, samples, dataset) }),
    },
    restatements: {
      ...{ what: what.map(whatText), samples: [...samples.counts], ...timeText(question, times, isList) },
      level: level?.level ?? question.level ?? 0,
    },
  };
}

/** Fills samples from a level, and those in the end cubes of open axes from the stored nodes. */
async function fillByLevel(
  context: Context,
  level: GridLevel,
  samples: Samples,
  quantities: readonly Quantity[],
  points: Float32Array,
  options: PointOptions,
  question: MemberValues,
  into: readonly Float32Array[],
): Promise<void> {
  const left = await fillLevel(context, level, context.dataset, samples, options.time as number, question, into);
  if (left.length === 0) return;
  const some = context.life.floats(3 * left.length);
  for (const [i, at] of left.entries()) some.set(points.subarray(3 * at, 3 * at + 3), 3 * i);
  const values = quantities.map(({ columns }) => context.life.floats(columns.length * left.length));
  await fillValues(context, quantities, some, options, values);
  for (const [q, { columns }] of quantities.entries())
    for (const [i, at] of left.entries())
      for (let c = 0, n = columns.length; c < n; c++) into[q][n * at + c] = values[q]?.[n * i + c] as number;
}
