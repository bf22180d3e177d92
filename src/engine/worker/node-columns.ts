/** Evaluates columns of expressions at the nodes of a part of a region, for one worker thread. */
import { SIZES } from "../../analysis/array-functions.js";
import { compileExpression, compileScalar, type Expression } from "../../analysis/expression.js";
import {
  type InputKey,
  type InputKind,
  type InputParts,
  type MeanTable,
  otherDataset,
  partsOfInput,
} from "../../analysis/names.js";
import type { ReductionPlan } from "../../analysis/plan.js";
import type { BlockInputs } from "../../analysis/subexpression.js";
import { gatherBox } from "../../kernels/block.js";
import { halfOf } from "../../kernels/fft/plane-transforms.js";
import { closedForceOf, forceAtNodes } from "../../kernels/forcing.js";
import {
  type AxisIndex,
  type DifferencedNodes,
  NodeDerivatives,
  type Surroundings,
} from "../../kernels/node-derivatives.js";
import { wrap } from "../../kernels/stencil.js";
import { frameTime, frameWeights, snapTime, timeInRange } from "../../kernels/time.js";
import type { Axes, FrameWeights, TimeAxis, Triple } from "../../kernels/types.js";
import { LimitError, RequestError } from "../../shared/errors.js";
import type { FieldName } from "../../shared/operations.js";
import { type DerivedFields, readScratch } from "../contract/scratch.js";
import type { OpenDataset } from "./open-dataset.js";
import { makeForGrid, throwIfCancelled } from "./refusals.js";
import type { Sampler } from "./sampler.js";

/** Highest derivative of the kinds of inputs that are differences. */
const HIGHEST: Readonly<Partial<Record<InputKind, 0 | 1 | 2>>> = {
  gradient: 1,
  laplacian: 2,
  hessian: 2,
  laplacianOfGradient: 2,
  secondDerivative: 2,
};
/** Numbers of nested expressions that a thread holds for a part, at each depth. */
const MAX_HELD = 2 ** 25;
const TOO_MANY = "The operators of these expressions need more memory than a part may take: ask fewer at once.";
/** Numbers for which it keeps memory from part to part, about. */
const MAX_KEPT = 2 ** 23;
/** Lists of compiled expressions that a thread keeps. */
const MAX_COMPILED = 64;
/** Nodes evaluated together, so that their arrays stay in the processor's caches. */
const BLOCK_NODES = 2048;

/** Columns at the nodes of a box of a frame. */
export interface ColumnsAtNodes extends Pick<ReductionPlan, "columns" | "names" | "order"> {
  readonly region: DifferencedNodes & { readonly frame: number };
  readonly time: number;
  /** Nodes added to node indices for coordinates: whole periods. Absent: none. */
  readonly ahead?: Triple;
  /** Frames whose weighted sum gives the fields; absent: the frame of the region. */
  readonly blend?: FrameWeights | undefined;
  /** Inputs that transforms have made of the frame; absent: none. */
  readonly derived?: DerivedFields | null;
  /** Word 0 becomes 1 when the values are no longer wanted. */
  readonly cancel: Int32Array;
}

/** Takes the values of a column in whole rows along x, from row (y, z) of the box on. */
type PlaceRows = (column: number, y: number, z: number, values: Float64Array) => void;

/** Evaluates columns for one thread; keeps compiled expressions and arrays from part to part. */
export class NodeColumns {
  readonly #compiled = new Map<string, readonly Expression[]>();
  readonly #derivatives = new WeakMap<OpenDataset, Map<number, NodeDerivatives>>();
  /** Memory for components of fields and nested expressions, of which the first `#used` are taken. */
  readonly #rooms: Float64Array[] = [];
  #used = 0;
  readonly #scratches: Float64Array[] = [];

  /**
   * Evaluates columns: reads the nodes of their fields once, including those within reach of differences.
   * @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil, CancelledError
   */
  evaluate(request: ColumnsAtNodes, opened: OpenDataset, sampler: Sampler, place: PlaceRows): void {
    this.#used = 0;
    this.#evaluateAt(request, opened, sampler, place);
  }

  /** Lends memory for at least `length` numbers. */
  #room(length: number): Float64Array {
    const kept = this.#rooms[this.#used++];
    if (kept !== undefined && kept.length >= length) return kept;
    const made = new Float64Array(length);
    if (this.#used * length <= MAX_KEPT) this.#rooms[this.#used - 1] = made;
    return made;
  }

  /** Evaluates columns, or the components of a nested expression. */
  #evaluateAt(
    request: ColumnsAtNodes,
    opened: OpenDataset,
    sampler: Sampler,
    place: PlaceRows,
    inner?: Expression,
  ): void {
    const { region, cancel, order, derived = null, names } = request;
    const columns = inner === undefined ? this.#compile(request.columns, names) : [inner];
    const all = new Set(columns.flatMap(({ inputs }) => inputs));
    const keys = derived === null ? all : new Set([...all].filter((key) => derived.plan.inputs[key] === undefined));
    const differs = [...keys].some((key) => HIGHEST[partsOfInput(key)?.kind ?? "value"] !== undefined);
    const derivatives = differs ? this.#derivativesOf(opened, order) : null;
    const stored = this.#fieldReader(keys, request, opened, sampler, derivatives);
    const expressions = this.#expressionsAround(keys, request, opened, sampler, derivatives);
    const component = (parts: InputParts, c: number): Surroundings =>
      parts.expression === null ? stored(parts.field, c) : (expressions.get(fieldAround(parts))?.[c] as Surroundings);
    const means = (parts: InputParts) => meanAt(names.means?.[parts.expression ?? ""], region.frame, parts);
    const inputs = nodeInputs(component, derivatives, means, request, opened);
    const [nx, ny, nz] = region.count;
    const rows = Math.max(1, Math.floor(BLOCK_NODES / nx));
    for (let z = 0; z < nz; z++) {
      throwIfCancelled(cancel);
      for (let y = 0; y < ny; y += rows) {
        const first = [region.first[0], region.first[1] + y, region.first[2] + z] as const;
        const count = [nx, Math.min(rows, ny - y), 1] as const;
        const block = this.#blockOf(inputs, { first, count });
        let c = 0;
        for (const column of columns) for (const values of column.evaluate(block)) place(c++, y, z, values);
      }
    }
  }

  /** Compiles expressions, unless they have been compiled before. */
  #compile(texts: readonly string[], names: ColumnsAtNodes["names"], compile = compileScalar): readonly Expression[] {
    const request = [compile.name, texts, names];
    const key = JSON.stringify(request, (name, value) => (name === "means" ? undefined : value));
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
    const compiled = texts.map((text) => compile(text, names));
    this.#compiled.set(key, compiled);
    return compiled;
  }

  /** Evaluates nested expressions at the nodes that the outer ones need: around them, or in other frames. */
  #expressionsAround(
    keys: ReadonlySet<InputKey>,
    request: ColumnsAtNodes,
    opened: OpenDataset,
    sampler: Sampler,
    derivatives: NodeDerivatives | null,
  ): ReadonlyMap<string, readonly Surroundings[]> {
    const wanted = new Map<string, { readonly parts: InputParts; readonly highest: 0 | 1 | 2 }>();
    for (const key of keys) {
      const parts = partsOfInput(key);
      if (parts === null || parts.expression === null || parts.kind === "mean") continue;
      const name = fieldAround(parts);
      const highest = Math.max(wanted.get(name)?.highest ?? 0, HIGHEST[parts.kind] ?? 0) as 0 | 1 | 2;
      wanted.set(name, { parts, highest });
    }
    if (wanted.size > 0 && (request.blend?.frames.length ?? 1) > 1)
      throw new RequestError("Unsupported", "Operators of expressions are known at stored times, not between them.");
    let held = 0;
    const evaluated = [...wanted].map(([name, { parts, highest }]): [string, Surroundings[]] => {
      const { first: low, count: span } = request.region;
      const around =
        highest > 0 ? (derivatives as NodeDerivatives).surroundings(request.region, highest) : { low, span };
      const other = otherDataset(parts);
      const there = other === undefined ? opened : (opened.others.get(other) as OpenDataset);
      const names = request.names.others?.[other ?? ""] ?? request.names;
      const [expression] = this.#compile([parts.expression as string], names, compileExpression);
      const components = SIZES[expression.shape];
      const length = around.span[0] * around.span[1] * around.span[2];
      held += components * length;
      if (held > MAX_HELD) throw new LimitError("analysis.numbers", TOO_MANY);
      const isShifted = parts.kind === "shift";
      const rest = isShifted ? Number.NaN : 0;
      const fields = Array.from({ length: components }, () => ({
        nodes: this.#room(length).fill(rest, 0, length),
        ...around,
      }));
      const used = this.#used;
      for (const [frame, weight] of framesAround(parts, request.region.frame, opened.dataset, there.dataset)) {
        const isElsewhen = there === opened && frame !== request.region.frame;
        if (isElsewhen && expression.reads.some((key) => request.derived?.plan.inputs[key] !== undefined))
          throw new RequestError(
            "Unsupported",
            "ddt and field take no filter and no spectral derivative inside: write filter(ddt(u)).",
          );
        const inside =
          parts.kind === "shift"
            ? shiftedBox(parts, around, opened.dataset.axes)
            : { low: around.low, span: around.span, at: [0, 0, 0] as const };
        if (inside.span.some((n) => n < 1)) continue;
        const region = { first: inside.low as Triple, count: inside.span as Triple, frame };
        const elsewhere = { ...request, region, time: frameTime(there.dataset.time, frame), names };
        const [nx] = inside.span;
        const add: PlaceRows = (c, y, z, values) => {
          const { nodes } = fields[c];
          for (let row = 0; row * nx < values.length; row++) {
            const line = (z + inside.at[2]) * around.span[1] + y + row + inside.at[1];
            let at = line * around.span[0] + inside.at[0];
            if (isShifted) nodes.set(values.subarray(row * nx, (row + 1) * nx), at);
            else for (let i = row * nx; i < (row + 1) * nx; i++, at++) nodes[at] += weight * values[i];
          }
        };
        this.#evaluateAt(elsewhere, there, sampler, add, expression);
        this.#used = used;
      }
      return [name, fields];
    });
    return new Map(evaluated);
  }

  #derivativesOf(opened: OpenDataset, order: ReductionPlan["order"]): NodeDerivatives {
    const known = this.#derivatives.get(opened) ?? new Map<number, NodeDerivatives>();
    this.#derivatives.set(opened, known);
    const text = `The grid of "${opened.dataset.name}" is too small for None_Fd${order}.`;
    const make = () => new NodeDerivatives(opened.dataset.axes, order);
    const made = known.get(order) ?? makeForGrid(text, "derivatives", make);
    known.set(order, made);
    return made;
  }

  /** Makes a function that reads a component of a field where it is needed, when it is first wanted. */
  #fieldReader(
    keys: ReadonlySet<InputKey>,
    { region, blend }: ColumnsAtNodes,
    opened: OpenDataset,
    sampler: Sampler,
    derivatives: NodeDerivatives | null,
  ): (field: FieldName, c: number) => Surroundings {
    const highest = new Map<FieldName, 0 | 1 | 2>();
    for (const key of keys) {
      const parts = partsOfInput(key);
      if (parts === null || parts.expression !== null) continue;
      const order = Math.max(highest.get(parts.field) ?? 0, HIGHEST[parts.kind] ?? 0) as 0 | 1 | 2;
      highest.set(parts.field, order);
    }
    const read = new Map<string, Surroundings>();
    return (field, c) => {
      const key = `${field}.${c}`;
      const known = read.get(key);
      if (known !== undefined) return known;
      const { first: low, count: span } = region;
      const around = derivatives?.surroundings(region, highest.get(field) ?? 0) ?? { low, span };
      const length = around.span[0] * around.span[1] * around.span[2];
      const nodes = this.#room(length);
      const { frames, weights } = blend ?? { frames: [region.frame], weights: [1] };
      gatherComponent(opened, sampler, field, c, frames[0], around, nodes);
      if (frames.length > 1) {
        const one = new Float64Array(length);
        for (let i = 0; i < length; i++) nodes[i] *= weights[0];
        for (let f = 1; f < frames.length; f++) {
          gatherComponent(opened, sampler, field, c, frames[f], around, one);
          for (let i = 0; i < length; i++) nodes[i] += weights[f] * one[i];
        }
        for (let i = 0; i < length; i++) nodes[i] = Math.fround(nodes[i]);
      }
      const made = { nodes, ...around };
      read.set(key, made);
      return made;
    };
  }

  #blockOf(inputs: ReturnType<typeof nodeInputs>, box: DifferencedNodes): BlockInputs {
    const count = box.count[0] * box.count[1] * box.count[2];
    let used = 0;
    const scratch = (): Float64Array => {
      const kept = this.#scratches[used];
      if (kept === undefined || kept.length < count) this.#scratches[used] = new Float64Array(count);
      const whole = this.#scratches[used++];
      return whole.length === count ? whole : whole.subarray(0, count);
    };
    return { count, scratch, computed: new Map(), input: (key, c) => inputs(key, c, box, scratch) };
  }
}

/** Reads a component of a field at the nodes of a box of a frame. */
function gatherComponent(
  opened: OpenDataset,
  sampler: Sampler,
  field: FieldName,
  c: number,
  frame: number,
  { low, span }: Pick<Surroundings, "low" | "span">,
  out: Float64Array,
): void {
  const { axes, forcing } = opened.dataset;
  const force = field === "force" ? closedForceOf(forcing) : null;
  if (force === null) {
    gatherBox(sampler.reader(opened.source(field)), axes, frame, low, span, out, c);
    return;
  }
  const all = new Float32Array(3 * out.length);
  forceAtNodes(axes, force, { frame, first: low, count: span }, all);
  for (let i = 0; i < out.length; i++) out[i] = all[3 * i + c];
}

/** The key of the values of an expression: around nodes, in another frame, or as a slope in time. */
function fieldAround({ kind, option, expression }: InputParts): string {
  const isElsewhen = kind === "rate" || kind === "frame" || kind === "shift";
  return `${isElsewhen ? kind : ""}${isElsewhen ? option : ""}=${expression}`;
}

/** Frames and their weights; `ddt` has three or two, without those whose weight is rounding. Throws RequestError. */
function framesAround(
  { kind, option }: InputParts,
  frame: number,
  { time, name }: OpenDataset["dataset"],
  there: OpenDataset["dataset"],
): readonly (readonly [frame: number, weight: number])[] {
  if (kind === "frame" && option.startsWith(",")) {
    const t = snapTime(there.time, frameTime(time, frame));
    const [same = -1] = timeInRange(there.time, t) ? frameWeights(there.time, t, "None").frames : [];
    if (same >= 0 && frameTime(there.time, same) === t) return [[same, 1]];
    const text = `field: "${there.name}" has no frame at ${frameTime(time, frame)}, as "${name}" has.`;
    throw new RequestError("OutOfRange", text, { member: "what" });
  }
  if (kind === "frame") {
    const { guardBefore, guardAfter, count } = there.time;
    const [most, number] = [count - guardBefore - guardAfter - 1, Number.parseInt(option, 10)];
    if (number > most)
      throw new RequestError("OutOfRange", `field: frames are 0 to ${most}, not ${number}.`, { member: "what" });
    return [[number + guardBefore, 1]];
  }
  if (kind !== "rate") return [[frame, 1]];
  if (time.count < 2) throw new RequestError("Unsupported", "ddt needs several stored times.", { member: "what" });
  const first = Math.max(0, Math.min(frame - 1, time.count - 3));
  const frames = Array.from({ length: Math.min(3, time.count) }, (_, i) => first + i);
  return frames
    .map((one) => [one, slopeWeight(frames, one, frame, time)] as const)
    .filter(([, weight]) => Math.abs(weight * (frameTime(time, first + 1) - frameTime(time, first))) > 1e-9);
}

/** The nodes that `shift` takes, without those beyond open ends, and their offset in the box. */
function shiftedBox({ option }: InputParts, { low, span }: { low: Triple; span: Triple }, axes: Axes) {
  const by = [0, 0, 0];
  for (const part of option.split(",")) by["xyz".indexOf(part[0])] = Number(part.slice(1));
  const runs = axes.map(({ periodic, nodes }, a) => {
    const [first, end] = [low[a] + by[a], low[a] + by[a] + span[a]];
    return periodic ? { first, from: first, end } : { first, from: Math.max(0, first), end: Math.min(nodes, end) };
  });
  const along = (of: (run: (typeof runs)[number]) => number) => runs.map(of) as unknown as Triple;
  return {
    ...{ low: along(({ from }) => from), span: along(({ from, end }) => end - from) },
    at: along(({ first, from }) => from - first),
  };
}

/** The derivative at `frame` of the polynomial that is 1 at frame `one` and 0 at the others. */
function slopeWeight(frames: readonly number[], one: number, frame: number, time: TimeAxis): number {
  const t = (k: number): number => frameTime(time, k);
  const others = frames.filter((k) => k !== one);
  return others.reduce((sum, left) => {
    const rest = others.filter((k) => k !== left);
    return sum + rest.reduce((product, k) => (product * (t(frame) - t(k))) / (t(one) - t(k)), 1 / (t(one) - t(left)));
  }, 0);
}

/** The mean at nodes of a frame. Throws RequestError for a frame without one. */
function meanAt(table: MeanTable | undefined, frame: number, { expression }: InputParts): MeanOfFrame {
  const f = table?.isOfFrames ? table.frames.indexOf(frame) : 0;
  if (table === undefined || f < 0) {
    const text = `The mean of ${expression} is not known at frame ${frame}: average it over t too.`;
    throw new RequestError("Unsupported", text, { member: "over" });
  }
  return { table, from: f * table.extent[0] * table.extent[1] * table.extent[2] };
}

interface MeanOfFrame {
  readonly table: MeanTable;
  readonly from: number;
}

/** Makes a function that gives a component of an input at the nodes of a box. */
function nodeInputs(
  read: (parts: InputParts, c: number) => Surroundings,
  derivatives: NodeDerivatives | null,
  means: (parts: InputParts) => MeanOfFrame,
  { derived = null, time, ahead = [0, 0, 0] }: ColumnsAtNodes,
  opened: OpenDataset,
) {
  return (key: InputKey, c: number, box: DifferencedNodes, scratch: () => Float64Array): Float64Array => {
    if (key === "t") return scratch().fill(time);
    if (key === "x" || key === "y" || key === "z")
      return coordinatesOf("xyz".indexOf(key), box, opened.dataset.axes, ahead, scratch());
    const components = derived?.plan.inputs[key];
    if (components !== undefined) return derivedValues(derived as DerivedFields, components[c], box, scratch());
    const parts = partsOfInput(key) as InputParts;
    const { kind } = parts;
    if (kind === "mean") return meanValues(means(parts), c, box, opened.dataset.axes, scratch());
    const field = (index: number) => read(parts, index);
    if (kind === "value" || kind === "rate" || kind === "frame" || kind === "shift")
      return boxValues(field(c), box, scratch);
    const by = derivatives as NodeDerivatives;
    const along = (component: number, a: AxisIndex, n: 1 | 2) => by.derivative(field(component), box, a, n, scratch());
    const [a, b] = [Math.floor((c % 9) / 3), c % 3] as [AxisIndex, AxisIndex];
    if (kind === "gradient") return along(Math.floor(c / 3), b, 1);
    if (kind === "secondDerivative") return along(Math.floor(c / 3), b, 2);
    const component = Math.floor(c / 9);
    if (kind === "hessian") return a === b ? along(component, a, 2) : by.mixed(field(component), box, a, b, scratch());
    if (kind === "laplacianOfGradient")
      throw new RequestError("Unsupported", "lap(A) is known at points, not at nodes.");
    const [x, y, z] = [along(c, 0, 2), along(c, 1, 2), along(c, 2, 2)];
    for (let i = 0; i < x.length; i++) x[i] += y[i] + z[i];
    return x;
  };
}

function coordinatesOf(
  a: number,
  { first, count }: DifferencedNodes,
  axes: Axes,
  ahead: Triple,
  out: Float64Array,
): Float64Array {
  const { coordinates, origin, spacing } = axes[a];
  const strides = [1, count[0], count[0] * count[1]];
  for (let i = 0; i < out.length; i++) {
    const node = first[a] + (Math.floor(i / strides[a]) % count[a]);
    out[i] = coordinates?.[node] ?? origin + (node + ahead[a]) * spacing;
  }
  return out;
}

/** The values at the nodes of a box, not to be overwritten. */
function boxValues(
  { nodes, low, span }: Surroundings,
  { first, count }: DifferencedNodes,
  scratch: () => Float64Array,
): Float64Array {
  const startOf = (y: number, z: number): number =>
    ((first[2] + z - low[2]) * span[1] + first[1] + y - low[1]) * span[0] + first[0] - low[0];
  if (count[0] === span[0] && count[2] === 1) return nodes.subarray(startOf(0, 0), startOf(count[1], 0));
  const out = scratch();
  for (let z = 0, to = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++, to += count[0])
      for (let x = 0, at = startOf(y, z); x < count[0]; x++) out[to + x] = nodes[at + x];
  return out;
}

/** A component of a mean at the nodes of a box. */
function meanValues(
  { table: { extent, values }, from }: MeanOfFrame,
  c: number,
  { first, count }: DifferencedNodes,
  axes: Axes,
  out: Float64Array,
): Float64Array {
  const at = (a: 0 | 1 | 2, i: number): number => (extent[a] === 1 ? 0 : wrap(first[a] + i, axes[a].nodes));
  for (let k = 0, to = 0; k < count[2]; k++)
    for (let j = 0; j < count[1]; j++) {
      const row = from + (at(2, k) * extent[1] + at(1, j)) * extent[0];
      if (extent[0] === 1) out.fill(values[c][row], to, to + count[0]);
      else for (let i = 0; i < count[0]; i++) out[to + i] = values[c][row + at(0, i)];
      to += count[0];
    }
  return out;
}

/** A component that transforms have made, at the nodes of a box, which may cross seams. */
function derivedValues(
  { plan, scratch }: DerivedFields,
  component: number,
  { first, count }: DifferencedNodes,
  out: Float64Array,
): Float64Array {
  const [nx, ny, nz] = plan.nodes;
  const row = 2 * halfOf(nx, plan.transformed[0]);
  const plane = (plan.columns.length + component) * nz;
  for (let z = 0, to = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++) {
      const at = ((plane + wrap(first[2] + z, nz)) * ny + wrap(first[1] + y, ny)) * row;
      for (let x = 0; x < count[0]; ) {
        const from = wrap(first[0] + x, nx);
        const length = Math.min(count[0] - x, nx - from);
        readScratch(scratch, at + from, out.subarray(to, to + length));
        x += length;
        to += length;
      }
    }
  return out;
}
