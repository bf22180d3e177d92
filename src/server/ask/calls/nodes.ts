/** Answers `nodes`: stored nodes of a region, fields as they lie or any quantity at nodes. */
import {
  type Axis,
  axesOfField,
  componentsOf,
  type Dataset,
  fieldNames,
  isStaggered,
} from "../../../engine/contract/dataset.js";
import type { Query } from "../../../engine/contract/query.js";
import { RequestError } from "../../../shared/errors.js";
import type { Values } from "../../../storage/tools/long-numbers.js";
import { timesOf } from "../../http/describe.js";
import { meanText, nodesOf } from "../analysis/analyses.js";
import { courantOf, meansFor as meansOf } from "../analysis/means.js";
import { meansFor } from "../analysis/means-for.js";
import type { GridAnswer, GridDimension } from "../answer.js";
import {
  answered,
  type Context,
  checkFits,
  filterText,
  Plan,
  placesText,
  timeText,
  type Understood,
  type Work,
  whatText,
} from "../context.js";
import { wrong } from "../faults.js";
import { compute } from "../parts.js";
import type { AskedQuantity, MemberValues } from "../question/read-member.js";
import { coordinateOf, type NodeRun } from "../question/region.js";
import { checkFilterUsed, compileWhat, namesOf, nodeDerivatives, type Quantity, usualWhat } from "../question/what.js";
import { storedIn } from "../question/when.js";
import { isPlace, partsOf, runsIn } from "../question/where.js";
import { derivedFor, schemeOf } from "../transforms.js";

/** Nodes above which an answer is computed as it is sent. */
const STREAMED = 1 << 18;

/** Whether numbers are sent in the order of nodes: rows hold all quantities, other forms one after the other. */
function canStream({ format = "json" }: MemberValues, { length }: readonly Quantity[]): boolean {
  return format === "csv" || (length === 1 && ["json", "npy", "npz", "f32", "zarr"].includes(format));
}

/** The plain field that a quantity is, or the component with nodes of its own; null for an expression. */
function fieldOf({ text }: AskedQuantity, { fields }: Dataset): string | null {
  const [, whole = "", component = ""] = /^(\w+)(\.[xyz])?$/.exec(text) ?? [];
  const name = { u: "velocity", p: "pressure" }[whole] ?? whole;
  if (!Object.hasOwn(fields, name)) return null;
  return component === "" || fields[name]?.own !== undefined ? `${name}${component}` : null;
}

function cutoutOf(runs: readonly NodeRun[], T: number, dataset: Dataset): Query {
  const along = ["x", "y", "z"].flatMap((letter, a) => {
    const { first, count, step } = runs[a] as NodeRun;
    return [
      [`${letter}_start`, first + 1],
      [`${letter}_end`, first + 1 + (count - 1) * step],
      [`${letter}_step`, step],
    ] as const;
  });
  return {
    operation: "GetAnyCutoutWeb",
    dataset: dataset.name,
    T,
    filter_width: 1,
    ...Object.fromEntries(along),
  } as Query;
}

export async function nodes(
  context: Context,
  asked: MemberValues,
): Promise<{ answer: GridAnswer; understood: Understood }> {
  const { life, dataset } = context;
  const derivatives = nodeDerivatives(asked);
  const what = asked.what ?? usualWhat(dataset);
  const quantities = compileWhat(what, namesOf(asked, dataset));
  checkFilterUsed(asked, quantities);
  const { frames, isList } = storedIn(asked, dataset);
  const fields = what.map((one) => fieldOf(one, dataset));
  const ofFields = fields.every((name) => name !== null);
  const isOwn = (name: string | null) => name?.includes(".") || (name !== null && isStaggered(dataset, name));
  const staggered = fields.find(isOwn) ?? null;
  const axes = axesFor(staggered, fields, dataset);
  const runs = runsIn(asked, dataset, axes);
  const answer = {
    ...shapeOf(asked, context, axes, runs, frames, isList),
    ...cutoutFile(
      context,
      ofFields && staggered?.includes(".") !== true ? (fields as readonly string[]) : null,
      runs,
      frames,
    ),
  };
  const understood = {
    ...{ ...whatText(what), ...placesText(asked) },
    ...timeText(asked, timesAt(frames, dataset), isList, frames),
    ...{ derivatives: asked.derivatives ?? "Fd4", ...filterText(asked), level: 0, units: asked.units ?? "check" },
    ...meanText(asked),
  };
  const { part } = context;
  const count = runs.reduce((product, one) => product * one.count, 1);
  const isFile = asked.format === "xmf" || asked.format === "h5";
  if (isFile && answer.cutout !== undefined) {
    // A file that another thread writes needs no cut, and no limit in a job.
    if (part === null && life.task === null) {
      const numbers = fields.length * frames.length * count;
      life.checkPoints(numbers);
      await life.admit(numbers);
      await life.enter(numbers);
    }
    return { answer, understood };
  }
  if (asked.format === "xmf")
    throw wrong("format", "xmf describes stored fields: ask fields only, every node of them, frames in a row");
  const components = quantities.flatMap(({ components: own }) => own);
  const reads = quantities.flatMap(({ expressions }) => expressions.flatMap((one) => one.reads));
  const isPlain = !reads.some((key) => key.startsWith("mean:") || key.startsWith("rate:"));
  if (part instanceof Plan && !isPlain) return { answer, understood };
  const scheme = schemeOf(derivatives);
  const filter = asked.filter?.kind === "box" ? null : (asked.filter ?? null);
  const isStream =
    isPlain &&
    canStream(asked, quantities) &&
    count * frames.length > STREAMED &&
    derivedFor(new Set(reads), dataset, namesOf(asked, dataset), filter, scheme) === null;
  if (part === null) {
    checkFits(context, count, frames.length, "nodes");
    await life.reserve(isStream ? STREAMED : count * frames.length, components.length / 3);
  }
  const known = isPlain
    ? null
    : await meansIn(
        context,
        what.map(({ text }) => text),
        asked,
        frames,
      );
  const names = known === null ? namesOf(asked, dataset) : { ...namesOf(asked, dataset), ...known.members };
  const derived = derivedFor(new Set(reads), dataset, names, filter, scheme);
  const field = fieldNames(dataset).find((name) => !isStaggered(dataset, name)) ?? (fieldNames(dataset)[0] as string);
  const fillBox = async (frame: number, box: readonly NodeRun[], into: readonly Float32Array[]): Promise<void> => {
    const query = cutoutOf(box, frame + 1, dataset);
    const quantity = {
      ...{ expression: components[0] as string, columns: components, order: scheme === "spectral" ? 4 : scheme, names },
      ...{ ahead: box.map(({ from, first }) => from - first) as [number, number, number], derived },
    } as const;
    const evaluation = life.start(staggered === null ? { ...query, field, quantity } : { ...query, field: staggered });
    await life.enter();
    const result = await evaluation.finish();
    let at = 0;
    for await (const records of result.stream ?? result.values) {
      const rows = records.length / components.length;
      const start = at;
      await life.slices.each(rows, (from, to) => deal(records, from, to, start, quantities, into));
      at += rows;
    }
    result.release();
    life.forget(evaluation);
  };
  const work: Work = {
    ...{ count, rounds: frames.length, widths: quantities.map(({ columns }) => columns.length) },
    together: (runs[0] as NodeRun).count,
    fill: async (round, from, to, into) => {
      for (const { box, first, end } of boxesIn(runs, axes, from, to)) {
        const some = into.map((all, q) => {
          const width = quantities[q]?.columns.length as number;
          return all.subarray(width * (first - from), width * (end - from));
        });
        await fillBox(frames[round] as number, box, some);
      }
    },
  };
  const numbers = await compute(context, work, isStream);
  return {
    answer: {
      ...answer,
      ...(known === null ? {} : { more: known.about }),
      quantities: quantities.map((one, q) => answered(one, numbers[q] as Values)),
    },
    understood,
  };
}

/** Numbers from `from` to before `to` of the nodes of a region, x fastest, as boxes; both begin a row. */
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

/** The means and the slopes in time of quantities at nodes. */
async function meansIn(
  { life, service, dataset }: Context,
  texts: readonly string[],
  asked: MemberValues,
  frames: readonly number[],
) {
  const means = meansFor(life, service, dataset);
  const over = asked.over ?? (["x", "y", "z"] as const);
  const { places, members, about } = await meansOf(texts, nodesOf(asked, dataset, frames), asked, dataset, means, over);
  return { members, about: { ...about, ...(await courantOf(texts, places, dataset, means)) } };
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
    const [n, out] = [columns.length, numbers[q] as Float32Array];
    for (let i = from; i < to; i++)
      for (let c = 0; c < n; c++) out[n * (start + i) + c] = part[width * i + first + c] as number;
    first += n;
  }
}

function timesAt(frames: readonly number[], dataset: Dataset): readonly number[] {
  const stored = timesOf(dataset.time);
  return frames.map((frame) => stored[frame] as number);
}

/** The axes of the nodes: of the dataset, or of a field that lies elsewhere. @throws RequestError if they differ */
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
  asked: MemberValues,
  { dataset }: Context,
  axes: readonly Axis[],
  runs: readonly NodeRun[],
  frames: readonly number[],
  isList: boolean,
): GridAnswer {
  const parts = partsOf(asked);
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

/** What writes stored fields in the layout of JHTDB cutouts; nothing for other quantities, strides or single frames out of order. */
function cutoutFile(
  { dataset, thread }: Context,
  fields: readonly string[] | null,
  runs: readonly NodeRun[],
  frames: readonly number[],
): Pick<GridAnswer, "cutout"> {
  const isRow = frames.every((frame, i) => frame === (frames[0] as number) + i);
  if (fields === null || !isRow || runs.some(({ step }) => step !== 1)) return {};
  const triple = (list: readonly number[]) => list as readonly [number, number, number];
  const selection = {
    fields,
    frames: { first: (frames[0] as number) + dataset.time.guardBefore, count: frames.length },
    box: { first: triple(runs.map(({ first }) => first)), count: triple(runs.map(({ count }) => count)) },
    ahead: triple(runs.map(({ first, from }) => from - first)),
  };
  const problem = thread.problem(dataset, selection);
  if (problem !== null) return {};
  return { cutout: (path) => thread.write(dataset, selection, path) };
}
