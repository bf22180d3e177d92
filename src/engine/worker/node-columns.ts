/** Evaluates columns of expressions at the nodes of a part of a region, for one worker thread. */
import { type BlockInputs, compileScalar, type Expression } from "../../analysis/expression.js";
import type { InputKey, PlainKind } from "../../analysis/names.js";
import type { ReductionPlan } from "../../analysis/plan.js";
import { gatherBox } from "../../kernels/block.js";
import { halfOf } from "../../kernels/fft/plane-transforms.js";
import {
  type AxisIndex,
  type DifferencedNodes,
  NodeDerivatives,
  type Surroundings,
} from "../../kernels/node-derivatives.js";
import type { FrameWeights, Triple } from "../../kernels/types.js";
import { CancelledError, RequestError } from "../../shared/errors.js";
import type { FieldName } from "../../shared/operations.js";
import { type DerivedFields, readScratch } from "../contract/scratch.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

const HIGHEST: Readonly<Record<PlainKind, 0 | 1 | 2>> = {
  ...{ value: 0, gradient: 1, laplacian: 2, hessian: 2, laplacianOfGradient: 2 },
};
/** About how many nodes are evaluated together, so that their arrays stay in the processor's caches. */
const BLOCK_NODES = 2048;

/** The columns of a plan, compiled, and what they read. */
interface CompiledColumns {
  readonly text: string;
  readonly columns: readonly Expression[];
  readonly keys: ReadonlySet<InputKey>;
}

/** Columns at the nodes of a box of a frame. */
export interface ColumnsAtNodes extends Pick<ReductionPlan, "columns" | "names" | "order"> {
  readonly region: DifferencedNodes & { readonly frame: number };
  readonly time: number;
  /** Nodes that are added to the numbers of the region for its coordinates: whole periods. Absent: none. */
  readonly ahead?: Triple;
  /** The frames whose weighted sum gives the fields; absent: that of the region alone. */
  readonly blend?: FrameWeights | undefined;
  /** Inputs that transforms have made of the frame; absent: none. */
  readonly derived?: DerivedFields | null;
  /** Word 0 becomes 1 when the values are no longer wanted. */
  readonly cancel: Int32Array;
}

/** Takes the values of a column in whole rows along x, from row (y, z) of the box on. */
type PlaceRows = (column: number, y: number, z: number, values: Float64Array) => void;

/** Evaluates columns for one thread, and keeps what it has compiled, and its arrays, from part to part. */
export class NodeColumns {
  #compiled: CompiledColumns | null = null;
  readonly #derivatives = new WeakMap<OpenDataset, Map<number, NodeDerivatives>>();
  readonly #nodes = new Map<FieldName, Float32Array>();
  readonly #scratches: Float64Array[] = [];

  /**
   * Evaluates columns: reads the nodes of their fields once, with those that differences reach.
   *
   * @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil, CancelledError
   */
  evaluate(asked: ColumnsAtNodes, open: OpenDataset, sampler: Sampler, place: PlaceRows): void {
    const { region, time, cancel, order, derived = null, blend, ahead = [0, 0, 0] } = asked;
    const { columns, keys: all } = this.#compile(asked);
    const keys = derived === null ? all : new Set([...all].filter((key) => derived.plan.inputs[key] === undefined));
    const differs = [...keys].some((key) => key.includes(":") && !key.startsWith("value:"));
    const derivatives = differs ? this.#derivativesOf(open, order) : null;
    const { frames, weights } = blend ?? { frames: [region.frame], weights: [1] };
    const read = (frame: number) => this.#readFields(keys, { ...region, frame }, open, sampler, derivatives);
    const fields = frames.length === 1 ? read(frames[0]) : sumOfFrames(frames, read, weights);
    const inputs = new NodeInputs(fields, derivatives, derived, open, time, ahead);
    const [nx, ny, nz] = region.count;
    const rows = Math.max(1, Math.floor(BLOCK_NODES / nx));
    for (let z = 0; z < nz; z++) {
      if (Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      for (let y = 0; y < ny; y += rows) {
        const first = [region.first[0], region.first[1] + y, region.first[2] + z] as const;
        const count = [nx, Math.min(rows, ny - y), 1] as const;
        const block = this.#blockOf(inputs, { first, count });
        columns.forEach((column, c) => {
          place(c, y, z, column.evaluate(block)[0]);
        });
      }
    }
  }

  #compile({ columns: texts, names }: ColumnsAtNodes): CompiledColumns {
    const text = JSON.stringify([texts, names]);
    if (this.#compiled?.text === text) return this.#compiled;
    const columns = texts.map((one) => compileScalar(one, names));
    this.#compiled = { text, columns, keys: new Set(columns.flatMap(({ inputs }) => inputs)) };
    return this.#compiled;
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
  ): ReadonlyMap<FieldName, Surroundings> {
    const highest = new Map<FieldName, 0 | 1 | 2>();
    for (const key of keys) {
      const [kind, name] = key.split(":") as [PlainKind, FieldName | undefined];
      if (name !== undefined) highest.set(name, Math.max(highest.get(name) ?? 0, HIGHEST[kind]) as 0 | 1 | 2);
    }
    return new Map(
      [...highest].map(([name, order]) => {
        const { first: low, count: span } = region;
        const around = derivatives?.surroundings(region, order) ?? { low, span };
        const reader = sampler.reader(open.source(name));
        const { components } = reader;
        const length = components * around.span[0] * around.span[1] * around.span[2];
        const kept = this.#nodes.get(name);
        const nodes = kept !== undefined && kept.length >= length ? kept : new Float32Array(length);
        this.#nodes.set(name, nodes);
        gatherBox(reader, open.dataset.axes, region.frame, around.low, around.span, nodes);
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
    // The next frame overwrites what is read of this one.
    for (const [name, field] of read(frame)) {
      const { sum } = sums.get(name) ?? { sum: new Float64Array(field.nodes.length) };
      for (let i = 0; i < sum.length; i++) sum[i] += weight * field.nodes[i];
      sums.set(name, { ...field, sum });
    }
  }
  return new Map([...sums].map(([name, { sum, ...field }]) => [name, { ...field, nodes: Float32Array.from(sum) }]));
}

/** The inputs of expressions at the nodes of a part. */
class NodeInputs {
  readonly #fields: ReadonlyMap<FieldName, Surroundings>;
  readonly #derivatives: NodeDerivatives | null;
  readonly #derived: DerivedFields | null;
  readonly #open: OpenDataset;
  readonly #time: number;
  readonly #ahead: Triple;

  constructor(
    fields: ReadonlyMap<FieldName, Surroundings>,
    derivatives: NodeDerivatives | null,
    derived: DerivedFields | null,
    open: OpenDataset,
    time: number,
    ahead: Triple,
  ) {
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
    const [kind, name] = key.split(":") as [PlainKind, FieldName];
    const field = this.#fields.get(name) as Surroundings;
    if (kind === "value") return boxValues(field, box, c, scratch());
    const derivatives = this.#derivatives as NodeDerivatives;
    const along = (component: number, a: AxisIndex, n: 1 | 2) =>
      derivatives.derivative(field, box, component, a, n, scratch());
    const [a, b] = [Math.floor((c % 9) / 3), c % 3] as [AxisIndex, AxisIndex];
    if (kind === "gradient") return along(a, b, 1);
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

/** A component that transforms have made, at the nodes of a box, which may cross the seams of periods. */
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
      const at = ((plane + ((first[2] + z) % nz)) * ny + ((first[1] + y) % ny)) * row;
      for (let x = 0; x < count[0]; ) {
        const from = (first[0] + x) % nx;
        const length = Math.min(count[0] - x, nx - from);
        readScratch(scratch, at + from, out.subarray(to, to + length));
        x += length;
        to += length;
      }
    }
  return out;
}

function makeDerivatives({ dataset }: OpenDataset, order: ReductionPlan["order"]): NodeDerivatives {
  try {
    return new NodeDerivatives(dataset.axes, order);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError("Unsupported", `The grid of "${dataset.name}" is too small for None_Fd${order}.`, {
      member: "derivatives",
    });
  }
}
