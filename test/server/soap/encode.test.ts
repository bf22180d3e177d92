/** Responses in chunks: whole records, head and tail, wherever a chunk ends. */
import { expect, it } from "vitest";
import type { Result } from "../../../src/engine/contract/query.js";
import { ResponseEncoder } from "../../../src/server/soap/encode.js";
import { operationOf } from "../../../src/shared/operations.js";

const CHUNK_BYTES = 64 * 1024;
const encoder = new ResponseEncoder("http://turbulence.pha.jhu.edu/");

it.each(["GetPressure", "GetVelocity"] as const)("of %s end with their tail, whatever is left of a chunk", (name) => {
  const row = operationOf(name);
  const components = name === "GetPressure" ? 1 : 3;
  const resultOf = (items: number): Result => {
    const values = Float32Array.from({ length: items * components }, (_, i) => -Math.fround(1.2345678e-30 * (i + 1)));
    return { items, itemsPerPoint: 1, components, values: [values], release: () => undefined };
  };
  let fitting = 1;
  for (const step of [100, 10, 1])
    while ([...encoder.encode(row, "1.1", resultOf(fitting + step))].length === 1) fitting += step;
  for (let items = fitting - 3; items < 2.2 * fitting; items += items < fitting + 20 ? 1 : 29) {
    const result = resultOf(items);
    const chunks = [...encoder.encode(row, "1.1", result)].map((chunk) => Buffer.from(chunk).toString());
    const text = chunks.join("");
    expect(text.endsWith(`</${name}Result></${name}Response></soap:Body></soap:Envelope>`)).toBe(true);
    const numbers = [...text.matchAll(/>(-\d[^<]*)</g)].map(([, number]) => Math.fround(Number(number)));
    expect(numbers).toEqual([...(result.values[0] as Float32Array)]);
    for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(CHUNK_BYTES);
  }
});
