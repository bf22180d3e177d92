/** HDF5 files behind HTTP: the same bits as the file in a folder, few requests, and never a wrong value. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BusyError, DataError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { openFile } from "../../../src/storage/open-file.js";
import { RemoteFile } from "../../../src/storage/remote/ranged-file.js";
import { FRAMES, type StoredSpec, stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { onlyDataset as only } from "../../support/only-dataset.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";
import { expectNodes, failureOf, firstBrick } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const server = useObjectServer();
const FILTERS = fileURLToPath(new URL("../hdf5-bytes/filters/fixtures", import.meta.url));

let files = 0;
/** Writes the numbered cube as a file, and puts it on the server. */
async function putCube(spec: Partial<StoredSpec>, earliest = false): Promise<{ address: string; path: string }> {
  const name = `cube${++files}.h5`;
  const path = await writeHdf5(
    join(SCRATCH, name),
    (file) => {
      stateGrid(file);
      writeField(file, "p", { dimensions: ["t", "z", "y", "x"], ...spec });
      file.create_dataset({ name: "time", data: Float64Array.from({ length: FRAMES }, (_, i) => i) });
    },
    earliest,
  );
  await server.put("h5", new Map([[name, readFileSync(path)]]));
  return { address: `${server.url}/h5/${name}`, path };
}

const STORAGES: [string, Partial<StoredSpec>, boolean][] = [
  ["contiguous", {}, false],
  ["contiguous float64 in the oldest format", { type: "<d" }, true],
  ["chunked without a filter", { chunks: [1, 4, 10, 5] }, false],
  ["chunked in the oldest format", { chunks: [1, 4, 10, 5] }, true],
  ["compressed", { chunks: [2, 11, 5, 5], filter: "gzip" }, false],
  ["with checksums", { chunks: [1, 11, 10, 6], filter: "fletcher32" }, false],
  ["in one chunk", { chunks: [3, 11, 10, 12] }, false],
];

describe("an HDF5 file at an address", () => {
  it.each(STORAGES)("reads as its nodes: %s", async (_, spec, earliest) => {
    const { address } = await putCube(spec, earliest);
    const dataset = only(address);
    expect(dataset.name).toBe(`cube${files}`);
    expectNodes(dataset, "pressure", 1);
  });

  it.each(["blosc-zstd-big-endian", "lzf"])("reads the values of %s", async (packed) => {
    const name = `${packed}.h5`;
    const path = join(SCRATCH, name);
    writeFileSync(path, gunzipSync(readFileSync(join(FILTERS, `${name}.gz`))));
    await server.put("filters", new Map([[name, readFileSync(path)]]));
    const [near, far] = [openFile(path), openFile(`${server.url}/filters/${name}`, { named: true })];
    const datasets = near.names("/").filter((member) => near.kind(`/${member}`) === "dataset");
    expect(datasets.length).toBeGreaterThan(0);
    for (const member of datasets) expect(far.numbers(`/${member}`)).toEqual(near.numbers(`/${member}`));
    near.close();
    far.close();
  });

  it("is fetched in few requests, whatever asks for it", async () => {
    const { address } = await putCube({ chunks: [1, 2, 2, 2] });
    const before = server.requests;
    const dataset = only(address);
    // The version for each look at the file, and the one block that the small file is.
    expect(server.requests - before).toBeLessThanOrEqual(4);
    const opened = server.requests;
    expectNodes(dataset, "pressure", 1);
    // All chunks of a brick lie beside each other.
    expect(server.requests - opened).toBeLessThanOrEqual(
      FRAMES * (dataset.fields.pressure?.bricking.count[0] ?? 0) * 8,
    );
    const again = server.requests;
    firstBrick(dataset);
    expect(server.requests - again).toBe(0);
  });
});

it("is fetched by one range for each brick if its values are contiguous", async () => {
  const n = 64;
  const name = "contiguous.h5";
  const path = await writeHdf5(join(SCRATCH, name), (file) => {
    const data = Float32Array.from({ length: 3 * 3 * n ** 3 }, (_, i) => i % 1009);
    file.create_dataset({ name: "velocity", data, shape: [n, n, 3 * n, 3] });
  });
  await server.put("h5", new Map([[name, readFileSync(path)]]));
  const answers = { dims: ["z", "y", "x", "c"], spacing: [1, 1, 1], origin: [0, 0, 0], periodic: [], times: [0] };
  const dataset = openConfirmed(`${server.url}/h5/${name}`, 2 ** 26, answers);
  const before = server.requests;
  const open = openDataset(dataset);
  expect(readNodes(dataset, open, "velocity", 0)[1009]).toBe(0);
  open.close();
  expect(dataset.fields.velocity?.bricking).toEqual({ edge: [192, 64, 32], count: [1, 1, 2] });
  expect(server.requests - before).toBe(2);
});

describe("a host of a file that fails", () => {
  it("is asked again after 503 and after cut connections, and the values are right", async () => {
    const { address } = await putCube({ chunks: [1, 4, 10, 5], filter: "gzip" });
    await server.set({ failures: 2 });
    const dataset = only(address);
    await server.set({ cuts: 3 });
    expectNodes(dataset, "pressure", 1);
  });

  it("is asked a bounded number of times, and the error says that another try may succeed", async () => {
    const { address } = await putCube({ chunks: [1, 4, 10, 5] });
    const dataset = only(address);
    await server.set({ failures: 1000 });
    const before = server.requests;
    expect(failureOf(() => firstBrick(dataset))).toBeInstanceOf(BusyError);
    expect(server.requests - before).toBeLessThanOrEqual(16);
    await server.set({ failures: 0 });
  });

  it("says after how many seconds to ask again, as the host does, also if metadata are missing", async () => {
    const { address } = await putCube({ chunks: [1, 4, 10, 5] });
    const dataset = only(address);
    await server.put("h5", new Map([["long.h5", Buffer.alloc(300_000)]]));
    const file = new RemoteFile(`${server.url}/h5/long.h5`, { named: true });
    await server.set({ failures: 1000, retryAfter: "60" });
    const block = () => [{ position: file.read(new Uint8Array(8), 200_000), length: 8 }];
    const errors = [() => firstBrick(dataset), () => file.prefetch([block])].map(
      (read) => failureOf(read) as BusyError,
    );
    await server.set({ failures: 0, retryAfter: null });
    expect(errors.map(({ name, context }) => [name, context.retryAfter])).toEqual(Array(2).fill(["BusyError", 60]));
  });

  it("is refused where it serves no ranges or not the file", async () => {
    const [{ address }, none] = [await putCube({}), `${server.url}/h5/none.h5`];
    await server.set({ ranges: false });
    const [unranged, missing] = [address, none].map((one) => scanFolders([one], { chunkBytes: 1 << 26 }).problems);
    await server.set({ ranges: true });
    expect(unranged?.[0]?.message).toMatch(/serves no ranges/);
    expect(missing).toEqual([{ location: none, message: "does not exist" }]);
  });
});

describe("a file that changes", () => {
  it("gives an error and never a mixture, and its new values after a scan", async () => {
    const { address, path } = await putCube({ chunks: [1, 4, 10, 5] });
    const dataset = only(address);
    const bytes = readFileSync(path);
    const changed = await writeHdf5(join(SCRATCH, "changed.h5"), (file) => {
      stateGrid(file);
      writeField(file, "p", { dimensions: ["t", "z", "y", "x"], chunks: [1, 4, 10, 5], value: () => 7 });
      file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    });
    expect(readFileSync(changed).length).toBe(bytes.length);
    await server.put("h5", new Map([[`cube${files}.h5`, readFileSync(changed)]]));
    expect(failureOf(() => firstBrick(dataset))).toBeInstanceOf(DataError);
    const again = only(address);
    expect(again.files).not.toEqual(dataset.files);
    expect(firstBrick(again)[0]).toBe(7);
    expect(failureOf(() => firstBrick(dataset))).toBeInstanceOf(DataError);
  });

  it("is an error where a chunk does not have its checksum", async () => {
    const { address, path } = await putCube({ chunks: [1, 11, 10, 12], filter: "fletcher32" });
    const bytes = Buffer.from(readFileSync(path));
    // The value of the first node of the second frame, 1 + 4 * 16^3, stands once in the file.
    const value = Buffer.alloc(4);
    value.writeFloatLE(1 + 4 * 4096);
    const at = bytes.indexOf(value);
    bytes.writeFloatLE(5, at);
    await server.put("h5", new Map([[`cube${files}.h5`, bytes]]));
    const dataset = only(address);
    expect(firstBrick(dataset)[0]).toBe(1);
    const open = openDataset(dataset);
    const [ex, ey, ez] = dataset.fields.pressure?.bricking.edge ?? [0, 0, 0];
    const brick = new Float32Array(ex * ey * ez);
    expect(failureOf(() => open.readBrick("pressure", 1, 0, brick))).toBeInstanceOf(DataError);
    open.close();
  });
});
