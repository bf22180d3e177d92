/** Large answers that threads write have the bytes of one thread. */
import { expect, it } from "vitest";
import { arrayRows, nestedArrays } from "../../../src/server/jhtdb/write-rows.js";
import { textsHere } from "../../support/texts-here.js";

async function* none(): AsyncGenerator<Float32Array> {}

/** Parts of unequal length, and numbers that are not finite at both ends. */
const values = [30_000, 3, 0, 60_006].map((length, part) =>
  Float32Array.from(
    { length },
    (_, i) => (i === 1 || i === length - 1 ? [Number.NaN, -1 / 0][part % 2] : Math.sin(i)) as number,
  ),
);
const SHAPE = [30_003, 3];
const join = async (blocks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> => {
  let text = "";
  for await (const block of blocks) text += block.toString("latin1");
  return text;
};

async function* partsOf(some: readonly Float32Array[]): AsyncGenerator<Float32Array> {
  yield* some;
}
const written = (number: number) => (Number.isFinite(number) ? String(number) : "null");

it("have the bytes of one thread, and those of nested arrays", async () => {
  const expected = await join(nestedArrays(partsOf(values), SHAPE));
  for (const texts of [undefined, textsHere(), textsHere(() => true)])
    expect((await join(arrayRows(partsOf(values), SHAPE, texts, () => undefined))) === expected).toBe(true);
  expect(await join(arrayRows(none(), [0, 3], undefined, () => undefined))).toBe("[]");
});

it("are nested arrays of the numbers in their order", async () => {
  const few = [Float32Array.of(1, 2, Number.NaN), Float32Array.of(4, 5, 6, 7, 8, 9, 10, 11, 12)];
  const all = few.flatMap((part) => [...part]).map(written);
  const text = await join(nestedArrays(partsOf(few), [2, 3, 2]));
  const rows = Array.from({ length: 6 }, (_, i) => `[${all.slice(2 * i, 2 * i + 2)}]`);
  expect(text).toBe(`[[${rows.slice(0, 3)}],[${rows.slice(3)}]]`);
});
