/** Movies as files: boxes that fill each other, and tables that lead to every picture. */
import { describe, expect, it } from "vitest";
import { mp4Of } from "../export/movie.js";

const chunks = [5, 1, 9].map((length, i) => new Uint8Array(length).fill(65 + i));
const NESTED = ["moov", "trak", "mdia", "minf", "stbl", "dinf"];

/** Starts of the contents of all boxes by their names, each box as long as it says. */
function boxesIn(file: Buffer, from: number, to: number, found = new Map<string, number>()): Map<string, number> {
  let at = from;
  for (let size = 0; at < to; at += size) {
    size = file.readUInt32BE(at);
    const name = file.toString("latin1", at + 4, at + 8);
    found.set(name, at + 8);
    if (NESTED.includes(name)) boxesIn(file, at + 8, at + size, found);
  }
  expect(at).toBe(to);
  return found;
}

describe.each([
  ["avc1", "avcC", Uint8Array.of(1, 100, 12, 40)],
  ["vp09", "vpcC", null],
])("a movie of %s", (kind, record, avc) => {
  const file = Buffer.from(mp4Of(chunks, [1, 3], 8, [1920, 1080], avc));
  const boxes = boxesIn(file, 0, file.length);
  const wordsOf = (name: string, n: number) =>
    Array.from({ length: n }, (_, i) => file.readUInt32BE((boxes.get(name) as number) + 4 * i));

  it("leads to each picture", () => {
    const [, count] = wordsOf("stsz", 6).slice(1) as [number, number];
    const sizes = wordsOf("stsz", 6).slice(3);
    let at = wordsOf("stco", 3)[2] as number;
    expect(count).toBe(3);
    for (const [i, size] of sizes.entries()) {
      expect([...file.subarray(at, at + size)]).toEqual([...(chunks[i] as Uint8Array)]);
      at += size;
    }
    expect(wordsOf("stss", 4)).toEqual([0, 2, 1, 3]);
    expect(wordsOf("stsc", 5)).toEqual([0, 1, 1, 3, 1]);
  });

  it("states its size, its length and how it is decoded", () => {
    const [, , , scale, length] = wordsOf("mdhd", 5) as [number, number, number, number, number];
    const [, , count, each] = wordsOf("stts", 4) as [number, number, number, number];
    expect([length / scale, (count * each) / scale]).toEqual([3 / 8, 3 / 8]);
    expect(wordsOf("tkhd", 21).slice(-2)).toEqual([1920 << 16, 1080 << 16]);
    // One entry, of 78 bytes before the record of the decoder.
    const entry = (boxes.get("stsd") as number) + 8;
    expect(file.toString("latin1", entry + 4, entry + 8)).toBe(kind);
    expect(file.readUInt16BE(entry + 8 + 24)).toBe(1920);
    expect(file.toString("latin1", entry + 90, entry + 94)).toBe(record);
    if (avc !== null) expect([...file.subarray(entry + 94, entry + 98)]).toEqual([...avc]);
  });
});
