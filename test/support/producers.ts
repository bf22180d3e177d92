/** One file of every producer's layout, and what a descriptor of the same nodes in canonical form says. */
import { join } from "node:path";
import type { Dataset, File } from "h5wasm/node";
import type { Answers } from "../../src/storage/recognise/answers.js";
import { recognise } from "../../src/storage/recognise/recognise.js";
import { makeBigEndian } from "./big-endian.js";
import {
  type Dimension,
  FRAMES,
  fill,
  NODES,
  nodeValue,
  parentOf,
  type StoredSpec,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "./cubes.js";

export interface ProducerFile {
  /** Base name: the dataset takes it. */
  readonly name: string;
  readonly producer: string;
  readonly write: (file: File) => void;
  /** Changes the finished file byte by byte; it is then written in the oldest format. */
  readonly finish?: (path: string) => void;
  /** Axes and time of the canonical twin; fields are those of the file. */
  readonly axes: Record<"x" | "y" | "z", object>;
  readonly time: object;
  readonly pressure: boolean;
  /** Whether there is a velocity; there is unless said. */
  readonly velocity?: boolean;
  readonly others?: readonly OtherField[];
  /** The answers that the user must give before it is served. */
  readonly answers?: Answers;
  /** Words of `inspect`, among others. */
  readonly says: readonly RegExp[];
}

export const OTHERS = { magnetic: 3, potential: 3, force: 3, density: 1, temperature: 1 } as const;
type OtherField = keyof typeof OTHERS;

/** The value of another field at a node, which no other field has anywhere. */
export function otherValue(field: OtherField, index: Parameters<typeof nodeValue>[0]): number {
  return nodeValue(index) + 2 ** 17 * (1 + Object.keys(OTHERS).indexOf(field));
}

type Numbers = Float64Array | Float32Array | Int32Array;

function table(file: File, path: string, values: Numbers | number[], shape?: number[]): void {
  const { group, name } = parentOf(file, path);
  const data = Array.isArray(values) ? Float64Array.from(values) : values;
  group.create_dataset({ name, data, shape: shape ?? [data.length] });
}

function number(file: File, path: string, value: number): void {
  const { group, name } = parentOf(file, path);
  group.create_dataset({ name, data: Float64Array.of(value), shape: [] });
}

const range = (n: number, value: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => value(i));
const DX = (2 * Math.PI) / 1024;
const SPATIAL = ["z", "y", "x"] as const;

/** Values of one frame, component c where the dataset holds one component only. */
const frame =
  (t: number, c?: number): NonNullable<StoredSpec["value"]> =>
  (index) =>
    nodeValue({ ...index, t, ...(c === undefined ? {} : { c }) });

const otherFrame =
  (field: OtherField, t: number, c?: number): NonNullable<StoredSpec["value"]> =>
  (index) =>
    otherValue(field, { ...index, t, ...(c === undefined ? {} : { c }) });

const uniform = (nodes: number, origin: number, spacing: number, periodic = false) => ({
  nodes,
  origin,
  spacing,
  periodic,
});
const cutoutAxis = (nodes: number, first: number) => uniform(nodes, first * DX, DX);

/** Other fields as cutouts name them. */
const CUTOUT_NAMES = [
  ["Magneticfield", "magnetic"],
  ["Vectorpotential", "potential"],
  ["Density", "density"],
  ["Temperature", "temperature"],
] as const;

function writeCutout(file: File, others: boolean): void {
  for (const t of [0, 1, 2]) {
    const label = String(11 + 2 * t).padStart(4, "0");
    writeField(file, `/Velocity_${label}`, { dimensions: [...SPATIAL, "c"], value: frame(t) });
    writeField(file, `/Pressure_${label}`, { dimensions: [...SPATIAL, "c"], lengths: { c: 1 }, value: frame(t) });
    for (const [name, field] of others ? CUTOUT_NAMES : [])
      writeField(file, `/${name}_${label}`, {
        ...{ dimensions: [...SPATIAL, "c"], lengths: { c: OTHERS[field] }, value: otherFrame(field, t) },
      });
  }
  file.create_attribute("dataset", "isotropic1024coarse");
  const starts = { x: 101, y: 1, z: 1013 };
  for (const axis of ["x", "y", "z"] as const) {
    file.create_attribute(`${axis}_start`, starts[axis]);
    file.create_attribute(`${axis}_end`, starts[axis] + NODES[axis] - 1);
    file.create_attribute(`${axis}_step`, 1);
    table(file, `/${axis}coor`, Float32Array.from(range(NODES[axis], (i) => (starts[axis] - 1 + i) * DX)));
  }
  file.create_attribute("t_start", 11);
  file.create_attribute("filterWidth", 1);
}

const CUTOUT = {
  axes: { x: cutoutAxis(NODES.x, 100), y: cutoutAxis(NODES.y, 0), z: cutoutAxis(NODES.z, 1012) },
  time: { origin: 10 * 0.002, step: 2 * 0.002, count: FRAMES },
  pressure: true,
};

/** Chebyshev nodes from b down to a, as Channelflow stores them. */
const chebyshev = (n: number) => range(n, (i) => Math.cos((Math.PI * i) / (n - 1)));

const ghosted = (values: (i: number) => number, n: number) => range(n + 6, (i) => values(i - 3));

/** A file whose dimensions have scales; with other fields, one of them a whole vector, or without. */
function writeScaled(file: File, others: boolean): void {
  const dimensions: Dimension[] = ["t", "y", "x", "z"];
  for (const [c, component] of ["ux", "uy", "uz"].entries())
    writeField(file, `/${component}`, { dimensions, value: (index) => nodeValue({ ...index, c }) });
  writeField(file, "/p", { dimensions });
  if (others) {
    for (const [c, component] of ["bx", "by", "bz"].entries())
      writeField(file, `/${component}`, { dimensions, value: (index) => otherValue("magnetic", { ...index, c }) });
    writeField(file, "/force", {
      ...{ dimensions: ["t", "y", "x", "z", "c"], value: (index) => otherValue("force", index) },
    });
    writeField(file, "/rho", { dimensions, value: (index) => otherValue("density", { ...index, c: 0 }) });
  }
  table(file, "/time", [0, 1, 4]);
  for (const axis of ["x", "y", "z"] as const)
    table(
      file,
      `/${axis}`,
      range(NODES[axis], (i) => 0.5 * i),
    );
  for (const scale of ["time", "x", "y", "z"]) (file.get(scale) as Dataset).make_scale(scale);
  for (const name of ["ux", "uy", "uz", "p", ...(others ? ["bx", "by", "bz", "rho", "force"] : [])])
    for (const [index, scale] of ["time", "y", "x", "z"].entries())
      (file.get(name) as Dataset).attach_scale(index, `/${scale}`);
}

export const PRODUCERS: readonly ProducerFile[] = [
  {
    name: "cutout2019",
    producer: "JHTDB cutout (2019 on)",
    write: (file) => writeCutout(file, false),
    ...CUTOUT,
    says: [/isotropic1024coarse/, /not periodic, from the cutout, which is smaller/],
  },
  {
    name: "cutout-fields",
    producer: "JHTDB cutout (2019 on)",
    write: (file) => writeCutout(file, true),
    ...CUTOUT,
    others: CUTOUT_NAMES.map(([, field]) => field),
    says: [/isotropic1024coarse/],
  },
  {
    name: "cutout-xarray",
    producer: "JHTDB cutout (written by xarray)",
    write: (file) => {
      writeCutout(file, true);
      table(file, "/values", [1, 2, 3]);
      for (const scale of ["zcoor", "ycoor", "xcoor", "values"]) (file.get(scale) as Dataset).make_scale(scale);
      for (const name of file.keys().filter((key) => /_\d{4}$/.test(key)))
        for (const [index, scale] of ["zcoor", "ycoor", "xcoor"].entries())
          (file.get(name) as Dataset).attach_scale(index, `/${scale}`);
    },
    ...CUTOUT,
    others: CUTOUT_NAMES.map(([, field]) => field),
    says: [/dimension scales zcoor/],
  },
  {
    name: "cutout2012",
    producer: "JHTDB cutout (before 2019)",
    write: (file) => {
      for (const t of [0, 1, 2]) {
        const label = String(1000 + 100 * t).padStart(5, "0");
        writeField(file, `/u${label}`, { dimensions: [...SPATIAL, "c"], value: frame(t) });
        writeField(file, `/p${label}`, { dimensions: [...SPATIAL, "c"], lengths: { c: 1 }, value: frame(t) });
        for (const [letter, field] of [
          ["b", "magnetic"],
          ["a", "potential"],
          ["d", "density"],
        ] as const)
          writeField(file, `/${letter}${label}`, {
            ...{ dimensions: [...SPATIAL, "c"], lengths: { c: OTHERS[field] }, value: otherFrame(field, t) },
          });
      }
      table(file, "/_contents", Int32Array.of(5));
      table(file, "/_dataset", Int32Array.of(4));
      table(file, "/_size", Int32Array.of(3, NODES.x, NODES.y, NODES.z));
      table(file, "/_start", Int32Array.of(100, 100, 0, 1012));
    },
    axes: CUTOUT.axes,
    time: { origin: 100 * 0.002, step: 10 * 0.002, count: FRAMES },
    pressure: true,
    others: ["magnetic", "potential", "density"],
    says: [/_dataset is 4, isotropic1024coarse/, /step times 10/],
  },
  {
    name: "well",
    producer: "The Well",
    write: (file) => {
      file.create_attribute("dataset_name", "turbulence");
      file.create_attribute("grid_type", "cartesian");
      file.create_attribute("n_spatial_dims", 3);
      file.create_attribute("n_trajectories", 2);
      const other: NonNullable<StoredSpec["value"]> = (index) => (index.n === 0 ? nodeValue(index) : -1);
      const lengths = { n: 2 };
      writeField(file, "/t1_fields/velocity", { dimensions: ["n", "t", "x", "y", "z", "c"], lengths, value: other });
      writeField(file, "/t0_fields/pressure", { dimensions: ["n", "t", "x", "y", "z"], lengths, value: other });
      const besides: (field: OtherField) => NonNullable<StoredSpec["value"]> = (field) => (index) =>
        index.n === 0 ? otherValue(field, index) : -1;
      writeField(file, "/t1_fields/magnetic_field", {
        ...{ dimensions: ["n", "t", "x", "y", "z", "c"], lengths, value: besides("magnetic") },
      });
      for (const field of ["density", "temperature"] as const)
        writeField(file, `/t0_fields/${field}`, {
          ...{ dimensions: ["n", "t", "x", "y", "z"], lengths, value: besides(field) },
        });
      for (const path of [
        "t1_fields/velocity",
        "t1_fields/magnetic_field",
        "t0_fields/pressure",
        "t0_fields/density",
      ]) {
        const field = file.get(path) as Dataset;
        field.create_attribute("dim_varying", Int8Array.of(1, 1, 1));
        for (const name of ["sample_varying", "time_varying"]) field.create_attribute(name, 1);
      }
      table(file, "/dimensions/time", [0.5, 1, 1.5]);
      for (const axis of ["x", "y", "z"] as const) {
        table(
          file,
          `/dimensions/${axis}`,
          range(NODES[axis], (i) => 0.25 * i),
        );
        for (const name of ["sample_varying", "time_varying"])
          (file.get(`dimensions/${axis}`) as Dataset).create_attribute(name, 0);
        const boundary = file.get("boundary_conditions") ?? file.create_group("boundary_conditions");
        const group = (boundary as File).create_group(`${axis}_boundary`);
        group.create_attribute("bc_type", axis === "z" ? "WALL" : "PERIODIC");
        group.create_attribute("associated_dims", [axis]);
      }
    },
    axes: {
      x: uniform(NODES.x, 0, 0.25, true),
      y: uniform(NODES.y, 0, 0.25, true),
      z: { ...uniform(NODES.z, 0, 0.25), faces: "wall" },
    },
    time: { origin: 0.5, step: 0.5, count: FRAMES },
    pressure: true,
    others: ["magnetic", "density", "temperature"],
    says: [/trajectory: 0 of 2/, /z: .* says wall/],
  },
  {
    name: "shenfun",
    producer: "mpi4py-fft, spectralDNS or shenfun",
    write: (file) => {
      for (const t of [0, 1, 2]) {
        writeField(file, `/U/3D/${10 * t}`, { dimensions: ["c", "x", "y", "z"], type: "<d", value: frame(t) });
        writeField(file, `/P/3D/${10 * t}`, { dimensions: ["x", "y", "z"], type: "<d", value: frame(t) });
      }
      for (const [index, axis] of (["x", "y", "z"] as const).entries())
        for (const field of ["U", "P"]) table(file, `/${field}/domain/x${index}`, [0, NODES[axis] / 2]);
    },
    axes: { x: uniform(NODES.x, 0, 0.5, true), y: uniform(NODES.y, 0, 0.5, true), z: uniform(NODES.z, 0, 0.5, true) },
    time: { origin: 0, step: 10, count: FRAMES },
    pressure: true,
    answers: { times: { origin: 0, step: 10 } },
    says: [/states steps \(0, 10, 20, \.\.\.\), not times/],
  },
  {
    name: "state_phys_t0000.500",
    producer: "fluidsim",
    write: (file) => {
      for (const [c, component] of ["vx", "vy", "vz"].entries())
        writeField(file, `/state_phys/${component}`, { dimensions: ["y", "z", "x"], type: "<d", value: frame(0, c) });
      (file.get("state_phys") as File).create_attribute("time", 0.5, [], "<d");
      file.create_attribute("axes", ["y", "z", "x"]);
      const { group } = parentOf(file, "/info_simul/params/oper/none");
      for (const axis of ["x", "y", "z"] as const) group.create_attribute(`L${axis}`, NODES[axis] / 4, [], "<d");
    },
    axes: {
      x: uniform(NODES.x, 0, 0.25, true),
      y: uniform(NODES.y, 0, 0.25, true),
      z: uniform(NODES.z, 0, 0.25, true),
    },
    time: { count: 1, origin: 0.5 },
    pressure: false,
    says: [/dimensions: y z x, from the file attribute axes/],
  },
  {
    name: "VAR0",
    producer: "Pencil Code",
    write: (file) => {
      const lengths = { x: NODES.x + 6, y: NODES.y + 6, z: NODES.z + 6 };
      const shifted = (c: number, field?: OtherField): NonNullable<StoredSpec["value"]> => {
        return (index) => {
          const [x, y, z] = [index.x - 3, index.y - 3, index.z - 3];
          const inside = x >= 0 && x < NODES.x && y >= 0 && y < NODES.y && z >= 0 && z < NODES.z;
          if (!inside) return -1;
          const at = { t: 0, x, y, z, c };
          return field === undefined ? nodeValue(at) : otherValue(field, at);
        };
      };
      for (const [c, component] of ["ux", "uy", "uz"].entries())
        writeField(file, `/data/${component}`, { dimensions: [...SPATIAL], lengths, value: shifted(c) });
      writeField(file, "/data/pp", { dimensions: [...SPATIAL], lengths, value: shifted(0) });
      for (const [letter, field] of [
        ["b", "magnetic"],
        ["a", "potential"],
      ] as const)
        for (const [c, axis] of ["x", "y", "z"].entries())
          writeField(file, `/data/${letter}${axis}`, { dimensions: [...SPATIAL], lengths, value: shifted(c, field) });
      writeField(file, "/data/rho", { dimensions: [...SPATIAL], lengths, value: shifted(0, "density") });
      writeField(file, "/data/TT", { dimensions: [...SPATIAL], lengths, value: shifted(0, "temperature") });
      for (const axis of ["x", "y"] as const) {
        table(
          file,
          `/grid/${axis}`,
          ghosted((i) => -1 + 0.5 * i, NODES[axis]),
        );
        number(file, `/grid/L${axis}`, 0.5 * NODES[axis]);
      }
      table(
        file,
        "/grid/z",
        ghosted((i) => 0.25 * i, NODES.z),
      );
      number(file, "/grid/Lz", 0.25 * (NODES.z - 1));
      number(file, "/time", 7.5);
    },
    axes: { x: uniform(NODES.x, -1, 0.5, true), y: uniform(NODES.y, -1, 0.5, true), z: uniform(NODES.z, 0, 0.25) },
    time: { count: 1, origin: 7.5 },
    pressure: true,
    others: ["magnetic", "potential", "density", "temperature"],
    says: [/3 ghost layers/, /z: .*not periodic/],
  },
  {
    name: "uchannel",
    producer: "Channelflow 2",
    write: (file) => {
      const sizes = { Nx: NODES.x, Ny: NODES.y, Nz: NODES.z, Nd: 3 };
      for (const [name, value] of Object.entries(sizes)) file.create_attribute(name, value);
      for (const [name, value] of Object.entries({ Lx: NODES.x / 4, Lz: NODES.z / 4, a: -1, b: 1 }))
        file.create_attribute(name, value, [], "<f");
      const { group } = parentOf(file, "/data/u");
      group.create_dataset({ name: "u", data: channelValues(), shape: [3, NODES.z, NODES.y, NODES.x] });
      table(file, "/geom/x", Float32Array.from(range(NODES.x, (i) => 0.25 * i)));
      table(file, "/geom/y", Float64Array.from(chebyshev(NODES.y)));
      table(file, "/geom/z", Float32Array.from(range(NODES.z, (i) => 0.25 * i)));
    },
    finish: (path) => makeBigEndian(path, [8]),
    axes: {
      x: uniform(NODES.x, 0, 0.25, true),
      y: { coordinates: [...chebyshev(NODES.y)].reverse() },
      z: uniform(NODES.z, 0, 0.25, true),
    },
    time: { count: 1 },
    pressure: false,
    says: [/c x y z/, /y: wall at both ends/],
  },
  {
    name: "generic-scaled",
    producer: "generic",
    write: (file) => writeScaled(file, false),
    axes: { x: uniform(NODES.x, 0, 0.5), y: uniform(NODES.y, 0, 0.5), z: uniform(NODES.z, 0, 0.5) },
    time: { values: [0, 1, 4] },
    pressure: true,
    says: [/dimensions t y x z, from the labels and scales/],
  },
  {
    name: "generic-fields",
    producer: "generic",
    write: (file) => writeScaled(file, true),
    axes: { x: uniform(NODES.x, 0, 0.5), y: uniform(NODES.y, 0, 0.5), z: uniform(NODES.z, 0, 0.5) },
    time: { values: [0, 1, 4] },
    pressure: true,
    others: ["magnetic", "force", "density"],
    says: [/dimensions t y x z, from the labels and scales/, /magnetic: \/bx, \/by, \/bz\./],
  },
  {
    name: "generic-lengths",
    producer: "generic",
    write: (file) => {
      writeField(file, "/vel", { dimensions: ["t", "c", "x", "z", "y"], lengths: { t: 2 }, type: "<d" });
      writeField(file, "/B", {
        ...{
          dimensions: ["t", "c", "x", "z", "y"],
          lengths: { t: 2 },
          value: (index) => otherValue("magnetic", index),
        },
      });
      writeField(file, "/temperature", {
        ...{ dimensions: ["x", "z", "y", "t"], lengths: { t: 2 } },
        value: (index) => otherValue("temperature", { ...index, c: 0 }),
      });
      for (const axis of ["x", "y", "z"] as const)
        table(
          file,
          `/${axis}coor`,
          range(NODES[axis], (i) => i * i + i),
        );
    },
    axes: Object.fromEntries(
      (["x", "y", "z"] as const).map((axis) => [axis, { coordinates: [...range(NODES[axis], (i) => i * i + i)] }]),
    ) as ProducerFile["axes"],
    time: { origin: 0, step: 1, count: 2 },
    pressure: false,
    others: ["magnetic", "temperature"],
    answers: { times: { origin: 0, step: 1 } },
    says: [/dimensions t c x z y, from the coordinates/, /does not state the times of its 2 frames/],
  },
  {
    name: "generic-scalars",
    producer: "generic",
    write: (file) => {
      for (const [name, field] of [
        ["density", "density"],
        ["Temp", "temperature"],
      ] as const)
        writeField(file, `/fields/${name}`, { dimensions: ["y", "x", "z"], value: otherFrame(field, 0, 0) });
      for (const axis of ["x", "y", "z"] as const)
        table(file, `/grid/${axis}`, [...range(NODES[axis], (i) => 0.5 * i)]);
    },
    axes: { x: uniform(NODES.x, 0, 0.5), y: uniform(NODES.y, 0, 0.5), z: uniform(NODES.z, 0, 0.5) },
    time: { count: 1 },
    velocity: false,
    pressure: false,
    others: ["density", "temperature"],
    says: [/velocity: none; pressure: none/, /density: \/fields\/density/],
  },
  {
    name: "pdebench",
    producer: "PDEBench",
    write: (file) => {
      const dimensions: Dimension[] = ["n", "t", "x", "y", "z"];
      for (const [c, axis] of ["x", "y", "z"].entries())
        writeField(file, `/V${axis}`, { dimensions, value: (index) => nodeValue({ ...index, c }) });
      writeField(file, "/pressure", { dimensions, value: (index) => nodeValue({ ...index, c: 0 }) });
      writeField(file, "/density", { dimensions, value: (index) => otherValue("density", { ...index, c: 0 }) });
      for (const axis of ["x", "y", "z"] as const)
        table(
          file,
          `/${axis}-coordinate`,
          range(NODES[axis], (i) => 0.25 * i),
        );
      table(file, "/t-coordinate", [0, 0.5, 1, 1.5]);
    },
    axes: { x: uniform(NODES.x, 0, 0.25), y: uniform(NODES.y, 0, 0.25), z: uniform(NODES.z, 0, 0.25) },
    time: { origin: 0, step: 0.5, count: FRAMES },
    pressure: true,
    others: ["density"],
    says: [/sample 0 of 1/],
  },
  {
    name: "generic-bare",
    producer: "generic",
    write: (file) => writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"], value: frame(0) }),
    axes: { x: uniform(NODES.x, 0, 1), y: uniform(NODES.y, 0, 1), z: uniform(NODES.z, 0, 1) },
    time: { count: 1 },
    pressure: false,
    answers: { dims: ["z", "y", "x"], spacing: [1, 1, 1], origin: [0, 0, 0] },
    says: [/nothing in the file names its dimensions: z y x c is a guess/, /The distance of the nodes is not stated/],
  },
];

/** Channelflow's memory: c x y z, y from the upper wall down. */
function channelValues(): Float64Array {
  return fill(["c", "x", "y", "z"], [3, NODES.x, NODES.y, NODES.z], (index) =>
    nodeValue({ ...index, y: NODES.y - 1 - index.y }),
  );
}

/** The canonical twin of a producer's file: z y x c in one float32 dataset per field. */
export function writeTwin(file: File, twin: ProducerFile): void {
  const frames = "count" in twin.time ? (twin.time.count as number) : (twin.time as { values: number[] }).values.length;
  if (twin.velocity !== false)
    writeField(file, "/velocity", { dimensions: ["t", "z", "y", "x", "c"], lengths: { t: frames } });
  for (const field of twin.others ?? [])
    writeField(file, `/${field}`, {
      ...{ dimensions: ["t", "z", "y", "x", "c"], lengths: { t: frames, c: OTHERS[field] } },
      value: (index) => otherValue(field, index),
    });
  if (twin.pressure) writeField(file, "/pressure", { dimensions: ["t", "z", "y", "x"], lengths: { t: frames } });
}

export function twinDescriptor(twin: ProducerFile, name: string): object {
  return {
    schemaVersion: 1,
    name,
    axes: twin.axes,
    time: twin.time,
    fields: {
      ...Object.fromEntries(
        [...(twin.velocity === false ? [] : ["velocity"]), ...(twin.others ?? [])].map((field) => [
          field,
          { file: "twin.h5", path: `/${field}`, dimensions: ["t", "z", "y", "x", "c"] },
        ]),
      ),
      ...(twin.pressure ? { pressure: { file: "twin.h5", path: "/pressure", dimensions: ["t", "z", "y", "x"] } } : {}),
    },
  };
}

/** Writes the file of a producer into a folder; where something must be said, beside it a descriptor that says it. */
export async function placeProducer(folder: string, entry: ProducerFile): Promise<string> {
  const path = await writeHdf5(join(folder, `${entry.name}.h5`), entry.write, entry.finish !== undefined);
  entry.finish?.(path);
  if (entry.answers !== undefined) writeDescriptor(folder, recognise(path, entry.answers)?.written);
  return path;
}
