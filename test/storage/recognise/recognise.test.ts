/** Recognition decides about more than the ordinary file of a producer: databases, trajectories, ambiguity, series. */
import { join } from "node:path";
import type { File, Group, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { findPattern, recogniseSeries } from "../../../src/storage/catalog/series.js";
import { verify } from "../../../src/storage/catalog/verify.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { DESCRIPTOR_ATTRIBUTE } from "../../../src/storage/recognise/converted-store.js";
import { Contents } from "../../../src/storage/recognise/layout.js";
import { type Recognised, recognise } from "../../../src/storage/recognise/recognise.js";
import { unusedIn } from "../../../src/storage/recognise/seen.js";
import { type Dimension, fill, NODES, nodeValue, parentOf, writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed, openProposed } from "../../support/open-confirmed.js";
import { PRODUCERS } from "../../support/producers.js";
import { firstDifference, nodesOf, readNodes } from "../../support/read-nodes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const DX = (2 * Math.PI) / 1024;
const CUTOUT: Dimension[] = ["z", "y", "x", "c"];
let made = 0;

async function recognised(write: (file: File) => void): Promise<Recognised> {
  const found = recognise(await writeHdf5(join(SCRATCH, `file${made++}.h5`), write));
  if (found === null) throw new Error("not recognised");
  return found;
}

const said = ({ reasons, warnings, descriptor }: Recognised) =>
  [...reasons, ...warnings, ...descriptor.questions.map(({ about, question }) => `${about}: ${question}`)].join("\n");

describe("what a file says twice, or by no convention", () => {
  const stated = (more: (file: File, velocity: H5Dataset) => void) => (file: File) => {
    writeField(file, "/velocity", { dimensions: CUTOUT });
    for (const [axis, nodes] of Object.entries(NODES))
      file.create_dataset({ name: axis, data: Float64Array.from({ length: nodes }, (_, i) => i / 4) });
    file.create_attribute("axes", "zyxc");
    more(file, file.get("velocity") as H5Dataset);
  };
  const refused = async (more: (file: File, velocity: H5Dataset) => void): Promise<string[]> => {
    const { descriptor } = await recognised(stated(more));
    return descriptor.questions
      .filter(({ about }) => ["spacing", "scale", "values"].includes(about))
      .map(({ about, question }) => `${about}: ${question}`);
  };

  it.each([
    ["dx", 0.25],
    ["dx", 0.2501],
    ["spacing", 0.25],
    ["scale_factor", 2],
  ])("asks nothing about %s = %d, which agrees or is a convention", async (name, value) => {
    expect(await refused((_, velocity) => velocity.create_attribute(name, value, [], "<d"))).toEqual([]);
  });

  it("asks which holds where a spacing is no step of the coordinates", async () => {
    expect(await refused((file) => file.create_attribute("dx", 0.5, [], "<d"))).toEqual([
      "spacing: /x has steps of 0.25 along x, and the attribute dx of / is 0.5; that the coordinates hold is a guess.",
    ]);
  });

  it.each([
    ["scale", 0.5],
    ["Scaling", 2],
    ["offset", 3],
    ["slope", 0.1],
  ])("asks whether %s = %d has been applied", async (name, value) => {
    const questions = await refused((_, velocity) => velocity.create_attribute(name, value, [], "<d"));
    expect(questions).toEqual([
      expect.stringMatching(`^values: Numbers that nothing applies: ${name} = ${value} of /velocity`),
    ]);
  });
});

describe("JHTDB cutouts", () => {
  const cutout = (
    database: string,
    members: Record<string, number>,
    shape: Partial<Record<Dimension, number>> = {},
  ) => {
    return (file: File) => {
      writeField(file, "/Velocity_0001", { dimensions: CUTOUT, lengths: shape, value: () => 0 });
      file.create_attribute("dataset", database);
      for (const [name, value] of Object.entries(members)) file.create_attribute(name, value);
    };
  };

  it("is periodic on the axis whose whole period it covers, stride included", async () => {
    const { descriptor } = await recognised(
      cutout("isotropic1024coarse", { x_start: 1, x_step: 4, y_start: 1, z_start: 1 }, { x: 256, y: 8, z: 8 }),
    );
    expect(descriptor.axes.x).toEqual({ nodes: 256, origin: 0, spacing: 4 * DX, periodic: true });
    expect(descriptor.axes.y).toEqual({ nodes: 8, origin: 0, spacing: DX, periodic: false, faces: ["open", "open"] });
    expect(descriptor).toMatchObject({ dnsStep: 0.0002, time: { count: 1, origin: 0 } });
  });

  it("takes the wall-normal table and the moving frame of channel", async () => {
    const y = Float64Array.from({ length: NODES.y }, (_, i) => -1 + 0.01 * i * i);
    const { descriptor } = await recognised((file) => {
      cutout("channel", { x_start: 3, y_start: 1, z_start: 2 })(file);
      file.create_dataset({ name: "ycoor", data: y });
    });
    expect(descriptor.axes.x).toMatchObject({ origin: (2 * 8 * Math.PI) / 2048, spacing: (8 * Math.PI) / 2048 });
    const walls = { periodic: false, faces: ["wall", "open"] };
    expect(descriptor.axes.y).toMatchObject({ coordinates: { path: "/ycoor" }, ...walls });
    expect(descriptor).toMatchObject({ frameVelocity: [0.45, 0, 0], dnsStep: 0.0013 });
  });

  it.each([
    ["isotropic1024fine", 0.0002],
    ["mhd1024", 0.0025],
    ["mixing", 0.04],
    ["channel", 0.0065],
  ])("knows the time step of %s", async (name, step) => {
    const { descriptor } = await recognised((file) => {
      cutout(name, { x_start: 1, y_start: 1, z_start: 1 })(file);
      writeField(file, "/Velocity_0003", { dimensions: CUTOUT, value: () => 0 });
      file.create_dataset({ name: "ycoor", data: Float64Array.from({ length: NODES.y }, (_, i) => i * DX) });
    });
    expect(descriptor.time).toMatchObject({ origin: 0, step: 2 * step, count: 2 });
    expect(descriptor.fields.velocity).toMatchObject({ firstStep: 1, stepIncrement: 2 });
  });

  it("believes coordinates that disagree with the node numbers, and says so", async () => {
    const found = await recognised((file) => {
      cutout("isotropic1024coarse", { x_start: 1, y_start: 1, z_start: 1 })(file);
      const shifted = Float32Array.from({ length: NODES.x }, (_, i) => (i + 0.01) * DX);
      file.create_dataset({ name: "xcoor", data: shifted });
    });
    expect(found.descriptor.axes.x).toMatchObject({ coordinates: { path: "/xcoor" } });
    expect(said(found)).toMatch(/x: \/xcoor disagrees .* is believed/);
  });

  it("says what it does not know of other databases, of filtered data and of incomplete fields", async () => {
    const found = await recognised((file) => {
      cutout("isotropic9000", { filterWidth: 5 })(file);
      writeField(file, "/Pressure_0002", { dimensions: CUTOUT, lengths: { c: 1 }, value: () => 0 });
    });
    expect(Object.keys(found.descriptor.fields)).toEqual(["velocity"]);
    for (const expected of [
      /not a known set/,
      /snapshot: The file does not state its time/,
      /spacing: The distance of the nodes is not stated/,
      /filterWidth is 5/,
      /pressure is left out/,
    ])
      expect(said(found)).toMatch(expected);
  });

  it("refuses labels that are not evenly spaced", async () => {
    const write = (file: File) => {
      for (const label of ["0001", "0002", "0004"])
        writeField(file, `/Velocity_${label}`, { dimensions: CUTOUT, value: () => 0 });
    };
    await expect(recognised(write)).rejects.toThrow(/recognised as JHTDB cutout .* \(1, 2, 4\) are not evenly spaced/);
  });
});

it("PDEBench is asked which of its samples is served", async () => {
  const write = (file: File) => {
    for (const axis of ["x", "y", "z"]) {
      file.create_dataset({ name: `V${axis}`, data: new Float32Array(2 * 2 * 64), shape: [2, 2, 4, 4, 4] });
      file.create_dataset({ name: `${axis}-coordinate`, data: Float32Array.of(0, 1, 2, 3) });
    }
    file.create_dataset({ name: "t-coordinate", data: Float32Array.of(0, 1, 2) });
  };
  const path = await writeHdf5(join(SCRATCH, "samples.h5"), write);
  expect(() => openConfirmed(path, 2 ** 26)).toThrow("open question about fields: The file holds 2 samples");
  expect(openConfirmed(path, 2 ** 26, { trajectory: 1 }).fields.velocity).toBeDefined();
});

describe("The Well", () => {
  const well = PRODUCERS.find(({ name }) => name === "well");

  it("serves another trajectory on demand", async () => {
    const write = (file: File) => {
      well?.write(file);
      const values = fill(["n", "t", "x", "y", "z", "c"], [2, 3, NODES.x, NODES.y, NODES.z, 3], (index) =>
        index.n === 1 ? nodeValue(index) : -1,
      );
      (file.get("t1_fields/velocity") as H5Dataset).write_slice([], Float32Array.from(values));
    };
    const path = await writeHdf5(join(SCRATCH, "well.h5"), write);
    const dataset = openConfirmed(path, 2 ** 26, { trajectory: 1 });
    const expected = fill(["z", "y", "x", "c"], [NODES.z, NODES.y, NODES.x, 3], (index) =>
      nodeValue({ ...index, t: 2 }),
    );
    expect(firstDifference(nodesOf(dataset, "velocity", 2), Float32Array.from(expected))).toBeNull();
    expect(() => recognise(path, { trajectory: 2 })).toThrow(/trajectories 0 to 1, not 2/);
  });

  it("refuses two-dimensional data and fields that do not vary", async () => {
    const flat = (file: File) => {
      well?.write(file);
      file.delete_attribute("n_spatial_dims");
      file.create_attribute("n_spatial_dims", 2);
    };
    await expect(recognised(flat)).rejects.toThrow(/2 spatial dimensions/);
  });

  it("asks for the order of the components if spatial_dims names the axes in another order than x, y, z", async () => {
    const path = await writeHdf5(join(SCRATCH, "well-zyx.h5"), (file) => {
      file.create_attribute("dataset_name", "turbulence");
      file.create_attribute("grid_type", "cartesian");
      file.create_attribute("n_spatial_dims", 3);
      file.create_attribute("n_trajectories", 1);
      const dimensions: Dimension[] = ["n", "t", "z", "y", "x", "c"];
      writeField(file, "/t1_fields/velocity", { dimensions, lengths: { n: 1 }, value: ({ c }) => c });
      const group = file.create_group("dimensions");
      group.create_attribute("spatial_dims", ["z", "y", "x"]);
      group.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
      for (const [name, nodes] of Object.entries(NODES))
        group.create_dataset({ name, data: Float64Array.from({ length: nodes }, (_, i) => i / 4) });
    });
    expect(() => openConfirmed(path, 2 ** 26)).toThrow(/The axes of \/t1_fields\/velocity are in the order z, y, x/);
    const dataset = openConfirmed(path, 2 ** 26, { components: ["z", "y", "x"] });
    expect([...nodesOf(dataset, "velocity").subarray(0, 3)]).toEqual([2, 1, 0]);
  });

  it("refuses axes that are not x, y and z", async () => {
    const round = (file: File) => {
      well?.write(file);
      (file.get("dimensions") as Group).create_attribute("spatial_dims", ["r", "theta", "z"]);
    };
    await expect(recognised(round)).rejects.toThrow("spatial_dims names r, theta, z; only the axes x, y and z");
  });
});

describe("generic files", () => {
  const cube = (file: File) =>
    file.create_dataset({ name: "velocity", data: new Float32Array(3 * 64), shape: [4, 4, 4, 3] });

  it("says that a cube without names is ambiguous, whether or not it has coordinates", async () => {
    expect(said(await recognised(cube))).toMatch(
      /order: .*nothing in the file names its dimensions: z y x c is a guess, x y z c or /,
    );
    const found = await recognised((file) => {
      cube(file);
      for (const axis of ["x", "y", "z"]) file.create_dataset({ name: axis, data: Float64Array.of(0, 1, 2, 3) });
    });
    expect(said(found)).toMatch(/order: .*the coordinates do not tell apart its dimensions: z y x c is a guess/);
    expect(found.descriptor.fields.velocity?.dimensions).toEqual(["z", "y", "x", "c"]);
  });

  it("says which velocity it takes where there are several", async () => {
    const found = await recognised((file) => {
      cube(file);
      for (const name of ["vel", "ux", "uy", "uz"]) {
        const shape = name === "vel" ? [4, 4, 4, 3] : [4, 4, 4];
        file.create_dataset({ name, data: new Float32Array(name === "vel" ? 192 : 64), shape });
      }
    });
    expect(said(found)).toMatch(
      /fields: \/ux, \/uy, \/uz is taken for the velocity, not \/velocity or \/vel, which is a guess/,
    );
    expect(said(await recognised(cube))).not.toMatch(/is taken for the velocity/);
  });

  it("asks where the components stand when both ends have three elements", async () => {
    const found = await recognised((file) =>
      file.create_dataset({ name: "u", data: new Float32Array(3 * 4 * 5 * 3), shape: [3, 4, 5, 3] }),
    );
    expect(said(found)).toMatch(/order: \/u is 3 x 4 x 5 x 3, .* z y x c is a guess/);
  });

  it("takes components in front, times of their own length only, and three names for a vector", async () => {
    const found = await recognised((file) => {
      for (const name of ["U0", "U1", "U2"]) writeField(file, `/${name}`, { dimensions: ["t", "z", "y", "x"] });
      file.create_dataset({ name: "t", data: Float64Array.of(0, 0.5, 1) });
    });
    expect(found.descriptor.time).toMatchObject({ origin: 0, step: 0.5, count: 3 });
    expect(found.descriptor.fields.velocity).toMatchObject({
      components: [{ path: "/U0" }, { path: "/U1" }, { path: "/U2" }],
      dimensions: ["t", "z", "y", "x"],
    });
    const leading = await recognised((file) =>
      file.create_dataset({ name: "vel", data: new Float32Array(3 * 4 * 5 * 6), shape: [3, 4, 5, 6] }),
    );
    expect(leading.descriptor.fields.velocity?.dimensions).toEqual(["c", "z", "y", "x"]);
  });

  it("takes a float32 table of an even axis for uniform", async () => {
    const path = await writeHdf5(join(SCRATCH, "even.h5"), (file) => {
      cube(file);
      for (const axis of ["x", "y", "z"])
        file.create_dataset({ name: axis, data: Float32Array.of(6.1, 6.2, 6.3, 6.4) });
    });
    const { axes } = openProposed(path, 2 ** 26);
    for (const axis of axes) expect(axis.coordinates).toBeNull();
  });
});

const zeros = (file: File, name: string, shape: number[]) =>
  file.create_dataset({ name, data: new Float32Array(shape.reduce((size, n) => size * n, 1)), shape });

describe("flows in a plane", () => {
  it.each([
    [[1, 8, 8], /\/u and \/v are two components of a velocity, without a third; .* needs a third of zeros/],
    [[8, 8], /\/u is 8 x 8: .* store each with a third dimension of one node/],
  ])("are refused with what helps: components of %j", async (shape, message) => {
    const planes = (file: File) => ["u", "v"].forEach((name) => void zeros(file, name, shape));
    await expect(recognised(planes)).rejects.toThrow(message);
    const path = await writeHdf5(join(SCRATCH, `plane${shape.length}.h5`), planes);
    expect(() => recognise(path)).toThrow(message);
    expect(() => recognise(path, { velocity: ["/u", "/v"] })).toThrow(/names 2 datasets, .* a third of zeros/);
  });

  it.each([
    [[8, 8, 2], /a vector in a plane needs a third axis of one node and a third component of zeros/],
    [[8, 8, 3], /a vector in a plane needs a third axis of one node \(/],
    [[1, 8, 8, 2], /a vector in a plane needs a third component of zeros/],
  ])("are refused with what helps: a vector of %j", async (shape, message) => {
    await expect(recognised((file) => zeros(file, "velocity", shape))).rejects.toThrow(message);
  });

  it("are served with a w of zeros, and leave their velocity out where only a pressure is whole", async () => {
    const whole = (names: string[]) => (file: File) => names.forEach((name) => void zeros(file, name, [1, 8, 9]));
    const { descriptor } = await recognised(whole(["u", "v", "w"]));
    expect(descriptor.fields.velocity?.dimensions).toEqual(["z", "y", "x"]);
    expect(said(await recognised(whole(["u", "v", "p"])))).toMatch(/\/u and \/v are .*, and left out without a third/);
  });
});

describe("what the user says", () => {
  it("names fields beside velocity and pressure", async () => {
    const path = await writeHdf5(join(SCRATCH, "beside.h5"), (file) => {
      for (const name of ["u", "v", "w", "theta", "b1", "b2", "b3", "temperature"])
        writeField(file, `/${name}`, { dimensions: ["z", "y", "x"], value: () => 0 });
    });
    const fields = [
      { field: "temperature", paths: ["/theta"] },
      { field: "magnetic", paths: ["/b1", "/b2", "/b3"] },
    ] as const;
    const found = recognise(path, { fields, dims: ["z", "y", "x"] });
    expect(found?.descriptor.fields).toMatchObject({
      velocity: { components: [{ path: "/u" }, { path: "/v" }, { path: "/w" }] },
      temperature: { path: "/theta", dimensions: ["z", "y", "x"] },
      magnetic: { components: [{ path: "/b1" }, { path: "/b2" }, { path: "/b3" }] },
    });
    const only = recognise(path, { velocity: ["/u", "/v", "/w"], fields: [{ field: "density", paths: ["/b1"] }] });
    expect(Object.keys(only?.descriptor.fields ?? {})).toEqual(["velocity", "density"]);
    expect(() => recognise(path, { fields: [{ field: "density", paths: ["/rho"] }] })).toThrow(/no dataset \/rho/);
  });

  it("is told the shapes of a staggered grid", async () => {
    const staggered = (file: File) => {
      zeros(file, "u", [8, 9, 10]);
      zeros(file, "v", [8, 10, 10]);
      zeros(file, "w", [8, 9, 10]);
    };
    await expect(recognised(staggered)).rejects.toThrow(
      /\/v \(8 x 10 x 10\) is on other nodes than \/u \(8 x 9 x 10\)/,
    );
  });
});

describe("Pencil Code", () => {
  it("takes ghost layers from the settings where an axis is stretched, and refuses to guess", async () => {
    const write = (settings: boolean, shear?: number) => (file: File) => {
      const stretched = Float64Array.from({ length: NODES.z + 6 }, (_, i) => i + 0.1 * i * i);
      const lengths = { x: NODES.x + 6, y: NODES.y + 6, z: NODES.z + 6 };
      for (const name of ["ux", "uy", "uz"])
        writeField(file, `/data/${name}`, { dimensions: ["z", "y", "x"], lengths, value: () => 0 });
      for (const axis of ["x", "y"] as const) {
        const even = Float64Array.from({ length: NODES[axis] + 6 }, (_, i) => i);
        parentOf(file, "/grid/none").group.create_dataset({ name: axis, data: even });
        parentOf(file, "/grid/none").group.create_dataset({ name: `L${axis}`, data: Float64Array.of(NODES[axis]) });
      }
      parentOf(file, "/grid/none").group.create_dataset({ name: "z", data: stretched });
      parentOf(file, "/grid/none").group.create_dataset({ name: "Lz", data: Float64Array.of(20) });
      const persist = { name: "shear_delta_y", data: Float64Array.of(shear ?? 0) };
      if (shear !== undefined) parentOf(file, "/persist/none").group.create_dataset(persist);
      if (settings) parentOf(file, "/settings/none").group.create_dataset({ name: "nghost", data: Int32Array.of(3) });
    };
    await expect(recognised(write(false))).rejects.toThrow(/\/grid\/z is stretched and nothing says/);
    await expect(recognised(write(true, 0.7))).rejects.toThrow("/persist/shear_delta_y is 0.7: x is periodic after");
    const { descriptor } = await recognised(write(true, 2 * NODES.y));
    const { z } = descriptor.axes;
    expect("coordinates" in z && (z.coordinates as number[])).toHaveLength(NODES.z);
    expect(descriptor.axes.x).toMatchObject({ nodes: NODES.x, origin: 3, spacing: 1, periodic: true });
  });
});

describe("fluidsim and mpi4py-fft", () => {
  it("refuses an order that does not name the axes", async () => {
    const write = (file: File) => {
      for (const name of ["vx", "vy", "vz"])
        writeField(file, `/state_phys/${name}`, { dimensions: ["z", "y", "x"], value: () => 0 });
      file.create_attribute("axes", "(k, l, m)");
    };
    await expect(recognised(write)).rejects.toThrow(/recognised as fluidsim, but the attribute axes is/);
  });

  it("takes coordinates from a mesh, and three scalar groups for a vector", async () => {
    const found = await recognised((file) => {
      for (const [index, axis] of (["x", "y", "z"] as const).entries()) {
        for (const name of ["u0", "u1", "u2"]) {
          if (index === 0) writeField(file, `/${name}/3D/5`, { dimensions: ["x", "y", "z"], value: () => 0 });
          const { group } = parentOf(file, `/${name}/mesh/none`);
          const data = Float64Array.from({ length: NODES[axis] }, (_, i) => i * i);
          group.create_dataset({ name: `x${index}`, data });
        }
      }
    });
    expect(found.descriptor.axes.y).toMatchObject({ coordinates: { path: "/u0/mesh/x1" } });
    expect(found.descriptor.fields.velocity).toMatchObject({
      components: [{ path: "/u0/3D/{step:01d}" }, { path: "/u1/3D/{step:01d}" }, { path: "/u2/3D/{step:01d}" }],
      firstStep: 5,
    });
  });

  it("does not take groups without a numbered step for components", async () => {
    const write = (file: File) => {
      for (const name of ["u", "v", "w"])
        writeField(file, `/${name}/3D/mean`, { dimensions: ["x", "y", "z"], value: () => 0 });
    };
    await expect(recognised(write)).rejects.toThrow(/none of the groups u, v, w is a velocity or pressure/);
  });
});

describe("series", () => {
  it.each([
    [["u_0001.h5", "u_0003.h5"], "u_{step}.h5", ["0001", "0003"]],
    [["9.h5", "10.h5", "11.h5"], "{step}.h5", ["9", "10", "11"]],
    [["state_t0000.500.h5", "state_t0001.000.h5"], "state_t{step}.h5", ["0000.500", "0001.000"]],
    [["run2_t08.h5", "run2_t10.h5"], "run2_t{step}.h5", ["08", "10"]],
  ])("finds the number in which %j differ", (names, pattern, steps) => {
    expect(findPattern(names)).toEqual({ pattern, steps });
  });

  it("refuses names without one", () => {
    expect(() => findPattern(["a.h5", "b.h5"])).toThrow(/do not differ in one number/);
    expect(() => findPattern(["a1_b1.h5", "a2_b2.h5"])).toThrow(/do not differ in one number/);
  });

  it("makes one dataset of files of one time each, times from the files", async () => {
    const folder = folderIn(SCRATCH, "series");
    const paths = [];
    for (const t of [2, 0, 1]) {
      const write = (file: File) => {
        for (const [c, name] of ["vx", "vy", "vz"].entries())
          writeField(file, `/state_phys/${name}`, {
            dimensions: ["z", "y", "x"],
            value: (index) => nodeValue({ ...index, t, c }),
          });
        (file.get("state_phys") as File).create_attribute("time", [0, 0.25, 1][t] as number, [], "<d");
        file.create_attribute("axes", ["z", "y", "x"]);
      };
      paths.push(await writeHdf5(join(folder, `state_${10 + t}.h5`), write));
    }
    const { written, descriptor, warnings, reasons } = recogniseSeries(paths, {});
    expect(written).toMatchObject({ name: "state", time: { values: [0, 0.25, 1] } });
    expect(reasons[0]).toMatch(/3 files state_\{step\}\.h5, from 10 to 12/);
    expect(warnings.join()).not.toMatch(/numbers in their names/);
    const outcome = verify({ descriptor, folder, location: folder, digest: "", warnings: [] }, 2 ** 26);
    if ("problems" in outcome) throw new Error(outcome.problems.join());
    const open = openDataset(outcome.dataset);
    for (const t of [0, 1, 2]) {
      const nodes = fill(["z", "y", "x", "c"], [NODES.z, NODES.y, NODES.x, 3], (index) => nodeValue({ ...index, t }));
      expect(firstDifference(readNodes(outcome.dataset, open, "velocity", t), Float32Array.from(nodes))).toBeNull();
    }
    open.close();
  });

  it("refuses files that differ", async () => {
    const folder = folderIn(SCRATCH, "unlike");
    const one = (nodes: number) => (file: File) =>
      writeField(file, "/velocity", { dimensions: CUTOUT, lengths: { x: nodes }, value: () => 0 });
    const first = await writeHdf5(join(folder, "u1.h5"), one(12));
    const other = await writeHdf5(join(folder, "u2.h5"), one(13));
    expect(() => recogniseSeries([first, other], {})).toThrow(
      /u2\.h5 .* from .*u1\.h5: axes\.x\.nodes is 13, and was 12$/,
    );
    const many = await writeHdf5(join(folder, "u3.h5"), (file) =>
      writeField(file, "/velocity", { dimensions: ["t", ...CUTOUT] }),
    );
    expect(() => recogniseSeries([first, many], {})).toThrow(
      /u3.* differently from .*: fields\.velocity\.dimensions\.0 is t, and was z; .*; and 2 more$/,
    );
  });
});

describe("what a file without fields holds", () => {
  it("is listed, links and what cannot be read included", async () => {
    const path = await writeHdf5(join(SCRATCH, "tree.h5"), (file) => {
      file.create_group("a");
      (file.get("a") as Group).create_dataset({ name: "n", data: Float64Array.of(1, 2), shape: [2] });
      file.create_soft_link("/a/n", "near");
      file.create_soft_link("/nowhere", "lost");
      file.create_external_link("other.h5", "/x", "far");
      (file.get("a/n") as H5Dataset).create_attribute("units", "kg");
    });
    const file = openHdf5(path);
    const lines = unusedIn(new Contents(file, "tree.h5", {}), null, null);
    file.close();
    expect(lines).toEqual([
      '/a/n@units = "kg"',
      "/a/n (float64, 2) = 1, 2",
      expect.stringMatching(/^\/far .*external link to other\.h5/),
      "/lost (a link to nothing)",
    ]);
  });
});

it("names links beside fields that lead nowhere", async () => {
  const { warnings } = await recognised((file) => {
    writeField(file, "/velocity", { dimensions: CUTOUT });
    file.create_soft_link("/nowhere", "pressure");
    file.create_external_link("other.h5", "/t", "temperature");
  });
  const text =
    /pressure is left out: it is a link to nothing.*temperature is left out: it is an external link to other/s;
  expect(warnings.join("; ")).toMatch(text);
});

describe("fields that the user names", () => {
  it("are not called missing where a group has their path", async () => {
    const path = await writeHdf5(join(SCRATCH, "named.h5"), (file) => {
      writeField(file, "/a/u", { dimensions: ["z", "y", "x", "c"] });
    });
    expect(() => recognise(path, { velocity: ["/a"] })).toThrow(/\/a is a group, not a dataset/);
    expect(() => recognise(path, { velocity: ["/b"] })).toThrow(/there is no dataset \/b/);
  });
});

describe("a description in a file", () => {
  it.each(["null", "1", '{"schemaVersion":1,"name":"u","a8es":{}}', '{"schemaVersion":1,"name":"u","axes":{}}'])(
    "%s is refused with what is wrong",
    async (text) => {
      const path = await writeHdf5(join(SCRATCH, "own.h5"), (file) => {
        writeField(file, "/u", { dimensions: ["z", "y", "x", "c"] });
        file.create_attribute(DESCRIPTOR_ATTRIBUTE, text);
      });
      expect(() => recognise(path)).toThrow(/: recognised as fieldprobe, but its description fails: /);
    },
  );
});
