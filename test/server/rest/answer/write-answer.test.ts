/** The forms of an answer. */
import { describe, expect, it } from "vitest";
import type { UnwrittenAnswer } from "../../../../src/server/rest/answer/unwritten-answer.js";
import {
  ANSWER_TYPES,
  largeAnswer,
  nested,
  streamedRows,
  WRITERS,
} from "../../../../src/server/rest/answer/write-answer.js";
import { textsHere } from "../../../support/texts-here.js";

it("writes each time of a long list once, whatever the length", () => {
  const count = 500;
  let looks = 0;
  const times = new Proxy(
    Array.from({ length: count }, (_, i) => i / 10),
    {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  const values = [Float32Array.from({ length: count }, (_, i) => i)];
  const result = { items: count, itemsPerPoint: 1, components: 1, values, release: () => undefined };
  const answer = { result, timeCount: count, times, components: ["p"], about: {} };
  const rows = Buffer.concat([...WRITERS["text/csv"].write(answer)])
    .toString()
    .trimEnd()
    .split("\r\n");
  expect(rows.slice(0, 3)).toEqual(["time,p", "0,0", "0.1,1"]);
  expect(rows.at(-1)).toBe("49.9,499");
  expect(looks).toBeLessThanOrEqual(3 * count);
});

async function* none(): AsyncGenerator<Float32Array> {}

describe("large answers that threads write", () => {
  /** Parts of unequal length, and numbers that are not finite at both ends. */
  const values = [30_000, 3, 0, 60_006].map((length, part) =>
    Float32Array.from(
      { length },
      (_, i) => (i === 1 || i === length - 1 ? [Number.NaN, -1 / 0][part % 2] : Math.sin(i)) as number,
    ),
  );
  const given: UnwrittenAnswer = {
    result: { items: 30_003, itemsPerPoint: 1, components: 3, values, release: () => undefined },
    timeCount: 1,
    times: [0.5],
    components: ["x", "y", "z"],
    about: { version: "1" },
  };
  const threaded = (answer: UnwrittenAnswer): UnwrittenAnswer => ({
    ...answer,
    result: { ...answer.result, texts: textsHere() },
  });
  const join = async (blocks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> => {
    let text = "";
    for await (const block of blocks) text += block.toString("latin1");
    return text;
  };

  it.each(["application/json", "text/csv"] as const)("have the bytes of one thread: %s", async (type) => {
    const large = largeAnswer(type, threaded(given), () => undefined);
    expect((await join(large as AsyncIterable<Buffer>)) === (await join(WRITERS[type].write(given)))).toBe(true);
  });

  it("have the bytes of one thread where parts come one by one", async () => {
    const { items, components } = given.result;
    const shape = [items, components];
    const parts = async function* (): AsyncGenerator<Float32Array> {
      yield* values;
    };
    const expected = await join(nested(given.result, shape));
    for (const texts of [undefined, textsHere(), textsHere(() => true)]) {
      expect((await join(streamedRows(parts(), shape, texts, () => undefined))) === expected).toBe(true);
    }
    expect(await join(streamedRows(none(), [0, 3], undefined, () => undefined))).toBe("[]");
  });

  it("are left to one thread where they have times, more dimensions, no threads or few numbers", () => {
    const few = { ...given, result: { ...given.result, items: 1, values: [Float32Array.of(1, 2, 3)] } };
    const times = { ...given, timeCount: 3, times: [1, 2, 3] };
    for (const type of ANSWER_TYPES)
      for (const answer of [threaded(few), threaded(times), given])
        expect(largeAnswer(type, answer, () => undefined)).toBeNull();
  });
});
