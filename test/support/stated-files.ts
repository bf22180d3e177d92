/**
 * Files that state everything about a field, and something more: what changes nothing, what changes the stored numbers
 * or their places, or what contradicts the rest. Each is read right or asked about, never wrong.
 */
import { dirname } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { DataError } from "../../src/shared/errors.js";
import { openDataset } from "../../src/storage/bricks/brick-reader.js";
import { measured } from "../../src/storage/catalog/raised-questions.js";
import { openSource } from "../../src/storage/catalog/source.js";
import type { Answers } from "../../src/storage/recognise/answers.js";
import { flagOf, openLines } from "../../src/storage/recognise/draft.js";
import { type Recognised, recognise } from "../../src/storage/recognise/recognise.js";
import { parentOf, writeHdf5 } from "./cubes.js";
import { POLYNOMIALS } from "./foreign-files.js";
import { openConfirmed } from "./open-confirmed.js";
import { fc } from "./property.js";
import { readNodes } from "./read-nodes.js";

const AXES = ["x", "y", "z"] as const;
type Axis = (typeof AXES)[number];
const GRID = { x: { origin: 0.5, spacing: 0.25 }, y: { origin: -1, spacing: 0.2 }, z: { origin: 2, spacing: 0.125 } };
const LEVELS = ["field", "component", "coordinate", "group", "root"] as const;
type Level = (typeof LEVELS)[number];

interface Statement {
  readonly name: string;
  readonly value: string | number;
  readonly levels: readonly Level[];
}

const above: readonly Level[] = ["group", "root"];
const nearby: readonly Level[] = ["field", "component", "group", "root"];
const everywhere: readonly Level[] = LEVELS;
const own: readonly Level[] = ["field", "component"];

const rows = (names: string, value: string | number, levels: readonly Level[]): Statement[] =>
  names.split(" ").map((name) => ({ name, value, levels }));

/** Statements as solvers, instruments and tools write them: the stored numbers are not the values. */
const CHANGING: readonly Statement[] = [
  ...rows("factor scaling Scale multiplier conversion_factor toSI to_cgs unit_factor gain", 0.01, everywhere),
  ...rows("CGSConversionFactor code_velocity_scale normalization norm calibration slope", 3, everywhere),
  ...rows("offset velocityOffset mean_bias reference_value intercept", 0.5, everywhere),
  ...rows("scale_factor add_offset unitSI missing_value valid_max", 0.5, above),
  ...rows("prefactor divide_by conv_fac cmToM nondimensional_factor", 0.01, everywhere),
  ...rows("sign coefficient multiplied", -1, own),
  ...rows("detrended mean_subtracted galilean_frame frame_velocity Uref", 1, nearby),
  ...rows("transposed fortran_order column_major flipped reversed_z", 1, nearby),
  ...rows("no_data undef bad_value sentinel fill_value", -999, nearby),
  ...rows("amplitude quantum padding rotation skip sampling window start", 2, own),
  ...rows("stride strides subset subsampling downsampled decimation coarsening", 2, nearby),
  { name: "unit", value: "2 m/s", levels: own },
  ...rows("memory_layout storage_order", "F", nearby),
  { name: "part", value: "imaginary", levels: own },
  { name: "coordinate_system", value: "cylindrical", levels: nearby },
  { name: "velocity_basis", value: "contravariant", levels: nearby },
  { name: "grid", value: "Arakawa C", levels: nearby },
  { name: "mesh", value: "C-grid", levels: nearby },
  { name: "read_me", value: "written as x, y, z (Fortran)", levels: nearby },
  { name: "quantity", value: "momentum density", levels: ["field"] },
  { name: "kind_of_average", value: "density weighted", levels: nearby },
  { name: "long_name", value: "vorticity", levels: own },
  { name: "direction", value: "down", levels: own },
  { name: "normalized_by", value: "u_tau", levels: nearby },
  { name: "transform", value: "fft", levels: nearby },
  { name: "log_scale", value: "yes", levels: nearby },
  { name: "centering", value: "cell", levels: nearby },
  { name: "staggering", value: "face", levels: nearby },
  { name: "location", value: "edge1", levels: own },
  { name: "units", value: "1e-3 m/s", levels: own },
  { name: "description", value: "velocity normalised by the friction velocity", levels: ["field"] },
  { name: "long_name", value: "deviation from the mean", levels: ["field"] },
  { name: "long_name", value: "log10 of the speed", levels: ["field"] },
  { name: "standard_name", value: "air_pressure", levels: own },
  { name: "positive", value: "down", levels: ["coordinate"] },
];

const HARMLESS: readonly Statement[] = [
  ...rows("scale_factor factor sampling", 1, everywhere),
  ...rows("offset start", 0, everywhere),
  ...rows("normalization", "none", nearby),
  ...rows("centering", "node", nearby),
  ...rows("grid_type", "cartesian", nearby),
  ...rows("transposed", 0, nearby),
  ...rows("stride", 1, nearby),
  ...rows("kolmogorov_scale convergence_tolerance viscosity", 1e-3, above),
  ...rows("cfl_factor drag_coefficient amplitude noise_amplitude initial_perturbation", 0.1, above),
  ...rows("integral_time_scale filter_width rotation_rate spatial_order padding_of_transforms", 2, above),
  ...rows("Re output_stride sampling_interval", 10, above),
  ...rows("solver title git_revision fortran_compiler convective_scheme", "spectral, dealiased, upwind", above),
  { name: "references", value: "doi:10.1/2", levels: above },
  { name: "history", value: "Thu: ncks -d scale", levels: above },
  { name: "velocity_unit", value: "m/s", levels: above },
  { name: "units", value: "m s-1", levels: ["field"] },
  { name: "long_name", value: "velocity", levels: ["field"] },
  { name: "units", value: "SI", levels: above },
  { name: "unit_system", value: "code", levels: above },
];

/** Things that leave the grid, the components or the frames open, whatever else is said. */
const OPEN = [
  ...["staggered", "box", "second table", "two origins", "wall", "twice"],
  ...["components", "seam", "elements", "curved", "levels"],
  ...["order", "origins", "length", "limit", "condition", "unit of length", "times", "coordinates"],
  ...["group unit", "extent", "list"],
] as const;

/** Units of a component, and the speed that each is in m/s; null: nobody knows. */
const UNITS = [
  ["m/s", 1],
  ["m s-1", 1],
  ["cm/s", 0.01],
  ["mm s^-1", 1e-3],
  ["km/h", 1 / 3.6],
  ["knots", 1852 / 3600],
  ["furlongs/fortnight", null],
] as const;

const statement = (kind: "changing" | "harmless", all: readonly Statement[]) =>
  fc.constantFrom(...all).chain(({ name, value, levels }) =>
    fc.record({
      kind: fc.constant(kind),
      name: fc.constant(name),
      value: fc.constant(value),
      level: fc.constantFrom(...levels),
    }),
  );

export const statedWays = fc.record({
  nodes: fc.uniqueArray(fc.integer({ min: 4, max: 9 }), { minLength: 3, maxLength: 3 }),
  order: fc.shuffledSubarray([...AXES], { minLength: 3 }),
  vector: fc.boolean(),
  group: fc.constantFrom("", "fields", "run/data"),
  grid: fc.constantFrom("tables", "steps", "scales", "lists"),
  frames: fc.integer({ min: 1, max: 3 }),
  statement: fc.oneof(
    statement("changing", CHANGING),
    statement("harmless", HARMLESS),
    fc.record({ kind: fc.constant("open" as const), what: fc.constantFrom(...OPEN) }),
    fc.record({
      kind: fc.constant("units" as const),
      units: fc.tuple(fc.constantFrom(...UNITS), fc.constantFrom(...UNITS), fc.constantFrom(...UNITS)),
    }),
    fc.constant({ kind: "none" as const }),
  ),
});
export type StatedWay = typeof statedWays extends fc.Arbitrary<infer T> ? T : never;

/** Whether coordinates are datasets; else they are attributes, lists or first nodes and steps. */
const hasTables = ({ grid }: Pick<StatedWay, "grid">): boolean => grid === "tables" || grid === "scales";
const nodesOf = ({ nodes }: StatedWay, axis: Axis): number => nodes[AXES.indexOf(axis)] as number;
const coordinates = (way: StatedWay, axis: Axis): Float64Array =>
  Float64Array.from({ length: nodesOf(way, axis) }, (_, i) => GRID[axis].origin + i * GRID[axis].spacing);

/** Whether the file states everything, and nothing that puts it in doubt. */
export function isComplete({ statement: said }: StatedWay): boolean {
  if (said.kind === "units") return said.units.every(([, speed]) => speed === said.units[0][1]);
  const isPlaced = said.kind === "open" && said.what === "staggered";
  return said.kind === "none" || (said.kind === "harmless" && !isForeign(said)) || isPlaced;
}

/** Whether a number at a field or a table is one that nothing applies: a red line, whatever it means. */
function isForeign({ name, value, level }: { name: string; value: string | number; level: Level }): boolean {
  return typeof value === "number" && name !== "scale_factor" && !above.includes(level);
}

/** By component: what the stored numbers are multiplied by, to be in the unit of the first. */
function factorsOf({ statement: said }: StatedWay): number[] {
  if (said.kind !== "units") return [1, 1, 1];
  const [[, first]] = said.units;
  return said.units.map(([, speed]) => (speed === null || first === null ? 1 : speed / first));
}

/** The groups of the frames: one each if there are several. */
function groupsOf({ group, frames }: StatedWay): string[] {
  const base = group === "" ? "" : `/${group}`;
  return frames === 1 ? [base] : Array.from({ length: frames }, (_, frame) => `${base}/${frame}`);
}

function pathsOf(way: StatedWay): string[] {
  return groupsOf(way).flatMap((group) =>
    way.vector ? [`${group}/velocity`] : ["u", "v", "w"].map((n) => `${group}/${n}`),
  );
}

const openOf = ({ statement: said }: StatedWay): string | null => (said.kind === "open" ? said.what : null);

function writeValues(file: File, way: StatedWay): void {
  const open = openOf(way);
  const lists = new Map(AXES.map((axis) => [axis, coordinates(way, axis)]));
  // The end of a period that is stored twice: the last node along x holds what the first does.
  const alongX = lists.get("x") as Float64Array;
  if (open === "seam") alongX[alongX.length - 1] = alongX[0] as number;
  const lengths = way.order.map((axis) => nodesOf(way, axis));
  for (const [t, group] of groupsOf(way).entries()) {
    const value = (c: number, node: number): number => {
      const at = new Map<Axis, number>();
      let rest = node;
      for (let d = 2; d >= 0; d--) {
        at.set(way.order[d] as Axis, lists.get(way.order[d] as Axis)?.[rest % (lengths[d] as number)] as number);
        rest = Math.floor(rest / (lengths[d] as number));
      }
      return POLYNOMIALS[c]?.(at.get("x") as number, at.get("y") as number, at.get("z") as number, t) as number;
    };
    const count = lengths.reduce((product, length) => product * length, 1);
    const create = (path: string, data: Float64Array, shape: number[]) => {
      const { group: parent, name } = parentOf(file, path);
      if (open === "elements")
        parent.create_dataset({ name, data: Float64Array.of(...data, ...data), shape: [2, ...shape] });
      else parent.create_dataset({ name, data, shape });
      (parent.get(name) as H5Dataset).create_attribute("axes", `${way.order.join("")}${shape.length === 4 ? "c" : ""}`);
    };
    if (way.vector) {
      const data = Float64Array.from({ length: 3 * count }, (_, i) => value(i % 3, Math.floor(i / 3)));
      create(`${group}/velocity`, data, [...lengths, 3]);
    } else
      for (const [c, name] of ["u", "v", "w"].entries())
        create(
          `${group}/${name}`,
          Float64Array.from({ length: count }, (_, i) => value(c, i)),
          lengths,
        );
    if (way.frames > 1) (file.get(group) as Group).create_attribute("time", open === "twice" ? 1 : t, [], "<d");
  }
  for (const [at, path] of pathsOf(way).entries()) {
    const velocity = file.get(path) as H5Dataset;
    if (open === "components") velocity.create_attribute("components", "w,v,u");
    if (open === "levels") velocity.create_attribute("units", at === 0 ? "cm/s" : "m/s");
  }
  if (way.frames === 1) file.create_attribute("time", 0, [], "<d");
}

/** Something that contradicts what the rest of the file states of its grid, in other words. */
function contradict(file: File, way: StatedWay): void {
  const open = openOf(way);
  const pick = <T>(all: readonly T[]): T => all[(way.nodes[0] as number) % all.length] as T;
  const turned = way.order.toReversed().join(pick(["", ",", " "]));
  if (open === "order") file.create_attribute(pick(["axis_order", "dims", "storage_order", "layout"]), turned);
  if (open === "origins")
    file.create_attribute(pick(["origin", "lower", "domain_left_edge"]), Float64Array.of(71, 72, 73));
  if (open === "length") file.create_attribute(pick(["Lx", "length_x", "x_length"]), 99, [], "<d");
  if (open === "limit") file.create_attribute(pick(["xmax", "x_max", "xhi"]), 99, [], "<d");
  if (open === "condition")
    file.create_attribute(pick(["bc_x", "x_boundary", "bcx", "boundary_conditions", "cyclic_x"]), "periodic");
  if (open === "unit of length") {
    for (const axis of AXES) (file.get(axis) as H5Dataset).create_attribute("units", pick(["cm", "mm", "km"]));
    for (const path of pathsOf(way)) (file.get(path) as H5Dataset).create_attribute("units", "m/s");
  }
  if (open === "times")
    for (const [at, name] of ["time", "t"].entries())
      file.create_dataset({ name, data: Float64Array.of(0, 1 + at, 4) });
  if (open === "group unit") {
    const holder = way.group === "" ? file : (file.get(pick(["/", way.group])) as Group);
    holder.create_attribute(pick(["units", "unit", "velocity_units"]), pick(["cm/s", "u_tau", "km/h", "km"]));
    for (const path of pathsOf(way)) (file.get(path) as H5Dataset).create_attribute("units", "m/s");
  }
  if (open === "extent")
    file.create_attribute(
      pick(["extent", "bounds", "bbox", "domain", "limits", "box"]),
      Float64Array.from(
        pick([
          [0, 99, 0, 99, 0, 99],
          [0, 0, 0, 99, 98, 97],
          [99, 98, 97],
        ]),
      ),
    );
  if (open === "list") {
    const data = Float64Array.from({ length: pick([4, 6, 9, 64]) }, (_, i) => 1 + i);
    const { group, name } = parentOf(
      file,
      `${pick(["", groupsOf(way)[0]])}/${pick(["scale", "norms", "gain", "offsets"])}`,
    );
    group.create_dataset({ name, data });
  }
  if (open === "coordinates")
    for (const [at, path] of pathsOf(way).entries())
      (file.get(path) as H5Dataset).create_attribute("coordinates", ["z y xu", "z yv x", "zw y x"][at % 3] as string);
}

function curvedMesh(way: StatedWay) {
  const shape = [nodesOf(way, "y"), nodesOf(way, "x")];
  const [, nodes] = shape as [number, number];
  const data = Float64Array.from({ length: nodes * (shape[0] as number) }, (_, at) => {
    const along = coordinates(way, "x")[at % nodes] as number;
    return along + 0.01 * Math.floor(at / nodes);
  });
  return { name: "x", data, shape };
}

function writeGrid(file: File, way: StatedWay): void {
  const open = openOf(way);
  file.create_attribute("periodic", open === "seam" ? "x" : "none");
  if (open === "elements") file.create_attribute("nelv", 2);
  for (const axis of AXES) {
    const { origin, spacing } = GRID[axis];
    const last = origin + (nodesOf(way, axis) - 1) * spacing;
    const isTable = hasTables(way) || open === "staggered" || open === "second table";
    if (open === "box") {
      file.create_attribute(`${axis}min`, origin - spacing / 2, [], "<d");
      file.create_attribute(`${axis}max`, last + spacing / 2, [], "<d");
    } else if (open === "curved" && axis === "x") file.create_dataset(curvedMesh(way));
    else if (isTable) file.create_dataset({ name: axis, data: coordinates(way, axis) });
    else if (way.grid === "lists") file.create_attribute(axis, coordinates(way, axis), [nodesOf(way, axis)], "<d");
    else {
      file.create_attribute(`d${axis}`, spacing, [], "<d");
      file.create_attribute(`${axis}0`, origin, [], "<d");
    }
    if (open === "two origins") file.create_attribute(`origin_${axis}`, origin + 3 * spacing, [], "<d");
    const moved = coordinates(way, axis).map((value) => value + spacing / 2);
    if (open === "second table") file.create_dataset({ name: `${axis}m`, data: moved });
    if (open === "staggered") file.create_dataset({ name: `${axis}h`, data: moved });
  }
  if (open === "two origins" && way.grid !== "steps")
    for (const axis of AXES) file.create_attribute(`${axis}0`, GRID[axis].origin, [], "<d");
  if (open === "wall") file.create_attribute("periodic_x", 1);
  if (open === "twice" && way.frames === 1) file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
}

function attachScales(file: File, way: StatedWay): void {
  const open = openOf(way);
  const isAttached = way.grid === "scales" && !["box", "curved", "elements"].includes(open ?? "");
  if (!isAttached && open !== "staggered") return;
  for (const name of open === "staggered" ? AXES.flatMap((axis) => [axis, `${axis}h`]) : AXES)
    (file.get(name) as H5Dataset).make_scale(name);
  for (const [at, path] of pathsOf(way).entries())
    for (const [d, axis] of way.order.entries()) {
      const isOwn = open === "staggered" && !way.vector && AXES[at % 3] === axis;
      (file.get(path) as H5Dataset).attach_scale(d, `/${axis}${isOwn ? "h" : ""}`);
    }
}

/** Writes the statement at its level: on all fields, on the last one, on a table, on the group, on the root. */
function writeStatement(file: File, way: StatedWay): void {
  const { statement: said } = way;
  const paths = pathsOf(way);
  if (said.kind === "units")
    for (const [at, path] of paths.entries())
      (file.get(path) as H5Dataset).create_attribute("units", said.units[at % 3]?.[0] as string);
  if (said.kind !== "changing" && said.kind !== "harmless") return;
  const { name, value, level } = said;
  const holders: string[] =
    level === "root" || (level === "group" && way.group === "" && way.frames === 1)
      ? ["/"]
      : level === "group"
        ? groupsOf(way).slice(-1)
        : level === "component"
          ? paths.slice(-1)
          : level === "coordinate" && hasTables(way)
            ? ["/x"]
            : paths;
  for (const path of holders) {
    const holder = path === "/" ? file : (file.get(path) as Group | H5Dataset);
    const isText = typeof value === "string";
    if (isText) holder.create_attribute(name, value);
    else holder.create_attribute(name, value, [], "<d");
  }
}

/** Whether a way makes a file: some statements have no meaning for some grids. */
export function isPossible({ statement: said, grid, vector, frames }: StatedWay): boolean {
  // Scales that are attached say which of two tables holds.
  if (said.kind === "open" && said.what === "second table") return grid !== "scales";
  if (said.kind === "units") return !vector;
  if (said.kind === "open" && said.what === "components") return vector;
  if (said.kind === "open" && said.what === "levels") return frames > 1;
  if (said.kind === "open" && said.what === "coordinates") return !vector;
  if (said.kind === "open" && ["length", "limit", "unit of length"].includes(said.what)) return hasTables({ grid });
  if (said.kind === "open" && said.what === "times") return frames === 1;
  if (said.kind === "open") return said.what !== "staggered" || !vector;
  return said.kind !== "changing" || said.level !== "coordinate" || hasTables({ grid });
}

/** A draft is right, has lines that are open or red, shows what nothing applies, or is wrong. */
export type Verdict = "right" | "asked" | "shown" | "wrong";

/** Whether the statement of a way is among what a draft shows and does not use. */
function isShown({ statement: said }: StatedWay, seen: readonly string[]): boolean {
  if (said.kind === "changing") return seen.some((line) => line.includes(`@${said.name} = `));
  return (
    said.kind === "open" && said.what === "list" && seen.some((line) => /\/(scale|norms|gain|offsets) \(/.test(line))
  );
}

/** Writes a file, and drafts it as `inspect` would. @returns what the draft is, and the answers that it needs */
export async function verdictOf(path: string, way: StatedWay): Promise<{ verdict: Verdict; answers: number }> {
  await writeHdf5(path, (file) => {
    writeGrid(file, way);
    writeValues(file, way);
    attachScales(file, way);
    writeStatement(file, way);
    contradict(file, way);
  });
  if (isServed(path)) return { verdict: "wrong", answers: 0 };
  let draft: Recognised | null;
  try {
    // The files state that no axis is periodic, and nothing of walls: one answer.
    const found = recognise(path, { walls: [] });
    draft = found === null ? null : measured(found, dirname(path), {});
  } catch (error) {
    if (error instanceof DataError) return { verdict: "asked", answers: 0 };
    throw error;
  }
  if (draft === null) return { verdict: "asked", answers: 0 };
  const open = openLines(draft.descriptor.questions);
  // Overridden, components in other units are those of one.
  if (open.length > 0 && open.every(({ about }) => about === "units") && !isRight(path, way, { despite: ["units"] }))
    return { verdict: "wrong", answers: 0 };
  if (open.length > 0) return { verdict: "asked", answers: 1 + new Set(open.map(flagOf)).size };
  if (!isComplete(way)) return { verdict: isShown(way, draft.seen) ? "shown" : "wrong", answers: 0 };
  return { verdict: isRight(path, way) ? "right" : "wrong", answers: 0 };
}

function isServed(path: string): boolean {
  try {
    openSource(path, 2 ** 26);
    return true;
  } catch (error) {
    if (error instanceof DataError) return false;
    throw error;
  }
}

function isRight(path: string, way: StatedWay, answers: Answers = {}): boolean {
  const dataset = openConfirmed(path, 2 ** 26, answers);
  const open = openDataset(dataset);
  const factors = factorsOf(way);
  let worst = 0;
  for (let frame = 0; frame < dataset.time.count; frame++) {
    const values = readNodes(dataset, open, "velocity", frame);
    let index = 0;
    for (const z of coordinates(way, "z"))
      for (const y of coordinates(way, "y"))
        for (const x of coordinates(way, "x"))
          for (const [c, polynomial] of POLYNOMIALS.entries()) {
            const value = polynomial(x, y, z, frame) * (factors[c] as number);
            worst = Math.max(worst, Math.abs((values[index++] as number) - value) / Math.max(1, Math.abs(value)));
          }
  }
  open.close();
  const { axes, time } = dataset;
  const isPlaced = AXES.every((axis, at) => Math.abs((axes[at]?.origin ?? 0) - GRID[axis].origin) < 1e-9);
  return worst < 1e-5 && isPlaced && time.count === way.frames;
}
