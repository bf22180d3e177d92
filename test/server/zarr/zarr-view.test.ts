/** An independent reader finds the numbers of cutouts and slices in the Zarr view, in both versions of the format. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as zarr from "zarrita";
import type { RunningService } from "../../../src/main.js";
import { digestToken } from "../../../src/server/http/auth.js";
import { descriptor, type Index, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

/** Nodes of the uneven cube: none is a multiple of the edge of a brick. */
const NODES = { z: 70, y: 9, x: 66 } as const;

const nodeNumber = ({ t, z, y, x, c }: Omit<Index, "n">): number => 1 + c + 4 * (x + 100 * (y + 16 * (z + 100 * t)));

let service: RunningService;
beforeAll(async () => {
  const folder = scratchFolder();
  await writeHdf5(join(folder, "uneven.h5"), (file) => {
    writeField(file, "/velocity", {
      dimensions: ["t", "z", "y", "x", "c"],
      lengths: { ...NODES, t: 2 },
      chunks: [1, 16, 9, 32, 3],
      value: nodeNumber,
    });
  });
  writeDescriptor(folder, unevenDescriptor());
  service = await serveTestData([folder]);
});
afterAll(() => service.close());

function unevenDescriptor() {
  const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: true });
  return descriptor("uneven", {
    axes: { x: axis(NODES.x), y: { ...axis(NODES.y), periodic: false }, z: axis(NODES.z) },
    time: { origin: 0, step: 1, count: 2, guardBefore: 0, guardAfter: 0 },
    fields: { velocity: { file: "uneven.h5", path: "/velocity", dimensions: ["t", "z", "y", "x", "c"] } },
  });
}

const at = (path: string) => `${service.url}/zarr/${path}`;
const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(at(path), { headers, method });

async function cutout(dataset: string, field: string, frame: number, nodes: readonly number[]): Promise<Float32Array> {
  const box = ["i", "j", "k"].map((axis, a) => `${axis}=0:${nodes[a]}`).join("&");
  const path = `nodes?what=${field}&frame=${frame - 1}&${box}&format=f32`;
  const answer = await fetch(`${service.url}/api/datasets/${dataset}/${path}`);
  return new Float32Array(await answer.arrayBuffer());
}

describe.each(["isotropic32", "isotropic32@zstd"])("zarr/%s", (store) => {
  it.each([2, 3])("equals the cutout in Zarr %i", async (version) => {
    const root = zarr.root(new zarr.FetchStore(at(store)));
    const open = (path: string) => (version === 2 ? zarr.open.v2 : zarr.open.v3)(root.resolve(path), { kind: "array" });
    const velocity = await open("velocity");
    expect(velocity.shape).toEqual([12, 32, 32, 32, 3]);
    const { data } = await zarr.get(velocity, [4, null, null, null, null]);
    expect(data).toEqual(await cutout("isotropic32", "u", 5, [32, 32, 32]));
    const times = await zarr.get(await open("t"));
    expect([...(times.data as Float64Array)][1]).toBeCloseTo(0.2, 12);
  });

  it("has quantities at nodes as grid has them", async () => {
    const root = zarr.root(new zarr.FetchStore(at(store)));
    const vorticity = await zarr.open.v3(root.resolve("derived/vorticity"), { kind: "array" });
    const { data } = await zarr.get(vorticity, [3, null, null, 0]);
    const plane = await fetch(
      `${service.url}/api/datasets/isotropic32/grid?what=norm(omega)&frame=3&x=0&samples=32&derivatives=Fd4&format=f32`,
    );
    expect(data).toEqual(new Float32Array(await plane.arrayBuffer()));
  });
});

it("lists in the documents of a group what is below it, by paths from it", async () => {
  const { consolidated_metadata } = await (await ask("isotropic32/derived/zarr.json")).json();
  const { metadata } = await (await ask("isotropic32/derived/.zmetadata")).json();
  expect(consolidated_metadata.metadata).toHaveProperty("vorticity.zarr_format", 3);
  expect(Object.keys(metadata)).toEqual(
    expect.arrayContaining([".zgroup", ".zattrs", "x/.zarray", "vorticity/.zattrs"]),
  );
});

// Neuroglancer: src/datasource/zarr/metadata/parse.ts and codec/*/resolve.ts; Vizarr reads by zarrita.
describe.each(["isotropic32", "isotropic32@zstd"])("the metadata of zarr/%s", (store) => {
  it.each(["velocity", "pressure", "derived/vorticity"])(
    "of %s is what Neuroglancer and Vizarr accept",
    async (path) => {
      const three = await (await ask(`${store}/${path}/zarr.json`)).json();
      const two = await (await ask(`${store}/${path}/.zarray`)).json();
      const rank = three.shape.length;
      for (const length of [...three.shape, ...three.chunk_grid.configuration.chunk_shape, ...two.chunks])
        expect(Number.isInteger(length) && length > 0).toBe(true);
      expect(three).toMatchObject({
        ...{ zarr_format: 3, node_type: "array", data_type: "float32", fill_value: "NaN" },
        chunk_grid: { name: "regular" },
        chunk_key_encoding: { name: expect.stringMatching(/^(v2|default)$/) },
      });
      expect(three.dimension_names).toHaveLength(rank);
      expect(three.attributes.dimension_units).toBeUndefined();
      const codecs = three.codecs.map(({ name }: { name: string }) => name);
      expect(codecs).toEqual(store.endsWith("zstd") ? ["bytes", "zstd"] : ["bytes"]);
      expect(two).toMatchObject({ zarr_format: 2, order: "C", dtype: "<f4", fill_value: "NaN", filters: null });
      if (two.compressor !== null) expect(two.compressor).toEqual({ id: "zstd", level: expect.any(Number) });
      // Vizarr's tiles are squares of nodes: the largest power of two in a chunk along y and x.
      const [y, x] = two.chunks.slice(rank === 5 ? -3 : -2);
      expect(Math.min(y, x)).toBeGreaterThanOrEqual(16);
    },
  );
});

describe("chunks", () => {
  it("hold each node at its place beside the ends of the grid, and NaN beyond them", async () => {
    const root = zarr.root(new zarr.FetchStore(at("uneven")));
    const velocity = await zarr.open.v2(root.resolve("velocity"), { kind: "array" });
    expect(velocity.chunks[0]).toBe(1);
    const { data } = await zarr.get(velocity, [1, null, null, null, null]);
    const values = data as Float32Array;
    let i = 0;
    for (let z = 0; z < NODES.z; z++)
      for (let y = 0; y < NODES.y; y++)
        for (let x = 0; x < NODES.x; x++)
          for (let c = 0; c < 3; c++) {
            if (values[i] !== nodeNumber({ t: 1, z, y, x, c })) throw new Error(`${values[i]} at ${[z, y, x, c]}`);
            i++;
          }
    expect(values).toHaveLength(i);
    const places = velocity.chunks.map((edge, d) => Math.ceil((velocity.shape[d] as number) / edge) - 1);
    const chunk = new Float32Array(await (await ask(`uneven/velocity/${places.join(".")}`)).arrayBuffer());
    expect(chunk).toHaveLength(velocity.chunks.reduce((product, edge) => product * edge, 1));
    expect(Number.isNaN(chunk.at(-1))).toBe(true);
  });

  it.each("velocity/0.0.0.0.1 velocity/0.0.0.0 velocity/12.0.0.0.0 velocity/00.0.0.0.0 nothing/.zarray c".split(" "))(
    "are not found at %s",
    async (path) => {
      expect((await ask(`isotropic32/${path}`)).status).toBe(404);
    },
  );

  it("answer ranges, HEAD, and whether they have changed", async () => {
    const path = "isotropic32/pressure/0.0.0.0";
    const whole = await ask(path);
    const bytes = new Uint8Array(await whole.arrayBuffer());
    const etag = whole.headers.get("etag") as string;
    expect(bytes).toHaveLength(4 * 32 ** 3);
    const part = await ask(path, { range: "bytes=8-15" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 8-15/${bytes.length}`]);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.slice(8, 16));
    const tail = await ask(path, { range: "bytes=-4", "if-range": etag });
    expect(new Uint8Array(await tail.arrayBuffer())).toEqual(bytes.slice(-4));
    expect((await ask(path, { range: "bytes=-4", "if-range": '"other"' })).status).toBe(200);
    const beyond = await ask(path, { range: `bytes=${bytes.length}-` });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
    const head = await ask(path, {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.headers.get("etag")]).toEqual([
      200,
      String(bytes.length),
      etag,
    ]);
    expect((await ask(path, { "if-none-match": etag })).status).toBe(304);
    const digest = service.engine.find("isotropic32")?.digest as string;
    for (const [manifest, status] of [[digest, 200] as const, [digest.replace(/./, "g"), 412] as const])
      for (const one of [path, "isotropic32/zarr.json", "isotropic32@zstd/t/0"])
        expect((await ask(one, { "fieldprobe-manifest": manifest })).status).toBe(status);
    expect((await ask("isotropic32/pressure/1.0.0.0")).headers.get("etag")).not.toBe(etag);
    expect((await ask("isotropic32@zstd/pressure/0.0.0.0")).headers.get("etag")).not.toBe(etag);
  });

  it("are compressed where the address says so", async () => {
    const plain = Buffer.from(await (await ask("isotropic32/pressure/0.0.0.0")).arrayBuffer());
    const packed = Buffer.from(await (await ask("isotropic32@zstd/pressure/0.0.0.0")).arrayBuffer());
    expect(packed.length).toBeLessThan(plain.length);
    expect(packed.readUInt32LE(0)).toBe(0xfd2fb528);
  });

  it("of a dataset that is not served are refused by its name", async () => {
    const answer = await ask("nowhere/.zgroup");
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "UnknownDataset"]);
  });
});

describe("tokens", () => {
  let guarded: RunningService;
  beforeAll(async () => {
    const file = join(scratchFolder(), "tokens.json");
    const tokens = [
      { name: "free", sha256: digestToken("free-token-of-many-letters"), limit: 0 },
      { name: "small", sha256: digestToken("small-token-of-many-letters"), limit: 1000 },
    ];
    writeFileSync(file, JSON.stringify({ version: 1, tokens }));
    guarded = await serveTestData([], { TOKENS: file });
  });
  afterAll(() => guarded.close());

  const chunk = (token: string | null, method = "GET") => {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    return fetch(`${guarded.url}/zarr/isotropic32/derived/Q/0.0.0.0`, { headers, method });
  };

  it("are asked for chunks, not for metadata", async () => {
    expect((await fetch(`${guarded.url}/zarr/isotropic32/zarr.json`)).status).toBe(200);
    expect((await chunk(null)).status).toBe(401);
    expect((await chunk("free-token-of-many-letters")).status).toBe(200);
    expect((await chunk("free-token-of-many-letters", "HEAD")).status).toBe(200);
  });

  it("bound the nodes of a chunk", async () => {
    const answer = await chunk("small-token-of-many-letters");
    expect([answer.status, ((await answer.json()) as { limit: string }).limit]).toEqual([413, "token.points"]);
  });
});
