/** Files whose components name coordinates of their own are served at those; others are refused by name. */
import { join } from "node:path";
import type { Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { axesOfField, type Dataset } from "../../../src/storage/dataset/dataset.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { staggered } from "../../support/questionable-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const read = (path: string): Dataset => openConfirmed(path, 2 ** 26);
const originsOf = (dataset: Dataset, part: string) => axesOfField(dataset, part).map(({ origin }) => origin);

describe("components on nodes of their own", () => {
  it.each([
    ["x", "xh"],
    ["XC", "XG"],
    ["x_c", "x_g"],
  ] as const)("are recognised by the scales %s and %s of their dimensions", async (centre, own) => {
    const dataset = read(await writeHdf5(join(SCRATCH, `${own}.h5`), staggered([centre, own], true)));
    expect(dataset.axes.map(({ origin }) => origin)).toEqual([0.125, 0.125, 0.125]);
    expect(originsOf(dataset, "velocity.x")).toEqual([0, 0.125, 0.125]);
    expect(originsOf(dataset, "velocity.y")).toEqual([0.125, 0, 0.125]);
    expect(originsOf(dataset, "velocity.z")).toEqual([0.125, 0.125, 0]);
  });

  it("are found by the scales lon and lon_u too, which are a red line as no lengths", async () => {
    const names = ["lon lat z", "lon_u lat_v z_w"] as const;
    const { written } = recognise(await writeHdf5(join(SCRATCH, "lon.h5"), staggered(names, true))) as Recognised;
    const own = (written.fields.velocity as { components: { path: string; at?: object }[] }).components;
    expect(own[0]).toMatchObject({ path: "/u", at: { x: { path: "/lon_u" } } });
    const red = (written.questions ?? []).filter((line) => line.red === true).map(({ question }) => question);
    expect(red).toEqual([expect.stringMatching(/^\/lon has no units/), expect.stringMatching(/^\/lat has no units/)]);
  });

  it("have as many nodes as they have, and scalars keep theirs", async () => {
    const lengths = { x: 12, y: 10, z: 8, t: 1 };
    const path = await writeHdf5(join(SCRATCH, "palm.h5"), (file) => {
      const scale = (name: string, nodes: number, first: number) => {
        const data = Float64Array.from({ length: nodes }, (_, i) => first + i);
        file.create_dataset({ name, data, shape: [nodes] });
        (file.get(name) as H5Dataset).make_scale(name);
      };
      for (const [name, nodes, first] of [
        ["x", 12, 0.5],
        ["y", 10, 0.5],
        ["zu_3d", 8, 0.5],
        ["zw_3d", 9, 0],
      ] as const)
        scale(name, nodes, first);
      for (const name of ["u", "v", "w", "theta", "e"]) {
        const z = name === "w" ? "zw_3d" : "zu_3d";
        writeField(file, name, { dimensions: ["z", "y", "x"], lengths: { ...lengths, z: name === "w" ? 9 : 8 } });
        for (const [at, scaleName] of [z, "y", "x"].entries())
          (file.get(name) as H5Dataset).attach_scale(at, `/${scaleName}`);
      }
    });
    const dataset = read(path);
    expect(Object.keys(dataset.fields)).toEqual(["velocity", "e", "theta"]);
    expect(axesOfField(dataset, "velocity.z")[2]).toMatchObject({ nodes: 9, origin: 0 });
    expect(axesOfField(dataset, "velocity.x")[2]).toMatchObject({ nodes: 8, origin: 0.5, beyond: [0.5, 0.5] });
    expect(axesOfField(dataset, "e")).toBe(dataset.axes);
  });

  it("are those of zcoor_w in cutouts of the public atmospheric sets", async () => {
    const path = await writeHdf5(join(SCRATCH, "sabl.h5"), (file) => {
      const table = (name: string, nodes: number, first: number) => {
        const data = Float64Array.from({ length: nodes }, (_, i) => first + 0.25 * i);
        file.create_dataset({ name, data, shape: [nodes] });
      };
      for (const [axis, nodes] of [
        ["x", 12],
        ["y", 10],
      ] as const)
        table(`${axis}coor`, nodes, 0);
      table("zcoor_uv", 11, 0.125);
      table("zcoor_w", 11, 0);
      writeField(file, "Velocity_0001", { dimensions: ["z", "y", "x", "c"] });
      const one = { dimensions: ["z", "y", "x", "c"] as const, lengths: { c: 1 } };
      writeField(file, "Temperature_0001", one);
      writeField(file, "SgsEnergy_0001", one);
      file.create_attribute("dataset", "sabl2048high");
    });
    const dataset = read(path);
    expect(Object.keys(dataset.fields)).toEqual(["velocity", "temperature", "sgsenergy"]);
    expect(originsOf(dataset, "velocity.x")[2]).toBe(0.125);
    expect(originsOf(dataset, "velocity.z")[2]).toBe(0);
  });
});
