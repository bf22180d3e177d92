/** Answers `nodes`: stored nodes of a region, fields as they lie or any quantity at nodes. */
import {
  type Axis,
  axesOfField,
  componentsOf,
  type Dataset,
  fieldNames,
  isStaggered,
} from "../../engine/contract/dataset.js";
import type { Query } from "../../engine/contract/query.js";
import { RequestError } from "../../shared/errors.js";
import { derivedFor, schemeOf } from "../rest/analysis/analysis-request.js";
import { meansFor } from "../rest/analysis/means-for.js";
import { timesOf } from "../rest/describe.js";
import { coordinateOf, type NodeRun } from "../rest/region.js";
import { meanText, nodesOf } from "./analyses.js";
import type { GridAnswer, GridDimension } from "./answer.js";
import {
  answered,
  type Context,
  checkFits,
  filterText,
  placesText,
  timeText,
  type Understood,
  whatText,
} from "./context.js";
import { wrong } from "./faults.js";
import { courantOf, meansFor as meansOf } from "./means.js";
import type { AskedQuantity, MemberValues } from "./read-member.js";
import { checkFilterUsed, compileWhat, namesOf, nodeDerivatives, type Quantity, usualWhat } from "./what.js";
import { storedIn } from "./when.js";
import { isPlace, partsOf, runsIn } from "./where.js";

/** The plain field that a quantity is, or the component with nodes of its own; null for an expression. */
function fieldOf({ text }: AskedQuantity, { fields }: Dataset): string | null {
  const [, whole = "", component = ""] = /^(\w+)(\.[xyz])?$/.exec(text) ?? [];
  const name = { u: "velocity", p: "pressure" }[whole] ?? whole;
  if (!Object.hasOwn(fields, name)) return null;
  return component === "" || fields[name]?.own !== undefined ? `${name}${component}` : null;
}

/** The cutout of a frame. */
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

/** Answers a question. */
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
      asked,
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
  const isFile = asked.format === "xmf" || asked.format === "h5";
  if (isFile && answer.cutout !== undefined) {
    const count = fields.length * frames.length * runs.reduce((product, one) => product * one.count, 1);
    life.checkPoints(count);
    await life.admit(count);
    await life.enter(count);
    return { answer, understood };
  }
  if (asked.format === "xmf")
    throw wrong("format", "xmf describes stored fields: ask fields only, every node of them, frames in a row");
  const count = runs.reduce((product, one) => product * one.count, 1);
  const numbers = quantities.map(({ columns }) => new Float32Array(columns.length * count * frames.length));
  const components = quantities.flatMap(({ components: own }) => own);
  checkFits(context, count, frames.length, "nodes");
  await life.reserve(count * frames.length, components.length / 3);
  const reads = quantities.flatMap(({ expressions }) => expressions.flatMap((one) => one.reads));
  const isPlain = !reads.some((key) => key.startsWith("mean:") || key.startsWith("rate:"));
  const known = isPlain
    ? null
    : await meansIn(
        context,
        what.map(({ text }) => text),
        asked,
        frames,
      );
  const names = known === null ? namesOf(asked, dataset) : { ...namesOf(asked, dataset), ...known.members };
  const scheme = schemeOf(derivatives);
  const keys = new Set(quantities.flatMap(({ expressions }) => expressions.flatMap((one) => one.reads)));
  const filter = asked.filter?.kind === "box" ? null : (asked.filter ?? null);
  const derived = derivedFor(keys, dataset, names, filter, scheme);
  const field = fieldNames(dataset).find((name) => !isStaggered(dataset, name)) ?? (fieldNames(dataset)[0] as string);
  for (const [round, frame] of frames.entries()) {
    const query = cutoutOf(runs, frame + 1, dataset);
    const quantity = {
      ...{ expression: components[0] as string, columns: components, order: scheme === "spectral" ? 4 : scheme, names },
      ...{ ahead: runs.map(({ from, first }) => from - first) as [number, number, number], derived },
    } as const;
    const evaluation = life.start(staggered === null ? { ...query, field, quantity } : { ...query, field: staggered });
    await life.enter();
    const result = await evaluation.finish();
    let at = 0;
    for await (const part of result.stream ?? result.values) {
      const rows = part.length / components.length;
      const start = at;
      await life.slices.each(rows, (from, to) => deal(part, from, to, start, quantities, numbers, round * count));
      at += rows;
    }
    result.release();
    life.forget(evaluation);
  }
  return {
    answer: {
      ...answer,
      ...(known === null ? {} : { more: known.about }),
      quantities: quantities.map((one, q) => answered(one, numbers[q] as Float32Array)),
    },
    understood,
  };
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

/** Deals records to the quantities. */
function deal(
  part: Float32Array,
  from: number,
  to: number,
  start: number,
  quantities: readonly Quantity[],
  numbers: readonly Float32Array[],
  base: number,
): void {
  const width = quantities.reduce((sum, { columns }) => sum + columns.length, 0);
  let first = 0;
  for (const [q, { columns }] of quantities.entries()) {
    const [n, out] = [columns.length, numbers[q] as Float32Array];
    for (let i = from; i < to; i++)
      for (let c = 0; c < n; c++) out[n * (base + start + i) + c] = part[width * i + first + c] as number;
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

/** Dimensions of the nodes. */
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
  _asked: MemberValues,
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
