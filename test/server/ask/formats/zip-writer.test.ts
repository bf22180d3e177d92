/** ZIP archives beyond 4 GiB and 65 535 entries are what other programs read. */
import { unzipSync, Zip, ZipPassThrough } from "fflate";
import { expect, it } from "vitest";
import { ZipWriter } from "../../../../src/server/ask/formats/zip-writer.js";

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

it("has entries whose bytes come in chunks, as another writer has them", async () => {
  const zip = new ZipWriter();
  const chunks = ["one ", "two ", "é"].map((text) => Buffer.from(text));
  const parts: Buffer[] = [];
  for await (const part of zip.stream("a.npy", chunks)) parts.push(part);
  for await (const part of zip.stream("é.npy", [])) parts.push(part);
  const archive = Buffer.concat([...parts, ...zip.end()]);
  const files = unzipSync(archive);
  expect(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString()])).toEqual([
    ["a.npy", "one two é"],
    ["é.npy", ""],
  ]);
  expect(archive.equals(await streamed({ "a.npy": chunks, "é.npy": [] }))).toBe(true);
});

async function streamed(entries: Readonly<Record<string, readonly Buffer[]>>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const zip = new Zip((_error, bytes) => parts.push(bytes));
  for (const [name, chunks] of Object.entries(entries)) {
    const file = new ZipPassThrough(name);
    file.mtime = new Date(1980, 0, 1);
    zip.add(file);
    for (const chunk of chunks) file.push(chunk);
    file.push(new Uint8Array(0), true);
  }
  zip.end();
  return Buffer.concat(parts);
}
