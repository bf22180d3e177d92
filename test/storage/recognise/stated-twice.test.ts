/** What a file states and a draft does not take stays in sight: no draft without a line is wrong. */
import { join } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { NODES, parentOf, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
let files = 0;

const draftOf = async (write: (file: File) => void, answers: Answers = {}): Promise<Recognised> =>
  recognise(await writeHdf5(join(SCRATCH, `${files++}.h5`), write), answers) as Recognised;

const state = (file: File, stated: Readonly<Record<string, string | number>>) => {
  for (const [name, value] of Object.entries(stated)) file.create_attribute(name, value);
};

/** Components in z, y, x, periodic along x. `lists`: names of the coordinates; without them, lengths of a step are stated. */
const write =
  (stated: Readonly<Record<string, string | number>>, lists: readonly string[] = [], units = "", layers = 0) =>
  (file: File) => {
    const lengths = { x: NODES.x + layers, y: NODES.y + layers, z: NODES.z + layers };
    for (const name of ["u", "v", "w"]) writeField(file, `/${name}`, { dimensions: ["z", "y", "x"], lengths });
    for (const [at, name] of lists.entries()) {
      const nodes = Object.values(lengths)[at] as number;
      file.create_dataset({ name, data: Float64Array.from({ length: nodes }, (_, i) => i / 4) });
      if (units !== "") (file.get(name) as H5Dataset).create_attribute("units", units);
    }
    const steps = lists.length > 0 ? {} : { dx: 0.25, dy: 0.25, dz: 0.25, x0: 0, y0: 0, z0: 0 };
    state(file, { axes: "zyx", periodic: "xyz", ...steps, ...stated });
  };

const linesOf = ({ descriptor }: Recognised) =>
  descriptor.questions
    .filter(({ about }) => about !== "snapshot")
    .map(({ red, question }) => `${red ? "!" : "?"} ${question}`);

it.each([
  [{ T: 300 }, ["snapshot"], 0],
  [{ T: 300, time: 1 }, [], 1],
])("a temperature T in %j is no time, and contradicts none", async (stated, open, origin) => {
  const { descriptor, seen } = await draftOf(write(stated));
  expect([descriptor.questions.map(({ about }) => about), descriptor.time]).toMatchObject([open, { origin }]);
  expect(seen).toContain("@T = 300");
});

describe("coordinates that are no lengths", () => {
  it.each([
    [["lon", "lat", "lev"], 3],
    [["longitude", "latitude", "levels"], 3],
    [["x", "y", "lev"], 1],
    [["x", "y", "height"], 0],
  ])("by their names %j without units are %i red lines", async (names, count) => {
    expect(
      linesOf(await draftOf(write({ time: 1 }, names))).filter((line) => /^! .*no length by its name/.test(line)),
    ).toHaveLength(count);
    expect(linesOf(await draftOf(write({ time: 1 }, names, "m")))).toEqual([]);
    const inOnes = draftOf(write({ time: 1 }, names, "1"), { despite: ["spacing"] });
    await (count > 0 ? expect(inOnes).rejects.toThrow("which is no length") : inOnes);
  });

  it.each([
    ...["degrees_north", "radian", "arc_minute", "grad", "hPa", "dbar", "level", "sigma_level"].map(
      (units) => ["units", units, "in "] as const,
    ),
    ["standard_name", "model_level_number", "the "],
  ] as const)("by %s %s are refused unless an answer gives the nodes", async (name, text, how) => {
    const file = (h5: File) => {
      write({ time: 1 }, ["x", "y", "z"])(h5);
      (h5.get("z") as H5Dataset).create_attribute(name, text);
    };
    await expect(draftOf(file, { despite: ["spacing"] })).rejects.toThrow(`/z is ${how}${text}, which is no length`);
    const { descriptor } = await draftOf(file, { spacing: [1, 2, 3], origin: [0, 0, 0] });
    expect(descriptor.assumed.map(({ question }) => question)).toContainEqual(expect.stringContaining("/z"));
  });

  it.each([
    ["geometry", "cylindrical (r, theta, z)", 1],
    ["coordinates", "spherical_polar", 1],
    ["grid_type", "polar", 1],
    ["coordinate_system", "Cartesian", 0],
    ["title", "flow past a spherical cap", 0],
    ["grid_mapping", "polar_stereographic", 0],
  ])("by a text %s of %j are %i red lines", async (name, text, count) => {
    const lines = linesOf(await draftOf(write({ time: 1, [name]: text }, ["x", "y", "z"])));
    expect(lines).toEqual(Array(count).fill(expect.stringMatching(`^! /@${name} is "`)));
  });
});

describe("ghost layers beside stated numbers of nodes", () => {
  const counts = { nx: NODES.x, ny: NODES.y, nz: NODES.z, time: 1 };

  it.each([
    ["steps", write(counts, [], "", 6)],
    ["coordinates", write(counts, ["x", "y", "z"], "", 6)],
  ])("are a red line beside %s, whatever the order, which names the way out", async (_, file) => {
    for (const answers of [{}, { dims: ["z", "y", "x"] }] as Answers[]) {
      const found = await draftOf(file, answers);
      expect(linesOf(found)).toEqual([
        expect.stringMatching(
          /^! \/u is 17 x 16 x 18, which contradicts .* z, y, x: 11 by .*nz of \/, 10 by .*, 12 by /,
        ),
      ]);
      const [line] = found.descriptor.questions;
      expect(line?.answer).toContain("ghost: [3, 3, 3] on the fields");
      expect(linesOf(await draftOf(file, { ...answers, despite: ["spacing"] }))).toEqual([]);
    }
  });

  it("do not put an order in doubt that fits other axes", async () => {
    const turned = { ...counts, nx: NODES.z, nz: NODES.x };
    expect(linesOf(await draftOf(write(turned)))).toEqual([expect.stringMatching(/^! .*z y x is a guess/)]);
    expect(linesOf(await draftOf(write(turned), { dims: ["z", "y", "x"] }))).toEqual([
      expect.stringMatching(/^! .* contradicts the stated numbers of nodes/),
    ]);
    expect(linesOf(await draftOf(write(turned), { dims: ["x", "y", "z"] }))).toEqual([]);
    expect(linesOf(await draftOf(write(counts)))).toEqual([]);
  });
});

describe("a number that a format states twice", () => {
  const number = (file: File, path: string, ...values: number[]) => {
    const { group, name } = parentOf(file, path);
    group.create_dataset({ name, data: Float64Array.from(values) });
  };

  it.each([
    [{ nx: 12, ny: 10, nz: 11 }, "zyx", []],
    [{ nx: 24, ny: 10, nz: 11 }, "zyx", ["@nx is 24, and the number of nodes along x is 12"]],
    [{ nx: 11, ny: 10, nz: 12 }, "zyx", ["@nx is 11", "@nz is 12"]],
  ])("is a red line of fluidsim with %j", async (counts, axes, lines) => {
    const found = await draftOf((file) => {
      for (const name of ["vx", "vy", "vz"]) writeField(file, `/state_phys/${name}`, { dimensions: ["z", "y", "x"] });
      (file.get("state_phys") as Group).create_attribute("time", 1);
      const parameters = file.create_group("info_simul").create_group("params").create_group("oper");
      for (const [name, value] of Object.entries({ Lx: 1, Ly: 1, Lz: 1, ...counts }))
        parameters.create_attribute(name, value);
      file.create_attribute("axes", axes);
    });
    expect(found.producer).toBe("fluidsim");
    expect(linesOf(found)).toEqual(lines.map((text) => expect.stringContaining(`! /info_simul/params/oper${text}`)));
  });

  it.each([
    [[0, 6], []],
    [[1, 6], ["! /v/domain/x0 and /u/domain/x0 differ; that /v is on the nodes of /u is a guess."]],
  ])("is a red line of mpi4py-fft with a second domain %j", async (domain, lines) => {
    const found = await draftOf((file) => {
      for (const name of ["u", "v", "w"]) {
        writeField(file, `/${name}/3D/0`, { dimensions: ["x", "y", "z"] });
        for (const at of [0, 1, 2])
          number(file, `/${name}/domain/x${at}`, ...(name === "v" && at === 0 ? domain : [0, 6]));
      }
    });
    expect(found.producer).toMatch("mpi4py-fft");
    expect(linesOf(found)).toEqual(lines);
  });

  it.each<[string, number, string[]]>([
    ["/grid/dx", 0.25, []],
    ["/grid/dx", 0.5, ["! /grid/dx is 0.5, and the spacing along x is 0.25"]],
    ["/grid/Ox", 0.125, []],
    ["/grid/Ox", 1, ["! /grid/Ox is 1, and the first node along x is 0"]],
    ["/settings/nx", 12, []],
    ["/settings/nx", 18, ["! /settings/nx is 18, and the number of nodes along x is 12"]],
    ["/settings/mx", 12, ["! /settings/mx is 12, and the number of nodes with ghost layers along x is 18"]],
  ])("is a red line of Pencil where it differs: %s = %d", async (path, value, lines) => {
    const found = await draftOf((file) => {
      const lengths = { x: NODES.x + 6, y: NODES.y + 6, z: NODES.z + 6 };
      for (const axis of ["x", "y", "z"] as const) {
        writeField(file, `/data/u${axis}`, { dimensions: ["z", "y", "x"], lengths });
        number(file, `/grid/${axis}`, ...Array.from({ length: lengths[axis] }, (_, i) => (i - 3) / 4));
        number(file, `/grid/L${axis}`, NODES[axis] / 4);
      }
      number(file, "/time", 1);
      number(file, path, value);
    });
    expect(found.producer).toBe("Pencil Code");
    expect(linesOf(found)).toEqual(lines.map((text) => expect.stringContaining(text)));
  });
});
