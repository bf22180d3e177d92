/** Large answers that threads write have the bytes of one thread. */
import { expect, it } from "vitest";
import { largeRows, nested, streamedRows } from "../../../src/server/jhtdb/write-rows.js";
import { textsHere } from "../../support/texts-here.js";

async function* none(): AsyncGenerator<Float32Array> {}

/** Parts of unequal length, and numbers that are not finite at both ends. */
const values = [30_000, 3, 0, 60_006].map((length, part) =>
  Float32Array.from(
    { length },
    (_, i) => (i === 1 || i === length - 1 ? [Number.NaN, -1 / 0][part % 2] : Math.sin(i)) as number,
  ),
);
const result = { items: 30_003, itemsPerPoint: 1, components: 3, values, release: () => undefined };
const SHAPE = [30_003, 3];
const join = async (blocks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> => {
  let text = "";
  for await (const block of blocks) text += block.toString("latin1");
  return text;
};

it("have the bytes of one thread, whole and where parts come one by one", async () => {
  const expected = await join(nested(result, SHAPE));
  const large = largeRows({ ...result, texts: textsHere() }, SHAPE, () => undefined);
  expect((await join(large as AsyncIterable<Buffer>)) === expected).toBe(true);
  const parts = async function* (): AsyncGenerator<Float32Array> {
    yield* values;
  };
  for (const texts of [undefined, textsHere(), textsHere(() => true)])
    expect((await join(streamedRows(parts(), SHAPE, texts, () => undefined))) === expected).toBe(true);
  expect(await join(streamedRows(none(), [0, 3], undefined, () => undefined))).toBe("[]");
});

it("are left to one thread where they have more dimensions, no threads or few numbers", () => {
  const few = { ...result, items: 1, values: [Float32Array.of(1, 2, 3)], texts: textsHere() };
  expect(largeRows(few, [1, 3], () => undefined)).toBeNull();
  expect(largeRows(result, SHAPE, () => undefined)).toBeNull();
  expect(largeRows({ ...result, texts: textsHere() }, [3, 10_001, 3], () => undefined)).toBeNull();
});
