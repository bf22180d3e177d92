/** Files of no known producer: what answers, names, meshes and boxes say of their grids. */
import { join } from "node:path";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { claimText, type Dataset } from "../../../src/storage/dataset/dataset.js";
import type { Answers } from "../../../src/storage/recognise/answers.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { type Dimension, NODES, nodeValue, parentOf, writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const ZYX: Dimension[] = ["z", "y", "x"];
const AXES = ["x", "y", "z"] as const;
let made = 0;

const write = (fill: (file: File) => void) => writeHdf5(join(SCRATCH, `file${made++}.h5`), fill);

async function questions(fill: (file: File) => void, answers: Answers = {}): Promise<string[]> {
  const found = recognise(await write(fill), answers);
  return (found?.descriptor.questions ?? [])
    .filter(({ about }) => about !== "snapshot" && about !== "faces" && about !== "periodicity")
    .map(({ about, question }) => `${about}: ${question}`);
}

async function read(fill: (file: File) => void, answers: Answers): Promise<Dataset> {
  return openConfirmed(await write(fill), 2 ** 26, answers);
}

function table(file: File, path: string, data: Float64Array, shape: number[] = [data.length]): void {
  const { group, name } = parentOf(file, path);
  group.create_dataset({ name, data, shape });
}

const even = (count: number, from = 0) => Float64Array.from({ length: count }, (_, i) => from + i / 4);
const components = (file: File) => {
  for (const [c, name] of ["u", "v", "w"].entries())
    writeField(file, name, { dimensions: ZYX, value: (index) => nodeValue({ ...index, t: 0, c }) });
};
const GRID: Answers = { spacing: [0.25, 0.25, 0.25], origin: [0, 0, 0], periodic: [] };

describe("names of coordinates", () => {
  const unfit = "spacing: the nodes in /x are not between the edges of cells in /x_edges; that /x holds is a guess.";
  it.each<[string, number, number, Answers, string[]]>([
    ["which are the faces of their cells", -0.0625, NODES.x + 1, {}, []],
    ["that do not hold them, if an answer does", 0.5, 0, { coordinates: new Map([["x", "/x"]]) }, [unfit]],
  ])("may be beside edges %s", async (_, from, count, answers, asked) => {
    const fill = (file: File) => {
      components(file);
      for (const axis of AXES) table(file, axis, even(NODES[axis]));
      table(file, "x_edges", even(NODES.x + 1, from));
    };
    expect(await questions(fill)).toEqual(asked);
    const [x, y] = (await read(fill, { periodic: [], walls: [], ...answers })).axes;
    expect([[...(x.edges ?? [])], y.edges ?? null]).toEqual([[...even(count, from)], null]);
  });

  it.each([
    ["xx", (axis: string) => axis + axis],
    ["xm", (axis: string) => `${axis}m`],
    ["x1", (axis: string) => `x${1 + "xyz".indexOf(axis)}`],
    ["X1", (axis: string) => `X${1 + "xyz".indexOf(axis)}`],
    ["x0", (axis: string) => `x${"xyz".indexOf(axis)}`],
    ["nodes/x", (axis: string) => `nodes/${axis}`],
    ["x_cen", (axis: string) => `${axis}_cen`],
  ])("such as %s are known", async (_, nameOf) => {
    const fill = (file: File) => {
      components(file);
      for (const axis of AXES) table(file, nameOf(axis), even(NODES[axis], 1));
    };
    expect(await questions(fill)).toEqual([]);
    const places = (await read(fill, {})).axes.map(({ nodes, origin }) => [nodes, origin]);
    expect(places).toEqual(AXES.map((axis) => [NODES[axis], 1]));
  });

  it("may be those of lists in attributes", async () => {
    const fill = (file: File) => {
      components(file);
      for (const axis of AXES)
        (file.get("u") as H5Dataset).create_attribute(axis, even(NODES[axis], 1), [NODES[axis]], "<d");
    };
    expect(await questions(fill)).toEqual([]);
    const { axes } = await read(fill, {});
    expect(axes.map(({ nodes, origin, spacing }) => [nodes, origin, spacing])).toEqual(
      AXES.map((axis) => [NODES[axis], 1, 0.25]),
    );
  });

  it.each(["", "/u"])("in attributes of %s have to be the same at all times", async (holder) => {
    const fill = (file: File) => {
      for (const step of ["step_0000", "step_0001"]) {
        writeField(file, `${step}/u`, { dimensions: [...ZYX, "c"] });
        const attributes = file.get(`${step}${holder}`) as H5Dataset;
        for (const axis of AXES)
          attributes.create_attribute(axis, even(NODES[axis], step === "step_0000" ? 0 : 1), [NODES[axis]], "<d");
      }
    };
    await expect(questions(fill)).rejects.toThrow(`/step_0001${holder}@x differs from /step_0000${holder}@x`);
  });

  it("may be said", async () => {
    const fill = (file: File) => {
      components(file);
      for (const axis of AXES) {
        table(file, axis, even(NODES[axis]));
        table(file, `own/${axis}ticks`, even(NODES[axis], 7));
      }
    };
    const coordinates = new Map(AXES.map((axis) => [axis, `/own/${axis}ticks`]));
    expect((await read(fill, { coordinates })).axes.map(({ origin }) => origin)).toEqual([7, 7, 7]);
    await expect(read(fill, { coordinates: new Map([["x", "/u"]]) })).rejects.toThrow(
      /--coordinates x=\/u: it is not a list/,
    );
  });
});

describe("meshes", () => {
  it("that are curved are asked about by name", async () => {
    const fill = (file: File) => {
      components(file);
      const shape = [NODES.z, NODES.y, NODES.x];
      const count = shape.reduce((product, length) => product * length, 1);
      const curved = Float64Array.from({ length: count }, (_, i) => Math.sin(i));
      for (const axis of AXES) table(file, axis, curved, shape);
      file.create_attribute("axes", "zyx");
    };
    expect(await questions(fill)).toContainEqual(expect.stringMatching(/^spacing: \/x varies .*the mesh is curved/));
    expect((await read(fill, GRID)).assumed[0]?.question).toMatch(/\/x varies .* is curved; the answer holds\.$/);
  });
});

describe("elements", () => {
  it("are refused by the name of what says so", async () => {
    const fill = (file: File) => {
      for (const name of ["u", "v", "w"])
        file.create_dataset({ name, data: new Float32Array(7 * 4 ** 3 * 2), shape: [7, 2, 4, 4, 4] });
      file.create_attribute("nelv", 7);
    };
    await expect(read(fill, {})).rejects.toThrow(/nelv says that its values lie in elements or blocks/);
  });
});

describe("answers of the user", () => {
  it("give descending nodes by a negative spacing", async () => {
    const spacing = [0.25, -0.25, 0.25];
    const dataset = await read(components, { dims: ZYX, spacing, origin: [0, 2.25, 0], periodic: [] });
    expect(dataset.axes[1]).toMatchObject({ origin: 0, spacing: 0.25 });
    const open = openDataset(dataset);
    const values = readNodes(dataset, open, "velocity", 0);
    expect(values[0]).toBe(nodeValue({ t: 0, z: 0, y: NODES.y - 1, x: 0, c: 0 }));
    open.close();
  });

  it("tell times from a dimension of one element", async () => {
    const dims = ["t", ...ZYX, "c"] as const;
    const fill = (file: File) => writeField(file, "velocity", { dimensions: dims, lengths: { t: 3, z: 1 } });
    const { axes, time } = await read(fill, { ...GRID, dims, times: [0, 1, 2] });
    expect([axes[2].nodes, time.count]).toEqual([1, 3]);
  });

  it("give one field an order of its own", async () => {
    const fill = (file: File) => {
      for (const [c, name] of ["u", "v", "w"].entries())
        writeField(file, name, { dimensions: ZYX, lengths: { x: 5, y: 5, z: 5 }, value: ({ x }) => x + 10 * c });
      writeField(file, "p", { dimensions: ["x", "y", "z"], lengths: { x: 5, y: 5, z: 5 }, value: ({ x }) => x });
    };
    const fieldDims = new Map([["pressure", ["x", "y", "z"]]]);
    const dataset = await read(fill, { ...GRID, dims: ZYX, fieldDims });
    const open = openDataset(dataset);
    expect([...readNodes(dataset, open, "pressure", 0).subarray(0, 6)]).toEqual([0, 1, 2, 3, 4, 0]);
    open.close();
  });

  it("give the order of the components of a vector", async () => {
    const fill = (file: File) =>
      writeField(file, "velocity", { dimensions: [...ZYX, "c"], value: ({ c, x }) => 10 * c + x });
    const dataset = await read(fill, { ...GRID, dims: [...ZYX, "c"], components: ["z", "x", "y"] });
    const open = openDataset(dataset);
    expect([...readNodes(dataset, open, "velocity", 0).subarray(0, 6)]).toEqual([10, 20, 0, 11, 21, 1]);
    open.close();
  });
});

describe("answers against what a file states", () => {
  const STATED = {
    ...{ axes: "zyx", dx: 0.25, dy: 0.25, dz: 0.25, x0: 0, y0: 0, z0: 0 },
    ...{ periodic: "xz", bc_y: "wall", time: 1.5 },
  };
  const tables = (file: File) => {
    for (const axis of AXES) table(file, axis, even(NODES[axis]));
  };

  it.each<[string, Answers, string[], ((file: File) => void)?]>([
    ["what it states", { ...GRID, periodic: ["x", "z"], walls: ["y"], times: [1.5], dims: ZYX }, []],
    [
      "a spacing",
      { spacing: [0.25, 0.25, 0.5] },
      ["spacing of z: The answer has steps of 0.5 along z, and the attribute dz of / is 0.25; the answer holds."],
    ],
    [
      "an origin",
      { origin: [1, 0, 0] },
      ["origin of x: The answer begins at 1 along x, and the attribute x0 of / is 0; the answer holds."],
    ],
    [
      "ends",
      { periodic: ["z"], walls: [] },
      [
        "periodicity of x: Not periodic by an answer, against the attribute periodic of /.",
        "faces of y: Open by an answer, against the attribute bc_y of /.",
      ],
    ],
    ["times", { times: [2] }, ["times: 2 by an answer, against the attribute time of / (1.5)."]],
    [
      "an order",
      { dims: ["x", "y", "z"] },
      ["order: /u as x y z by an answer, against the attribute axes of / (z y x)."],
    ],
    [
      "coordinates",
      { spacing: [0.25, 0.25, 0.3], origin: [0, 0, 0] },
      ["spacing of z: 11 nodes from 0 to 3 by an answer, against the coordinates in /z."],
      tables,
    ],
    ["the numbers of coordinates", { spacing: [0.25, 0.25, 0.25], origin: [0, 0, 0] }, [], tables],
  ])("name what they override: %s", async (_, answers, claims, more = () => {}) => {
    const fill = (file: File) => {
      components(file);
      for (const [name, value] of Object.entries(STATED)) file.create_attribute(name, value);
      more(file);
    };
    const { questions, assumed } = recognise(await write(fill), answers)?.descriptor ?? {};
    expect([questions, assumed?.map(claimText)]).toEqual([[], claims]);
  });
});

describe("components", () => {
  /** Dedalus keeps components in the order of its coordinates. */
  const dedalus =
    (order: readonly ("x" | "y" | "z")[], space = [1, 1, 1]) =>
    (file: File) => {
      file.create_group("scales");
      for (const name of ["sim_time", "iteration", "write_number", "constant"])
        table(file, `scales/${name}`, Float64Array.of(0));
      writeField(file, "tasks/u", { dimensions: ["c", ...order] });
      const u = file.get("tasks/u") as H5Dataset;
      u.create_attribute("grid_space", Float64Array.from(space), [3], "<d");
      for (const [d, axis] of order.entries()) {
        table(file, `scales/${axis}`, even(NODES[axis]));
        (file.get(`scales/${axis}`) as H5Dataset).make_scale(axis);
        u.attach_scale(d + 1, `/scales/${axis}`);
      }
    };

  it("of Dedalus are known if the axes are in the order x, y, z, and asked about if not", async () => {
    expect(await questions(dedalus(["x", "y", "z"]))).toEqual([]);
    expect(await questions(dedalus(["z", "x", "y"]))).toEqual([
      expect.stringMatching(/^order: The axes of \/tasks\/u are in the order z, x, y, and nothing states/),
    ]);
    expect(await questions(dedalus(["z", "x", "y"]), { components: ["z", "x", "y"] })).toEqual([]);
  });

  it("of Dedalus are refused as coefficients", async () => {
    await expect(questions(dedalus(["x", "y", "z"], [0, 1, 1]))).rejects.toThrow(
      "recognised as Dedalus 3, but /tasks/u holds coefficients (grid_space 0 1 1), not values at nodes",
    );
  });
});

describe("the ends of a box", () => {
  const boxed = (upper: (nodes: number) => number, step: ((nodes: number) => number) | null) => (file: File) => {
    components(file);
    for (const axis of AXES) {
      file.create_attribute(`${axis}min`, 1, [], "<d");
      file.create_attribute(`${axis}max`, 1 + upper(NODES[axis]), [], "<d");
      if (step !== null) file.create_attribute(`d${axis}`, step(NODES[axis]), [], "<d");
    }
    file.create_attribute("axes", "zyx");
  };

  it("are the end nodes if the spacing says so", async () => {
    expect(
      await questions(
        boxed(
          (nodes) => (nodes - 1) / 4,
          () => 0.25,
        ),
      ),
    ).toEqual([]);
  });

  it.each([
    ["the spacing is that of cells", (nodes: number) => nodes / 4, () => 0.25],
    ["there is no spacing", (nodes: number) => nodes / 4, null],
  ])("are asked about if %s", async (_, upper, step) => {
    expect(await questions(boxed(upper, step))).toEqual([
      expect.stringMatching(
        /^origin: the attribute xmin of \/ is 1 and the attribute xmax of \/ is 4, and nothing states/,
      ),
      expect.stringMatching(/^origin: the attribute ymin/),
      expect.stringMatching(/^origin: the attribute zmin/),
    ]);
  });

  it.each([
    ["domain_left_edge", "domain_right_edge"],
    ["lower", "upper"],
  ])(
    "may be %s and %s, as yt saves a covering grid: nodes are half a cell inside if that is said",
    async (low, high) => {
      const fill = (file: File) => {
        components(file);
        for (const axis of AXES) file.create_attribute(`d${axis}`, 0.25, [], "<d");
        for (const [name, value] of Object.entries({ axes: "zyx", periodic: "xyz" }))
          file.create_attribute(name, value);
        file.create_attribute(low, Float64Array.of(1, 1, 1));
        file.create_attribute(
          high,
          Float64Array.from(AXES, (axis) => 1 + NODES[axis] / 4),
        );
      };
      const [asked, ...others] = await questions(fill);
      expect([asked, others.length]).toEqual([expect.stringMatching(/^origin: .* in the middle of cells/), 2]);
      expect((await read(fill, { cells: AXES })).axes.map(({ origin }) => origin)).toEqual([1.125, 1.125, 1.125]);
    },
  );

  it("are answered by a spacing and an origin", async () => {
    const fill = boxed((nodes) => nodes / 4, null);
    expect(await questions(fill, GRID)).toEqual([]);
    expect(await questions(fill, { spacing: [1, 1, 1], periodic: [] })).toHaveLength(3);
  });
});

describe("times", () => {
  it("that descend are refused by the name of their list", async () => {
    const fill = (file: File) => {
      writeField(file, "p", { dimensions: ["t", ...ZYX] });
      for (const axis of AXES) table(file, axis, even(NODES[axis]));
      table(file, "time", Float64Array.of(2, 1, 0));
      file.create_attribute("axes", "tzyx");
    };
    await expect(read(fill, {})).rejects.toThrow(/the times in \/time do not ascend \(2 is followed by 1\)/);
  });
});
