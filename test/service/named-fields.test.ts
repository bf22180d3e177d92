/**
 * Fields under names of their own: found by `inspect`, and answered by name over `/api`, the later dialect and the
 * public REST interface, in searches, cutouts, filters and expressions.
 */
import { join } from "node:path";
import type { Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { confirmFile } from "../support/open-confirmed.js";
import { operationValues } from "../support/operation-questions.js";
import { scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";

const NODES = { x: 24, y: 20, z: 16 } as const;
const STEP = { x: 0.25, y: 0.5, z: 0.125 } as const;

type Place = Readonly<Record<"x" | "y" | "z", number>>;
/** Cubic in each direction, so that Lag4 and fourth-order differences have no error of their own. */
const ENERGY = ({ x, y, z }: Place): number => 1 + x * y - 0.5 * z * z + 0.125 * x * z;
const FLUX = [ENERGY, ({ x }: Place) => 2 * x, ({ y, z }: Place) => y - z] as const;
const at = (index: Place): Place => ({ x: STEP.x * index.x, y: STEP.y * index.y, z: STEP.z * index.z });

const folder = scratchFolder();
const lengths = { ...NODES, t: 1 };
const scalar = (value: (place: Place) => number) => ({
  ...{ dimensions: ["z", "y", "x"] as const, lengths },
  value: (index: Place) => value(at(index)),
});
await writeHdf5(join(folder, "boundarylayer.h5"), (file) => {
  for (const [axis, nodes] of Object.entries(NODES)) {
    const data = Float64Array.from({ length: nodes }, (_, i) => STEP[axis as "x"] * i);
    file.create_dataset({ name: axis, data, shape: [nodes] });
  }
  for (const [i, name] of ["u", "v", "w"].entries()) writeField(file, name, scalar(FLUX[i] as typeof ENERGY));
  writeField(file, "SGSEnergy", scalar(ENERGY));
  (file.get("SGSEnergy") as Dataset).create_attribute("units", "m2/s2");
  for (const [i, end] of ["x", "y", "z"].entries())
    writeField(file, `heatflux_${end}`, scalar(FLUX[i] as typeof ENERGY));
  writeField(file, "other", { ...scalar(ENERGY), lengths: { ...lengths, x: 23 } });
  file.create_dataset({ name: "time", data: Float64Array.of(0), shape: [1] });
});
confirmFile(join(folder, "boundarylayer.h5"));
const scalars = join(folder, "scalars");
await writeHdf5(join(folder, "scalars.hdf"), (file) => writeField(file, "soil", scalar(ENERGY)));
const { mkdirSync, renameSync } = await import("node:fs");
mkdirSync(scalars);
renameSync(join(folder, "scalars.hdf"), join(scalars, "soil.h5"));
const axis = (name: "x" | "y" | "z") => ({ nodes: NODES[name], origin: 0, spacing: STEP[name] });
writeDescriptor(scalars, {
  ...{ schemaVersion: 1, name: "ground", axes: { x: axis("x"), y: axis("y"), z: axis("z") }, time: { count: 1 } },
  fields: {
    soiltemperature: {
      ...{ file: "soil.h5", path: "/soil", dimensions: ["z", "y", "x"], unit: "K" },
      long_name: "Temperature of the ground",
    },
  },
});
const service = await useTestData([folder]);

const POINTS = [
  [1.1, 2.3, 0.7],
  [3.3, 4.9, 1.2],
] as const;
const PLACES = POINTS.map(([x, y, z]) => ({ x, y, z }));
const OPTIONS = { time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "None" } as const;

const ask = (dataset: string, operation: string, members: object): Promise<number[][]> =>
  operationValues(service.url, dataset, operation, { ...OPTIONS, points: POINTS, ...members });

function expectNear(values: readonly (readonly number[])[], expected: readonly (readonly number[])[]): void {
  expect(values.flat()).toHaveLength(expected.flat().length);
  for (const [i, value] of values.flat().entries()) expect(value).toBeCloseTo(expected.flat()[i] as number, 4);
}

describe("fields under names of their own", () => {
  it("are described with components, units and titles", async () => {
    const layer = await (await fetch(`${service.url}/api/datasets/boundarylayer`)).json();
    const found = { name: "sgsenergy", components: 1, unit: "m2/s2" };
    expect(layer).toMatchObject({
      fields: [{ name: "velocity" }, { name: "heatflux", components: 3 }, found],
    });
    const ground = (await (await fetch(`${service.url}/api/datasets/ground`)).json()) as Record<string, unknown>;
    expect(ground.fields).toEqual([
      { name: "soiltemperature", components: 1, unit: "K", title: "Temperature of the ground" },
    ]);
    const names = (ground.what as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(["soiltemperature", "x", "y", "z", "t", "pi"]);
  });

  it("are interpolated and differentiated by name", async () => {
    expectNear(
      await ask("boundarylayer", "GetField", { field: "sgsenergy" }),
      PLACES.map((place) => [ENERGY(place)]),
    );
    expectNear(
      await ask("boundarylayer", "GetField", { field: "heatflux" }),
      PLACES.map((place) => FLUX.map((of) => of(place))),
    );
    const derived = { field: "sgsenergy", spatialInterpolation: "Fd4Lag4" };
    expectNear(
      await ask("boundarylayer", "GetFieldGradient", derived),
      PLACES.map(({ x, y, z }) => [y + 0.125 * z, x, -z + 0.125 * x]),
    );
    expectNear(
      await ask("boundarylayer", "GetFieldHessian", derived),
      PLACES.map(() => [0, 1, 0.125, 0, 0, -1]),
    );
    expectNear(
      await ask("boundarylayer", "GetFieldGradient", { ...derived, field: "heatflux" }),
      PLACES.map(({ x, y, z }) => [y + 0.125 * z, x, -z + 0.125 * x, 2, 0, 0, 0, 1, -1]),
    );
    expectNear(
      await ask("boundarylayer", "GetFieldLaplacian", { ...derived, field: "heatflux" }),
      PLACES.map(() => [-1, 0, 0]),
    );
  });

  it("are refused by name where they are not there", async () => {
    await expect(ask("boundarylayer", "GetField", { field: "soiltemperature" })).rejects.toThrow(/heatflux|sgsenergy/);
    await expect(ask("ground", "GetVelocity", {})).rejects.toThrow(/velocity|nothing has the name u/);
    expectNear(
      await ask("ground", "GetField", { field: "soiltemperature" }),
      PLACES.map((place) => [ENERGY(place)]),
    );
  });

  it("are cut out, searched and filtered in the later dialect", async () => {
    const box = { x_start: 1, y_start: 1, z_start: 1, x_end: 2, y_end: 1, z_end: 1 };
    const strides = { x_step: 1, y_step: 1, z_step: 1, filter_width: 1 };
    const client = await connect(service.url);
    const named = { dataset: "boundarylayer", field: "sgsenergy" };
    const cut = await client.GetAnyCutoutWeb({ ...named, T: 1, ...box, ...strides });
    expect([...cut.values]).toEqual([1, 1]);
    const all = { x_start: 1, y_start: 1, z_start: 1, x_end: 24, y_end: 20, z_end: 16 };
    const search = { time: 0, threshold: 54, spatialInterpolation: "None", ...all } as const;
    const found = await client.GetThreshold({ ...named, ...search });
    const [x = 0, y = 0, z = 0, value] = found.values;
    expect(found.values.length).toBeGreaterThan(0);
    expect(value).toBeCloseTo(ENERGY(at({ x: x - 1, y: y - 1, z: z - 1 })), 4);
    const points = [[1, 1, 1]] as const;
    const mean = await client.GetBoxFilter({ ...named, time: 0, filterwidth: 0, points: points as never });
    expect(mean.values[0]).toBeCloseTo(ENERGY({ x: 1, y: 1, z: 1 }), 4);
    const both = { ...named, field: "velocity,sgsenergy", time: 0, filterwidth: 0, points: points as never };
    const stress = await client.GetBoxFilterSGSvector(both);
    expect([...stress.values].every((one) => Math.abs(one) < 1e-4)).toBe(true);
  });

  it("have the names of public clients in the REST interface", async () => {
    const query = new URLSearchParams({
      ...{ authToken: "t", dataset: "boundarylayer", function: "GetVariable", var: "sgsenergy", t: "0" },
      ...{ sint: "lag4", sop: "field", tint: "none" },
    });
    const body = POINTS.map((point) => point.join("\t")).join("\n");
    const values = await (await fetch(`${service.url}/values?${query}`, { method: "POST", body })).json();
    expectNear(
      values,
      PLACES.map((place) => [ENERGY(place)]),
    );
    query.set("sop", "hessian");
    query.set("sint", "fd4lag4");
    const hessian = await (await fetch(`${service.url}/values?${query}`, { method: "POST", body })).json();
    expectNear(
      hessian,
      PLACES.map(() => [0, 1, 0.125, 0, 0, -1]),
    );
    query.set("var", "soiltemperature");
    const refused = await (await fetch(`${service.url}/values?${query}`, { method: "POST", body })).json();
    expect(JSON.stringify(refused)).toMatch(/var must be one of .*heatflux, sgsenergy/);
  });

  it("are names of expressions, with their components", async () => {
    const plane = async (what: string): Promise<number[]> => {
      const query = new URLSearchParams({ what, time: "0", z: "0.7", samples: "4", format: "f32" });
      const answer = await fetch(`${service.url}/api/datasets/boundarylayer/grid?${query}`);
      if (!answer.ok) throw new Error(await answer.text());
      return [...new Float32Array(await answer.arrayBuffer())];
    };
    const [energy, flux, mixed] = [
      await plane("sgsenergy"),
      await plane("heatflux.x"),
      await plane("sgsenergy - heatflux.x"),
    ];
    expect(energy).toEqual(flux);
    expect(Math.max(...mixed.map(Math.abs))).toBeLessThan(1e-5);
    expect(await plane("norm(grad(sgsenergy))")).toHaveLength(16);
  });
});
