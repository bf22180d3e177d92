/** `SmallTexts` against the references: the same bits, bytes, places and reasons, however much text there is. */
import { describe, expect, it } from "vitest";
import { RecordWriter, recordBytes } from "../../src/float32/record-writer.js";
import { TripleScanner } from "../../src/float32/triples.js";
import { SmallTexts } from "../../src/text/small-texts.js";

const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, "latin1"));
const TAGS = bytesOf(["<Point3>", "<x>", "</x>", "<y>", "</y>", "<z>", "</z>", "</Point3>"]);
const OTHER_TAGS = bytesOf(["<p:Point3>", "<x>", "</x>", "<y>", "</y>", "<z>", "</z>", "</p:Point3>"]);
const SEPARATORS = bytesOf(["<Vector3><x>", "</x><y>", "</y><z>", "</z></Vector3>"]);

let state = 1123;
/** Uniform in [0, 1), the same in every run. */
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

function textOf(tags: readonly Buffer[], count: number): string {
  const [open, ...rest] = tags.map(String) as [string, ...string[]];
  const number = (): string =>
    [random().toFixed(7), (200 * random() - 100).toPrecision(6), "INF", "1e-40"][Math.floor(2.05 * random())] as string;
  return Array.from(
    { length: count },
    () =>
      `${open}${rest[0]}${number()}${rest[1]}${rest[2]}${number()}${rest[3]}${rest[4]}${number()}${rest[5]}${rest[6]}`,
  ).join("");
}

describe("the text of small requests", () => {
  const texts = new SmallTexts();

  it.each([1, 7, 8, 9, 60, 700])("reads %i items as the reference does, whatever ends them", (count) => {
    for (const tags of [TAGS, OTHER_TAGS]) {
      for (const end of ["", "</points>", "<Point3><x>1", "<Vector3>", "x"]) {
        for (const room of [count - 1, count, count + 3]) {
          const bytes = Buffer.from(`head${textOf(tags, count)}${end}`, "latin1");
          const [reference, ours] = [new Float32Array(3 * (room + 2)), new Float32Array(3 * (room + 2))];
          const scanner = new TripleScanner(tags);
          const why = scanner.scan(bytes, 4, bytes.length, reference, 2, room);
          const expected = { why, position: scanner.position, count: scanner.count, numbers: reference };
          const found = texts.scan(new TripleScanner(tags), bytes, 4, bytes.length, ours, 2, room);
          expect({ why: found, position: texts.position, count: texts.count, numbers: ours }).toEqual(expected);
        }
      }
    }
  });

  it.each([1, 5, 6, 50, 900])("writes %i records as the reference does", (count) => {
    const values = Float32Array.from({ length: 3 * count + 3 }, (_, i) =>
      i % 41 === 40 ? ([Number.NaN, 1e-42, -Infinity, 2 ** 20][i % 4] as number) : 20 * random() - 10,
    );
    const reference = Buffer.alloc(8 + recordBytes(SEPARATORS) * count);
    const ours = Buffer.alloc(reference.length);
    const end = new RecordWriter().write(values, 3, values.length, SEPARATORS, reference, 5);
    expect(texts.write(values, 3, values.length, SEPARATORS, ours, 5)).toBe(end);
    expect(ours.toString("latin1", 0, end)).toBe(reference.toString("latin1", 0, end));
  });
});
