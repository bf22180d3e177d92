/** Writes cubes of analytic and random flows, any number of nodes, a few chunks of one frame in memory at a time. */
import { join } from "node:path";
import ndarray, { type NdArray } from "ndarray";
import ops from "ndarray-ops";
import { FIELDS, type KnownField } from "#src/shared/operations.js";
import { makeFolder } from "#src/shared/system.js";
import { completeFolder, type Manifest } from "#src/storage/catalog/manifest.js";
import type { Triple } from "#src/storage/dataset/dataset.js";
import { type Filter, Hdf5Writer } from "#src/storage/hdf5/writer.js";
import {
  abcFlow,
  addTerms,
  type Flow,
  magneticFlow,
  mixingFlow,
  type PeriodicBox,
  smoothFlow,
  taylorGreenFlow,
} from "./analytic.js";
import { randomAt, randomStream } from "./random.js";

/** Adds a component (0 to 3: u, v, w, p) of a flow at a stored frame to `sum`, shape (z, y, x) of the box. */
type AddComponent = (component: number, frame: number, box: PeriodicBox, sum: NdArray<Float64Array>) => void;

/** Time between stored frames and viscosity of the analytic flows. */
const STEP = 0.1;
const VISCOSITY = 0.1;

/** Nodes a chunk has along an axis unless told otherwise. */
const CHUNK = 32;

const fromFlow =
  (flow: Flow): AddComponent =>
  (component, frame, box, sum) =>
    addTerms(flow[component] ?? [], frame * STEP, box, sum);

/** White noise, -1 <= value < 1, each node's number taken by its place in the whole cube. */
const whiteNoise =
  (seed: number): AddComponent =>
  (component, frame, box, sum) => {
    const [x, y, z] = box as [PeriodicBox[number], PeriodicBox[number], PeriodicBox[number]];
    const stream = randomStream(seed, 4 * frame + component);
    let at = 0;
    for (let k = z.first; k < z.first + z.count; k++) {
      for (let j = y.first; j < y.first + y.count; j++) {
        const row = (k * y.nodes + j) * x.nodes + x.first;
        for (let i = 0; i < x.count; i++) sum.data[at++] = 2 * randomAt(stream, row + i) - 1;
      }
    }
  };

/** A kind of cube. */
interface CubeRecipe {
  readonly title: string;
  readonly source: string;
  readonly add: (seed: number) => AddComponent;
  /** Velocity and pressure unless it says so. */
  readonly fields?: readonly KnownField[];
}

function fieldsOf({ kind, fields }: CubeOptions): readonly KnownField[] {
  return fields ?? (CUBES[kind] as CubeRecipe).fields ?? ["velocity", "pressure"];
}

/** The kinds of cube by name. */
const CUBES = {
  abc: {
    title: "Arnold-Beltrami-Childress flow",
    source: `A = 1, B = sqrt(2/3), C = sqrt(1/3), decaying as exp(-${VISCOSITY} t); p = -|u|^2/2 without its mean.`,
    add: () => fromFlow(abcFlow(VISCOSITY)),
  },
  "taylor-green": {
    title: "Taylor-Green vortex",
    source: `u decaying as exp(-${3 * VISCOSITY} t), p by its Poisson equation at each time.`,
    add: () => fromFlow(taylorGreenFlow(VISCOSITY)),
  },
  mhd: {
    title: "Conducting flow",
    source: `The ABC flow with b = curl a, a Beltrami field of wavenumber 2 that decays as exp(-${4 * VISCOSITY} t).`,
    add: () => fromFlow(magneticFlow(VISCOSITY)),
    fields: ["velocity", "pressure", "magnetic", "potential"],
  },
  mixing: {
    title: "Mixing flow",
    source: "The Taylor-Green vortex with a density around 1.5 and a temperature around 0.",
    add: () => fromFlow(mixingFlow(VISCOSITY)),
    fields: ["velocity", "pressure", "density", "temperature"],
  },
  random: {
    title: "White noise",
    source: "Independent uniform numbers in [-1, 1) at every node, component and frame.",
    add: whiteNoise,
  },
  smooth: {
    title: "Smooth random field",
    source: "A few standing waves of seeded amplitude, wavenumber, phase and frequency per component.",
    add: (seed: number) => fromFlow(smoothFlow(seed)),
  },
} as const satisfies Readonly<Record<string, CubeRecipe>>;

export type CubeKind = keyof typeof CUBES;

export interface CubeOptions {
  readonly kind: CubeKind;
  /** Nodes along x, y, z; every axis has the period 2 pi. */
  readonly nodes: Triple;
  /** Stored frames, 0.1 apart from t = 0, without guards. */
  readonly steps: number;
  /** Nodes of a chunk along x, y, z; null takes 32, or the axis where it is shorter. */
  readonly chunk: Triple | null;
  /** Absent: all fields of the kind. */
  readonly fields?: readonly KnownField[];
  readonly filter: Filter;
  readonly seed: number;
  readonly name: string;
  readonly folder: string;
}

/**
 * Writes a dataset folder with the fields of a kind of cube.
 *
 * @param progress called with the fraction done, 0 < fraction <= 1, after each box
 */
export async function writeCube(options: CubeOptions, progress: (fraction: number) => void): Promise<Manifest> {
  const { nodes, steps, name, folder } = options;
  const file = `${name}.h5`;
  makeFolder(folder);
  const writer = await Hdf5Writer.create(join(folder, file));
  try {
    writeFields(options, writer, progress);
    writer.close();
  } finally {
    writer.discard();
  }
  const { title, source } = CUBES[options.kind];
  const descriptor = {
    schemaVersion: 1,
    name,
    title: `${title}, ${nodes.join(" x ")}, ${steps} ${steps === 1 ? "frame" : "frames"}`,
    axes: periodicAxes(nodes),
    time: steps === 1 ? { count: 1 } : { origin: 0, step: STEP, count: steps },
    fields: Object.fromEntries(
      fieldsOf(options).map((field) => {
        const vector = FIELDS[field] === 3 ? ["c"] : [];
        return [field, { file, path: `/${field}`, dimensions: ["t", "z", "y", "x", ...vector] }];
      }),
    ),
    forcing: options.kind === "mhd" ? { kind: "taylorGreen", amplitude: 0.25, wavenumber: 2 } : { kind: "none" },
    source: `Made by fieldprobe generate. ${source}`,
  };
  return completeFolder(folder, descriptor, [file]);
}

/** Writes every frame in rows of chunks along x: the smallest boxes that end on chunk borders and stay contiguous. */
function writeFields(options: CubeOptions, writer: Hdf5Writer, progress: (fraction: number) => void): void {
  const { steps, filter } = options;
  const [nx, ny, nz] = options.nodes;
  const [cx, cy, cz] = options.nodes.map((n, d) => Math.min(n, options.chunk?.[d] ?? CHUNK)) as [
    number,
    number,
    number,
  ];
  const stored = { type: "float32", filter } as const;
  const shape = [steps, nz, ny, nx];
  const chunks = [1, cz, cy, cx];
  const fields = fieldsOf(options).map((name) => {
    const last = FIELDS[name] === 3 ? [3] : [];
    const write = writer.dataset({
      ...stored,
      path: `/${name}`,
      shape: [...shape, ...last],
      chunks: [...chunks, ...last],
    });
    return { components: FIELDS[name], last, write };
  });
  const add: AddComponent = CUBES[options.kind].add(options.seed);
  const scratch = new Float64Array(cz * cy * nx);
  const values = new Float32Array(3 * scratch.length);
  for (let frame = 0; frame < steps; frame++) {
    for (let z = 0; z < nz; z += cz) {
      for (let y = 0; y < ny; y += cy) {
        const [depth, height] = [Math.min(cz, nz - z), Math.min(cy, ny - y)];
        const box: PeriodicBox = [
          { first: 0, count: nx, nodes: nx },
          { first: y, count: height, nodes: ny },
          { first: z, count: depth, nodes: nz },
        ];
        const size = depth * height * nx;
        const sum = ndarray(scratch.subarray(0, size), [depth, height, nx]);
        let component = 0;
        for (const { components, last, write } of fields) {
          const nodes = ndarray(values.subarray(0, components * size), [depth, height, nx, components]);
          for (let c = 0; c < components; c++) {
            sum.data.fill(0);
            add(component++, frame, box, sum);
            ops.assign(nodes.pick(null, null, null, c), sum as NdArray);
          }
          const origin = [frame, z, y, 0, ...last.map(() => 0)];
          write(origin, [1, depth, height, nx, ...last], nodes.data);
        }
        progress((frame + (z + (depth * (y + height)) / ny) / nz) / steps);
      }
    }
  }
}

/** Descriptor axes of period 2 pi. */
export function periodicAxes(nodes: Triple): Record<"x" | "y" | "z", object> {
  const axis = (n: number) => ({ nodes: n, origin: 0, spacing: (2 * Math.PI) / n, periodic: true });
  return { x: axis(nodes[0]), y: axis(nodes[1]), z: axis(nodes[2]) };
}
