/**
 * Files of any order, names, places of components and times, scales and byte order are read right or asked about, never
 * wrong.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../../src/storage/bricks/brick-reader.js";
import { verify } from "../../../../src/storage/catalog/verify.js";
import type { Dataset } from "../../../../src/storage/dataset/dataset.js";
import { openQuestions } from "../../../../src/storage/dataset/descriptor.js";
import type { Answers } from "../../../../src/storage/recognise/answers.js";
import { recognise } from "../../../../src/storage/recognise/recognise.js";
import { makeBigEndian } from "../../../support/big-endian.js";
import { writeHdf5 } from "../../../support/cubes.js";
import { POLYNOMIALS, PRESSURE } from "../../../support/foreign-files.js";
import { readNodes } from "../../../support/read-nodes.js";
import { scratchFolder } from "../../../support/scratch.js";

const SCRATCH = scratchFolder();
/**
 * Files of the property; those without an order of its own for the pressure also with answers to what is not stated.
 */
const FILES = 2000;
/** Parts of the property, each with a time limit of its own. */
const PARTS = [1, 2, 3, 4];

type Axis = "x" | "y" | "z";
const AXES = ["x", "y", "z"] as const;
const NAMES: Record<string, readonly [string, string, string]> = {
  plain: ["x", "y", "z"],
  upper: ["X", "Y", "Z"],
  centres: ["xc", "yc", "zc"],
  coor: ["xcoor", "ycoor", "zcoor"],
};
const TRIPLES = [
  ["u", "v", "w"],
  ["ux", "uy", "uz"],
  ["velx", "vely", "velz"],
  ["u1", "u2", "u3"],
  ["U", "V", "W"],
  ["x_velocity", "y_velocity", "z_velocity"],
] as const;

const ways = fc.record({
  /** Nodes of x, y, z: 3 makes them look like components and times, equal ones like each other. */
  nodes: fc.tuple(fc.integer({ min: 3, max: 6 }), fc.integer({ min: 3, max: 6 }), fc.integer({ min: 3, max: 6 })),
  frames: fc.integer({ min: 1, max: 4 }),
  /** Order of all roles; those that a dataset does not have are left out. */
  order: fc.shuffledSubarray(["t", "z", "y", "x", "c"] as const, { minLength: 5 }),
  /** Order of the pressure, which may have one of its own. */
  otherOrder: fc.option(fc.shuffledSubarray(["t", "z", "y", "x"] as const, { minLength: 4 }), { nil: null, freq: 2 }),
  vector: fc.option(fc.constantFrom("velocity", "u", "vel"), { nil: null }),
  triple: fc.constantFrom(...TRIPLES),
  pressure: fc.boolean(),
  names: fc.option(fc.constantFrom(...Object.keys(NAMES)), { nil: null }),
  /** Axes whose coordinates the file has, and how: as numbers of either size, or as MATLAB writes a row. */
  listed: fc.subarray([...AXES]),
  list: fc.constantFrom("float64", "float32", "row"),
  evidence: fc.constantFrom("none", "scales", "labels", "attribute", "counts"),
  steps: fc.boolean(),
  /** The place of the times: in a list, or in an attribute of the file, of the group or of every dataset. */
  times: fc.constantFrom("none", "list", "file", "group", "datasets"),
  descending: fc.option(fc.constantFrom(...AXES), { nil: null, freq: 2 }),
  /** The attributes that say how stored numbers become values; integers have both. */
  scale: fc.constantFrom("none", "factor", "offset", "both"),
  type: fc.constantFrom("f", "d", "h", "i"),
  bigEndian: fc.boolean(),
  group: fc.constantFrom("", "fields", "run/data"),
});
type Way = typeof ways extends fc.Arbitrary<infer T> ? T : never;

/** Spacing and origin of each axis: unlike 1 and 0, and unlike each other. */
const GRID = { x: { origin: 0.5, spacing: 0.25 }, y: { origin: -1, spacing: 0.2 }, z: { origin: 2, spacing: 0.125 } };
const timeAt = (frame: number) => 0.25 + 0.5 * frame;
function coordinatesOf({ nodes, descending }: Way, axis: Axis): number[] {
  const { origin, spacing } = GRID[axis];
  const values = Array.from({ length: nodes[AXES.indexOf(axis)] as number }, (_, i) => origin + i * spacing);
  return axis === descending ? values.reverse() : values;
}

const isInteger = ({ type }: Way): boolean => type === "h" || type === "i";

/**
 * A descending axis can only be written by a list of its coordinates, values only with a scale as integers, and rows
 * are no scales.
 */
function normal(way: Way): Way {
  const hasList = way.names !== null && way.descending !== null && way.listed.includes(way.descending);
  const scale = isInteger(way) ? "both" : way.scale;
  const list = way.evidence === "scales" && way.list === "row" ? "float64" : way.list;
  return { ...way, scale, list, descending: hasList ? way.descending : null };
}

function rolesOf(way: Way, isVector: boolean, isPressure = false): string[] {
  const order: readonly string[] = isPressure && way.otherOrder !== null ? way.otherOrder : way.order;
  return order.filter((role) => (role === "c" ? isVector : role !== "t" || way.frames > 1));
}

/** The scale of a file: all values on the grids above are whole numbers of 1/1600, and fit int16 about 5. */
function scaleOf(way: Way): { factor: number; offset: number } {
  const { scale } = way;
  const both = isInteger(way) ? { factor: 1 / 1600, offset: 5 } : { factor: 4, offset: -3 };
  const isPart = { factor: scale === "factor" || scale === "both", offset: scale === "offset" || scale === "both" };
  return { factor: isPart.factor ? both.factor : 1, offset: isPart.offset ? both.offset : 0 };
}

/** Numbers as a file of a type holds them. */
function stored({ type }: Way, numbers: Float64Array): Float64Array | Float32Array | Int16Array | Int32Array {
  if (type === "h") return Int16Array.from(numbers, Math.round);
  if (type === "i") return Int32Array.from(numbers, Math.round);
  return type === "f" ? Float32Array.from(numbers) : numbers;
}

function writeField(
  file: File,
  way: Way,
  path: string,
  roles: string[],
  value: (at: Record<string, number>) => number,
) {
  const lengths: Record<string, number> = { t: way.frames, c: 3, x: way.nodes[0], y: way.nodes[1], z: way.nodes[2] };
  const shape = roles.map((role) => lengths[role] as number);
  const data = new Float64Array(shape.reduce((product, length) => product * length, 1));
  const scale = scaleOf(way);
  const coordinates = { x: coordinatesOf(way, "x"), y: coordinatesOf(way, "y"), z: coordinatesOf(way, "z") };
  for (let index = 0; index < data.length; index++) {
    const at: Record<string, number> = { t: 0, c: 0 };
    let rest = index;
    for (let d = roles.length - 1; d >= 0; d--) {
      at[roles[d] as string] = rest % (shape[d] as number);
      rest = Math.floor(rest / (shape[d] as number));
    }
    for (const axis of AXES) at[axis] = coordinates[axis][at[axis] as number] as number;
    data[index] = (value({ ...at, t: timeAt(at.t as number) }) - scale.offset) / scale.factor;
  }
  const group = way.group === "" ? file : (file.get(way.group) as unknown as File);
  group.create_dataset({ name: path, data: stored(way, data), shape, dtype: `<${way.type}` });
  const dataset = group.get(path) as H5Dataset;
  if (scale.factor !== 1) dataset.create_attribute("scale_factor", scale.factor, [], "<d");
  if (scale.offset !== 0) dataset.create_attribute("add_offset", scale.offset, [], "<d");
  if (way.times === "datasets") writeTimes(dataset, way);
  if (way.evidence === "labels") for (const [d, role] of roles.entries()) dataset.set_dimension_label(d, role);
  if (way.evidence === "attribute") dataset.create_attribute("axes", roles.join(""));
  if (way.evidence === "scales" && way.names !== null)
    for (const [d, role] of roles.entries())
      if (way.listed.includes(role as Axis)) dataset.attach_scale(d, nameOf(way, role as Axis));
}

function nameOf({ names, group }: Way, axis: Axis): string {
  return `${group === "" ? "" : `/${group}`}/${NAMES[names as string]?.[AXES.indexOf(axis)]}`;
}

function writeTimes(holder: Pick<File, "create_attribute">, { frames }: Way): void {
  const times = Array.from({ length: frames }, (_, k) => timeAt(k));
  holder.create_attribute("time", times, frames === 1 ? [] : [frames], "<d");
}

function writeWay(file: File, way: Way): void {
  if (way.group !== "") way.group.split("/").reduce((at, name) => at.create_group(name) as unknown as File, file);
  const group = way.group === "" ? file : (file.get(way.group) as unknown as File);
  if (way.names !== null)
    for (const axis of way.listed) {
      const name = (NAMES[way.names] as readonly string[])[AXES.indexOf(axis)] as string;
      const values = coordinatesOf(way, axis);
      const data = way.list === "float32" ? Float32Array.from(values) : Float64Array.from(values);
      group.create_dataset({ name, data, shape: way.list === "row" ? [1, data.length] : [data.length] });
      if (way.evidence === "scales") (group.get(name) as H5Dataset).make_scale(name);
    }
  if (way.evidence === "counts")
    for (const axis of AXES) file.create_attribute(`n${axis}`, way.nodes[AXES.indexOf(axis)] as number);
  if (way.steps)
    for (const axis of AXES) {
      file.create_attribute(`d${axis}`, GRID[axis].spacing, [], "<d");
      file.create_attribute(`${axis}0`, GRID[axis].origin, [], "<d");
    }
  if (way.times === "list")
    group.create_dataset({ name: "time", data: Float64Array.from({ length: way.frames }, (_, k) => timeAt(k)) });
  if (way.times === "file") writeTimes(file, way);
  if (way.times === "group") writeTimes(group, way);
  if (way.vector === null)
    for (const [c, name] of way.triple.entries())
      writeField(
        file,
        way,
        name,
        rolesOf(way, false),
        ({ x, y, z, t }) => POLYNOMIALS[c]?.(x as number, y as number, z as number, t as number) as number,
      );
  else
    writeField(
      file,
      way,
      way.vector,
      rolesOf(way, true),
      ({ x, y, z, t, c }) => POLYNOMIALS[c as number]?.(x as number, y as number, z as number, t as number) as number,
    );
  if (way.pressure)
    writeField(file, way, "p", rolesOf(way, false, true), ({ x, y, z, t }) =>
      PRESSURE(x as number, y as number, z as number, t as number),
    );
}

async function writeFile(path: string, way: Way): Promise<void> {
  await writeHdf5(path, (file) => writeWay(file, way), way.bigEndian);
  if (way.bigEndian) makeBigEndian(path);
}

/** Facts about a grid whatever the file says; of a descending axis only its list of coordinates tells it. */
function answersTo(way: Way): Answers {
  return {
    dims: rolesOf(way, way.vector !== null),
    ...(way.descending === null
      ? { spacing: AXES.map((axis) => GRID[axis].spacing), origin: AXES.map((axis) => GRID[axis].origin) }
      : {}),
    times: Array.from({ length: way.frames }, (_, k) => timeAt(k)),
    periodic: [],
  };
}

/** The largest error at the nodes of a field. A snapshot without a time stands at 0. */
function errorOf(dataset: Dataset, field: "velocity" | "pressure", times: number[]): number {
  const functions = field === "velocity" ? POLYNOMIALS : [PRESSURE];
  const [xs, ys, zs] = dataset.axes.map(({ nodes, origin, spacing, coordinates }) =>
    Array.from({ length: nodes }, (_, i) => coordinates?.[i] ?? origin + i * spacing),
  ) as [number[], number[], number[]];
  const open = openDataset(dataset);
  let worst = 0;
  for (const [frame, t] of times.entries()) {
    const values = readNodes(dataset, open, field, frame);
    let index = 0;
    for (const z of zs)
      for (const y of ys)
        for (const x of xs)
          for (const polynomial of functions)
            worst = Math.max(worst, Math.abs((values[index++] as number) - polynomial(x, y, z, t)));
  }
  open.close();
  return worst;
}

/**
 * Reads a file; null where a question that changes values is open. A file that is refused without a question is a
 * failure.
 */
function examine(path: string, answers: Answers): Dataset | null {
  const found = recognise(path, answers);
  if (found === null) throw new Error("not recognised");
  if (openQuestions(found.descriptor).length > 0) return null;
  const description = { descriptor: found.descriptor, folder: SCRATCH, location: path, digest: "", warnings: [] };
  const outcome = verify(description, 2 ** 26);
  if ("problems" in outcome) throw new Error(outcome.problems.join("; "));
  return outcome.dataset;
}

function expectRight(dataset: Dataset, way: Way): void {
  const times = Array.from({ length: way.frames }, (_, k) => timeAt(k));
  const { time } = dataset;
  const isUntimed =
    way.frames === 1 && way.times === "none" && dataset.questions.some(({ about }) => about === "snapshot");
  if (!isUntimed)
    expect(Array.from({ length: time.count }, (_, k) => time.values?.[k] ?? time.origin + k * time.step)).toEqual(
      times.map((t) => expect.closeTo(t, 9)),
    );
  expect(dataset.axes.map(({ periodic }) => periodic)).toEqual([false, false, false]);
  expect(errorOf(dataset, "velocity", times)).toBeLessThan(1e-5);
  expect(dataset.fields.pressure !== undefined).toBe(way.pressure);
  if (way.pressure) expect(errorOf(dataset, "pressure", times)).toBeLessThan(1e-4);
}

function traitsOf(way: Way): string[] {
  const order = rolesOf(way, way.vector !== null);
  const placeOf = (role: string) => {
    const at = order.indexOf(role);
    return at < 0 ? "nowhere" : at === 0 ? "first" : at === order.length - 1 ? "last" : "inside";
  };
  const count = way.names === null ? 0 : way.listed.length;
  return [
    `axes ${order.filter((role) => role in GRID).join("")}`,
    `${new Set(way.nodes).size} different lengths`,
    `components ${placeOf("c")}`,
    `time ${placeOf("t")}`,
    `coordinates of ${count} axes`,
    ...(count === 0 ? [] : [`coordinates named ${way.names}`, `coordinates as ${way.list}`]),
    `evidence ${way.evidence}`,
    `times in ${way.times}`,
    `${way.type} with scale ${way.scale}, ${way.bigEndian ? "big" : "little"}-endian`,
    `group "${way.group}"`,
    `${way.descending === null ? "ascending" : "descending"} axes`,
    `pressure ${way.pressure ? (way.otherOrder === null ? "in the order" : "in an order of its own") : "none"}`,
  ];
}
/** The number of values of each of those: 6 orders of axes, 3 kinds of lengths and so on. */
const TRAITS = 6 + 3 + 4 + 4 + 4 + Object.keys(NAMES).length + 3 + 5 + 5 + 2 * (4 + 4 + 1 + 1) + 3 + 2 + 3;

let made = 0;
/** By trait: files written, those that state everything, those that were asked about, and those read with answers. */
const seen = new Map<string, { written: number; stated: number; asked: number; answered: number }>();

function count(way: Way, isStated: boolean, isAnswered: boolean): void {
  for (const trait of traitsOf(way)) {
    const row = seen.get(trait) ?? { written: 0, stated: 0, asked: 0, answered: 0 };
    row.written++;
    if (isStated) row.stated++;
    else row.asked++;
    if (isAnswered) row.answered++;
    seen.set(trait, row);
  }
}

describe("any file", () => {
  it.each(PARTS)("is read right or asked about, never wrong, part %i", { timeout: 240_000 }, async () => {
    const counts = { right: 0, asked: 0, answered: 0 };
    await fc.assert(
      fc.asyncProperty(ways, async (chosen) => {
        const way = normal(chosen);
        const path = join(SCRATCH, `file${made++}.h5`);
        await writeFile(path, way);
        const dataset = examine(path, {});
        if (dataset === null) counts.asked++;
        else {
          counts.right++;
          expectRight(dataset, way);
        }
        // The answer to the order is that of the velocity.
        const canAnswer = way.otherOrder === null || !way.pressure;
        const answered = canAnswer ? examine(path, answersTo(way)) : null;
        if (answered !== null) {
          counts.answered++;
          expectRight(answered, way);
        } else expect(canAnswer && way.descending === null).toBe(false);
        count(way, dataset !== null, answered !== null);
        unlinkSync(path);
      }),
      { numRuns: FILES / PARTS.length },
    );
    // The property is not kept by refusing everything.
    expect(counts.right).toBeGreaterThan(FILES / PARTS.length / 20);
    expect(counts.answered).toBeGreaterThan(FILES / PARTS.length / 10);
  });

  it("was of every kind, and of every kind some were read and some asked about", () => {
    expect(seen.size).toBe(TRAITS);
    const rows = [...seen].map(([trait, row]) => ({ trait, ...row }));
    // Of files without evidence few state everything: those of three lists of different lengths.
    const least = (trait: string) => (trait === "evidence none" ? 0 : 1);
    expect(rows.filter((row) => row.written < 25 || row.stated < least(row.trait) || row.asked < 5)).toEqual([]);
    expect(made).toBeGreaterThanOrEqual(FILES);
  });
});
