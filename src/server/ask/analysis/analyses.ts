/** Answers `statistics`, `spectrum`, `structure_functions`, `structures` and `dispersion`: tables. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { timesOf } from "../../http/describe.js";
import type { GridAnswer, TableAnswer } from "../answer.js";
import { type Context, filterText, placesText, timesText, timeText, type Understood } from "../context.js";
import { wrong } from "../faults.js";
import { skipOf } from "../levels/skip.js";
import { pointsOf, pointsText } from "../question/points.js";
import type { AskedQuantity, MemberValues } from "../question/read-member.js";
import {
  checkFilterUsed,
  compileWhat,
  namesOf,
  nodeDerivatives,
  pointDerivatives,
  spatialName,
  usualWhat,
  whatTexts,
} from "../question/what.js";
import { intervalIn, stepIn, storedIn } from "../question/when.js";
import { boxIn, runsIn } from "../question/where.js";
import { type AnalysedNodes, placesOf, reductionOf } from "./analysed-nodes.js";
import { eventsOver, lagsOf, meansAround } from "./around.js";
import { withBudgets } from "./budgets.js";
import { whereHolds } from "./conditions.js";
import { dispersion as disperse } from "./dispersion.js";
import { higherMoments, withoutQuantiles, withQuantiles } from "./distributions.js";
import { signsOf, symmetryOf } from "./fold.js";
import { frequenciesOver, frequencySpectrum, segmentsOf } from "./frequencies.js";
import { correlate, lineSpectrum, linesOver } from "./line-spectra.js";
import { courantOf, type KnownMeans, meansFor as meansIn } from "./means.js";
import { meansFor } from "./means-for.js";
import { withAbsolute } from "./self-similarity.js";
import { spectrum as sumModes } from "./spectrum.js";
import { type Means, statistics as reduceAll } from "./statistics.js";
import { structureFunctions } from "./structure-functions.js";
import { structures as findStructures } from "./structures.js";
import { wallUnitsOf } from "./wall-units.js";

const LETTERS = ["x", "y", "z"] as const;

/** A table and the members that it was understood by. */
export interface Tabled {
  readonly answer: TableAnswer;
  readonly understood: Understood;
}

type Asked = Readonly<Record<string, unknown>>;

/** The frames of a question, from 0, and how its answer repeats them. */
function framesFor(
  asked: MemberValues,
  dataset: Dataset,
): { readonly frames: readonly number[]; readonly text: Understood } {
  const { frames, isList } = storedIn(asked, dataset);
  const stored = timesOf(dataset.time);
  return {
    frames,
    text: timeText(
      asked,
      frames.map((frame) => stored[frame] as number),
      isList,
      frames,
    ),
  };
}

/** Members that say which nodes are analysed, in the words of the reductions. */
export function nodeMembers(asked: MemberValues, dataset: Dataset, frames: readonly number[]): Asked {
  const runs = runsIn(asked, dataset, dataset.axes);
  const region = {
    start: runs.map(({ from }) => from),
    end: runs.map(({ from, count, step }) => from + (count - 1) * step + 1),
    step: runs.map(({ step }) => step),
  };
  return { ...frameMembers(asked, frames), region, derivatives: nodeDerivatives(asked) };
}

function frameMembers({ weights = "volume", units = "check", filter }: MemberValues, frames: readonly number[]): Asked {
  return {
    frames: frames.map((frame) => frame + 1),
    weights,
    units,
    refusesEarlier: true,
    ...(filter === undefined ? {} : { filter }),
  };
}

/** The nodes and frames of a question. */
export function nodesOf(asked: MemberValues, dataset: Dataset, frames: readonly number[]): AnalysedNodes {
  return placesOf(nodeMembers(asked, dataset, frames) as never, dataset);
}

/** Members that an answer repeats of every analysis at nodes. */
function nodeText(asked: MemberValues): Understood {
  const { derivatives = "Fd4", weights = "volume", units = "check" } = asked;
  return { ...placesText(asked), derivatives, ...filterText(asked), weights, level: 0, units };
}

/** How means are taken, as an answer repeats it. */
export function meanText({ over, mean_time }: MemberValues): Understood {
  const time = mean_time === undefined ? {} : { mean_time: timesText(mean_time) };
  return { ...(over === undefined ? {} : { over }), ...time };
}

/** Numbers of frames count from 0. */
function fromZero(body: GroupAnswer): GroupAnswer {
  const frames = (body.frames as readonly { frame: number; time: number }[] | undefined)?.map(({ frame, time }) => ({
    frame: frame - 1,
    time,
  }));
  return frames === undefined ? body : { ...body, frames };
}

/** The only quantity of a question. */
function onlyWhat(asked: MemberValues, dataset: Dataset): AskedQuantity {
  const [only, ...more] = asked.what ?? usualWhat(dataset);
  if (more.length > 0) throw wrong("what", "one quantity is asked at a time");
  return only as AskedQuantity;
}

/** Replaces texts in the strings and names of an answer. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value))
    return value.length > 0 && typeof value[0] === "number" ? value : value.map((one) => renamed(one, names));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [names.get(name) ?? name, renamed(one, names)]));
}

/** Members of reductions that hold quantities. */
const QUANTITIES_OF = ["moments", "covariance", "histogram", "joint", "conditional", "on", "extremes"];

/** The quantities of a reduction. */
function quantitiesIn(row: Asked): readonly string[] {
  const named = Object.entries(row).filter(([name]) => QUANTITIES_OF.includes(name));
  return named.flatMap(([, value]) => [value].flat().filter((one) => typeof one === "string"));
}

/** The member in which a text of `statistics` stands. */
function memberOf(text: string, { reduce, where }: MemberValues): string {
  if (text === where) return "where";
  if (reduce === undefined) return "what";
  const row = reduce.findIndex((one) => quantitiesIn(one).includes(text));
  const kind = QUANTITIES_OF.find((name) => [reduce[row]?.[name]].flat().includes(text));
  return kind === undefined ? "reduce" : `reduce[${row}].${kind}`;
}

/** Answers `statistics`: with `where`, what does not hold is left out and counted. */
export async function statistics(context: Context, asked: MemberValues): Promise<Tabled> {
  const { dataset, life, service } = context;
  const { points, where, over } = asked;
  if (asked.reduce !== undefined && asked.what !== undefined)
    throw wrong("what", "reduce names its quantities; give one of both");
  const { frames, text } = framesFor(asked, dataset);
  const means = meansFor(life, service, dataset);
  const what = asked.what ?? usualWhat(dataset);
  const wanted = asked.reduce ?? what.map((one) => ({ moments: one.text }));
  const plain = withoutQuantiles(wanted);
  const higher = higherMoments(plain);
  const budgets = withBudgets(higher.rows, asked, dataset, frames);
  const reduce = budgets.rows;
  if (points !== undefined || where !== undefined)
    if (wanted.some((row) => "budget" in row || "quantiles" in row))
      throw wrong("reduce", "budgets and quantiles are of nodes, without a condition");
  const common = { over: over ?? ["x", "y", "z", "t"], ...(asked.by === undefined ? {} : { by: asked.by }) };
  const isDrawn = points !== undefined;
  const texts = [...reduce.flatMap(quantitiesIn), ...(where === undefined ? [] : [where])];
  const known = isDrawn
    ? { members: {}, about: {} }
    : await meansIn(texts, nodesOf(asked, dataset, frames), asked, dataset, means, common.over, "what", (text) =>
        memberOf(text, asked),
      );
  const symmetry = symmetryOf(asked, dataset);
  const members = isDrawn
    ? await pointMembers(context, asked, frames)
    : { ...nodeMembers(asked, dataset, frames), ...known.members };
  if (
    symmetry !== null &&
    (isDrawn || (known as KnownMeans).places.base.extent[symmetry.axis] < dataset.axes[symmetry.axis].nodes)
  )
    throw wrong("fold", "it is of nodes, and of all along its axis");
  const { names: inQuestion } = isDrawn ? { names: null } : (known as KnownMeans).places.base;
  const folding = symmetry &&
    inQuestion && {
      fold: { axis: symmetry.axis, signsOf: (one: string) => signsOf(one, inQuestion, symmetry) },
    };
  let names = new Map<string, string>(what.filter(({ isNamed }) => isNamed).map(({ text: own, name }) => [own, name]));
  let [reductions, beside] = [reduce, known.about];
  if (where !== undefined) {
    if (isDrawn) throw wrong("where", "conditions are of nodes; over points put them into what");
    const { places } = known as KnownMeans;
    ({ reductions, names } = conditional(reduce, where, places, names));
    beside = { where, ...beside, ...(await counts(where, places, means)) };
  } else if (asked.reduce === undefined) {
    checkFilterUsed(asked, compileWhat(what, namesOf(asked, dataset)));
  }
  if (!isDrawn) beside = { ...beside, ...(await courantOf(texts, (known as KnownMeans).places, dataset, means)) };
  if (asked.u_tau !== undefined && asked.units !== "plus") throw wrong("u_tau", "it is for units=plus");
  const wall =
    asked.units === "plus" && !isDrawn
      ? await wallUnitsOf(asked, nodesOf(asked, dataset, frames), dataset, means)
      : null;
  const reduced = await reduceAll({ ...members, ...common, ...folding, reduce: reductions } as never, dataset, means);
  const scale = wall === null ? 1 : wall.nu / wall.u_tau ** 4;
  const collected = async (): Promise<readonly GroupAnswer[]> => {
    const rows = higher.collect(budgets.collect(reduced.results as GroupAnswer[], scale));
    return isDrawn ? rows : withQuantiles(wanted, rows, asked, (known as KnownMeans).places, means);
  };
  const body = { ...reduced, ...wall?.about, results: await collected() };
  const drawn = isDrawn
    ? { points: pointsText(points), method: asked.method ?? "Lag8", derivatives: pointDerivatives(asked) }
    : {};
  const understood = {
    ...(asked.reduce === undefined ? { what: whatTexts(what) } : { reduce: asked.reduce }),
    ...meanText(asked),
    ...{ ...nodeText(asked), ...drawn, ...text, ...common },
    ...(asked.u_tau === undefined ? {} : { u_tau: asked.u_tau }),
    ...(asked.fold === undefined ? {} : { fold: asked.fold }),
    ...(asked.odd === undefined ? {} : { odd: asked.odd }),
    ...(where === undefined ? {} : { where }),
  };
  return {
    answer: { kind: "table", body: { ...beside, ...(renamed(fromZero(body), names) as GroupAnswer) } },
    understood,
  };
}

/** Reductions of what holds, and the texts that stand for those of their quantities. */
function conditional(
  reduce: readonly Asked[],
  condition: string,
  places: AnalysedNodes,
  named: ReadonlyMap<string, string>,
): { reductions: readonly Asked[]; names: Map<string, string> } {
  const names = new Map<string, string>();
  const one = (text: unknown): string => {
    const { shape } = compileExpression(String(text), places.base.names, "reduce");
    if (shape !== "scalar")
      throw wrong("where", `${String(text)} is a ${shape}; with a condition ask components, or norm`);
    const held = whereHolds(condition, String(text));
    names.set(held, named.get(String(text)) ?? String(text));
    return held;
  };
  const reductions = reduce.flatMap((row): readonly Asked[] => {
    const [kind] = Object.keys(row);
    if (kind === "moments") {
      const { shape } = compileExpression(String(row.moments), places.base.names, "what");
      return componentsIn(String(row.moments), shape).map((text) => ({ ...row, moments: one(text) }));
    }
    const entries = Object.entries(row).map(([name, value]) => {
      if (!QUANTITIES_OF.includes(name)) return [name, value];
      return [name, Array.isArray(value) ? value.map(one) : one(value)];
    });
    return [Object.fromEntries(entries) as Asked];
  });
  return { reductions, names };
}

/** How many nodes hold a condition, and how many do not. */
async function counts(condition: string, places: AnalysedNodes, { reduce }: Means): Promise<GroupAnswer> {
  const base = { ...places.base, kept: [false, false, false, false] as const };
  const columns = [whereHolds(condition, "1"), whereHolds(`!(${condition})`, "1")];
  const reductions = columns.map((_, of) => ({ kind: "moments", of, order: 1 }) as const);
  const merged = await reduce(reductionOf({ ...places, base }, { columns, reductions }), places);
  const [held, left] = [0, 1].map((i) => (merged.states(i)[0] as Moments).count);
  return { held, left_out: left };
}

/** Members of statistics over points. */
async function pointMembers(context: Context, asked: MemberValues, frames: readonly number[]): Promise<Asked> {
  const { points, method = "Lag8" } = asked;
  const at = { method: spatialName(method) };
  const derivatives = spatialName(pointDerivatives(asked));
  const { origin, extent } = boxIn("random" in (points as object) ? asked : {}, context.dataset);
  const common = { ...frameMembers(asked, frames), derivatives, region: { origin, extent } };
  if (points !== undefined && "random" in points)
    return { ...common, at: { random: points.random, seed: points.seed, ...at } };
  const { triples } = await pointsOf(context, asked, 0, false);
  return { ...common, at: { points: triples, ...at } };
}

/** Answers `correlation`. */
export async function correlation({ dataset, life, service }: Context, asked: MemberValues): Promise<Tabled> {
  const { frames, text } = framesFor(asked, dataset);
  const { remove = "mean", cross, axis = ["x"] } = asked;
  const texts = pairOf(asked, dataset);
  if (axis.length > 2) throw wrong("axis", "a correlation is along one axis, or over the plane of two");
  const means = meansFor(life, service, dataset);
  const along = axis.map((letter) => "xyz".indexOf(letter));
  const body = await correlate(texts, along, asked, nodesOf(asked, dataset, frames), dataset, means);
  const over = linesOver(asked, dataset);
  const understood = {
    ...(cross === undefined ? { what: [...new Set(texts)] } : { cross }),
    ...{ ...text, ...nodeText(asked), ...meanText(asked), over, axis, remove },
    ...(asked.at === undefined ? {} : { at: asked.at }),
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

/** Answers `around`. */
export async function around({ dataset, life, service }: Context, asked: MemberValues): Promise<Tabled> {
  const { frames, text } = framesFor(asked, dataset);
  const { where = "", what = usualWhat(dataset) } = asked;
  const means = meansFor(life, service, dataset);
  const places = nodesOf(asked, dataset, frames);
  const texts = what.map(({ text: own }) => own);
  const body = await meansAround(texts, where, asked, places, dataset, means);
  const [over, lag] = [eventsOver(asked, dataset), lagsOf(asked, dataset)];
  const understood = {
    ...{ what: whatTexts(what), ...text, ...nodeText(asked), where, lag },
    ...(asked.orient === undefined ? {} : { orient: asked.orient, method: asked.method ?? "Lag8" }),
    ...(asked.over === undefined ? {} : { over }),
    ...(asked.mean_time === undefined ? {} : meanText({ mean_time: asked.mean_time })),
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

const twice = (text: string): readonly string[] => [text, text];

/** The only quantity of a question, or its pair: beside a place of the first one a quantity is a pair with itself. */
function pairOf(asked: MemberValues, dataset: Dataset): readonly string[] {
  const { cross, what } = asked;
  if (cross === undefined)
    return asked.at === undefined ? [onlyWhat(asked, dataset).text] : twice(onlyWhat(asked, dataset).text);
  if (what !== undefined) throw wrong("what", "cross names its quantities; give one of both");
  if (cross.length !== 2) throw wrong("cross", "a pair has two quantities, such as u.x,u.y");
  return cross;
}

/** Answers `spectrum` of lines and modes at places, and of pairs. */
async function spectrumOfLines(
  { dataset, life, service }: Context,
  asked: MemberValues,
  kind: "line" | "modes",
): Promise<Tabled> {
  const { frames, text } = framesFor(asked, dataset);
  const { remove = "mean", cross, normalise, terms } = asked;
  if (terms !== undefined)
    throw wrong("terms", "terms are of shells, planes, and lines without over, cross and remove");
  const periodic = (["x", "y", "z"] as const).filter((_, a) => dataset.axes[a as 0].periodic);
  const axis = asked.axis ?? (kind === "line" ? periodic.slice(0, 1) : periodic);
  if (kind === "line" && axis.length > 1) throw wrong("axis", "lines have one axis; modes have several");
  const texts = pairOf(asked, dataset);
  const along = axis.map((letter) => "xyz".indexOf(letter));
  const means = meansFor(life, service, dataset);
  const body = await lineSpectrum(texts, along, asked, nodesOf(asked, dataset, frames), dataset, means);
  const understood = {
    ...(cross === undefined ? { what: [...new Set(texts)] } : { cross }),
    ...{ ...text, ...nodeText(asked), ...meanText(asked), over: linesOver(asked, dataset), kind, axis, remove },
    ...(asked.at === undefined ? {} : { at: asked.at }),
    ...(normalise === undefined ? {} : { normalise }),
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

/** Answers `spectrum` of frequencies. */
async function spectrumInTime({ dataset, life, service }: Context, asked: MemberValues): Promise<Tabled> {
  const { frames, text } = framesFor(asked, dataset);
  const { remove = "mean", cross, normalise, kind } = asked;
  const periodic = LETTERS.filter((_, a) => dataset.axes[a as 0].periodic);
  const axis = kind === "frequency" ? [] : (asked.axis ?? periodic.slice(0, 1));
  if (asked.terms !== undefined) throw wrong("terms", "terms are of shells, planes and lines");
  if (asked.at !== undefined) throw wrong("at", "it is for lines, modes and correlations");
  if (kind === "frequency" && asked.axis !== undefined) throw wrong("axis", "kind=wavenumber_frequency has an axis");
  if (kind !== "frequency" && axis.length !== 1) throw wrong("axis", "expected one periodic axis");
  const texts = pairOf(asked, dataset);
  const along = kind === "frequency" ? null : (LETTERS.indexOf(axis[0] as "x") as 0);
  const means = meansFor(life, service, dataset);
  const body = await frequencySpectrum(texts, along, asked, nodesOf(asked, dataset, frames), dataset, means);
  const { length: segment, step, window, detrend } = segmentsOf(asked, frames.length);
  const understood = {
    ...(cross === undefined ? { what: [...new Set(texts)] } : { cross }),
    ...{ ...text, ...nodeText(asked), ...meanText(asked), over: frequenciesOver(asked, dataset), kind, remove },
    ...(axis.length === 0 ? {} : { axis }),
    ...{ segment, overlap: segment - step, window, detrend, ...(normalise === undefined ? {} : { normalise }) },
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

/** Answers `spectrum`. */
export async function spectrum(context: Context, asked: MemberValues): Promise<Tabled> {
  const { dataset, life, service } = context;
  if (asked.kind === "frequency" || asked.kind === "wavenumber_frequency") return spectrumInTime(context, asked);
  const inTime = (["segment", "overlap", "window", "detrend"] as const).find((name) => asked[name] !== undefined);
  if (inTime !== undefined) throw wrong(inTime, "it is for kind=frequency and kind=wavenumber_frequency");
  const isOpen = dataset.axes.some(({ periodic }) => !periodic);
  const ofLines = ["over", "cross", "at", "remove", "normalise", "mean_time"].find(
    (name) => asked[name as "over"] !== undefined,
  );
  if (
    asked.kind === "modes" ||
    (asked.kind === "line" && asked.terms === undefined && (isOpen || ofLines !== undefined))
  )
    return spectrumOfLines(context, asked, asked.kind);
  if (ofLines !== undefined) throw wrong(ofLines, "it is for kind=line and kind=modes");
  const { frames, text } = framesFor(asked, dataset);
  const what = onlyWhat(asked, dataset);
  const open = dataset.axes.filter(({ periodic }) => !periodic).length;
  const { kind = open === 0 ? "shell" : open === 1 ? "plane" : "line", terms = [] } = asked;
  const [axis, ...more] = asked.axis ?? [];
  if (more.length > 0) throw wrong("axis", "a spectrum has one axis");
  const firstPeriodic = (["x", "y", "z"] as const).find((_, a) => dataset.axes[a as 0].periodic);
  const line = kind === "line" ? (axis ?? firstPeriodic) : axis;
  checkFilterUsed(asked, compileWhat([what], namesOf(asked, dataset)));
  const odd = terms.find((term) => !/^(transfer|flux|dissipation|helicity|cross:.+)$/.test(term));
  if (odd !== undefined)
    throw wrong("terms", `expected some of transfer, flux, dissipation, helicity and cross:q, not ${odd}`);
  const members = {
    ...frameMembers(asked, frames),
    derivatives: nodeDerivatives(asked),
    kind,
    of: what.text,
    with: terms,
  };
  const body = await sumModes(
    { ...members, ...(line === undefined ? {} : { axis: line }) } as never,
    dataset,
    meansFor(life, service, dataset),
  );
  const understood = {
    ...{ what: whatTexts([what]), ...text, ...nodeText(asked), kind },
    ...(terms.length === 0 ? {} : { terms }),
    ...(line === undefined ? {} : { axis: [line] }),
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

/** Answers `structure_functions`. */
export async function structure_functions({ dataset, life, service }: Context, asked: MemberValues): Promise<Tabled> {
  const { frames, text } = framesFor(asked, dataset);
  const what = onlyWhat(asked, dataset);
  const { orders = [2, 3], terms, remove = "mean", method = "Lag8" } = asked;
  if (orders.some((order) => !Number.isInteger(order) || order < 1 || order > 16))
    throw wrong("orders", "expected whole numbers from 1 to 16");
  const axes = asked.axis ?? (["x", "y", "z"] as const).filter((_, a) => dataset.axes[a as 0].coordinates === null);
  const runs = runsIn(asked, dataset, dataset.axes);
  const least = Math.min(...axes.map((letter) => (runs["xyz".indexOf(letter)] as { count: number }).count));
  const doubled = Array.from({ length: 16 }, (_, n) => 2 ** n).filter((n) => n <= Math.max(1, least / 2));
  const separations = asked.separations ?? { nodes: doubled };
  const isAtNodes = "nodes" in separations;
  checkFilterUsed(asked, compileWhat([what], namesOf(asked, dataset)));
  const places = isAtNodes
    ? nodeMembers(asked, dataset, frames)
    : {
        ...frameMembers(asked, frames),
        region: boxIn(asked, dataset),
        derivatives: spatialName(pointDerivatives(asked)),
      };
  const distances = isAtNodes ? separations : { ...separations, method: spatialName(method) };
  // A box that is all of the domain is none: pairs may go over its seams.
  const isWhole = (["x", "y", "z", "i", "j", "k"] as const).every((name) => asked[name] === undefined);
  const region = !isAtNodes && isWhole ? { region: undefined } : {};
  const members = {
    ...places,
    ...region,
    of: what.text,
    orders,
    separations: distances,
    axes,
    remove,
    ...(terms === undefined ? {} : { terms }),
  };
  const means = meansFor(life, service, dataset);
  const signed = await structureFunctions(members as never, dataset, means);
  const { absolute } = asked;
  if (absolute !== undefined && !isAtNodes) throw wrong("absolute", "it is of separations in nodes");
  const at = nodesOf(asked, dataset, frames);
  const body = absolute === undefined ? signed : await withAbsolute(signed, what.text, absolute, at, dataset, means);
  const understood = {
    ...{ what: whatTexts([what]), ...text, ...nodeText(asked), axis: axes, orders, remove },
    ...(isAtNodes ? { separations: separations.nodes } : { separations, method, derivatives: pointDerivatives(asked) }),
    ...{ ...(terms === undefined ? {} : { terms }), ...(absolute === undefined ? {} : { absolute }) },
  };
  return { answer: { kind: "table", body: fromZero(body) }, understood };
}

/** Answers `structures`: connected sets of nodes where the condition holds. */
export async function structures(context: Context, asked: MemberValues): Promise<Tabled> {
  const { dataset, life, service } = context;
  const { frames, text } = framesFor(asked, dataset);
  if (frames.length !== 1) throw wrong("time", "structures are of one frame");
  const { where = "", connectivity = "26", least = 1, labels = false, what = [] } = asked;
  const means = meansFor(life, service, dataset);
  const texts = [where, ...what.map(({ text: own }) => own)];
  const over = asked.over ?? (["x", "y", "z"] as const);
  const known = await meansIn(texts, nodesOf(asked, dataset, frames), asked, dataset, means, over, "where");
  const { places } = known;
  const condition = where;
  compileScalar(condition, places.base.names, "where");
  const quantities = compileWhat(what, places.base.names);
  const properties = quantities.flatMap(({ components }) => components);
  const names = new Map(
    quantities.flatMap(({ components, columns }) => components.map((one, c) => [one, columns[c] as string] as const)),
  );
  const members = { where: condition, connectivity: Number(connectivity), least, labels, properties };
  const skipped = await skipOf(context, asked, where, places.frames, 0);
  const found = (await findStructures(
    { ...nodeMembers(asked, dataset, frames), ...known.members, ...members } as never,
    dataset,
    { ...means, reduce: (query, at) => means.reduce({ ...query, ...skipped }, at) },
  )) as GroupAnswer;
  const { labelled, formulas, units, ...body } = fromZero(found) as GroupAnswer & { labelled?: Labelled };
  const about = renamed(
    { formulas: without(formulas, condition), units: without(units, condition), ...body },
    names,
  ) as GroupAnswer;
  const answer: TableAnswer = {
    kind: "table",
    body: { where, ...known.about, ...about },
    ...(labelled === undefined ? {} : { labels: labelGrid(labelled, places, dataset) }),
  };
  const understood = {
    ...(what.length === 0 ? {} : { what: whatTexts(what) }),
    ...{ ...text, ...nodeText(asked), ...meanText(asked), where, connectivity, least, labels },
  };
  return { answer, understood };
}

interface Labelled {
  readonly shape: readonly number[];
  readonly numbers: Int32Array;
}

function without(members: unknown, name: string): object {
  const { [name]: _, ...rest } = (members ?? {}) as Record<string, unknown>;
  return rest;
}

function labelGrid({ numbers }: Labelled, { base }: AnalysedNodes, dataset: Dataset): GridAnswer {
  const unit = dataset.units.length ?? null;
  const dims = [2, 1, 0].map((a) => ({ name: "xyz"[a] as string, coordinates: base.coordinates[a as 0], unit }));
  const label = { name: "label", columns: ["label"], shape: [], unit: null, values: numbers };
  return { kind: "grid", dims, scalars: [], quantities: [label] };
}

/** Increments along paths that are asked. @throws RequestError */
function incrementsOf({ increments, origins, bins, range }: MemberValues) {
  const other = Object.entries({ origins, bins, range }).find(([, value]) => value !== undefined);
  if (increments === undefined && other !== undefined) throw wrong(other[0], "it is of increments, which state powers");
  if (increments === undefined) return undefined;
  const odd = increments.find((p) => !(p > 0 && p <= 16));
  if (odd !== undefined) throw wrong("increments", `expected powers above 0 and up to 16, not ${odd}`);
  if ((bins === undefined) !== (range === undefined)) throw wrong("bins", "histograms have bins and range");
  if (range !== undefined && !(range[0] < range[1])) throw wrong("range", "the first edge must be below the last");
  const binned = bins === undefined || range === undefined ? null : { count: bins, range };
  return { orders: increments, isAll: origins === "all", bins: binned };
}

/** Answers `dispersion`. */
export async function dispersion(context: Context, asked: MemberValues): Promise<Tabled> {
  const { dataset, life, service } = context;
  const interval = intervalIn(asked);
  if ("each" in interval) throw wrong("time", "dispersion starts all particles at once: first:last");
  const {
    points,
    every = 1,
    orders = [2],
    remove = "mean",
    method = "Lag8",
    integrator = "rk4",
    open_faces = "stop",
    tolerance,
  } = asked;
  const step = stepIn(asked, dataset);
  const isDrawn = points !== undefined && !("rows" in points) && !("input" in points);
  const seeds = isDrawn
    ? points
    : {
        points: (await pointsOf(context, asked, 0, false, true)).triples,
        together: (points && "rows" in points && points.together) || 1,
      };
  const tolerant = tolerance === undefined ? {} : { tolerance };
  const members = {
    ...{
      start: interval.start,
      end: interval.end,
      dt: step,
      every,
      orders,
      remove,
      method: spatialName(method),
      integrator,
      openFaces: open_faces,
    },
    increments: incrementsOf(asked),
    ...{ ...tolerant, seeds, ...(isDrawn ? { region: boxIn(asked, dataset) } : {}) },
  };
  const body = await disperse(members as never, dataset, meansFor(life, service, dataset));
  const understood = {
    ...{ points: pointsText(points as never), ...placesText(asked), time: `${interval.start}:${interval.end}` },
    ...{ method, integrator, step, ...tolerant, every, open_faces, orders, remove, level: 0 },
    ...(asked.increments === undefined ? {} : { increments: asked.increments, origins: asked.origins ?? "start" }),
    ...(asked.bins === undefined ? {} : { bins: asked.bins, range: asked.range }),
  };
  return { answer: { kind: "table", body }, understood };
}
