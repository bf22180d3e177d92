/** Statements that may change values are applied, known to be harmless, or asked about. */
import { join } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { measured } from "../../../src/storage/catalog/raised-questions.js";
import { openSource } from "../../../src/storage/catalog/source.js";
import { AXIS_NAMES } from "../../../src/storage/dataset/dataset.js";
import { questionText } from "../../../src/storage/dataset/descriptor.js";
import { contradictionOf, factorBetween, unitOf } from "../../../src/storage/dataset/units.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { NODES, writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed, openDespite } from "../../support/open-confirmed.js";
import {
  complete,
  inTime,
  QUESTIONABLE,
  timed,
  writeComponents,
  writeTables,
} from "../../support/questionable-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const CHUNK_BYTES = 2 ** 26;

async function open(name: string, write: (file: File) => void) {
  return openConfirmed(await writeHdf5(join(SCRATCH, `${name}.h5`), write), CHUNK_BYTES);
}

describe("a questionable file", () => {
  it.each(QUESTIONABLE.map((entry) => [entry.name, entry] as const))(
    "%s waits, and its draft says why",
    async (name, entry) => {
      const path = await writeHdf5(join(SCRATCH, `${name}.h5`), entry.write);
      expect(() => openSource(path, CHUNK_BYTES)).toThrow(/needs a look|other nodes/);
      if (entry.asks.source.includes("other nodes")) return;
      const { descriptor, seen } = measured(recognise(path) as Recognised, SCRATCH, {});
      if (entry.shows === undefined) expect(descriptor.questions.map(questionText).join("\n")).toMatch(entry.asks);
      else expect(seen).toContainEqual(expect.stringMatching(entry.shows));
    },
  );

  it.each(QUESTIONABLE.filter(({ answers }) => answers !== undefined).map((entry) => [entry.name, entry] as const))(
    "%s is served with what was overridden in its provenance",
    async (name, entry) => {
      const path = await writeHdf5(join(SCRATCH, `assumed-${name}.h5`), entry.write);
      const { assumed, questions } = openDespite(path, CHUNK_BYTES, entry.answers);
      expect(questions).toEqual([]);
      expect(assumed.map(({ question }) => question).join("\n")).toMatch(entry.asks);
    },
  );
});

describe("a statement", () => {
  const at = (path: string, name: string, value: string | number | Float64Array) => (file: File) => {
    inTime([0, 1, 2])(file);
    (path === "/" ? file : (file.get(path) as H5Dataset)).create_attribute(name, value);
  };

  it.each<[string, (file: File) => void, RegExp]>([
    ["of the table of times", at("time", "factor", 100), /factor = 100 of \/time/],
    ["of the unit of the times", at("/", "time_units", "ms"), /\/time counts in "ms"/],
    ["of multiples of pi", at("x", "units", "2 pi"), /units of \/x is "2 pi"/],
    ["of counted places", at("x", "units", "grid points"), /units of \/x is "grid points"/],
    [
      "of other times for the same frames",
      (file) => {
        inTime([0, 1, 2])(file);
        file.create_dataset({ name: "t", data: Float64Array.of(0, 10, 20) });
      },
      /have other times for the 3 frames/,
    ],
    [
      "of another spacing in a list",
      at("/", "grid_spacing", Float64Array.of(7, 8, 9)),
      /grid_spacing of \/ is 7, 8, 9/,
    ],
    [
      "of conditions in a sentence",
      at("/", "boundary_conditions", "periodic in x"),
      /is "periodic in x", which is not/,
    ],
    ["of the topology of a table", at("x", "topology", "circular"), /topology of \/x and .* differ on whether x/],
    ["of a component that points down", at("w", "positive", "down"), /\/w counts downwards/],
    ["of another quantity", at("v", "long_name", "vorticity along y"), /long_name of \/v is "vorticity along y"/],
    [
      "of components in a group above",
      (file) => {
        writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"] });
        writeTables(file);
        file.create_attribute("component_names", "w,v,u");
      },
      /components of \/velocity are w, v, u by the attribute component_names of \//,
    ],
    [
      "of a later frame",
      (file) => {
        for (const frame of ["0", "1"]) {
          writeComponents(
            file,
            ["u", "v", "w"].map((name) => `/${frame}/${name}`),
          );
          (file.get(frame) as Group).create_attribute("time", Number(frame), [], "<d");
        }
        writeTables(file);
        (file.get("1/w") as H5Dataset).create_attribute("long_name", "vorticity");
      },
      /long_name of \/1\/w is "vorticity"/,
    ],
  ])("%s is asked about", async (name, write, asks) => {
    await expect(open(name.replaceAll(" ", "-"), write)).rejects.toThrow(asks);
  });
});

describe("a unit", () => {
  /** A file of u in m/s on nodes of 0.25 that numbers state. */
  const linesOf = async (name: string, attributes: object, more: (file: File) => void = () => {}, speed = "m/s") => {
    const path = await writeHdf5(join(SCRATCH, `unit-${name}.h5`), (file) => {
      writeComponents(file);
      for (const field of ["u", "v", "w"]) (file.get(field) as H5Dataset).create_attribute("units", speed);
      for (const [said, value] of Object.entries({ axes: "zyx", periodic: "xyz", ...attributes }))
        file.create_attribute(said, value);
      more(file);
    });
    const { time, questions = [], units, fields } = (recognise(path) as Recognised).written;
    const lines = questions.map(({ question, red }) => `${red ? "! " : ""}${question}`);
    return { time, lines, units: { ...units, velocity: fields.velocity?.unit } };
  };
  const GRID = { dx: 0.25, dy: 0.25, dz: 0.25, x0: 0, y0: 0, z0: 0, time: 1500 };
  /** Numbers of the grid in datasets, all with an attribute, in the root or in a group. */
  const inDatasets = (group: string, name: string, value: string | number) => (file: File) => {
    const holder = group === "" ? file : file.create_group(group);
    for (const axis of AXIS_NAMES)
      for (const [said, number] of [`d${axis}`, `${axis}0`].entries()) {
        holder.create_dataset({ name: number, data: [0.25 * (1 - said)], shape: [], dtype: "<d" });
        (holder.get(number) as H5Dataset).create_attribute(name, value);
      }
  };
  const inTables = (group: string) => (file: File) => {
    const holder = group === "" ? file : file.create_group(group);
    for (const axis of AXIS_NAMES)
      holder.create_dataset({ name: axis, data: Float64Array.from({ length: NODES[axis] }, (_, i) => i / 4) });
    if (group !== "") holder.create_attribute("units", "mm");
  };
  const MM = /^! The coordinates are in mm along x.* and \/u in m\/s; .* only times in mm\/\(m\/s\) fit\.$/;

  it.each<[string, object, ((file: File) => void)?]>([
    ["of all lengths", { ...GRID, length_units: "mm" }],
    ["of a kind, in one word", { ...GRID, UnitLength: "mm" }],
    ["named after the numbers", { ...GRID, dx_unit: "mm", dy_unit: "mm", dz_unit: "mm" }],
    ["named after an axis", { ...GRID, x_units: "mm", y_units: "mm", z_units: "mm" }],
    ["of datasets of one number", {}, inDatasets("", "units", "mm")],
    ["of such datasets, in the singular", {}, inDatasets("grid", "Unit", "mm")],
    ["in texts of numbers", { ...GRID, dx: "0.25 mm", dy: "0.25 mm", dz: "0.25 mm" }],
    ["of all lengths, beside lists", { length_unit: "mm" }, inTables("")],
    ["of the group of the lists", {}, inTables("grid")],
  ])("%s is compared with that of the velocity", async (name, attributes, more) => {
    const { lines } = await linesOf(name.replace(/\W+/g, "-"), attributes, more);
    expect(lines.filter((line) => MM.test(line))).toHaveLength(1);
  });

  it.each([
    ["km/h", "h"],
    ["km min-1", "min"],
    ["km s-1", "s"],
  ])("of lengths in km fits a velocity in %s, with which it is kept", async (velocity, time) => {
    const said = { ...GRID, length_units: "km", time_units: "s" };
    const { lines, units } = await linesOf(velocity.replace(/\W/g, "-"), said, undefined, velocity);
    const red = lines.filter((line) => line.startsWith("!"));
    expect([red, units]).toEqual([[], { length: "km", time, velocity }]);
  });

  it.each<[string, object, RegExp, ((file: File) => void)?]>([
    ["of one axis", { ...GRID, x_units: "mm", y_units: "m" }, /^! The coordinates are in mm along x, m along y; /],
    ["that is no length", { ...GRID, grid_units: "kg" }, /^! .*grid_units of \/ is in kg, which is no length/],
    ["that counts", {}, /^! The attribute units of \/dx is "cells", and nothing/, inDatasets("", "units", "cells")],
    [
      "by a number",
      {},
      /^! Numbers that nothing applies: factor = 0.1 of \/dx and 5 more/,
      inDatasets("", "factor", 0.1),
    ],
    [
      "of a time",
      { ...GRID, time_units: "ms" },
      /^! the attribute time of \/ counts in "ms", which is served as it is/,
    ],
    ["in the text of a time", { ...GRID, time: "1500 ms" }, /^! the attribute time of \/ counts in "ms", which/],
  ])("%s is a red line", async (name, attributes, line, more) => {
    const { lines } = await linesOf(name.replace(/\W+/g, "-"), attributes, more);
    expect(lines).toContainEqual(expect.stringMatching(line));
  });

  it("that is not known is shown, and a red line beside one that is", async () => {
    const drafted = async (...said: readonly (readonly [path: string, name: string, unit: string])[]) => {
      const write = timed(1, (file) => {
        for (const [path, name, unit] of said) (file.get(path) as H5Dataset).create_attribute(name, unit);
      });
      const found = recognise(await writeHdf5(join(SCRATCH, "unknown-unit.h5"), write)) as Recognised;
      const lines = found.descriptor.questions.map(({ red, question }) => `${red ? "! " : ""}${question}`);
      return [...found.reasons, ...lines].join("\n");
    };
    const turns = ["/", "time_units", "turns"] as const;
    const shown = await drafted(turns, ["x", "units", "D"]);
    expect(shown).toMatch(/^lengths: in "D", by \/x\.\ntime: from the attribute time of \/ in "turns"\.$/m);
    expect(shown).not.toMatch(/^! /m);
    expect(await drafted(turns, ["u", "units", "m/s"])).toMatch(/^! the attribute time of \/ counts in "turns"/m);
    expect(await drafted(["x", "units", "m"], ["u", "units", "U"])).toMatch(/^! .* in m along x and \/u in U;/m);
  });

  it("that fits changes nothing, and that of a time is converted", async () => {
    const { time, lines } = await linesOf("converted", { ...GRID, length_units: "m", time_unit: "ms" });
    expect([time, lines]).toEqual([{ count: 1, origin: 1.5 }, []]);
  });
});

describe("an origin beside values in cells", () => {
  const GRID = { axes: "zyx", periodic: "xyz", time: 0, dx: 0.5, dy: 0.5, dz: 0.5, x0: 1, y0: 1, z0: 1 };
  const drafted = async (said: object, answers: Answers = {}) => {
    const path = await writeHdf5(join(SCRATCH, "cells.h5"), (file) => {
      writeComponents(file);
      for (const [name, value] of Object.entries({ ...GRID, ...said }))
        if (value !== null) file.create_attribute(name, value);
    });
    const { axes, questions = [] } = recognise(path, answers)?.written ?? {};
    return { axes, lines: questions.map(({ question }) => question) };
  };

  it.each([{ centering: "cell" }, { location: "Cell centres" }, { grid_location: "CellCenter" }, { cell_centered: 1 }])(
    "is asked for if %o does not say which point it is",
    async (said) => {
      const { lines } = await drafted(said);
      expect(lines).toContainEqual(
        expect.stringMatching(/x0 of \/ is 1 and .* is ".*"; that this is the centre of the/),
      );
      const [corner, centre] = [await drafted(said, { cells: AXIS_NAMES }), await drafted(said, { cells: [] })];
      expect([corner.lines, centre.lines]).toEqual([[], []]);
      expect([corner.axes?.x, centre.axes?.x]).toMatchObject([{ origin: 1.25 }, { origin: 1 }]);
    },
  );

  it("is the first centre half a cell inside a stated end, and the first node of nodes", async () => {
    const inside = { centering: "cell", xmin: 0.75, ymin: 0.75, zmin: 0.75 };
    for (const said of [inside, { centering: "node" }]) {
      const { axes, lines } = await drafted(said);
      expect([axes?.x, lines]).toMatchObject([{ origin: 1 }, []]);
    }
  });

  it("is answered apart from what the length is of, unless it is a corner", async () => {
    const box = { dx: null, dy: null, dz: null, periodic: "none", Lx: 6, Ly: 5, Lz: 5.5, centering: "cell" };
    const { lines } = await drafted(box, { cells: [], walls: [] });
    expect(lines).toContainEqual(
      expect.stringMatching(/^The length 6 means a spacing of 0\.5 between 12 cells, .* guess/),
    );
    const corner = await drafted(box, { cells: AXIS_NAMES, walls: [] });
    expect([corner.lines, corner.axes?.x]).toMatchObject([[], { origin: 1.25, spacing: 0.5 }]);
  });

  it("has a red line if the values of its fields are on faces by a text of the file", async () => {
    expect((await drafted({ centering: "face" })).lines).toContainEqual(expect.stringMatching(/^@centering is face; /));
  });
});

describe("the time of one frame", () => {
  const describedAt = async (name: string, write: (file: File) => void) => {
    const path = await writeHdf5(join(SCRATCH, `${name}.h5`), complete(write));
    return recognise(path)?.written;
  };

  it.each<[string, (file: File) => void]>([
    ["a text in an attribute", (file) => file.create_attribute("time", "1.5")],
    ["a list of one text", (file) => file.create_attribute("Time", ["1.5"])],
    ["a text in a dataset", (file) => void file.create_dataset({ name: "sim_time", data: "1.5" })],
    ["a text with its unit", (file) => file.create_attribute("time", "1.5 s")],
  ])("is read from %s", async (name, write) => {
    const { time, questions = [] } = (await describedAt(name.replaceAll(" ", "-"), write)) ?? {};
    expect([time, questions.map(({ about }) => about)]).toEqual([{ count: 1, origin: 1.5 }, ["faces"]]);
  });

  it.each<[string, string | number, RegExp]>([
    ["a word", "noon", /time of \/ is "noon", which is not read as a time/],
    ["a date", "2020-01-01", /time of \/ is "2020-01-01", which/],
    ["no number", Number.NaN, /time of \/ is "NaN", which/],
  ])("is asked for if the file states %s", async (name, value, asks) => {
    const { questions = [] } =
      (await describedAt(name.replace(" ", "-"), (file) => file.create_attribute("time", value))) ?? {};
    expect(questions).toContainEqual(
      expect.objectContaining({ about: "times", question: expect.stringMatching(asks) }),
    );
  });
});

describe("a file that says what changes nothing", () => {
  it.each([
    ["Lx", 2.75],
    ["Lx", 3],
    ["xmax", 2.75],
    ["xmax", 2.875],
    ["xmax", 3],
    ["xmin", 0],
    ["xmin", -0.125],
  ])("is served with %s = %d, which may be meant for its nodes or cells", async (name, value) => {
    const questionsOf = async (more: (file: File) => void) =>
      (await open(`${name}-${value}`, complete(more))).questions.filter(({ about }) => about !== "snapshot");
    expect(await questionsOf((file) => file.create_attribute(name, value, [], "<d"))).toEqual(
      await questionsOf(() => {}),
    );
  });

  it.each([
    ["scale_factor", 1],
    ["history", "scaled by nobody"],
    ["velocity_unit", "m/s"],
    ["units", "SI"],
    ["extent", "0 2.75 0 2.25 0 2.5"],
  ])("is served with %s = %s", async (name, value) => {
    const { questions } = await open(
      `harmless-${name}`,
      complete((file) => file.create_attribute(name, value)),
    );
    expect(questions.filter(({ about }) => ["scale", "spacing", "order"].includes(about))).toEqual([]);
  });

  const ends = (["x", "y", "z"] as const).map((axis) => (NODES[axis] - 1) / 4);
  it.each<[string, readonly number[]]>([
    ["extent", ends.flatMap((end) => [0, end])],
    ["bounds", [0, 0, 0, ...ends]],
    ["bbox", ends.toReversed().flatMap((end) => [0, end])],
    ["domain", ends.flatMap((end) => [-0.125, end + 0.125])],
    ["extent", [NODES.x, NODES.y, NODES.z]],
    ["whole_extent", [NODES.x, NODES.y, NODES.z].flatMap((count) => [0, count - 1])],
    ["box", ends.map((end) => end + 0.25)],
  ])("is served with %s = %j, the ends of its nodes or their numbers", async (name, value) => {
    const write = complete((file) => file.create_attribute(name, Float64Array.from(value)));
    const { questions } = await open(`box-${name}-${value.length}-${value[1]}`.replace(/[^\w.-]/g, ""), write);
    expect(questions.filter(({ about }) => about === "spacing")).toEqual([]);
  });

  it.each([
    ["the unit of a group in another system", "units", "cgs", "m/s"],
    ["a unit of length that is not that of the velocity", "units", "cm", "m/s"],
    ["a velocity without a unit that is known", "unit_system", "SI", "u_tau"],
  ])("is asked about %s", async (_name, name, units, own) => {
    const write = complete((file) => {
      file.create_attribute(name, units);
      for (const path of ["u", "v", "w"]) (file.get(path) as H5Dataset).create_attribute("units", own);
    });
    await expect(open(`above-${name}-${units}`, write)).rejects.toThrow(
      `"${own}" and the attribute ${name} of / is "${units}"`,
    );
  });

  it("takes the unit of a component from the group above it", async () => {
    const write = (file: File) => {
      writeComponents(file, ["/a/u", "/b/v", "/c/w"]);
      writeTables(file);
      for (const [at, unit] of ["m/s", "cm/s", "m/s"].entries())
        (file.get("abc"[at] as string) as Group).create_attribute("units", unit);
    };
    const path = await writeHdf5(join(SCRATCH, "units-of-groups.h5"), write);
    const { assumed } = openConfirmed(path, CHUNK_BYTES, { velocity: ["/a/u", "/b/v", "/c/w"], despite: ["units"] });
    expect(assumed.map(({ question }) => question).join("\n")).toMatch(
      /\/b\/v is in "cm\/s" and is multiplied by 0\.01/,
    );
  });
});

describe("units", () => {
  it.each([
    ["m/s", "m s-1"],
    ["m s**-1", "meters per second"],
    ["km/h", "km hour-1"],
    ["Pa", "kg m-1 s-2"],
    ["Pa", "N/m^2"],
  ])("%s and %s are one", (a, b) => expect(contradictionOf(a, b)).toBe(false));

  it.each([
    ["m/s", "cm/s"],
    ["m/s", "km/s"],
    ["m/s", "m"],
    ["u_tau", "m/s"],
    ["bar", "hPa"],
  ])("%s and %s are two", (a, b) => expect(contradictionOf(a, b)).toBe(true));

  it("are products of powers", () => {
    expect(unitOf("cm/s")).toEqual({ factor: 0.01, powers: "1,0,-1,0,0" });
    expect(unitOf("furlong")).toBeNull();
  });

  it.each([
    ["cm/s", "m/s", 0.01],
    ["km/h", "m s-1", 1 / 3.6],
    ["knots", "m/s", 1852 / 3600],
    ["hPa", "kPa", 0.1],
    ["dyn cm-2", "Pa", 0.1],
    ["gauss", "mT", 0.1],
    ["m/s", "Pa", null],
    ["u_tau", "m/s", null],
  ])("%s are converted to %s by %d", (from, to, factor) => {
    if (factor === null) expect(factorBetween(from, to)).toBeNull();
    else expect(factorBetween(from, to)).toBeCloseTo(factor, 12);
  });
});
