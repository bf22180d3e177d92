/** Files of published formats, with everything that their writers write, are served as their formats define them. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type File, type Group, type Dataset as H5Dataset, h5wasm } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../../src/storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../../../src/storage/catalog/series.js";
import { openSource } from "../../../../src/storage/catalog/source.js";
import type { Dataset, FieldName } from "../../../../src/storage/dataset/dataset.js";
import { partsIn } from "../../../../src/storage/dataset/descriptor.js";
import { placeOf } from "../../../../src/storage/dataset/files.js";
import { recognise } from "../../../../src/storage/recognise/recognise.js";
import { NODES, writeField, writeHdf5 } from "../../../support/cubes.js";
import { unpackFixture } from "../../../support/fixture-file.js";
import { confirmFile, openConfirmed } from "../../../support/open-confirmed.js";
import { PRODUCERS } from "../../../support/producers.js";
import { inTime, timed, writeComponents, writeTables } from "../../../support/questionable-files.js";
import { readNodes } from "../../../support/read-nodes.js";
import { age, folderIn, scratchFolder } from "../../../support/scratch.js";

const FIXTURES = new URL("fixtures/formats/", import.meta.url);
const SCRATCH = scratchFolder();
const CHUNK_BYTES = 2 ** 26;

const unpacked = (name: string): string => unpackFixture(FIXTURES, name, SCRATCH);

/** A fixture with other attributes. @param more changes it */
async function edited(fixture: string, name: string, more: (file: File) => void): Promise<string> {
  await h5wasm.ready;
  const path = join(SCRATCH, `${name}${fixture.slice(fixture.lastIndexOf("."))}`);
  copyFileSync(unpacked(fixture), path);
  const file = new h5wasm.File(path, "a");
  more(file);
  file.close();
  return path;
}

function setNumbers(file: File, path: string, name: string, numbers: readonly number[]): void {
  const holder = file.get(path) as Group;
  if (Object.hasOwn(holder.attrs, name)) holder.delete_attribute(name);
  holder.create_attribute(name, numbers as never, numbers.length === 1 ? [] : [numbers.length], "<d");
}

function nodesOf({ axes }: Dataset): number[][] {
  return axes.map(({ nodes, origin, spacing, coordinates }) =>
    Array.from({ length: nodes }, (_, i) => coordinates?.[i] ?? origin + i * spacing),
  );
}

/** The largest difference of a velocity from (x, y, z) times a factor, at all nodes of a frame. */
function worstOf(dataset: Dataset, frame: number, factor: number, field: FieldName = "velocity"): number {
  const [x, y, z] = nodesOf(dataset) as [number[], number[], number[]];
  const open = openDataset(dataset);
  const values = readNodes(dataset, open, field, frame);
  open.close();
  const expected = z.flatMap((c) => y.flatMap((b) => x.flatMap((a) => (field === "velocity" ? [a, b, c] : [a]))));
  return Math.max(...expected.map((value, at) => Math.abs(value * factor - (values[at] as number))));
}

describe("The Well", () => {
  it("is served without a question, its own attributes included", () => {
    const dataset = openConfirmed(unpacked("well.hdf5"), CHUNK_BYTES);
    expect(dataset.questions).toEqual([]);
    const axes = dataset.axes.map(({ nodes, spacing, periodic }) => `${nodes} ${spacing} ${periodic}`);
    expect(axes).toEqual(["6 0.25 true", "4 0.5 true", "5 0.125 false"]);
    for (const frame of [0, 1, 2]) expect(worstOf(dataset, frame, 1 + frame)).toBe(0);
    expect(worstOf(dataset, 2, 3, "pressure")).toBe(0);
  });

  it.each([
    ["well-spherical.hdf5", "grid_type is spherical, and only cartesian is served"],
    ["well-moving.hdf5", "the attribute sample_varying of /dimensions/y is true"],
    ["well-foreign.hdf5", "rms = 2 of /t1_fields/velocity"],
  ])("%s is not served", (name, reason) => {
    expect(() => openConfirmed(unpacked(name), CHUNK_BYTES)).toThrow(reason);
  });
});

describe("Channelflow's NetCDF", () => {
  it("goes by its dimension scales, not by the numbers of nodes with padding", () => {
    const path = unpacked("channelflow.nc");
    const dataset = openConfirmed(path, CHUNK_BYTES);
    const [x, y, z] = dataset.axes;
    expect(x).toMatchObject({ nodes: 8, origin: 0, spacing: 0.25, periodic: true });
    expect(z).toMatchObject({ nodes: 8, origin: 0, spacing: 0.125, periodic: true });
    expect(y.periodic).toBe(false);
    expect(nodesOf(dataset)[1]?.map((node, j) => Math.abs(node + Math.cos((Math.PI * j) / 8)) < 1e-15)).not.toContain(
      false,
    );
    expect(dataset.walls[1]).toEqual([true, true]);
    expect(worstOf(dataset, 0, 1)).toBeLessThan(1e-7);
    expect(recognise(path)?.reasons.join("\n")).toContain("the deviation from the base flow");
    expect(dataset.title).toBe("channelflow.nc, the deviation from the base flow");
  });
});

describe("coordinates beside the numbers that an axis follows from", () => {
  const moved = (name: string, place: (at: number) => number) => (file: File) => {
    const table = file.get(name) as H5Dataset;
    table.write_slice([], (table.value as Float64Array).map(place));
  };
  const MOVES: Record<string, (at: number) => number> = {
    ...{ later: (at) => at + 1, stretched: (at) => 1.1 * at, halved: (at) => at / 2, turned: (at) => 0.875 - at },
  };
  it.each("X-later X-stretched X-halved Z-turned Y-halved".split(" "))("make %s a draft", async (row) => {
    const [name, how] = row.split("-") as [string, string];
    const path = await edited("channelflow.nc", row, moved(name, MOVES[how] as (at: number) => number));
    expect(recognise(path)).toMatchObject({ producer: "generic", isKnown: false });
  });

  it("may be rounded", async () => {
    const path = await edited(
      "channelflow.nc",
      "rounded",
      moved("X", (x) => x * (1 + 2 ** -24)),
    );
    expect(openConfirmed(path, CHUNK_BYTES).axes[0]).toMatchObject({ origin: 0, spacing: 0.25, periodic: true });
  });

  it.each(["x", "y", "z"])("refuse an HDF5 file of Channelflow with another %s by name", async (axis) => {
    const path = await writeHdf5(join(SCRATCH, `geom-${axis}.h5`), (file) => {
      PRODUCERS.find(({ producer }) => producer === "Channelflow 2")?.write(file);
      moved(`geom/${axis}`, (at) => at + 1)(file);
    });
    expect(() => recognise(path)).toThrow(`recognised as Channelflow 2, but /geom/${axis} has `);
  });
});

it.each([
  ...[
    "channelflow.nc /X",
    "channelflow.nc /Y",
    "well.hdf5 /dimensions/time",
    "well.hdf5 /boundary_conditions/x_periodic",
  ],
  ...[0, 100].flatMap((step) => [`openpmd-constant.h5 /data/${step}/meshes/v/z`, `openpmd.h5 /data/${step}`]),
])("a number that its format does not define is asked about in %s", async (row) => {
  const [file, holder] = row.split(" ") as [string, string];
  const path = await edited(file, row.replaceAll(/\W/g, "-"), (held) => setNumbers(held, holder, "gain", [10]));
  expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(`gain = 10 of ${holder}`);
});

describe("VTKHDF", () => {
  it("has the values of CellData at the centres of cells", () => {
    const dataset = openConfirmed(unpacked("cells.vtkhdf"), CHUNK_BYTES);
    const axes = dataset.axes.flatMap(({ nodes, origin, spacing }) => [nodes, origin, spacing]);
    expect(axes).toEqual([8, 2.25, 0.5, 7, 0.125, 0.25, 6, -0.9375, 0.125]);
    expect(worstOf(dataset, 0, 1)).toBe(0);
    expect(worstOf(dataset, 0, 1, "energy")).toBe(0);
  });

  it("has the values of PointData at the points, at the times of its steps", () => {
    const dataset = openConfirmed(unpacked("points.vtkhdf"), CHUNK_BYTES);
    expect(dataset.axes.flatMap(({ nodes, origin }) => [nodes, origin])).toEqual([9, 2, 8, 0, 7, -1]);
    expect([...(dataset.time.values ?? [])]).toEqual([0.5, 0.75, 1.5]);
    for (const [frame, time] of [0.5, 0.75, 1.5].entries())
      expect(worstOf(dataset, frame, 1 + time)).toBeLessThan(1e-6);
  });

  it("has the time of its FieldData, and a red line for components in another order", async () => {
    const path = await edited("cells.vtkhdf", "stated", (file) => {
      (file.get("/VTKHDF/FieldData") as Group).create_dataset({ name: "TimeValue", data: Float64Array.of(0.75) });
      (file.get("/VTKHDF/CellData/velocity") as Group).create_attribute("components", "z,y,x");
    });
    const text = "The components of /VTKHDF/CellData/velocity are z, y, x by the attribute components";
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(text);
    expect(openConfirmed(path, CHUNK_BYTES, { despite: ["order"] }).time).toMatchObject({ origin: 0.75, count: 1 });
  });

  it("gives steps that follow those of its confirmation", () => {
    const path = join(folderIn(SCRATCH, "later"), "steps.vtkhdf");
    copyFileSync(unpacked("early.vtkhdf"), path);
    confirmFile(path, { periodic: [], walls: [] });
    copyFileSync(unpacked("points.vtkhdf"), path);
    age(path);
    const { datasets } = scanFolders([dirname(path)], { chunkBytes: CHUNK_BYTES });
    expect([...(datasets[0]?.time.values ?? [])]).toEqual([0.5, 0.75, 1.5]);
  });

  it("may have a pressure alone", async () => {
    const path = await writeHdf5(join(SCRATCH, "alone.vtkhdf"), (file) => {
      const group = file.create_group("VTKHDF");
      group.create_attribute("Type", "ImageData");
      for (const [name, to] of Object.entries({
        Origin: [0, 0, 0],
        Spacing: [1, 1, 1],
        WholeExtent: [0, 1, 0, 1, 0, 1],
      }))
        setNumbers(file, "/VTKHDF", name, to);
      const data = new Float32Array(8).fill(3);
      group.create_group("PointData").create_dataset({ name: "p", data, shape: [2, 2, 2] });
    });
    expect(Object.keys(openConfirmed(path, CHUNK_BYTES).fields)).toEqual(["pressure"]);
  });

  it("is refused if its axes are turned", () => {
    expect(() => openConfirmed(unpacked("turned.vtkhdf"), CHUNK_BYTES)).toThrow("its Direction turns the axes");
  });

  it("is refused if it has other times than steps", async () => {
    const path = await edited("points.vtkhdf", "steps", (file) => setNumbers(file, "/VTKHDF/Steps", "NSteps", [2]));
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(
      "NSteps of /VTKHDF/Steps is 2, and /VTKHDF/Steps/Values has 3",
    );
  });

  it.each([
    [0, null],
    [2, "/VTKHDF/CellData/vtkGhostType marks ghosts"],
  ])("with a mark %i for ghosts at one cell is served or refused", async (mark, problem) => {
    const path = await edited("cells.vtkhdf", `ghosts${mark}`, (file) => {
      const data = new Uint8Array(6 * 7 * 8);
      data[9] = mark;
      (file.get("/VTKHDF/CellData") as Group).create_dataset({ name: "vtkGhostType", data, shape: [6, 7, 8] });
    });
    if (problem === null) expect(worstOf(openConfirmed(path, CHUNK_BYTES), 0, 1)).toBe(0);
    else expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(problem);
  });
});

describe("CF", () => {
  function storeOf(name: string): string {
    const objects = JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), "utf8")) as Record<string, string>;
    for (const [key, bytes] of Object.entries(objects)) {
      mkdirSync(join(SCRATCH, name, key, ".."), { recursive: true });
      writeFileSync(join(SCRATCH, name, key), Buffer.from(bytes, "base64"));
    }
    return join(SCRATCH, name);
  }

  it.each([
    ["NetCDF", () => unpacked("cf.nc")],
    ["Zarr", () => storeOf("cf.zarr")],
  ])("of %s is known by standard names and axes, and asks for the ends alone", (_, make) => {
    const path = make();
    const found = recognise(path);
    expect([found?.producer, found?.isKnown]).toEqual(["CF", true]);
    expect(found?.descriptor.questions.map(({ about }) => about)).toEqual(["periodicity"]);
    const dataset = openSource(path, CHUNK_BYTES, { periodic: ["x"], walls: ["z"] });
    const axes = dataset.axes.flatMap(({ nodes, origin, spacing }) => [nodes, origin, spacing]);
    expect(axes).toEqual([5, 0, 100, 6, 0, 100, 4, 20, 20]);
    expect(dataset.time).toMatchObject({ origin: 0, step: 3600, count: 2 });
    for (const field of ["velocity", "pressure"] as const) expect(worstOf(dataset, 1, 2, field)).toBe(0);
  });

  it("is a draft without its convention, without an axis, and with a number that it does not define", async () => {
    const renamed = await edited("cf.nc", "unnamed", (file) => file.delete_attribute("Conventions"));
    const nameless = await edited("cf.nc", "nameless", (file) => (file.get("/nj") as Group).delete_attribute("axis"));
    for (const path of [renamed, nameless]) expect(recognise(path)?.producer).toBe("generic");
    expect(() => openConfirmed(unpacked("cf-foreign.nc"), CHUNK_BYTES)).toThrow("gain = 2 of /ua");
  });
});

describe("openPMD", () => {
  it.each(["openpmd.h5", "openpmd-fortran.h5"])("%s has each component at its position in the cell", (name) => {
    const dataset = openConfirmed(unpacked(name), CHUNK_BYTES);
    expect(dataset.questions.map(({ about }) => about)).toEqual([]);
    expect(dataset.axes.map(({ nodes, origin, spacing }) => [nodes, origin, spacing])).toEqual([
      [6, 0.5 * (1 + 0.125), 0.125],
      [5, 0.5 * (2 + 0.25), 0.25],
      [4, 0.5 * (3 + 0.5), 0.5],
    ]);
    expect(dataset.units).toEqual({ length: "m", time: "s", velocity: "m s-1", pressure: "Pa" });
    // time 0 and 4, timeOffset 0.25, all in units of 2 s.
    expect(dataset.time).toMatchObject({ origin: 0.5, step: 8, count: 2 });
    const open = openDataset(dataset);
    const [nx, ny] = dataset.axes.map(({ nodes }) => nodes) as [number, number];
    for (const frame of [0, 1])
      for (const [c, part] of (dataset.fields.velocity?.own ?? []).entries()) {
        const nodes = nodesOf({ axes: part.axes ?? dataset.axes } as Dataset)[c] as number[];
        const values = readNodes(dataset, open, "velocity", frame).filter((_, at) => at % 3 === c);
        const index = (at: number) => [at % nx, Math.floor(at / nx) % ny, Math.floor(at / nx / ny)][c] as number;
        expect([...values]).toEqual(
          [...values].map((_, at) => Math.fround((nodes[index(at)] as number) * (1 + frame))),
        );
        expect(nodes[0]).toBe(0.5 * (1 + c));
      }
    open.close();
    expect(worstOf(dataset, 1, 2, "pressure")).toBe(0);
  });

  it("asks about a number that the standard does not define, and about none that it does", () => {
    expect(() => openConfirmed(unpacked("openpmd-foreign.h5"), CHUNK_BYTES)).toThrow("rms = 7 of /data/0/meshes/v");
  });

  it.each([
    ["/data/0/meshes/v", [2, 0, -2, 0, 0, 0, 0], "that of a velocity is 1 0 -1 0 0 0 0"],
    ["/data/100/meshes/v", [0, 0, 0, 0, 0, 0, 0], "that of a velocity is 1 0 -1 0 0 0 0"],
    ["/data/0/meshes/p", [1, 0, -1, 0, 0, 0, 0], "that of a pressure is -1 1 -2 0 0 0 0"],
  ])("asks about %s with the unitDimension %j", async (mesh, powers, problem) => {
    const name = `dimension${mesh.replaceAll("/", "-")}`;
    const path = await edited("openpmd.h5", name, (file) => setNumbers(file, mesh, "unitDimension", powers));
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(
      `The attribute unitDimension of ${mesh} is ${powers.join(" ")}, and ${problem}`,
    );
  });

  it.each([
    ["unitSI", ["/data/100/meshes/v/y"], "units: /data/100/meshes/v/y lacks the attribute unitSI"],
    ["unitSI", ["/data/0/meshes/p"], "units: /data/0/meshes/p lacks the attribute unitSI"],
    ["position", ["/data/0/meshes/v/x", "/data/100/meshes/v/x"], "spacing: /data/0/meshes/v/x lacks the attribute"],
    ["gridUnitSI", ["/data/0/meshes/v", "/data/100/meshes/v"], "spacing of x, y, z: "],
    ["timeUnitSI", ["/data/100"], "times: "],
    ["dataOrder", ["/data/0/meshes/v", "/data/100/meshes/v"], "order: /data/0/meshes/v lacks the attribute dataOrder"],
  ])("asks about %s, which the standard requires, if %j lacks it", async (name, holders, problem) => {
    const path = await edited("openpmd.h5", `without-${name}-${holders.length}`, (file) => {
      for (const holder of holders) (file.get(holder) as Group).delete_attribute(name);
    });
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(problem);
  });

  it("does not ask about a pressure over density", async () => {
    const path = await edited("openpmd.h5", "kinematic", (file) => {
      for (const step of [0, 100]) setNumbers(file, `/data/${step}/meshes/p`, "unitDimension", [2, 0, -2, 0, 0, 0, 0]);
    });
    const { questions, units } = openConfirmed(path, CHUNK_BYTES);
    expect([questions, units.pressure]).toEqual([[], "m2 s-2"]);
  });

  it("has SI units, and no red line of the root, without a pressure", async () => {
    const path = await edited("openpmd.h5", "alone", (file) => {
      file.delete_attribute("meshesPath");
      file.create_attribute("meshesPath", "alone/");
      for (const step of [0, 100]) {
        const alone = (file.get(`/data/${step}`) as Group).create_group("alone");
        alone.create_attribute("fieldBoundary", Array(6).fill("periodic"));
        alone.create_soft_link(`/data/${step}/meshes/v`, "v");
      }
    });
    const { questions, units } = openConfirmed(path, CHUNK_BYTES);
    expect([questions, units]).toEqual([[], { length: "m", time: "s", velocity: "m s-1" }]);
  });

  it("is refused if its grid moves", () => {
    expect(() => openConfirmed(unpacked("openpmd-window.h5"), CHUNK_BYTES)).toThrow(
      "/data/100/meshes/v has another grid than /data/0/meshes/v",
    );
  });

  it("has the value of a constant component everywhere, in SI units", async () => {
    const path = await edited("openpmd-constant.h5", "constant", (file) => {
      for (const step of [0, 100]) setNumbers(file, `/data/${step}/meshes/v/z`, "unitSI", [4]);
    });
    const dataset = openConfirmed(path, CHUNK_BYTES);
    const open = openDataset(dataset);
    for (const frame of [0, 1]) {
      const values = readNodes(dataset, open, "velocity", frame);
      expect(new Set(values.filter((_, at) => at % 3 === 2))).toEqual(new Set([2]));
      expect(values[0]).toBe(0.5 * (1 + frame));
    }
    open.close();
    const reasons = recognise(path)?.reasons.filter((text) => text.includes("values by"));
    expect(new Set(reasons).size).toBe(reasons?.length);
  });

  it.each([
    ["value", 0.75, "is constant, but not the same in all iterations"],
    ["unitSI", 2, "is constant, but not the same in all iterations"],
    ["shape", 7, "has the shape 7 x 5 x 6, and /data/0/meshes/v/x has the shape 4 x 5 x 6"],
    ["shape", 0, "states no shape, and /data/0/meshes/v/x has the shape 4 x 5 x 6"],
  ])("is refused for a constant component with another %s (%d)", async (name, value, problem) => {
    const path = await edited("openpmd-constant.h5", `constant-${name}-${value}`, (file) => {
      if (value === 0) (file.get("/data/0/meshes/v/z") as Group).delete_attribute("shape");
      else if (name === "shape") setNumbers(file, "/data/0/meshes/v/z", name, [value, 5, 6]);
      else setNumbers(file, "/data/100/meshes/v/z", name, [value]);
    });
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(problem);
  });

  it("is one series of files of one iteration each, whatever their numbers", () => {
    const { time, fields } = recogniseSeries(
      [0, 1, 2].map((at) => unpacked(`openpmd_${at}.h5`)),
      {},
    ).descriptor;
    expect(time).toMatchObject({ values: [0.5, 8.5, 28.5] });
    const { path = "" } = partsIn(fields.pressure)[0] ?? {};
    const places = [0, 1, 2].map((frame) => placeOf(path, fields.pressure ?? {}, frame));
    expect(places).toEqual(["/data/0/meshes/p", "/data/100/meshes/p", "/data/350/meshes/p"]);
  });

  it("leaves a pressure of another time out", () => {
    const found = recognise(unpacked("openpmd-late.h5"));
    expect(Object.keys(found?.descriptor.fields ?? {})).toEqual(["velocity"]);
    expect(found?.warnings).toEqual(["p is left out: its timeOffset is not that of v."]);
  });
});

describe("the faces of cells", () => {
  const edgesOf = (name: string) =>
    openConfirmed(unpacked(name), CHUNK_BYTES).axes.map(({ edges }) => [...(edges ?? [])]);

  it("are those of the cells of VTKHDF", () => {
    const cells = (first: number, step: number, count: number) =>
      Array.from({ length: count + 1 }, (_, i) => first + i * step);
    expect(edgesOf("cells.vtkhdf")).toEqual([cells(2, 0.5, 8), cells(0, 0.25, 7), cells(-1, 0.125, 6)]);
    expect(edgesOf("points.vtkhdf")).toEqual([[], [], []]);
  });

  it("are the bounds of CF, also if coordinates descend", () => {
    expect(edgesOf("bounds.nc").map(String)).toEqual(["0,1,3,6,10", "1,2,3,4", "0,2,4"]);
  });

  it("are those of the box of openPMD if nodes are within its cells", () => {
    const [x, y, z] = edgesOf("openpmd.h5");
    expect([x?.[0], x?.at(-1), y?.[0], y?.at(-1), z?.[0], z?.at(-1)]).toEqual([0.5, 1.25, 1, 2.25, 1.5, 3.5]);
  });
});

describe("a series of CF", () => {
  const series = (name: string) =>
    recogniseSeries(
      [0, 1, 2].map((index) => unpacked(`${name}_${index}.nc`)),
      {},
    );
  const timesOf = (name: string) => {
    const { time } = series(name).written;
    if ("values" in time) return time.values;
    const { origin = 0, count } = time;
    return Array.from({ length: count }, (_, k) => origin + k * ("step" in time ? time.step : 0));
  };

  it("has its times on one clock, whatever the date of each file", () => {
    // 0 s after 1 January, 1 s after 2 January, 2 s after 3 January.
    expect(timesOf("seconds")).toEqual([0, 86_401, 172_802]);
    expect(series("seconds").descriptor.questions.map(({ about }) => about)).toEqual(["periodicity"]);
  });

  it("counts in the unit of length over velocity, and says so", () => {
    expect(timesOf("days")).toEqual([0, 86_400, 172_800]);
    expect(series("days").written.assumed?.map(({ question }) => question)).toEqual([
      '/time counts in "days" and is multiplied by 86400, into the unit of length over velocity.',
    ]);
  });

  it("asks once for the unit if the velocity states none, and knows the order by the dates", () => {
    expect(timesOf("xarray")).toEqual([0, 1, 2]);
    const { questions } = series("xarray").descriptor;
    expect(questions.filter(({ about }) => about === "times").map(({ question }) => question)).toEqual([
      '/time counts in "days", which is served as it is: particles need times in the unit of the velocity.',
    ]);
  });

  it("has the times of the user, with no question about those of its files", () => {
    const paths = [0, 1, 2].map((index) => unpacked(`xarray_${index}.nc`));
    const { descriptor } = recogniseSeries(paths, { times: { origin: 5, step: 10 } });
    expect(descriptor.time).toMatchObject({ origin: 5, step: 10, count: 3 });
    expect(descriptor.questions.map(({ about }) => about)).toEqual(["periodicity"]);
  });
});

describe("what a file or a series says is told in its words", () => {
  const AXES = ["x", "y", "z"] as const;
  const made = (name: string, write: (file: File) => void) => writeHdf5(join(SCRATCH, `${name}.h5`), write);
  const seriesOf = (name: string, more: (file: File, index: number) => void) =>
    Promise.all(
      [0, 1, 2].map((index) =>
        made(
          `${name}_${index}`,
          timed(index, (file) => more(file, index)),
        ),
      ),
    );

  it.each(["time_centered", "reference_url", "processing_centre", "scale_max"])("%s is no statement", async (name) => {
    const path = await made(
      name,
      timed(0, (file) => (file.get("u") as H5Dataset).create_attribute(name, "yes")),
    );
    expect(recognise(path)?.seen).toContain(`/u@${name} = "yes"`);
    expect(openConfirmed(path, CHUNK_BYTES).questions.map(({ about }) => about)).toEqual([]);
  });

  it("one unit in two spellings is one", async () => {
    const paths = await seriesOf("spelled", (file, index) => {
      for (const name of ["u", "v", "w"])
        (file.get(name) as H5Dataset).create_attribute("units", index === 0 ? "m/s" : "m s-1");
    });
    expect(recogniseSeries(paths, {}).descriptor.time).toMatchObject({ count: 3 });
    const others = await seriesOf("other", (file, index) => {
      for (const name of ["u", "v", "w"])
        (file.get(name) as H5Dataset).create_attribute("units", index === 0 ? "m/s" : "cm/s");
    });
    expect(() => recogniseSeries(others, {})).toThrow(/states other units .* 0\.01 m s-1.*not .*m s-1/);
  });

  it("a statement whose number differs in each file of a series is one question", async () => {
    const paths = await seriesOf("scaled", (file, index) =>
      (file.get("u") as H5Dataset).create_attribute("energy_scale", 2 + index, [], "<d"),
    );
    const { questions } = recogniseSeries(paths, {}).descriptor;
    expect(questions.filter(({ about }) => about === "values").map(({ question }) => question)).toEqual([
      expect.stringMatching(/energy_scale = 2 of \/u.* Other files have other numbers\.$/),
    ]);
  });

  it.each(["fortnights since 2000-01-01", "eddy turnover times", "hPa", 5])(
    "times in %s beside a velocity in m/s are asked about",
    async (units) => {
      const path = await made(`times-${units}`.replaceAll(/\W/g, "-"), (file) => {
        for (const name of ["u", "v", "w"]) {
          writeField(file, `/${name}`, { dimensions: ["t", "z", "y", "x"], value: ({ x }) => x });
          (file.get(name) as H5Dataset).create_attribute("units", "m/s");
        }
        for (const axis of AXES) {
          file.create_dataset({ name: axis, data: Float64Array.from({ length: NODES[axis] }, (_, i) => i) });
          (file.get(axis) as H5Dataset).create_attribute("units", "m");
        }
        file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
        (file.get("time") as H5Dataset).create_attribute("units", units);
        file.create_attribute("axes", "tzyx");
      });
      expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(/\/time counts in ".*", which is served as it is/);
    },
  );

  it("a unit that only some components state is asked about", async () => {
    const path = await made(
      "some-units",
      timed(0, (file) => {
        for (const name of ["u", "w"]) (file.get(name) as H5Dataset).create_attribute("units", "m/s");
      }),
    );
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(
      '/u is in "m/s" and /v in ""; that the numbers of the velocity',
    );
  });

  it.each([
    ["cell_methods", "time: standard_deviation", true],
    ["cell_methods", "area: mean where land time: variance", true],
    ["cell_methods", "time: lat: sum (interval: 1 hour)", true],
    ["cell_methods", "time: maximum within days time: mean over days", true],
    ["cell_methods", "time: point", false],
    ["cell_methods", "time: mean (interval: 1 hour comment: sum of two)", false],
    ["standard_name", "eastward_wind", false],
    ["long_name", "velocity in x direction of a square duct", false],
  ])("a velocity with the %s %s is asked about: %s", async (name, text, isAsked) => {
    const path = await made(
      `derived-${name}-${text}`.replaceAll(/\W/g, "-").slice(0, 60),
      timed(0, (file) => (file.get("u") as H5Dataset).create_attribute(name, text)),
    );
    const open = () => openConfirmed(path, CHUNK_BYTES).questions.map(({ about }) => about);
    const question = `The attribute ${name} of /u is "${text}"; that it holds the velocity itself is a guess`;
    if (isAsked) expect(open).toThrow(question);
    else expect(open()).toEqual([]);
  });

  it.each([
    ["origin", "/step_0002"],
    ["dx", "/step_0002"],
    ["periodic", "/step_0002"],
    ["origin", "/step_0000"],
    ["spacing", "/step_0001/u"],
  ])("%s that only %s states is asked about", async (name, holder) => {
    const path = await made(`one-step-${name}${holder.replaceAll("/", "-")}`, (file) => {
      for (const [step, group] of ["step_0000", "step_0001", "step_0002"].entries()) {
        writeComponents(
          file,
          ["u", "v", "w"].map((component) => `/${group}/${component}`),
        );
        (file.get(group) as Group).create_attribute("time", step, [], "<d");
      }
      writeTables(file);
      if (name === "periodic") (file.get(holder) as Group).create_attribute(name, "x");
      else setNumbers(file, holder, name, name === "dx" ? [5] : [5, 5, 5]);
    });
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(
      /What is stated of the grid at \/step_000[012]\/u is not what is stated at \/step_0000\/u/,
    );
  });

  it("times that are climatological statistics are asked about", async () => {
    const path = await made("climatology", (file) => {
      inTime([0, 1, 2])(file);
      (file.get("time") as H5Dataset).create_attribute("climatology", "climatology_bounds");
    });
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow("/time has the attribute climatology");
  });

  it("an axis of length 0 is named", async () => {
    const path = await made("empty", (file) => {
      for (const name of ["u", "v", "w"])
        file.create_dataset({ name, data: new Float32Array(0), shape: [0, 8, 8], dtype: "<f4" });
      file.create_attribute("axes", "zyx");
    });
    expect(() => recognise(path)).toThrow("empty.h5: /u is 0 x 8 x 8, which has no nodes");
  });

  it("a time that is not a number is named", async () => {
    const path = await made("nan", inTime([0, Number.NaN, 2]));
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow("the time of frame 1 is NaN, not a number");
  });

  it("parametric heights are refused", async () => {
    const path = await made(
      "parametric",
      timed(0, (file) => (file.get("z") as H5Dataset).create_attribute("standard_name", "ocean_s_coordinate_g1")),
    );
    for (const answers of [{}, { spacing: [1, 1, 1], origin: [0, 0, 0] }])
      expect(() => openConfirmed(path, CHUNK_BYTES, answers)).toThrow("/z is a parametric vertical coordinate");
  });

  it("a component on other nodes is named with one on the nodes of the rest", async () => {
    const path = await made("unlike", (file) => {
      for (const name of ["u", "v", "w"])
        writeField(file, `/${name}`, {
          ...{ dimensions: ["z", "y", "x"], lengths: name === "u" ? { x: NODES.x + 1 } : {}, value: () => 0 },
        });
      file.create_attribute("axes", "zyx");
    });
    expect(() => openConfirmed(path, CHUNK_BYTES)).toThrow(/\/u \(.*\) is on other nodes than \/v/);
  });
});
