/** A worker reduces the quantities of a plan at the nodes of a part of a region. */
import type { Components } from "../../analysis/array-functions.js";
import { compileScalar, type Expression } from "../../analysis/expression.js";
import type { InputKey, InputKind } from "../../analysis/names.js";
import { type PartStates, type ReductionPlan, reducePart } from "../../analysis/plan.js";
import { CancelledError, RequestError } from "../../errors.js";
import { gatherBox } from "../../kernels/block.js";
import { type DifferencedNodes, NodeDerivatives, type Surroundings } from "../../kernels/node-derivatives.js";
import type { FieldName } from "../../operations.js";
import type { ReduceMessage } from "../contract/dataset-copy.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

const AXES = [0, 1, 2] as const;
const HIGHEST: Readonly<Record<InputKind, 0 | 1 | 2>> = { value: 0, gradient: 1, laplacian: 2, hessian: 2 };

/**
 * Reduces a part: reads the nodes of its fields once, with those that differences reach, and evaluates the columns.
 *
 * @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil, CancelledError
 */
export function reduceNodes(task: ReduceMessage, open: OpenDataset, sampler: Sampler): PartStates {
  const { plan, region, box, cancel } = task;
  if (Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  const columns = plan.columns.map((text) => compileScalar(text, plan.names));
  const inputs = new BoxInputs(plan, open, sampler, region, columns, box.frame);
  const block = {
    count: region.count[0] * region.count[1] * region.count[2],
    input: (key: InputKey) => inputs.of(key),
    computed: new Map<string, Components>(),
  };
  return reducePart(
    plan,
    box,
    columns.map((column) => column.evaluate(block)[0]),
  );
}

/** Reads what expressions ask of a box, each field once. */
class BoxInputs {
  readonly #plan: ReductionPlan;
  readonly #open: OpenDataset;
  readonly #sampler: Sampler;
  readonly #box: DifferencedNodes & { readonly frame: number };
  readonly #keys: ReadonlySet<InputKey>;
  readonly #frame: number;
  readonly #fields = new Map<FieldName, Surroundings>();
  readonly #derivatives: NodeDerivatives | null;

  constructor(
    plan: ReductionPlan,
    open: OpenDataset,
    sampler: Sampler,
    box: DifferencedNodes & { readonly frame: number },
    columns: readonly Expression[],
    frame: number,
  ) {
    this.#plan = plan;
    this.#open = open;
    this.#sampler = sampler;
    this.#box = box;
    this.#frame = frame;
    this.#keys = new Set(columns.flatMap(({ inputs }) => inputs));
    const differs = [...this.#keys].some((key) => key.includes(":") && !key.startsWith("value:"));
    this.#derivatives = differs ? derivativesOf(open, plan.order) : null;
  }

  of(key: InputKey): Components {
    if (key === "t") return [new Float64Array(this.#size).fill(this.#plan.times[this.#frame])];
    if (key === "x" || key === "y" || key === "z") return [this.#coordinate("xyz".indexOf(key))];
    const [kind, name] = key.split(":") as [InputKind, FieldName];
    const field = this.#fields.get(name) ?? this.#read(name);
    const all = Array.from({ length: field.components }, (_, c) => c);
    if (kind === "value") return all.map((c) => boxValues(field, this.#box, c));
    const derivatives = this.#derivatives as NodeDerivatives;
    const { first, count } = this.#box;
    const box = { first, count };
    const along = (c: number, a: 0 | 1 | 2, n: 1 | 2) => derivatives.derivative(field, box, c, a, n);
    if (kind === "gradient") return all.flatMap((c) => AXES.map((a) => along(c, a, 1)));
    if (kind === "laplacian")
      return all.map((c) => {
        const [x, y, z] = AXES.map((a) => along(c, a, 2));
        return x.map((value, i) => value + y[i] + z[i]);
      });
    const upper = (a: 0 | 1 | 2, b: 0 | 1 | 2) => (a === b ? along(0, a, 2) : derivatives.mixed(field, box, 0, a, b));
    const [xx, xy, xz, yy, yz, zz] = [upper(0, 0), upper(0, 1), upper(0, 2), upper(1, 1), upper(1, 2), upper(2, 2)];
    return [xx, xy, xz, xy, yy, yz, xz, yz, zz];
  }

  get #size(): number {
    const { count } = this.#box;
    return count[0] * count[1] * count[2];
  }

  #coordinate(axis: number): Float64Array {
    const { axes } = this.#open.dataset;
    const { first, count } = this.#box;
    const { coordinates, origin, spacing } = axes[axis];
    const strides = [1, count[0], count[0] * count[1]];
    return Float64Array.from({ length: this.#size }, (_, i) => {
      const node = first[axis] + (Math.floor(i / strides[axis]) % count[axis]);
      return coordinates?.[node] ?? origin + node * spacing;
    });
  }

  #read(name: FieldName): Surroundings {
    const asked = [...this.#keys].filter((key) => key.endsWith(`:${name}`));
    const highest = Math.max(...asked.map((key) => HIGHEST[key.split(":")[0] as InputKind])) as 0 | 1 | 2;
    const { first, count, frame } = this.#box;
    const { low, span } = this.#derivatives?.surroundings(this.#box, highest) ?? { low: first, span: count };
    const reader = this.#sampler.reader(this.#open.source(name));
    const nodes = new Float32Array(reader.components * span[0] * span[1] * span[2]);
    gatherBox(reader, this.#open.dataset.axes, frame, low, span, nodes);
    const field = { nodes, components: reader.components, low, span };
    this.#fields.set(name, field);
    return field;
  }
}

/** One component of the nodes of a box. */
function boxValues(
  { nodes, components, low, span }: Surroundings,
  { first, count }: DifferencedNodes,
  c: number,
): Float64Array {
  const out = new Float64Array(count[0] * count[1] * count[2]);
  for (let z = 0, to = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++) {
      const row = ((first[2] + z - low[2]) * span[1] + first[1] + y - low[1]) * span[0] + first[0] - low[0];
      for (let x = 0; x < count[0]; x++) out[to++] = nodes[(row + x) * components + c];
    }
  return out;
}

function derivativesOf({ dataset }: OpenDataset, order: ReductionPlan["order"]): NodeDerivatives {
  try {
    return new NodeDerivatives(dataset.axes, order);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError("Unsupported", `The grid of "${dataset.name}" is too small for None_Fd${order}.`, {
      member: "derivatives",
    });
  }
}
