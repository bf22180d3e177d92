/** Slices and volumes as NumPy and NetCDF files have the numbers, places and origin of the float32 form. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { File, ready } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData } from "../../../support/service.js";

let service: RunningService;
const folder = scratchFolder();
beforeAll(async () => {
  await ready;
  service = await serveTestData();
});
afterAll(() => service.close());

const ask = (path: string, accept: string) =>
  fetch(`${service.url}/api/datasets/isotropic32/${path}`, { headers: { accept } });

async function bytesOf(path: string, accept: string): Promise<Buffer> {
  const answer = await ask(path, accept);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, accept]);
  return Buffer.from(await answer.arrayBuffer());
}

/** What follows the header of a NumPy file, and the shape in it. */
function numpyOf(file: Uint8Array) {
  const bytes = Buffer.from(file);
  const length = bytes.readUInt16LE(8);
  const [, shape = ""] = /'shape': \(([^)]*)\)/.exec(bytes.toString("latin1", 10, 10 + length)) ?? [];
  return { shape: shape.split(",").filter(Boolean).map(Number), bytes: Uint8Array.from(bytes.subarray(10 + length)) };
}

const SLICE = "slice?field=wz&time=0.55&axis=y&at=1&nodes=12,8&origin=0,0&extent=6,4";
const VOLUME = "volume?field=norm(u)&time=0.6&nodes=7,6,5";

describe.each([
  ["slice", SLICE, ["z", "x"], [8, 12]],
  ["volume", VOLUME, ["z", "y", "x"], [5, 6, 7]],
] as const)("a %s", (_, path, axes, shape) => {
  const octets = async () => new Float32Array(Uint8Array.from(await bytesOf(path, "application/octet-stream")).buffer);
  /** Places of the samples along the axes, by the headers of the float32 form. */
  const placesOf = async () => {
    const { headers } = await ask(path, "application/octet-stream");
    const [origin = [], spacing = []] = ["origin", "spacing"].map((name) =>
      (headers.get(`fieldprobe-${name}`) ?? "").split(",").map(Number),
    );
    return shape.map((count, a) =>
      Float64Array.from({ length: count }, (_, i) => (origin[a] as number) + i * (spacing[a] as number)),
    );
  };

  it("is a NumPy array, alone and with its places", async () => {
    const alone = numpyOf(await bytesOf(path, "application/x-npy"));
    expect(alone.shape).toEqual(shape);
    expect(new Float32Array(alone.bytes.buffer)).toEqual(await octets());
    const files = unzipSync(await bytesOf(path, "application/x-npz"));
    expect(new Float32Array(numpyOf(files["values.npy"] as Uint8Array).bytes.buffer)).toEqual(await octets());
    for (const [a, places] of (await placesOf()).entries())
      expect(new Float64Array(numpyOf(files[`${axes[a]}.npy`] as Uint8Array).bytes.buffer)).toEqual(places);
  });

  it("is NetCDF with its axes as dimension scales", async () => {
    const name = join(folder, `${axes.length}.nc`);
    writeFileSync(name, await bytesOf(path, "application/netcdf"));
    const file = new File(name, "r");
    const variable = axes.length === 2 ? "wz" : "quantity";
    const values = file.get(variable) as unknown as { shape: number[]; value: Float32Array; attrs: object };
    expect(values.shape).toEqual(shape);
    expect(values.value).toEqual(await octets());
    for (const [a, places] of (await placesOf()).entries()) {
      const scale = file.get(axes[a] as string) as unknown as { value: Float64Array; attrs: object };
      expect(scale.value).toEqual(places);
      expect(Object.keys(scale.attrs)).toEqual(expect.arrayContaining(["CLASS", "REFERENCE_LIST", "axis"]));
    }
    expect(Object.keys(file.attrs)).toEqual(expect.arrayContaining(["Conventions", "title"]));
    file.close();
  });

  it("says in its files what the headers say of its origin", async () => {
    const { headers } = await ask(path, "application/octet-stream");
    const told = ["version", "manifest", "options", "frames"].map((name) => [name, headers.get(`fieldprobe-${name}`)]);
    expect(told.filter(([, text]) => !text)).toEqual([]);
    const files = unzipSync(await bytesOf(path, "application/x-npz"));
    const text = (name: string) =>
      String.fromCodePoint(...new Uint32Array(numpyOf(files[name] as Uint8Array).bytes.buffer));
    expect(told.map(([name]) => [name, text(`${name}.npy`)])).toEqual(told);
    expect([text("operation.npy"), text("dataset.npy")]).toEqual([path.split("?")[0], "isotropic32"]);
    const name = join(folder, `origin-${axes.length}.nc`);
    writeFileSync(name, await bytesOf(path, "application/netcdf"));
    const file = new File(name, "r");
    expect(told.map(([member]) => [member, file.attrs[`fieldprobe_${member}`]?.value])).toEqual(told);
    file.close();
  });

  it("answers 304 for a form that the caller holds", async () => {
    const tag = (await ask(path, "application/netcdf")).headers.get("etag") as string;
    const again = await fetch(`${service.url}/api/datasets/isotropic32/${path}`, {
      headers: { accept: "application/netcdf", "if-none-match": tag },
    });
    expect(again.status).toBe(304);
    expect((await ask(path, "application/x-npy")).headers.get("etag")).not.toBe(tag);
  });
});
