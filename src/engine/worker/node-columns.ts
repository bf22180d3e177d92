/** Evaluates columns of expressions at the nodes of a part of a region, for one worker thread. */
import { SIZES } from "../../analysis/array-functions.js";
import { compileExpression, compileScalar, type Expression } from "../../analysis/expression.js";
import { type InputKey, type InputKind, type InputParts, type MeanTable, partsOfInput } from "../../analysis/names.js";
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
import { frameTime } from "../../kernels/time.js";
import type { Axes, FrameWeights, TimeAxis, Triple } from "../../kernels/types.js";
import { LimitError, RequestError } from "../../shared/errors.js";
import type { FieldName } from "../../shared/operations.js";
import { componentsOf } from "../contract/dataset.js";
import { type DerivedFields, readScratch } from "../contract/scratch.js";
import type { OpenDataset } from "./open-dataset.js";
import { makeForGrid, throwIfCancelled } from "./refusals.js";
import type { Sampler } from "./sampler.js";

/** Highest derivative of the kinds of inputs that are differences. */
const HIGHEST: Readonly<Partial<Record<InputKind, 0 | 1 | 2>>> = {
  ...{ gradient: 1, laplacian: 2, hessian: 2, laplacianOfGradient: 2, second: 2 },
};
/** Numbers of nested expressions that a thread holds for a part, at each depth. */
const MOST_HELD = 2 ** 25;
const TOO_MANY = "The operators of these expressions need more memory than a part may take: ask fewer at once.";
/** Compiled columns that a thread keeps. */
const MOST_COMPILED = 64;
/** Nodes evaluated together, so that their arrays stay in the processor's caches. */
const BLOCK_NODES = 2048;

/** The columns of a plan, compiled, and what they read. */
interface CompiledColumns {
  readonly columns: readonly Expression[];
  readonly keys: ReadonlySet<InputKey>;
}

/** Columns at the nodes of a box of a frame. */
export interface ColumnsAtNodes extends Pick<ReductionPlan, "columns" | "names" | "order"> {
  readonly region: DifferencedNodes & { readonly frame: number };
  readonly time: number;
  /** Nodes added to those of the region for its coordinates: whole periods. Absent: none. */
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
  readonly #compiled = new Map<string, CompiledColumns>();
  readonly #derivatives = new WeakMap<OpenDataset, Map<number, NodeDerivatives>>();
  /** Nodes of fields, by the depth of the expressions around them and their names. */
  readonly #nodes = new Map<string, Float32Array>();
  readonly #inner = new Map<string, Expression>();
  readonly #scratches: Float64Array[] = [];

  /**
   * Evaluates columns: reads the nodes of their fields once, including those within reach of differences.
   * @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil, CancelledError
   */
  evaluate(request: ColumnsAtNodes, open: OpenDataset, sampler: Sampler, place: PlaceRows): void {
    this.#evaluateAt(request, open, sampler, place, 0);
  }

  /** Evaluates columns, or the components of a nested expression. @param depth number of expressions around it */
  #evaluateAt(
    request: ColumnsAtNodes,
    open: OpenDataset,
    sampler: Sampler,
    place: PlaceRows,
    depth: number,
    inner?: Expression,
  ): void {
    const { region, time, cancel, order, derived = null, blend, ahead = [0, 0, 0], names } = request;
    const { columns, keys: all } =
      inner === undefined ? this.#compile(request) : { columns: [inner], keys: new Set(inner.inputs) };
    const keys = derived === null ? all : new Set([...all].filter((key) => derived.plan.inputs[key] === undefined));
    const differs = [...keys].some((key) => HIGHEST[partsOfInput(key)?.kind ?? "value"] !== undefined);
    const derivatives = differs ? this.#derivativesOf(open, order) : null;
    const { frames, weights } = blend ?? { frames: [region.frame], weights: [1] };
    const read = (frame: number) => this.#readFields(keys, { ...region, frame }, open, sampler, derivatives, depth);
    const stored = frames.length === 1 ? read(frames[0]) : sumOfFrames(frames, read, weights);
    const fields = new Map([...stored, ...this.#expressionsAround(keys, request, open, sampler, derivatives, depth)]);
    const means = (parts: InputParts) => meanAt(names.means?.[parts.expression ?? ""], region.frame, parts);
    const inputs = new NodeInputs(fields, derivatives, derived, open, time, ahead, means);
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

  #compile({ columns: texts, names }: ColumnsAtNodes): CompiledColumns {
    const text = JSON.stringify([texts, names], (name, value) => (name === "means" ? undefined : value));
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    if (this.#compiled.size >= MOST_COMPILED) this.#compiled.clear();
    const columns = texts.map((one) => compileScalar(one, names));
    const compiled = { columns, keys: new Set(columns.flatMap(({ inputs }) => inputs)) };
    this.#compiled.set(text, compiled);
    return compiled;
  }

  /** Evaluates nested expressions at the nodes that the outer ones need: around them, or in other frames. */
  #expressionsAround(
    keys: ReadonlySet<InputKey>,
    request: ColumnsAtNodes,
    open: OpenDataset,
    sampler: Sampler,
    derivatives: NodeDerivatives | null,
    depth: number,
  ): readonly (readonly [string, Surroundings])[] {
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
    return [...wanted].map(([name, { parts, highest }]) => {
      const { first: low, count: span } = request.region;
      const around =
        highest > 0 ? (derivatives as NodeDerivatives).surroundings(request.region, highest) : { low, span };
      const expression = this.#compileInner(parts.expression as string, request.names);
      const components = SIZES[expression.shape];
      const length = components * around.span[0] * around.span[1] * around.span[2];
      held += length;
      if (held > MOST_HELD) throw new LimitError("analysis.numbers", TOO_MANY);
      const nodes = new Float64Array(length);
      for (const [frame, weight] of framesAround(parts, request.region.frame, open.dataset.time)) {
        const isElsewhen = frame !== request.region.frame;
        if (isElsewhen && expression.reads.some((key) => request.derived?.plan.inputs[key] !== undefined))
          throw new RequestError(
            "Unsupported",
            "ddt and field take no filter and no spectral derivative inside: write filter(ddt(u)).",
          );
        const inside =
          parts.kind === "shift"
            ? shiftedBox(parts, around, open.dataset.axes)
            : { low: around.low, span: around.span, at: [0, 0, 0] as const };
        if (parts.kind === "shift") nodes.fill(Number.NaN);
        if (inside.span.some((n) => n < 1)) continue;
        const region = { first: inside.low as Triple, count: inside.span as Triple, frame };
        const elsewhere = { ...request, region, time: frameTime(open.dataset.time, frame) };
        const [nx] = inside.span;
        const add: PlaceRows = (c, y, z, values) => {
          for (let row = 0; row * nx < values.length; row++) {
            const line = (z + inside.at[2]) * around.span[1] + y + row + inside.at[1];
            let at = (line * around.span[0] + inside.at[0]) * components + c;
            for (let i = row * nx; i < (row + 1) * nx; i++, at += components)
              nodes[at] = parts.kind === "shift" ? values[i] : nodes[at] + weight * values[i];
          }
        };
        this.#evaluateAt(elsewhere, open, sampler, add, depth + 1, expression);
      }
      return [name, { nodes, components, ...around }];
    });
  }

  #compileInner(text: string, names: ColumnsAtNodes["names"]): Expression {
    const key = JSON.stringify([text, names], (name, value) => (name === "means" ? undefined : value));
    const known = this.#inner.get(key);
    if (known !== undefined) return known;
    if (this.#inner.size >= MOST_COMPILED) this.#inner.clear();
    const expression = compileExpression(text, names);
    this.#inner.set(key, expression);
    return expression;
  }

  #derivativesOf(open: OpenDataset, order: ReductionPlan["order"]): NodeDerivatives {
    const known = this.#derivatives.get(open) ?? new Map<number, NodeDerivatives>();
    this.#derivatives.set(open, known);
    const made = known.get(order) ?? makeDerivatives(open, order);
    known.set(order, made);
    return made;
  }

  #readFields(
    keys: ReadonlySet<InputKey>,
    region: DifferencedNodes & { readonly frame: number },
    open: OpenDataset,
    sampler: Sampler,
    derivatives: NodeDerivatives | null,
    depth: number,
  ): ReadonlyMap<FieldName, Surroundings> {
    const highest = new Map<FieldName, 0 | 1 | 2>();
    for (const key of keys) {
      const parts = partsOfInput(key);
      if (parts === null || parts.expression !== null) continue;
      const order = Math.max(highest.get(parts.field) ?? 0, HIGHEST[parts.kind] ?? 0) as 0 | 1 | 2;
      highest.set(parts.field, order);
    }
    return new Map(
      [...highest].map(([name, order]) => {
        const { first: low, count: span } = region;
        const around = derivatives?.surroundings(region, order) ?? { low, span };
        const { axes, forcing } = open.dataset;
        const force = name === "force" ? closedForceOf(forcing) : null;
        const components = componentsOf(open.dataset, name);
        const length = components * around.span[0] * around.span[1] * around.span[2];
        const kept = this.#nodes.get(`${depth}:${name}`);
        const nodes = kept !== undefined && kept.length >= length ? kept : new Float32Array(length);
        this.#nodes.set(`${depth}:${name}`, nodes);
        const { low: first, span: count } = around;
        if (force === null) gatherBox(sampler.reader(open.source(name)), axes, region.frame, first, count, nodes);
        else forceAtNodes(axes, force, { frame: region.frame, first, count }, nodes);
        return [name, { nodes, components, ...around }];
      }),
    );
  }

  #blockOf(inputs: NodeInputs, box: DifferencedNodes): BlockInputs {
    const count = box.count[0] * box.count[1] * box.count[2];
    let used = 0;
    const scratch = (): Float64Array => {
      const kept = this.#scratches[used];
      if (kept === undefined || kept.length < count) this.#scratches[used] = new Float64Array(count);
      const whole = this.#scratches[used++];
      return whole.length === count ? whole : whole.subarray(0, count);
    };
    return { count, scratch, computed: new Map(), input: (key, c) => inputs.of(key, c, box, scratch) };
  }
}

/** Adds the fields of several frames, each times its weight, in float64. */
function sumOfFrames(
  frames: readonly number[],
  read: (frame: number) => ReadonlyMap<FieldName, Surroundings>,
  weights: readonly number[],
): ReadonlyMap<FieldName, Surroundings> {
  const sums = new Map<FieldName, Surroundings & { readonly sum: Float64Array }>();
  for (const [f, frame] of frames.entries()) {
    const weight = weights[f];
    // The next frame overwrites the nodes of this one.
    for (const [name, field] of read(frame)) {
      const { sum } = sums.get(name) ?? { sum: new Float64Array(field.nodes.length) };
      for (let i = 0; i < sum.length; i++) sum[i] += weight * field.nodes[i];
      sums.set(name, { ...field, sum });
    }
  }
  return new Map([...sums].map(([name, { sum, ...field }]) => [name, { ...field, nodes: Float32Array.from(sum) }]));
}

/** The key of the values of an expression: around nodes, in another frame, or as a slope in time. */
function fieldAround({ kind, option, expression }: InputParts): string {
  const isElsewhen = kind === "rate" || kind === "frame" || kind === "shift";
  return `${isElsewhen ? kind : ""}${isElsewhen ? option : ""}=${expression}`;
}

/** Frames and their weights; `ddt` has three or two, without those whose weight is rounding. @throws RequestError */
function framesAround(
  { kind, option }: InputParts,
  frame: number,
  time: TimeAxis,
): readonly (readonly [frame: number, weight: number])[] {
  if (kind === "frame") {
    const { guardBefore, guardAfter, count } = time;
    const most = count - guardBefore - guardAfter - 1;
    if (Number(option) > most)
      throw new RequestError("OutOfRange", `field: frames are 0 to ${most}, not ${option}.`, { member: "what" });
    return [[Number(option) + guardBefore, 1]];
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

/** The mean at nodes of a frame. @throws RequestError for a frame without one */
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

class NodeInputs {
  readonly #fields: ReadonlyMap<FieldName, Surroundings>;
  readonly #derivatives: NodeDerivatives | null;
  readonly #derived: DerivedFields | null;
  readonly #open: OpenDataset;
  readonly #time: number;
  readonly #ahead: Triple;
  readonly #means: (parts: InputParts) => MeanOfFrame;

  constructor(
    fields: ReadonlyMap<FieldName, Surroundings>,
    derivatives: NodeDerivatives | null,
    derived: DerivedFields | null,
    open: OpenDataset,
    time: number,
    ahead: Triple,
    means: (parts: InputParts) => MeanOfFrame,
  ) {
    this.#means = means;
    this.#ahead = ahead;
    this.#fields = fields;
    this.#derived = derived;
    this.#derivatives = derivatives;
    this.#open = open;
    this.#time = time;
  }

  /** A component of an input at the nodes of a box. */
  of(key: InputKey, c: number, box: DifferencedNodes, scratch: () => Float64Array): Float64Array {
    if (key === "t") return scratch().fill(this.#time);
    if (key === "x" || key === "y" || key === "z") return this.#coordinate("xyz".indexOf(key), box, scratch());
    const components = this.#derived?.plan.inputs[key];
    if (components !== undefined) return derivedValues(this.#derived as DerivedFields, components[c], box, scratch());
    const parts = partsOfInput(key) as InputParts;
    const { kind } = parts;
    if (kind === "mean") return meanValues(this.#means(parts), c, box, this.#open.dataset.axes, scratch());
    const name = parts.expression === null ? parts.field : fieldAround(parts);
    const field = this.#fields.get(name) as Surroundings;
    if (kind === "value" || kind === "rate" || kind === "frame" || kind === "shift")
      return boxValues(field, box, c, scratch());
    const derivatives = this.#derivatives as NodeDerivatives;
    const along = (component: number, a: AxisIndex, n: 1 | 2) =>
      derivatives.derivative(field, box, component, a, n, scratch());
    const [a, b] = [Math.floor((c % 9) / 3), c % 3] as [AxisIndex, AxisIndex];
    if (kind === "gradient") return along(Math.floor(c / 3), b, 1);
    if (kind === "second") return along(Math.floor(c / 3), b, 2);
    const component = Math.floor(c / 9);
    if (kind === "hessian")
      return a === b ? along(component, a, 2) : derivatives.mixed(field, box, component, a, b, scratch());
    if (kind === "laplacianOfGradient")
      throw new RequestError("Unsupported", "lap(A) is known at points, not at nodes.");
    const [x, y, z] = [along(c, 0, 2), along(c, 1, 2), along(c, 2, 2)];
    for (let i = 0; i < x.length; i++) x[i] += y[i] + z[i];
    return x;
  }

  #coordinate(axis: number, { first, count }: DifferencedNodes, out: Float64Array): Float64Array {
    const { coordinates, origin, spacing } = this.#open.dataset.axes[axis];
    const strides = [1, count[0], count[0] * count[1]];
    for (let i = 0; i < out.length; i++) {
      const node = first[axis] + (Math.floor(i / strides[axis]) % count[axis]);
      out[i] = coordinates?.[node] ?? origin + (node + this.#ahead[axis]) * spacing;
    }
    return out;
  }
}

/** One component of the nodes of a box. */
function boxValues(
  { nodes, components, low, span }: Surroundings,
  { first, count }: DifferencedNodes,
  c: number,
  out: Float64Array,
): Float64Array {
  for (let z = 0, to = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++) {
      const row = ((first[2] + z - low[2]) * span[1] + first[1] + y - low[1]) * span[0] + first[0] - low[0];
      let at = row * components + c;
      for (let x = 0; x < count[0]; x++, at += components) out[to++] = nodes[at];
    }
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
      for (let i = 0; i < count[0]; i++) out[to++] = values[c][row + at(0, i)];
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

function makeDerivatives({ dataset }: OpenDataset, order: ReductionPlan["order"]): NodeDerivatives {
  const text = `The grid of "${dataset.name}" is too small for None_Fd${order}.`;
  return makeForGrid(text, "derivatives", () => new NodeDerivatives(dataset.axes, order));
}
