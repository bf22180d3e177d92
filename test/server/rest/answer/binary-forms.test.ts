/** Answers as NumPy and Parquet files have the numbers of the octets, read by readers of their own. */

import { setTimeout as delay } from "node:timers/promises";
import { unzipSync } from "fflate";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import type { UnwrittenAnswer } from "../../../../src/server/rest/answer/unwritten-answer.js";
import { type ANSWER_TYPES, WRITERS } from "../../../../src/server/rest/answer/write-answer.js";

const COUNT = 70_000;
const COMPONENTS = ["x", "y", "z"];
const whole = Float32Array.from({ length: 3 * COUNT }, (_, i) => Math.sin(i) * 1e3);
const about = { version: "1", dataset: "isotropic32", options: { spatialInterpolation: "Lag8" } };

/** An answer whose values come in parts of unequal length. */
function answerOf(timeCount: number): UnwrittenAnswer {
  const values = [whole.subarray(0, 3 * 11), whole.subarray(3 * 11, 3 * 50_000), whole.subarray(3 * 50_000)];
  const result = { items: COUNT, itemsPerPoint: 1, components: 3, values, release: () => undefined };
  const times = Array.from({ length: timeCount }, (_, t) => t / 10);
  return { result, timeCount, times, components: COMPONENTS, about };
}

async function bytesOf(type: (typeof ANSWER_TYPES)[number], answer: UnwrittenAnswer): Promise<Buffer> {
  const passages: Buffer[] = [];
  for await (const passage of WRITERS[type].write(answer)) passages.push(Buffer.from(passage));
  return Buffer.concat(passages);
}

/** The type, shape and bytes of a NumPy file, by the definition of its format. */
function numpyOf(file: Buffer) {
  const length = file.readUInt16LE(8);
  const head = file.toString("latin1", 10, 10 + length);
  const [, type = "", shape = ""] = /'descr': '([^']+)', 'fortran_order': False, 'shape': \(([^)]*)\)/.exec(head) ?? [];
  return { type, shape: shape.split(",").filter(Boolean).map(Number), bytes: file.subarray(10 + length) };
}

const floatsOf = (bytes: Buffer) => new Float32Array(Uint8Array.from(bytes).buffer);
const textOf = (bytes: Buffer) =>
  String.fromCodePoint(...new Uint32Array(Uint8Array.from(bytes).buffer)).replaceAll("\0", "");

describe.each([1, 7])("answers of %i times", (timeCount) => {
  const answer = answerOf(timeCount);
  const shape = timeCount === 1 ? [COUNT, 3] : [timeCount, COUNT / timeCount, 3];

  it("are NumPy arrays", async () => {
    const { type, shape: told, bytes } = numpyOf(await bytesOf("application/x-npy", answer));
    expect([type, told]).toEqual(["<f4", shape]);
    expect(floatsOf(bytes)).toEqual(whole);
  });

  it("are NumPy archives with times, components and options, of the same bytes each time", async () => {
    const file = await bytesOf("application/x-npz", answer);
    expect(file.equals(await bytesOf("application/x-npz", answer))).toBe(true);
    const arrays = Object.entries(unzipSync(file)).map(([name, one]) => [name, numpyOf(Buffer.from(one))] as const);
    const found = new Map(arrays);
    expect([...found.keys()].map((name) => name.replace(".npy", ""))).toEqual([
      ...["values", "times", "components", "version", "dataset", "options"],
    ]);
    expect(floatsOf(found.get("values.npy")?.bytes as Buffer)).toEqual(whole);
    expect(found.get("values.npy")?.shape).toEqual(shape);
    expect(new Float64Array(Uint8Array.from(found.get("times.npy")?.bytes as Buffer).buffer)).toEqual(
      Float64Array.from(answer.times),
    );
    expect(found.get("components.npy")).toMatchObject({ type: "<U1", shape: [3] });
    expect(JSON.parse(textOf(found.get("options.npy")?.bytes as Buffer))).toEqual(about.options);
  });

  it("are Parquet files", async () => {
    const bytes = await bytesOf("application/vnd.apache.parquet", answer);
    const file = Uint8Array.from(bytes).buffer;
    const rows = await parquetReadObjects({ file });
    expect(rows).toHaveLength(COUNT);
    expect(Float32Array.from(rows, (row) => row.y as number)).toEqual(whole.filter((_, i) => i % 3 === 1));
    if (timeCount > 1) expect(rows.at(-1)?.time).toBe(0.6);
    const { key_value_metadata: told } = parquetMetadata(file);
    expect(told).toContainEqual({ key: "dataset", value: "isotropic32" });
  });
});

it("are files of no records too", async () => {
  const result = { items: 0, itemsPerPoint: 1, components: 3, values: [], release: () => undefined };
  const none = { result, timeCount: 1, times: [0], components: COMPONENTS, about };
  expect(numpyOf(await bytesOf("application/x-npy", none)).shape).toEqual([0, 3]);
  const parquet = await bytesOf("application/vnd.apache.parquet", none);
  expect(await parquetReadObjects({ file: Uint8Array.from(parquet).buffer })).toEqual([]);
});

it("columns are written as they are read, and no more once the reader has left", async () => {
  const part = whole.subarray(0, 3 * 32_768);
  const asked = new Set<number>();
  const values = Array.from({ length: 20 }, () => part);
  const ask = (index: number): Float32Array => {
    asked.add(index);
    return part;
  };
  for (const index of values.keys()) Object.defineProperty(values, index, { get: () => ask(index) });
  const result = { items: 20 * 32_768, itemsPerPoint: 1, components: 3, values, release: () => undefined };
  let passages = 0;
  for await (const _ of WRITERS["application/vnd.apache.parquet"].write({
    result,
    timeCount: 1,
    times: [0],
    components: COMPONENTS,
    about,
  })) {
    await delay(5);
    if (++passages === 3) break;
  }
  await delay(5);
  expect(asked.size).toBeLessThanOrEqual(3);
});
