/** Files of any order, names, places of components and times, scales and byte order are read right or asked about, never wrong. */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { DataError } from "../../../../src/errors.js";
import { openDataset } from "../../../../src/storage/bricks/brick-reader.js";
import { openQuestions } from "../../../../src/storage/catalog/descriptor.js";
import type { Answers } from "../../../../src/storage/catalog/layouts/answers.js";
import { recognise } from "../../../../src/storage/catalog/layouts/recognise.js";
import { verify } from "../../../../src/storage/catalog/verify.js";
import type { Dataset } from "../../../../src/storage/dataset.js";
import { loadHdf5 } from "../../../../src/storage/hdf5/library.js";
import { makeBigEndian } from "../../../support/big-endian.js";
import { writeHdf5 } from "../../../support/cubes.js";
import { POLYNOMIALS, PRESSURE } from "../../../support/foreign-files.js";
import { readNodes } from "../../../support/read-nodes.js";
import { scratchFolder } from "../../../support/scratch.js";

const SCRATCH = scratchFolder();
/** Files of the property; those without an order of its own for the pressure also with answers to what is not stated. */
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
  geographic: ["lon", "lat", "lev"],
};
const TRIPLES = [
  ["u", "v", "w"],
  ["ux", "uy", "uz"],
  ["velx", "vely", "velz"],
  ["u1", "u2", "u3"],
  ["U", "V", "W"],
  ["x_velocity", "y_velocity", "z_velocity"],
] as const;

/** A way to write a file. */
const ways = fc.record({
  /** Nodes of x, y, z: 3 makes them look like components and times, equal ones like each other. */
  nodes: fc.tuple(fc.integer({ min: 3, max: 6 }), fc.integer({ min: 3, max: 6 }), fc.integer({ min: 3, max: 6 })),
  frames: fc.integer({ min: 1, max: 4 }),
  /** Order of all roles; those that a dataset does not have are left out. */
  order: fc.shuffledSubarray(["t", "z", "y", "x", "c"] as const, { minLength: 5 }),
  /** Order of the pressure, which may have one of its own. */
  otherOrder: fc.option(fc.shuffledSubarray(["t", "z", "y", "x"] as const, { minLength: 4 }), { nil: null, freq: 1 }),
  vector: fc.option(fc.constantFrom("velocity", "u", "vel"), { nil: null }),
  triple: fc.constantFrom(...TRIPLES),
  pressure: fc.boolean(),
  names: fc.option(fc.constantFrom(...Object.keys(NAMES)), { nil: null }),
  /** Axes whose coordinates the file has. */
  listed: fc.subarray([...AXES]),
  evidence: fc.constantFrom("none", "scales", "labels", "attribute", "counts"),
  steps: fc.boolean(),
  times: fc.constantFrom("none", "list", "attribute"),
  descending: fc.option(fc.constantFrom(...AXES), { nil: null, freq: 1 }),
  scale: fc.boolean(),
  type: fc.constantFrom("<f", "<d", ">d"),
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

/** A descending axis can only be written by a list of its coordinates. */
function normal(way: Way): Way {
  const hasList = way.names !== null && way.descending !== null && way.listed.includes(way.descending);
  return hasList ? way : { ...way, descending: null };
}

function rolesOf(way: Way, isVector: boolean, isPressure = false): string[] {
  const order: readonly string[] = isPressure && way.otherOrder !== null ? way.otherOrder : way.order;
  return order.filter((role) => (role === "c" ? isVector : role !== "t" || way.frames > 1));
}

const SCALE = { factor: 4, offset: -3 };

function writeField(
  file: File,
  way: Way,
  written: Float64Array[],
  path: string,
  roles: string[],
  value: (at: Record<string, number>) => number,
) {
  const lengths: Record<string, number> = { t: way.frames, c: 3, x: way.nodes[0], y: way.nodes[1], z: way.nodes[2] };
  const shape = roles.map((role) => lengths[role] as number);
  const data = new Float64Array(shape.reduce((product, length) => product * length, 1));
  const coordinates = { x: coordinatesOf(way, "x"), y: coordinatesOf(way, "y"), z: coordinatesOf(way, "z") };
  for (let index = 0; index < data.length; index++) {
    const at: Record<string, number> = { t: 0, c: 0 };
    let rest = index;
    for (let d = roles.length - 1; d >= 0; d--) {
      at[roles[d] as string] = rest % (shape[d] as number);
      rest = Math.floor(rest / (shape[d] as number));
    }
    for (const axis of AXES) at[axis] = coordinates[axis][at[axis] as number] as number;
    const number = value({ ...at, t: timeAt(at.t as number) });
    data[index] = way.scale ? (number - SCALE.offset) / SCALE.factor : number;
  }
  const group = way.group === "" ? file : (file.get(way.group) as unknown as File);
  group.create_dataset({
    name: path,
    data: way.type === "<f" ? Float32Array.from(data) : data,
    shape,
    dtype: way.type === "<f" ? "<f" : "<d",
  });
  written.push(data);
  const dataset = group.get(path) as H5Dataset;
  if (way.scale) {
    dataset.create_attribute("scale_factor", SCALE.factor, [], "<d");
    dataset.create_attribute("add_offset", SCALE.offset, [], "<d");
  }
  if (way.evidence === "labels") for (const [d, role] of roles.entries()) dataset.set_dimension_label(d, role);
  if (way.evidence === "attribute") dataset.create_attribute("axes", roles.join(""));
  if (way.evidence === "scales" && way.names !== null)
    for (const [d, role] of roles.entries())
      if (way.listed.includes(role as Axis)) dataset.attach_scale(d, nameOf(way, role as Axis));
}

function nameOf({ names, group }: Way, axis: Axis): string {
  return `${group === "" ? "" : `/${group}`}/${NAMES[names as string]?.[AXES.indexOf(axis)]}`;
}

/** @returns the values of every dataset */
function writeWay(file: File, way: Way): Float64Array[] {
  const written: Float64Array[] = [];
  if (way.group !== "") way.group.split("/").reduce((at, name) => at.create_group(name) as unknown as File, file);
  const group = way.group === "" ? file : (file.get(way.group) as unknown as File);
  if (way.names !== null)
    for (const axis of way.listed) {
      const name = (NAMES[way.names] as readonly string[])[AXES.indexOf(axis)] as string;
      const data = Float64Array.from(coordinatesOf(way, axis));
      group.create_dataset({ name, data });
      written.push(data);
      if (way.evidence === "scales") (group.get(name) as H5Dataset).make_scale(name);
    }
  if (way.evidence === "counts")
    for (const axis of AXES) file.create_attribute(`n${axis}`, way.nodes[AXES.indexOf(axis)] as number);
  if (way.steps)
    for (const axis of AXES) {
      file.create_attribute(`d${axis}`, GRID[axis].spacing, [], "<d");
      file.create_attribute(`${axis}0`, GRID[axis].origin, [], "<d");
    }
  const times = Float64Array.from({ length: way.frames }, (_, k) => timeAt(k));
  if (way.times === "list") {
    group.create_dataset({ name: "time", data: times });
    written.push(times);
  }
  if (way.times === "attribute") file.create_attribute("time", [...times], way.frames === 1 ? [] : [way.frames], "<d");
  if (way.vector === null)
    for (const [c, name] of way.triple.entries())
      writeField(
        file,
        way,
        written,
        name,
        rolesOf(way, false),
        ({ x, y, z, t }) => POLYNOMIALS[c]?.(x as number, y as number, z as number, t as number) as number,
      );
  else
    writeField(
      file,
      way,
      written,
      way.vector,
      rolesOf(way, true),
      ({ x, y, z, t, c }) => POLYNOMIALS[c as number]?.(x as number, y as number, z as number, t as number) as number,
    );
  if (way.pressure)
    writeField(file, way, written, "p", rolesOf(way, false, true), ({ x, y, z, t }) =>
      PRESSURE(x as number, y as number, z as number, t as number),
    );
  return written;
}

/** Writes the file; big-endian where nothing but datasets has float64 numbers, each of them once. */
async function writeFile(path: string, way: Way): Promise<void> {
  let written: Float64Array[] = [];
  const isBig = way.type === ">d" && !way.steps && !way.scale && way.times !== "attribute" && way.frames > 1;
  const write = (file: File) => {
    written = writeWay(file, way);
  };
  await writeHdf5(path, write, isBig);
  if (!isBig) return;
  try {
    makeBigEndian(path, written);
  } catch {
    // Values that stand in the file twice leave it as it is.
  }
}

/** What is known of a grid whatever the file says. */
function answersTo(way: Way): Answers {
  return {
    dims: rolesOf(way, way.vector !== null),
    spacing: AXES.map((axis) => GRID[axis].spacing),
    origin: AXES.map((axis) => GRID[axis].origin),
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

/** Reads a file; null where it is refused or a question that changes values is open. */
function examine(path: string, answers: Answers): Dataset | null {
  try {
    const found = recognise(path, answers);
    if (found === null || openQuestions(found.descriptor).length > 0) return null;
    const description = { descriptor: found.descriptor, folder: SCRATCH, location: path, digest: "", warnings: [] };
    const outcome = verify(description, 2 ** 26);
    if ("problems" in outcome) throw new Error(outcome.problems.join("; "));
    return outcome.dataset;
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
}

function expectRight(dataset: Dataset, way: Way): void {
  const times = Array.from({ length: way.frames }, (_, k) => timeAt(k));
  const { time } = dataset;
  const isUntimed = way.frames === 1 && dataset.questions.some(({ about }) => about === "snapshot");
  if (!isUntimed)
    expect(Array.from({ length: time.count }, (_, k) => time.values?.[k] ?? time.origin + k * time.step)).toEqual(
      times.map((t) => expect.closeTo(t, 9)),
    );
  expect(errorOf(dataset, "velocity", times)).toBeLessThan(1e-5);
  if (dataset.fields.pressure !== undefined) expect(errorOf(dataset, "pressure", times)).toBeLessThan(1e-4);
}

let made = 0;
beforeAll(() => loadHdf5());

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
        const answered = way.descending === null && way.otherOrder === null ? examine(path, answersTo(way)) : null;
        if (answered !== null) {
          counts.answered++;
          expectRight(answered, way);
        }
        unlinkSync(path);
      }),
      { numRuns: FILES / PARTS.length },
    );
    // The property is not kept by refusing everything.
    expect(counts.right).toBeGreaterThan(FILES / PARTS.length / 20);
    expect(counts.answered).toBeGreaterThan(FILES / PARTS.length / 10);
  });
});
