/** What files of one variable each state, of which no rule takes the word of one file for all. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { File, Group } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { recogniseSeries } from "../../../src/storage/catalog/series.js";
import type { Recognised } from "../../../src/storage/recognise/recognise.js";
import { type Dimension, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const AXES = ["x", "y", "z"] as const;
type Name = "u" | "v" | "w";
type Writer = (file: File, name: Name) => unknown;

/** Reads u.h5, v.h5, w.h5, each stored in `order` of its name, all with coordinates unless `more` states the grid. */
async function read(folder: string, more: Writer, order: Partial<Record<Name, string>> = {}): Promise<Recognised> {
  mkdirSync(join(SCRATCH, folder));
  const paths: string[] = [];
  for (const name of ["u", "v", "w"] as const)
    paths.push(
      await writeHdf5(join(SCRATCH, folder, `${name}.h5`), (file) => {
        const dimensions = [...(order[name] ?? "zyx")] as Dimension[];
        writeField(file, `/${name}`, { dimensions, lengths: { x: 8, y: 8, z: 8 }, value: ({ x, y, z }) => x + y + z });
        more(file, name);
      }),
    );
  return recogniseSeries(paths, { walls: [] });
}

const tables = (file: File): void => {
  for (const axis of AXES) file.create_dataset({ name: axis, data: Float64Array.from({ length: 8 }, (_, i) => i / 4) });
};
const say = (file: File, said: Readonly<Record<string, string | number>>, path = "/"): void => {
  const holder = path === "/" ? file : (file.get(path) as Group);
  for (const [name, value] of Object.entries(said)) holder.create_attribute(name, value);
};
const whole = { axes: "zyx", periodic: "none", time: 1 };
const questions = ({ written }: Recognised) =>
  (written.questions ?? []).map(({ about, question }) => [about, question]);

describe("texts that differ among files of one variable each", () => {
  const rows: readonly (readonly [key: string, write: Writer])[] = [
    ["@axes", (file, name) => say(file, { ...whole, axes: name === "w" ? "xyz" : "zyx" })],
    ["@periodic", (file, name) => say(file, { ...whole, periodic: name === "v" ? "xz" : "none" })],
    ["@velocity_units", (file, name) => say(file, { ...whole, velocity_units: name === "w" ? "cm/s" : "m/s" })],
    [
      "@bc_y",
      (file, name) => say(file, { ...whole, ...(name === "u" ? {} : { bc_y: name === "v" ? "wall" : "open" }) }),
    ],
    ["/x@units", (file, name) => [say(file, whole), say(file, { units: name === "w" ? "cm" : "m" }, "/x")]],
    ["/x@positive", (file, name) => [say(file, whole), say(file, { positive: name === "w" ? "down" : "up" }, "/x")]],
    [
      "/info@periodic_x",
      (file, name) => {
        say(file, { axes: "zyx", time: 1 });
        file.create_group("info");
        say(file, { periodic_x: name === "v" ? "yes" : "no" }, "/info");
      },
    ],
  ];
  it.each(rows)("%s is refused, as numbers are", async (key, write) => {
    const both = (file: File, name: Name) => [tables(file), write(file, name)];
    const what = new RegExp(`[uv]\\.h5 and [vw]\\.h5 both hold ${key}, and differ in it`);
    await expect(read(key.replace(/\W/g, "-"), both)).rejects.toThrow(what);
  });

  it("are listed with the text of each file if no rule reads them", async () => {
    const found = await read("titles", (file, name) => [tables(file), say(file, { ...whole, note: `of ${name}` })]);
    expect(questions(found)).toEqual([]);
    expect(found.varies).toEqual(["@note"]);
    expect(found.seen).toEqual(['@note = "of u", "of v", "of w"']);
  });

  it("belong to what is confirmed", async () => {
    const of = async (name: string, last: string) =>
      (await read(name, (file, one) => [tables(file), say(file, { ...whole, note: one === "w" ? last : "a" })]))
        .structure;
    expect((await of("before", "a")).get("@note")).not.toBe((await of("after", "b")).get("@note"));
  });
});

describe("what one of several files states", () => {
  it("of the grid is that of all", async () => {
    const grid = { dx: 0.5, dy: 0.25, dz: 0.125, x0: 1, y0: 2, z0: 3, periodic: "xyz" };
    const found = await read("grid", (file, name) =>
      say(file, { axes: "zyx", time: 1, ...(name === "v" ? grid : {}) }),
    );
    expect(questions(found)).toEqual([]);
    const axis = (origin: number, spacing: number) => ({ nodes: 8, origin, spacing, periodic: true });
    expect(found.written.axes).toEqual({ x: axis(1, 0.5), y: axis(2, 0.25), z: axis(3, 0.125) });
  });

  it("differently from another than the first is refused", async () => {
    const lacking = (file: File, name: Name) =>
      say(file, { axes: "zyx", time: 1, ...(name === "u" ? {} : { dx: name === "v" ? 1 : 2 }) });
    await expect(read("lacking", lacking)).rejects.toThrow(/v\.h5 and w\.h5 both hold @dx/);
  });

  it("of the order of its variable is not that of another", async () => {
    const { axes: _, ...rest } = whole;
    const write: Writer = (file, name) => [tables(file), say(file, name === "w" ? { ...rest, axes: "xyz" } : rest)];
    const found = await read("order", write, { w: "xyz" });
    expect(questions(found)).toEqual([["order", expect.stringMatching(/^\/u is 8 x 8 x 8, and the coordinates/)]]);
    const { velocity } = found.written.fields as { velocity: { components: { dimensions?: string[] }[] } };
    expect(velocity.components.map(({ dimensions }) => dimensions)).toEqual([undefined, undefined, ["x", "y", "z"]]);
  });

  it("of the unit of its variable is not that of another", async () => {
    const write: Writer = (file, name) => [tables(file), say(file, name === "w" ? { ...whole, units: "cm/s" } : whole)];
    expect(questions(await read("unit", write))).toEqual([
      ["scale", expect.stringMatching(/^\/w is in "cm\/s" and \/u/)],
    ]);
  });
});
