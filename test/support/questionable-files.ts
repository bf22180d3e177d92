/** Files in which one statement leaves open what the stored numbers mean: every door refuses them with a question. */
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import type { Answers } from "../../src/storage/recognise/answers.js";
import { type Dimension, NODES, parentOf, writeField } from "./cubes.js";

export interface QuestionableFile {
  readonly name: string;
  readonly write: (file: File) => void;
  /** Words of the line of the draft, or of the refusal. */
  readonly asks: RegExp;
  /** The statement among what the draft shows and does not use, where no line is open or red. */
  readonly shows?: RegExp;
  /** What answers its open lines, if the red ones are overridden. */
  readonly answers?: Answers;
}

const ORDER: Dimension[] = ["z", "y", "x"];
const AXES = ["x", "y", "z"] as const;
const UVW = ["u", "v", "w"] as const;

type Path = (typeof UVW)[number] | "velocity";

function table(file: File, path: string, count: number, from = 0, step = 0.25): void {
  const { group, name } = parentOf(file, path);
  group.create_dataset({ name, data: Float64Array.from({ length: count }, (_, i) => from + step * i) });
}

/** Three components with everything about their grid stated by tables. */
export function writeComponents(file: File, paths: readonly string[] = UVW.map((name) => `/${name}`)): void {
  for (const [c, path] of paths.entries())
    writeField(file, path, { dimensions: ORDER, value: ({ x, y, z }) => c + x + 16 * y + 256 * z });
}

export function writeTables(file: File): void {
  for (const axis of AXES) table(file, `/${axis}`, NODES[axis]);
  file.create_attribute("axes", "zyx");
  file.create_attribute("periodic", "none");
}

export function complete(more: (file: File) => void) {
  return (file: File): void => {
    writeComponents(file);
    writeTables(file);
    more(file);
  };
}

export const timed = (time: number, more: (file: File) => void = () => {}) =>
  complete((file) => {
    file.create_attribute("time", time, [], "<d");
    more(file);
  });

export const inTime = (times: readonly number[]) => (file: File) => {
  for (const [c, name] of UVW.entries())
    writeField(file, `/${name}`, { dimensions: ["t", ...ORDER], value: ({ x }) => c + x });
  for (const axis of AXES) table(file, `/${axis}`, NODES[axis]);
  file.create_dataset({ name: "time", data: Float64Array.from(times) });
  file.create_attribute("axes", "tzyx");
  file.create_attribute("periodic", "none");
};

const attribute = (file: File, path: string, name: string, value: unknown): void => {
  const holder = path === "/" ? file : (file.get(path) as Group | H5Dataset);
  holder.create_attribute(name, value as string);
};

/** A complete file whose components have one attribute more each. */
const onFields = (name: string, said: unknown) =>
  complete((file) => {
    for (const [c, path] of UVW.entries()) attribute(file, path, name, Array.isArray(said) ? said[c] : said);
  });
const onRoot = (name: string, value: unknown) => complete((file) => attribute(file, "/", name, value));

const inGroup = (name: string, value: number) => (file: File) => {
  writeComponents(
    file,
    UVW.map((path) => `/fields/${path}`),
  );
  writeTables(file);
  attribute(file, "fields", name, value);
};

/** Components with attributes in the place of coordinates; in their names, $ is the axis. */
function placedBy(values: Readonly<Record<string, number>>, more?: (file: File) => void) {
  return (file: File): void => {
    writeComponents(file);
    file.create_attribute("axes", "zyx");
    file.create_attribute("periodic", "none");
    for (const axis of AXES)
      for (const [name, value] of Object.entries(values)) attribute(file, "/", name.replace("$", axis), value);
    more?.(file);
  };
}
const boxed = (more: (file: File) => void) => placedBy({ $min: 0, $max: 2 }, more);

/** Components on nodes of their own along their own axis, in equal number. Names: that of x, or of each axis. */
export function staggered(names: readonly [centre: string, own: string], withTables: boolean) {
  return (file: File): void => {
    writeComponents(file);
    for (const [a, axis] of AXES.entries()) {
      const nameOf = (name: string) => name.replace("x", axis).replace("X", axis.toUpperCase());
      const [centre, own] = names.map((name) => name.split(" ")[a] ?? nameOf(name));
      table(file, `/${centre}`, NODES[axis], 0.125);
      table(file, `/${own}`, NODES[axis], withTables ? 0 : 0.125);
      for (const name of [centre, own]) (file.get(name as string) as H5Dataset).make_scale(name);
      for (const [at, path] of UVW.entries()) {
        const name = AXES[at] === axis ? own : centre;
        (file.get(path) as H5Dataset).attach_scale(2 - AXES.indexOf(axis), `/${name}`);
      }
    }
    file.create_attribute("periodic", "none");
  };
}

function vector(more: (file: File, velocity: H5Dataset) => void) {
  return (file: File): void => {
    writeField(file, "/velocity" satisfies `/${Path}`, { dimensions: [...ORDER, "c"] });
    writeTables(file);
    more(file, file.get("velocity") as H5Dataset);
  };
}

function repeatedEnds(file: File): void {
  const value = (c: number) => (index: { x: number; y: number; z: number }) =>
    Math.cos((2 * Math.PI * index.x) / (NODES.x - 1) + c) + index.y + 0.5 * index.z;
  for (const [c, path] of UVW.entries()) writeField(file, `/${path}`, { dimensions: ORDER, value: value(c) });
  for (const axis of AXES) table(file, `/${axis}`, NODES[axis]);
  file.create_attribute("axes", "zyx");
  file.create_attribute("periodic", "x");
}

export const QUESTIONABLE: readonly QuestionableFile[] = [
  { name: "scale-on-root", write: onRoot("scale_factor", 0.01), asks: /^/, shows: /^@scale_factor = 0\.01$/ },
  { name: "unit-si-on-group", write: inGroup("unitSI", 100), asks: /^/, shows: /^\/fields@unitSI = 100$/ },
  { name: "factor", write: onFields("factor", 2), asks: /factor = 2 of \/u and 2 more/, answers: {} },
  { name: "to-si", write: onRoot("to_SI", 0.01), asks: /^/, shows: /^@to_SI = 0\.01$/ },
  { name: "cgs", write: onRoot("CGSConversionFactor", 100), asks: /^/, shows: /^@CGSConversionFactor = 100$/ },
  {
    name: "normalization",
    write: onFields("normalization", "u_tau"),
    asks: /^/,
    shows: /^\/u@normalization = "u_tau"$/,
  },
  { name: "reference", write: onRoot("reference_velocity", 3), asks: /^/, shows: /^@reference_velocity = 3$/ },
  {
    name: "units-differ",
    write: onFields("units", ["m/s", "u_tau", "m/s"]),
    asks: /"m\/s" and \/v in "u_tau"/,
    answers: { walls: [] },
  },
  { name: "units-scaled", write: onFields("units", "0.01 m/s"), asks: /units of.*0\.01 m\/s/ },
  {
    name: "standard-names",
    write: onFields("standard_name", ["northward_wind", "eastward_wind", "upward_air_velocity"]),
    asks: /standard_name of \/u is "northward_wind"/,
    answers: { walls: [] },
  },
  { name: "centring", write: onFields("centering", "cell"), asks: /^/, shows: /^\/u@centering = "cell"$/ },
  {
    name: "labels",
    write: vector((_, velocity) => velocity.create_attribute("labels", "w,v,u")),
    asks: /are w, v, u/,
    answers: { walls: [] },
  },
  {
    name: "second-table",
    write: complete((file) => table(file, "/xm", NODES.x, 0.125)),
    asks: /\/x and \/xm both have a coordinate|\/xm and \/x both/,
    answers: { walls: [] },
  },
  {
    name: "faces-of-periodic-axis",
    write: complete((file) => table(file, "/xf", NODES.x, 0.125)),
    asks: /\/x and \/xf both have a coordinate/,
    answers: { walls: [] },
  },
  { name: "faces", write: onFields("location", "xface"), asks: /\/u@location is xface/, answers: { walls: [] } },
  {
    name: "two-origins",
    write: placedBy({ d$: 0.25, $0: 0, origin_$: 1 }),
    asks: /x0 of \/ is 0 and the attribute origin_x of \/ is 1/,
    answers: { walls: [] },
  },
  {
    name: "edge-in-unknown-order",
    write: (file) => {
      writeField(file, "/velocity", { dimensions: ["x", "z", "y", "c"] });
      file.create_attribute("axes", "xzyc");
      file.create_attribute("periodic", "none");
      for (const axis of AXES) {
        attribute(file, "/", `d${axis}`, 0.25);
        attribute(file, "/", `${axis}0`, 0);
      }
      file.create_attribute("domain_left_edge", Float64Array.of(71, 72, 73));
    },
    asks: /The nodes are from 0 to .* along x, and the attribute domain_left_edge of \/ is 71, 72, 73/,
    answers: { walls: [] },
  },
  {
    name: "unit-of-a-group",
    write: complete((file) => {
      for (const path of UVW) attribute(file, path, "units", "m/s");
      attribute(file, "/", "units", "cm/s");
    }),
    asks: /\/u is in "m\/s" and the attribute units of \/ is "cm\/s"/,
    answers: { walls: [] },
  },
  {
    name: "extent",
    write: onRoot("extent", Float64Array.of(0, 99, 0, 99, 0, 99)),
    asks: /extent of \/ is 0, 99, 0, 99, 0, 99/,
    answers: { walls: [] },
  },
  {
    name: "depth-by-standard-name",
    write: complete((file) => attribute(file, "z", "standard_name", "depth")),
    asks: /\/z counts downwards by its name/,
    answers: { walls: [] },
  },
  {
    name: "levels-of-temperature",
    write: complete((file) => attribute(file, "z", "units", "K")),
    asks: /\/z is in K, which is no length/,
    answers: { walls: [] },
  },
  {
    name: "other-order",
    write: onRoot("storage_order", "x,y,z"),
    asks: /storage_order of \/ says x y z/,
    answers: { walls: [] },
  },
  { name: "other-box", write: onRoot("Lx", 99), asks: /Lx of \/ is 99/, answers: { walls: [] } },
  {
    name: "conditions",
    write: onRoot("boundary_conditions", "periodic"),
    asks: /periodic of \/ says not periodic, and the attribute boundary_conditions of \/ says periodic/,
    answers: { walls: [] },
  },
  {
    name: "unit-of-length",
    write: complete((file) => {
      for (const axis of AXES) attribute(file, axis, "units", "cm");
      for (const path of UVW) attribute(file, path, "units", "m/s");
    }),
    asks: /cm along x.* and \/u in m\/s/,
    answers: { walls: [] },
  },
  { name: "box-limits", write: boxed(() => {}), asks: /nothing states whether the 12 nodes are on these ends/ },
  {
    name: "box-limits-and-steps",
    write: boxed((file) => {
      for (const axis of AXES) attribute(file, "/", `d${axis}`, 2 / NODES[axis]);
    }),
    asks: /nothing states whether the 12 nodes are on these ends/,
  },
  {
    name: "repeated-ends",
    write: repeatedEnds,
    asks: /the end of the period is stored as well/,
    answers: { walls: [] },
  },
  {
    name: "periodic-and-wall",
    write: (file) => {
      writeComponents(file);
      for (const axis of AXES) table(file, `/${axis}`, NODES[axis]);
      file.create_attribute("axes", "zyx");
      file.create_attribute("periodic", "xyz");
      file.create_attribute("bc_y", "wall");
    },
    asks: /bc_y of \/ says not periodic, and the attribute periodic of \/ says periodic/,
    answers: { walls: [] },
  },
];
