/** Every order, type and split of storage reads as the same nodes. */
import { utimesSync } from "node:fs";
import { join } from "node:path";
import type { File, Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import type { Dataset, FieldName } from "../../../src/storage/dataset/dataset.js";
import {
  type Dimension,
  descriptor,
  FRAMES,
  fill,
  type Index,
  NODES,
  nodeValue,
  type StoredSpec,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();

const CHUNK = { t: 2, z: 6, y: 4, x: 5, c: 3, n: 1 };

/** Writes a dataset folder and scans it; anything that is refused fails the test. */
async function load(
  name: string,
  members: Record<string, unknown>,
  files: Record<string, (file: File) => void>,
): Promise<Dataset> {
  const folder = folderIn(SCRATCH, name);
  for (const [file, write] of Object.entries(files)) await writeHdf5(join(folder, file), write);
  writeDescriptor(folder, descriptor(name, members));
  return onlyDataset(folder);
}

function expected(frame: number, components: number, value = nodeValue): Float32Array {
  const dimensions: Dimension[] = ["z", "y", "x", "c"];
  const shape = [NODES.z, NODES.y, NODES.x, components];
  return Float32Array.from(fill(dimensions, shape, (index) => value({ ...index, t: frame })));
}

function expectNodes(dataset: Dataset, field: FieldName, components: number, value = nodeValue): void {
  const open = openDataset(dataset);
  for (let frame = 0; frame < dataset.time.count; frame++)
    expect(firstDifference(readNodes(dataset, open, field, frame), expected(frame, components, value))).toBeNull();
  open.close();
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.filter((_, i) => i !== at)).map((rest) => [item, ...rest]));
}

describe("readBrick", () => {
  it("reads all 120 orders of t z y x c, float32 and float64, contiguous and chunked", async () => {
    const orders = permutations<Dimension>(["t", "z", "y", "x", "c"]);
    const folder = folderIn(SCRATCH, "orders");
    await writeHdf5(join(folder, "u.h5"), (file) => {
      for (const [at, dimensions] of orders.entries())
        writeField(file, `/${dimensions.join("")}`, {
          dimensions,
          type: at % 2 === 0 ? "<f" : "<d",
          ...(at % 3 === 0
            ? {}
            : {
                chunks: dimensions.map((dimension) => CHUNK[dimension]),
                filter: at % 3 === 1 ? "gzip" : "fletcher32",
              }),
        });
    });
    for (const dimensions of orders) {
      writeDescriptor(
        folder,
        descriptor("orders", { fields: { velocity: { file: "u.h5", path: `/${dimensions.join("")}`, dimensions } } }),
      );
      expectNodes(onlyDataset(folder), "velocity", 3);
    }
  });

  it("joins three scalar datasets into a vector, and reads a scalar with a component of one", async () => {
    const dimensions: Dimension[] = ["t", "z", "y", "x"];
    const components = ["u", "v", "w"].map((name) => ({ file: `${name}.h5`, path: "/values" }));
    const writers = components.map(({ file }, c) => [
      file,
      (h5: File) => writeField(h5, "/values", { dimensions, value: (index) => nodeValue({ ...index, c }) }),
    ]);
    const dataset = await load(
      "components",
      {
        fields: {
          velocity: { components, dimensions },
          pressure: { file: "p.h5", path: "/p", dimensions: ["t", "z", "y", "x", "c"] },
        },
      },
      {
        ...Object.fromEntries(writers),
        "p.h5": (file: File) => writeField(file, "/p", { dimensions: ["t", "z", "y", "x", "c"], lengths: { c: 1 } }),
      },
    );
    expectNodes(dataset, "velocity", 3);
    expectNodes(dataset, "pressure", 1);
  });

  it("reads one file per step, labels with first step and increment", async () => {
    const dimensions: Dimension[] = ["z", "y", "x", "c"];
    const files = Object.fromEntries(
      [0, 1, 2].map((frame) => [
        `u_${String(10 + 20 * frame).padStart(5, "0")}.h5`,
        (file: File) => writeField(file, "/u", { dimensions, value: (index) => nodeValue({ ...index, t: frame }) }),
      ]),
    );
    const velocity = { file: "u_{step:05d}.h5", path: "/u", dimensions, firstStep: 10, stepIncrement: 20 };
    expectNodes(await load("series", { fields: { velocity } }, files), "velocity", 3);
  });

  it("skips offsets, strips ghost layers, and fixes a further dimension at its index", async () => {
    const dimensions: Dimension[] = ["n", "t", "z", "y", "x", "c"];
    const velocity = { file: "u.h5", path: "/u", dimensions, index: 1, offset: [1, 0, 2], ghost: [2, 3, 0] };
    const value = (index: Record<Dimension, number>) =>
      index.n === 1 ? nodeValue({ ...index, z: index.z - 3, y: index.y - 3, x: index.x - 2 }) : -1;
    const lengths = { n: 2, z: NODES.z + 5, y: NODES.y + 6, x: NODES.x + 2 };
    const files = { "u.h5": (file: File) => writeField(file, "/u", { dimensions, lengths, value }) };
    expectNodes(await load("ghost", { fields: { velocity } }, files), "velocity", 3);
  });

  it("flips a descending axis, field and coordinates alike", async () => {
    const dimensions: Dimension[] = ["t", "z", "y", "x", "c"];
    const y = [30, 26, 22, 19, 15, 13, 9, 6, 2, 1];
    const dataset = await load(
      "flip",
      {
        axes: {
          x: { nodes: NODES.x, origin: NODES.x - 1, spacing: -1 },
          y: { coordinates: y },
          z: { nodes: NODES.z, origin: 0, spacing: 1, periodic: true },
        },
        fields: { velocity: { file: "u.h5", path: "/u", dimensions } },
      },
      {
        "u.h5": (file) =>
          writeField(file, "/u", {
            dimensions,
            chunks: [1, 2, 2, 2, 3],
            value: (index) => nodeValue({ ...index, x: NODES.x - 1 - index.x, y: NODES.y - 1 - index.y }),
          }),
      },
    );
    expect(dataset.axes[0]).toMatchObject({ origin: 0, spacing: 1, periodic: false, coordinates: null });
    expect(dataset.axes[1].coordinates).toEqual(Float64Array.from([1, 2, 6, 9, 13, 15, 19, 22, 26, 30]));
    expectNodes(dataset, "velocity", 3);
  });

  it("reads values whose real order is not the declared one", async () => {
    const real: Dimension[] = ["c", "x", "y", "z"];
    const dataset = await load(
      "declared",
      {
        time: { count: 1 },
        fields: { velocity: { file: "u.h5", path: "/u", dimensions: real, shape: [3, NODES.x, NODES.y, NODES.z] } },
      },
      {
        "u.h5": (file) => {
          const values = fill(real, [3, NODES.x, NODES.y, NODES.z], nodeValue);
          file.create_dataset({ name: "u", data: values, shape: [3, NODES.z, NODES.y, NODES.x] });
        },
      },
    );
    expectNodes(dataset, "velocity", 3);
  });

  it("reads any box, and bricks that the grid does not fill, in every kind of layout", async () => {
    const nodes = { x: 70, y: 37, z: 45, t: 2 };
    const value = ({ x, y, z, t, c }: Index) => c + 3 * (x + 100 * (y + 100 * z)) + t / 2;
    const axis = (n: number) => ({ nodes: n, origin: 0, spacing: 1 });
    const members = (field: object) => ({
      axes: { x: { nodes: 70, origin: 69, spacing: -1 }, y: axis(37), z: axis(45) },
      time: { step: 1, count: 2 },
      fields: { velocity: { file: "u.h5", path: "/u", ...field } },
    });
    const inFile = (index: Index) => value({ ...index, x: nodes.x - 1 - index.x });
    const shape = [3, nodes.x, nodes.y, nodes.z];
    const kinds: [Dimension[], Partial<StoredSpec>, object][] = [
      [["t", "z", "y", "x", "c"], {}, {}],
      [["t", "z", "y", "x", "c"], { chunks: [2, 16, 8, 20, 3], filter: "gzip" }, {}],
      [["c", "x", "t", "y", "z"], { type: "<d" }, {}],
      [["c", "z", "y", "x"], {}, { dimensions: ["c", "x", "y", "z"], shape }],
    ];
    for (const [at, [dimensions, spec, field]] of kinds.entries()) {
      const snapshot = !dimensions.includes("t");
      const declared: StoredSpec["value"] = snapshot
        ? ({ c, z, y, x }) => {
            const index = ((c * nodes.z + z) * nodes.y + y) * nodes.x + x;
            const [rz, ry, rx] = [index % 45, Math.floor(index / 45) % 37, Math.floor(index / (45 * 37)) % 70];
            return inFile({ c, z: rz, y: ry, x: rx, t: 0, n: 0 });
          }
        : inFile;
      const write = (file: File) => writeField(file, "/u", { dimensions, lengths: nodes, value: declared, ...spec });
      const all = members({ dimensions, ...field });
      const dataset = await load(`box-${at}`, snapshot ? { ...all, time: { count: 1 } } : all, { "u.h5": write });
      const open = openDataset(dataset);
      const frame = dataset.time.count - 1;
      const whole = fill(["z", "y", "x", "c"], [45, 37, 70, 3], (index) => value({ ...index, t: frame }));
      expect(firstDifference(readNodes(dataset, open, "velocity", frame), Float32Array.from(whole))).toBeNull();
      const box = { first: [31, 5, 17], count: [11, 32, 9] } as const;
      const part = new Float32Array(3 * 11 * 32 * 9);
      open.readNodes("velocity", frame, box, part);
      const inBox = fill(["z", "y", "x", "c"], [9, 32, 11, 3], ({ z, y, x, c, n }) =>
        value({ z: z + 17, y: y + 5, x: x + 31, t: frame, c, n }),
      );
      expect(firstDifference(part, Float32Array.from(inBox))).toBeNull();
      open.close();
    }
  });

  it.each([
    { filter: undefined, dimensions: ["t", "z", "y", "x", "c"] },
    { filter: "gzip", dimensions: ["t", "z", "y", "x", "c"] },
    { filter: "fletcher32", dimensions: ["t", "z", "y", "x", "c"] },
    { filter: undefined, dimensions: ["c", "t", "x", "y", "z"] },
  ] as const)(
    "reads bricks that are whole chunks, and those at the ends that are not: $dimensions, $filter",
    async (kind) => {
      const { dimensions, filter } = kind;
      const nodes = { x: 40, y: 37, z: 32, t: 2 };
      const value = ({ x, y, z, t, c }: Index) => c + 3 * (x + 100 * (y + 100 * z)) + t / 2;
      const edges = { t: 1, z: 16, y: 18, x: 20, c: 3, n: 1 };
      const chunks = dimensions.map((dimension) => edges[dimension]);
      const spec = { dimensions, lengths: nodes, value, chunks, ...(filter === undefined ? {} : { filter }) };
      const axis = (n: number) => ({ nodes: n, origin: 0, spacing: 1 });
      const members = {
        axes: { x: axis(40), y: axis(37), z: axis(32) },
        time: { step: 1, count: 2 },
        fields: { velocity: { file: "u.h5", path: "/u", dimensions } },
      };
      const name = `whole-${filter ?? dimensions[0]}`;
      const dataset = await load(name, members, { "u.h5": (file) => writeField(file, "/u", spec) });
      expect(dataset.fields.velocity?.bricking.edge).toEqual([20, 18, 16]);
      const open = openDataset(dataset);
      for (const frame of [0, 1]) {
        const whole = fill(["z", "y", "x", "c"], [32, 37, 40, 3], (index) => value({ ...index, t: frame }));
        expect(firstDifference(readNodes(dataset, open, "velocity", frame), Float32Array.from(whole))).toBeNull();
      }
      open.close();
    },
  );

  it.each(["<f", "<d"] as const)("turns cells of a _FillValue of type %s into NaN", async (type) => {
    const value = (index: Omit<Record<Dimension, number>, "n">) => nodeValue(index) / 10;
    const hole = value({ t: 1, z: 2, y: 3, x: 4, c: 1 });
    const dimensions: Dimension[] = ["t", "z", "y", "x", "c"];
    const dataset = await load(
      `fill-${type.slice(1)}`,
      { fields: { velocity: { file: "u.h5", path: "/u", dimensions } } },
      {
        "u.h5": (file) => {
          writeField(file, "/u", { dimensions, value });
          (file.get("u") as H5Dataset).create_attribute("_FillValue", hole, [], type);
        },
      },
    );
    expectNodes(dataset, "velocity", 3, (index) => (value(index) === hole ? Number.NaN : value(index)));
  });

  describe("of which chunks were never written", () => {
    const dimensions: Dimension[] = ["z", "y", "x"];
    const shape = [NODES.z, NODES.y, NODES.x];
    /** A field whose last layers were never written, and what the file says of its fill value, 0. */
    const grown = (name: string, fillValue: number | null): Promise<Dataset> =>
      load(
        name,
        { fields: { pressure: { file: "p.h5", path: "/p", dimensions } }, time: { count: 1, origin: 0, step: 1 } },
        {
          "p.h5": (file) => {
            const layers = 4 * NODES.y * NODES.x;
            const data = Float32Array.from({ length: layers }, (_, i) => i + 1);
            const size = { data, shape: [4, NODES.y, NODES.x], maxshape: shape, chunks: [4, NODES.y, NODES.x] };
            const stored = file.create_dataset({ name: "p", dtype: "<f", ...size });
            stored.resize(shape);
            if (fillValue !== null) stored.create_attribute("_FillValue", fillValue, [], "<f");
          },
        },
      );
    const read = (dataset: Dataset, first: number): Float32Array => {
      const open = openDataset(dataset);
      const out = new Float32Array(NODES.y * NODES.x);
      try {
        open.readNodes("pressure", 0, { first: [0, 0, first], count: [NODES.x, NODES.y, 1] }, out);
        return out;
      } finally {
        open.close();
      }
    };

    it("are refused, and not those that were", async () => {
      const dataset = await grown("gap", null);
      expect(read(dataset, 3)[0]).toBe(3 * NODES.y * NODES.x + 1);
      expect(() => read(dataset, 4)).toThrow("pressure of frame 0 cannot be read");
    });

    it("are refused if another value means nothing here", async () => {
      const dataset = await grown("gap-other", 7);
      expect(() => read(dataset, 4)).toThrow("pressure of frame 0 cannot be read");
    });

    it("have no values if the fill value means nothing here", async () => {
      const dataset = await grown("gap-fill", 0);
      expect(read(dataset, 3)[0]).toBe(3 * NODES.y * NODES.x + 1);
      expect(read(dataset, 4).every(Number.isNaN)).toBe(true);
    });
  });

  it("rounds float64 to the nearest float32", async () => {
    const dimensions: Dimension[] = ["t", "z", "y", "x", "c"];
    const value = (index: Omit<Record<Dimension, number>, "n">) => Math.PI * nodeValue(index);
    const dataset = await load(
      "rounding",
      { fields: { velocity: { file: "u.h5", path: "/u", dimensions } } },
      { "u.h5": (file) => writeField(file, "/u", { dimensions, type: "<d", value }) },
    );
    expectNodes(dataset, "velocity", 3, value);
  });

  it("refuses bricks and frames that do not exist, and counts the bytes that it reads", async () => {
    const dimensions: Dimension[] = ["t", "z", "y", "x"];
    const dataset = await load(
      "bounds",
      { fields: { pressure: { file: "p.h5", path: "/p", dimensions } } },
      { "p.h5": (file) => writeField(file, "/p", { dimensions }) },
    );
    const open = openDataset(dataset);
    const out = new Float32Array(NODES.x * NODES.y * NODES.z);
    for (const [frame, brick] of [
      [-1, 0],
      [FRAMES, 0],
      [0, 1],
      [0, -1],
      [0.5, 0],
    ] as const)
      expect(() => open.readBrick("pressure", frame, brick, out)).toThrow(/no (brick|frame)/);
    expect(() => open.readBrick("velocity", 0, 0, out)).toThrow(/no velocity/);
    expect(() => open.readBrick("pressure", 0, 0, out.subarray(1))).toThrow(RangeError);
    expect(open).toMatchObject({ bytesRead: 0 });
    open.readBrick("pressure", 0, 0, out);
    expect(open).toMatchObject({ bytesRead: 4 * out.length });
    open.close();
  });

  it("names the field and the frame, but no file, whichever way a file has changed is found", async () => {
    const dimensions: Dimension[] = ["t", "z", "y", "x"];
    const dataset = await load(
      "changed",
      { fields: { pressure: { file: "p.h5", path: "/p", dimensions } } },
      { "p.h5": (file) => writeField(file, "/p", { dimensions }) },
    );
    for (const { path } of dataset.files.filter((file) => file.path.endsWith("p.h5"))) utimesSync(path, 1, 1);
    const open = openDataset(dataset);
    const out = new Float32Array(NODES.x * NODES.y * NODES.z);
    const message = "changed: pressure of frame 1 cannot be read until its file, which has changed, is scanned again.";
    const passing = expect.objectContaining({ message, context: { retryAfter: 1 } });
    expect(() => open.readBrick("pressure", 1, 0, out)).toThrow(passing);
    expect(() => open.fetched("pressure", [{ frame: 1, bricks: [0] }])).toThrow(passing);
    open.close();
  });
});
