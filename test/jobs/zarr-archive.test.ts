/** A result as a Zarr store in an archive is what other programs read: `fflate` the archive, `zarrita` the store. */
import { unzipSync } from "fflate";
import { expect, it } from "vitest";
import { type DataType, get, open, root } from "zarrita";
import { zarrArchive } from "../../src/jobs/zarr-archive.js";
import { ZipWriter } from "../../src/jobs/zip-writer.js";

/** The array of a path in an archive, with its attributes. */
async function arrayIn(archive: Uint8Array, path: string) {
  const files = unzipSync(archive);
  const store = new Map(Object.entries(files).map(([name, bytes]) => [`/${name}` as const, bytes]));
  const array = await open(root(store).resolve(path), { kind: "array" });
  const { data, shape } = await get(array as typeof array & { dtype: DataType });
  return { data, shape, chunks: array.chunks, attributes: array.attrs, dimensions: array.dimensionNames, files };
}

/** A result whose numbers come in parts of an odd length. */
async function archiveOf(numbers: Float32Array, shape: readonly number[], times: readonly number[] | null) {
  const bytes = Buffer.from(numbers.buffer);
  const octets = (async function* () {
    for (let at = 0; at < bytes.length; at += 100_001) yield bytes.subarray(at, at + 100_001);
  })();
  const parts: Buffer[] = [];
  const about = { version: "1", units: '{"velocity":"m/s"}' };
  for await (const part of zarrArchive({ shape, times, columns: ["x", "y", "z"], about, octets })) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

it("has the numbers of several times in chunks along the points, with names, times and units", async () => {
  const numbers = Float32Array.from({ length: 2 * 100_000 * 3 }, (_, i) => i / 7);
  const archive = await archiveOf(numbers, [2, 100_000, 3], [0.4, 0.41]);
  const { data, shape, chunks, attributes, dimensions, files } = await arrayIn(archive, "values");
  expect([shape, chunks, dimensions]).toEqual([
    [2, 100_000, 3],
    [1, 87_381, 3],
    ["time", "point", "component"],
  ]);
  expect(Buffer.from(numbers.buffer).equals(Buffer.from((data as Float32Array).buffer))).toBe(true);
  expect(attributes).toEqual({ components: ["x", "y", "z"] });
  expect([...((await arrayIn(archive, "time")).data as Float64Array)]).toEqual([0.4, 0.41]);
  const { attributes: said } = JSON.parse(Buffer.from(files["zarr.json"] as Uint8Array).toString());
  expect(said).toEqual({ fieldprobe_version: "1", fieldprobe_units: '{"velocity":"m/s"}' });
});

it("has the numbers of records of a point, and of a single point", async () => {
  const numbers = Float32Array.from({ length: 12 }, (_, i) => i);
  const records = await arrayIn(await archiveOf(numbers, [2, 2, 3], null), "values");
  expect([records.shape, records.dimensions, [...(records.data as Float32Array)]]).toEqual([
    [2, 2, 3],
    ["point", "record", "component"],
    [...numbers],
  ]);
  const single = await arrayIn(await archiveOf(numbers.slice(0, 3), [1, 3], null), "values");
  expect([single.shape, [...(single.data as Float32Array)]]).toEqual([
    [1, 3],
    [0, 1, 2],
  ]);
});

it("has a directory of ZIP64 for many entries", () => {
  const zip = new ZipWriter();
  const names = Array.from({ length: 65_600 }, (_, i) => `c/${i}`);
  const parts = names.flatMap((name) => zip.add(name, Buffer.from(name)));
  const files = unzipSync(Buffer.concat([...parts, ...zip.end()]));
  expect(Object.keys(files).length).toBe(names.length);
  expect(Buffer.from(files["c/65599"] as Uint8Array).toString()).toBe("c/65599");
});

it("has places beyond 4 GiB in its directory", () => {
  const zip = new ZipWriter();
  // Its bytes are not needed for the directory, only how many there are.
  const long = Object.defineProperty(Buffer.alloc(1), "length", { value: 2 ** 32 - 100 });
  for (const name of ["long", "next", "last"]) zip.add(name, name === "long" ? long : Buffer.alloc(100));
  const directory = Buffer.concat([...zip.end()]);
  const places = [0, 2 ** 32 - 100 + 34, 2 ** 32 + 2 * 34];
  const [second, third] = [directory.indexOf("next"), directory.indexOf("last")] as [number, number];
  const [, ...far] = places.map((place) => BigInt(place));
  expect(directory.readUInt32LE(second - 4)).toBe(places[1]);
  expect([directory.readUInt32LE(third - 4), directory.readBigUInt64LE(third + 8)]).toEqual([2 ** 32 - 1, far[1]]);
  const [whole, locator] = [directory.indexOf("PK\x06\x06"), directory.indexOf("PK\x06\x07")];
  const start = BigInt(2 ** 32 + 100 + 3 * 34);
  expect([directory.readBigUInt64LE(whole + 32), directory.readBigUInt64LE(whole + 48)]).toEqual([3n, start]);
  expect(directory.readBigUInt64LE(locator + 8)).toBe(start + BigInt(whole));
});
