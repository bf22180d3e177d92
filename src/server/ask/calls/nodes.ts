/** Answers `nodes`: nodes of a region, with stored fields or any quantity. */
import type { FieldFilter } from "../../../analysis/derived.js";
import type { Names } from "../../../analysis/names.js";
import type { Axis, Dataset } from "../../../engine/contract/dataset.js";
import { axesOfField, componentsOf, fieldNames, isStaggered } from "../../../engine/contract/dataset.js";
import { placeBox } from "../../../engine/contract/node-region.js";
import { nodeQuantity, type Query, type RegionBox } from "../../../engine/contract/query.js";
import { RequestError } from "../../../shared/errors.js";
import type { Values } from "../../../storage/tools/long-numbers.js";
import { fitsCutout } from "../../../storage/tools/selection.js";
import { timesOf } from "../../http/describe.js";
import { LETTERS } from "../analysis/analysed-nodes.js";
import { analysisOf } from "../analysis/analysis.js";
import { withMeans } from "../analysis/means.js";
import type { CallAnswer, GridAnswer, GridDimension } from "../answer.js";
import { answered, type Context, checkFits, DryRun, type Work } from "../context.js";
import { wrong } from "../faults.js";
import { nodesAround, PART_PLANES } from "../levels/isovalue.js";
import { compute } from "../parts.js";
import type { MemberValues, RequestedQuantity } from "../question/member-values.js";
import { nodeDerivatives } from "../question/schemes.js";
import type { Quantity } from "../question/what.js";
import { compileWhat, defaultWhat, namesOf, whatText } from "../question/what.js";
import { storedIn } from "../question/when.js";
import { coordinateOf, firstNode, isPlace, type NodeRun, partsOf, runsIn } from "../question/where.js";
import { timeText } from "../restate.js";
import { runQuery } from "../run-query.js";
import { derivedFor, schemeOf } from "../transforms.js";

/** Number of nodes above which an answer is computed while it is sent. */
const STREAMED = 1 << 18;

/** The stored field or component that a quantity names; null for an expression. */
function fieldOf({ text }: RequestedQuantity, { fields }: Dataset): string | null {
  const [, whole = "", component = ""] = /^(\w+)(\.[xyz])?$/.exec(text) ?? [];
  const name = { u: "velocity", p: "pressure" }[whole] ?? whole;
  if (!Object.hasOwn(fields, name)) return null;
  return component === "" || fields[name]?.own !== undefined ? `${name}${component}` : null;
}

export async function nodes(context: Context, question: MemberValues): Promise<CallAnswer<GridAnswer>> {
  const { life, dataset, part } = context;
  const scheme = schemeOf(nodeDerivatives(question));
  const what = question.what ?? defaultWhat(dataset);
  const plainNames = namesOf(question, dataset);
  const quantities = compileWhat(what, plainNames);
  const { frames, isList } = storedIn(question, dataset);
  const fields = what.map((one) => fieldOf(one, dataset));
  const isApart = (name: string | null) => name !== null && (name.includes(".") || isStaggered(dataset, name));
  const staggered = fields.find(isApart) ?? null;
  const axes = axesFor(staggered, fields, dataset);
  const runs = runsIn(question, dataset, axes);
  const count = runs.reduce((product, one) => product * one.count, 1);
  const shape = shapeOf(question, context, axes, runs, frames, isList);
  const found = { what: what.map(whatText), ...timeText(question, timesAt(frames, dataset), isList, frames) };
  const around = await nodesAround(context, question, quantities, runs, frames);
  if (question.format === "xmf" || (question.format === "h5" && question.isovalue === undefined)) {
    const cutout = cutoutFile(context, what, staggered?.includes(".") ? [null] : fields, runs, frames);
    if (cutout !== null) {
      // A file that another thread writes is not divided, and has no limit in a job.
      if (part === null && life.task === null) {
        const numbers = fields.length * frames.length * count;
        life.checkPoints(numbers);
        await life.countPoints(numbers);
        await life.acquireSlot(numbers);
      }
      return { answer: { ...shape, cutout }, restatements: found };
    }
    if (question.format === "xmf")
      throw wrong("format", "xmf describes stored fields: ask fields only, each once, every node of them");
  }
  const reads = new Set(quantities.flatMap(({ expressions }) => expressions.flatMap((one) => one.reads)));
  const hasMeans = [...reads].some((key) => key.startsWith("mean:") || key.startsWith("rate:"));
  if (part instanceof DryRun && hasMeans) return { answer: shape, restatements: found };
  const derivedBy = (names: Names) =>
    derivedFor(reads, dataset, names, (question.filter ?? null) as FieldFilter | null, scheme);
  const isLong = count * frames.length > STREAMED;
  const { format = "json" } = question;
  // Rows hold all quantities, other forms one after another.
  const isInOrder = quantities.length === 1 && ["json", "npy", "npz", "f32", "zarr"].includes(format);
  const isStream = isLong && !hasMeans && (format === "csv" || isInOrder) && derivedBy(plainNames) === null;
  const components = quantities.flatMap((one) => one.components);
  if (part === null) {
    checkFits(context, count, frames.length, "nodes");
    await life.reserveGeneratedPoints(isStream ? STREAMED : count * frames.length, components.length / 3);
  }
  const texts = what.map(({ text }) => text);
  const { names, ...more } = hasMeans ? await meansIn(context, question, texts) : { names: plainNames };
  const [firstField] = fieldNames(dataset);
  const source: Pick<Query, "field" | "quantity" | "others"> =
    staggered === null
      ? {
          field: fieldNames(dataset).find((name) => !isStaggered(dataset, name)) ?? (firstField as string),
          quantity: {
            ...nodeQuantity(components, names, scheme === "spectral" ? 4 : scheme),
            derived: derivedBy(names),
          },
          ...(question.others && { others: question.others }),
        }
      : { field: staggered };
  const work: Work = {
    ...{ count, times: frames.length, widths: quantities.map(({ columns }) => columns.length) },
    granularity: runs[0].count * (around === null ? 1 : runs[1].count * Math.min(PART_PLANES, runs[2].count)),
    fill: async (round, from, to, into) => {
      for (const { box, first, end } of boxesIn(runs, axes, from, to)) {
        const some = into.map((all, q) => {
          const width = quantities[q]?.columns.length as number;
          return all.subarray(width * (first - from), width * (end - from));
        });
        const frame = frames[round];
        const fillRuns = (runs: readonly NodeRun[], into: readonly Float32Array[]) =>
          fillBox(context, source, frame, runs, quantities, into);
        if (around === null) await fillRuns(box, some);
        else await fillParts(around(frame, box), box, axes, some[0], fillRuns);
      }
    },
  };
  const numbers = await compute(context, work, isStream);
  const answers = quantities.map((one, q) => answered(one, numbers[q] as Values));
  return { answer: { ...shape, ...more, quantities: answers }, restatements: found };
}

/** Names with the means and slopes in time of quantities at nodes, and what the answer says about them. */
async function meansIn(context: Context, question: MemberValues, texts: readonly string[]) {
  const plain = analysisOf({ ...context, part: null }, question);
  const { analysis, about } = await withMeans(plain, texts, question.over ?? LETTERS);
  return { names: analysis.nodes.base.names, more: about };
}

/** Fills parts of a box of one number a node; other nodes are NaN. */
async function fillParts(
  parts: readonly RegionBox[],
  box: readonly NodeRun[],
  axes: readonly Axis[],
  into: Float32Array,
  fill: (runs: readonly NodeRun[], into: readonly Float32Array[]) => Promise<void>,
): Promise<void> {
  into.fill(Number.NaN);
  const around = { from: [0, 0, 0], count: box.map(({ count }) => count) } as unknown as RegionBox;
  for (const part of parts) {
    const runs = box.map((run, a) => {
      const from = part.from[a];
      const first = firstNode(axes[a] as Axis, run.first + from);
      return { ...run, first, from: run.from + from, count: part.count[a] };
    });
    const values = new Float32Array(part.count[0] * part.count[1] * part.count[2]);
    await fill(runs, [values]);
    placeBox([values], part, around, 1, into);
  }
}

async function fillBox(
  { life, dataset }: Context,
  { field, quantity, ...others }: Pick<Query, "field" | "quantity" | "others">,
  frame: number,
  box: readonly NodeRun[],
  quantities: readonly Quantity[],
  into: readonly Float32Array[],
): Promise<void> {
  const ahead = box.map(({ from, first }) => from - first) as [number, number, number];
  const along = box.flatMap(({ first, count, step }, a) => [
    [`${LETTERS[a]}_start`, first + 1],
    [`${LETTERS[a]}_end`, first + 1 + (count - 1) * step],
    [`${LETTERS[a]}_step`, step],
  ]);
  const result = await runQuery(life, {
    ...({ operation: "GetAnyCutoutWeb", dataset: dataset.name, T: frame + 1, filter_width: 1 } as const),
    ...{ ...Object.fromEntries(along), field: field as string, ...others },
    ...(quantity === undefined ? {} : { quantity: { ...quantity, ahead } }),
  });
  const width = quantities.reduce((sum, { columns }) => sum + columns.length, 0);
  let start = 0;
  for await (const records of result.stream ?? result.values) {
    const count = records.length / width;
    await life.slices.each(count, (from, to) => deal(records, from, to, start, quantities, into));
    start += count;
  }
  result.release();
}

/** Numbers `from` to `to - 1` of the nodes of a region, x fastest, as boxes; both begin a row. */
function* boxesIn(
  runs: readonly NodeRun[],
  axes: readonly Axis[],
  from: number,
  to: number,
): Generator<{ readonly box: readonly NodeRun[]; readonly first: number; readonly end: number }, undefined> {
  const [x, y, z] = runs as readonly [NodeRun, NodeRun, NodeRun];
  const plane = x.count * y.count;
  const part = (a: 1 | 2, start: number, count: number): NodeRun => {
    const run = a === 1 ? y : z;
    const [first, nodes] = [run.first + start * run.step, (axes[a] as Axis).nodes];
    return { ...run, first: first % nodes, from: run.from + start * run.step, count };
  };
  for (let first = from; first < to; ) {
    const [k, row] = [Math.floor(first / plane), (first % plane) / x.count];
    const planes = row === 0 ? Math.floor((to - first) / plane) : 0;
    const rows = Math.min(y.count - row, (to - first) / x.count);
    const box = planes > 0 ? [x, y, part(2, k, planes)] : [x, part(1, row, rows), part(2, k, 1)];
    const end = first + (planes > 0 ? planes * plane : rows * x.count);
    yield { box, first, end };
    first = end;
  }
}

function deal(
  part: Float32Array,
  from: number,
  to: number,
  start: number,
  quantities: readonly Quantity[],
  numbers: readonly Float32Array[],
): void {
  const width = quantities.reduce((sum, { columns }) => sum + columns.length, 0);
  let first = 0;
  for (const [q, { columns }] of quantities.entries()) {
    const [n, out] = [columns.length, numbers[q]];
    for (let i = from; i < to; i++) for (let c = 0; c < n; c++) out[n * (start + i) + c] = part[width * i + first + c];
    first += n;
  }
}

function timesAt(frames: readonly number[], dataset: Dataset): readonly number[] {
  const stored = timesOf(dataset.time);
  return frames.map((frame) => stored[frame]);
}

/** The axes of the nodes: of the dataset, or of a staggered field. Throws RequestError if fields differ. */
function axesFor(staggered: string | null, fields: readonly (string | null)[], dataset: Dataset): readonly Axis[] {
  if (staggered === null) return dataset.axes;
  const own = dataset.fields[staggered]?.own;
  if (own === undefined && fields.length === 1 && componentsOf(dataset, staggered) > 0)
    return axesOfField(dataset, staggered);
  const name = staggered.replace(/^velocity/, "u");
  const text = `what: ${name} lies on nodes of its own${own === undefined ? "" : ", each component on others"}: ask ${
    own === undefined ? "it" : `${name}.x, ${name}.y or ${name}.z`
  } alone, or values between nodes by grid.`;
  throw new RequestError("Unsupported", text, { member: "what" });
}

function shapeOf(
  question: MemberValues,
  { dataset }: Context,
  axes: readonly Axis[],
  runs: readonly NodeRun[],
  frames: readonly number[],
  isList: boolean,
): GridAnswer {
  const parts = partsOf(question);
  const unit = dataset.units.length ?? null;
  const along = [2, 1, 0].map((a): GridDimension => {
    const { from, count, step } = runs[a] as NodeRun;
    const at = (_: unknown, n: number) => coordinateOf(axes[a] as Axis, from + n * step);
    return { name: "xyz"[a] as string, coordinates: Float64Array.from({ length: count }, at), unit };
  });
  const isDimension = ({ name }: GridDimension) => !isPlace(parts["xyz".indexOf(name)] as never);
  const t: GridDimension = {
    name: "t",
    coordinates: Float64Array.from(timesAt(frames, dataset)),
    unit: dataset.units.time ?? null,
  };
  const places = along.filter((one) => !isDimension(one)).reverse();
  const dims = along.filter(isDimension);
  return {
    kind: "grid",
    dims: isList ? [t, ...dims] : dims,
    scalars: isList ? places : [...places, t],
    quantities: [],
  };
}

/** Writes stored fields in the layout of JHTDB cutouts; null for other quantities and strides. */
function cutoutFile(
  { dataset, thread }: Context,
  what: readonly RequestedQuantity[],
  fields: readonly (string | null)[],
  runs: readonly NodeRun[],
  frames: readonly number[],
): NonNullable<GridAnswer["cutout"]> | null {
  const stored = fields.filter((name) => name !== null);
  if (stored.length < fields.length || runs.some(({ step }) => step !== 1)) return null;
  const triple = (of: (run: NodeRun) => number) => runs.map(of) as unknown as readonly [number, number, number];
  const selection = {
    fields: stored,
    given: what.map(({ name, isNamed }) => (isNamed ? name : null)),
    frames,
    box: { first: triple(({ first }) => first), count: triple(({ count }) => count) },
    ahead: triple(({ first, from }) => from - first),
  };
  return fitsCutout(dataset, selection) ? (path) => thread.write(dataset, selection, path) : null;
}
