/**
 * The text module against its reference in TypeScript: the same bits, bytes and ends, on random and adversarial texts
 * and numbers.
 */
import { describe, expect, it } from "vitest";
import { RecordWriter, recordBytes } from "../../src/float32/record-writer.js";
import { type ItemRules, TripleScanner } from "../../src/float32/triples.js";
import { STRTOF_ROWS } from "../float32/strtof.js";
import { textModule } from "../support/text-module.js";

const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, "latin1"));
const PLAIN = bytesOf(["<Point3>", "<x>", "</x>", "<y>", "</y>", "<z>", "</z>", "</Point3>"]);
const LONG = bytesOf(
  [
    "<some:Point3>",
    "<some:x xmlns:some='urn:x'>",
    "</some:x>",
    "<some:y xmlns:some='urn:yyyyyyyyyyyyyyyyyyyyy'>",
  ].concat(["</some:y>", "<z>", "</z>", "</some:Point3>"]),
);
const module = textModule();

let state = 20_261_122;
/** Uniform in [0, 1), the same in every run. */
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** An item of three numbers, with white space in some places. */
function item(tags: readonly Buffer[], numbers: readonly string[], space = ""): string {
  const [open, ...members] = tags.map(String);
  const inner = numbers.map((number, i) => `${members[2 * i]}${space}${number}${space}${members[2 * i + 1]}`);
  return `${open}${space}${inner.join(space)}${space}${members[6]}${space}`;
}

/** Reads a text by the module and by the reference. */
function bothWays(text: string, tags: readonly Buffer[], room: number, rules: ItemRules) {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text, "latin1");
  const out = new Float32Array(3 * room);
  const expected = new Float32Array(3 * room);
  const scanner = new TripleScanner(tags, rules);
  scanner.scan(bytes, 0, bytes.length, expected, 0, room);
  const found = module.read(bytes, tags, out, rules);
  return {
    found: { ...found, bits: new Uint32Array(out.buffer, 0, 3 * found.count) },
    expected: {
      count: scanner.count,
      bytes: scanner.position,
      bits: new Uint32Array(expected.buffer, 0, 3 * scanner.count),
    },
  };
}

function expectSameRead(
  text: string,
  tags: readonly Buffer[] = PLAIN,
  room = 20_000,
  rules: ItemRules = "xml",
): number {
  const { found, expected } = bothWays(text, tags, room, rules);
  expect(found.count).toBe(expected.count);
  expect(found.bytes).toBe(expected.bytes);
  expect(Buffer.compare(Buffer.from(found.bits), Buffer.from(expected.bits))).toBe(0);
  return found.count;
}

/** A decimal in one of the ways that programs write them. */
function decimal(): string {
  const value = (random() - 0.5) * 10 ** Math.floor(random() * 12 - 6);
  switch (Math.floor(random() * 8)) {
    case 0:
      return value.toFixed(7);
    case 1:
      return String(value);
    case 2:
      return value.toExponential(8);
    case 3:
      return String(Math.fround(value));
    case 4:
      return value.toPrecision(17);
    case 5:
      return `+${Math.abs(value).toFixed(20)}`;
    case 6:
      return String(Math.floor(value * 1e6));
    default:
      return `${"0".repeat(Math.floor(random() * 12))}${Math.abs(value).toFixed(Math.floor(random() * 18))}`;
  }
}

/** A float32 of any bits. */
function anyFloat(): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, Math.floor(random() * 2 ** 32));
  return view.getFloat32(0);
}

describe("reading items by the module", () => {
  it("gives the bits of the reference for decimals in many forms, across windows of the text", () => {
    for (const [tags, space] of [
      [PLAIN, ""],
      [PLAIN, "\r\n \t"],
      [LONG, " "],
    ] as const) {
      const items = Array.from({ length: 6000 }, () => item(tags, [decimal(), decimal(), decimal()], space));
      expect(expectSameRead(items.join(""), tags)).toBe(6000);
    }
  });

  it("gives the bits of the reference for every row of the table made by a C library", () => {
    for (const [text] of STRTOF_ROWS) expectSameRead(item(PLAIN, ["1", text, "-0"]), PLAIN, 4);
  });

  it("stops where the reference stops: at room, at each cut, and at what has another form", () => {
    const whole = item(PLAIN, ["1.5", "-0.000001", "123456789.125e-3"], " ").repeat(2);
    expect(expectSameRead(whole.repeat(40), PLAIN, 7)).toBe(7);
    for (let end = 0; end <= whole.length; end++) {
      expectSameRead(whole.slice(0, end));
      for (const odd of ["x", "<", "1", ">"]) expectSameRead(`${whole.slice(0, end)}${odd}${whole.slice(end + 1)}`);
    }
  });

  it.each([
    ["no number", ""],
    ["words", "INF"],
    ["a word that is none", "infinity"],
    ["a point alone", "."],
    ["a sign alone", "-"],
    ["an exponent without digits", "1e"],
    ["a large exponent", "1e99999"],
    ["a hexadecimal number", "0x1p3"],
    ["a number of 64 bytes", `0.${"1".repeat(62)}`],
    ["a number of 65 bytes", `0.${"1".repeat(63)}`],
    ["much white space", `${" ".repeat(63)}1`],
    ["too much white space", `${" ".repeat(64)}1`],
    ["a midpoint of float32", "1.000000059604644775390625"],
    ["a little more than it", "1.0000000596046447753906250000001"],
    ["a number below the normal ones", "1e-44"],
    ["more than the largest", "3.4028236e38"],
  ])("leaves %s to the reference", (_name, number) => {
    expectSameRead(item(PLAIN, ["1", "2", "3"]) + item(PLAIN, ["4", number, "5"]) + item(PLAIN, ["6", "7", "8"]));
  });

  it.each([
    ["json", bytesOf(["[", "", ",", "", ",", "", "]", ","])],
    ["lines", bytesOf(["", "", "\t", "", "\t", "", "\n", ""])],
  ] as const)("gives the bits of the reference for %s, and stops where it stops", (rules, tags) => {
    const strange = [
      "01",
      "-",
      "+1",
      ".5",
      "1.",
      "-0",
      "-01",
      "1e5",
      "1.e5",
      "0.0",
      "00.5",
      "INF",
      "NaN",
      "1e39",
      "1e-41",
      "1e",
      "1,",
      " 1",
    ];
    for (const number of strange.concat([
      "1.000000059604644775390625",
      "-1e+2",
      "1 2",
      "1]",
      "\t1",
      "0",
      "9".repeat(64),
    ])) {
      const text = item(tags, ["0.25", "-1.5e-3", "7"]).concat(
        item(tags, ["1", number, "2"]),
        item(tags, ["1", "2", number]),
      );
      expectSameRead(text.concat(item(tags, ["3", "4", "5"])), tags, 9, rules);
      for (let end = 0; end < text.length; end++) expectSameRead(text.slice(0, end), tags, 9, rules);
    }
    const items = Array.from({ length: 4000 }, () =>
      item(tags, [decimal(), decimal(), decimal()], rules === "json" ? " " : ""),
    );
    for (let from = 0, left = 40; left > 0; left--)
      from += 1 + expectSameRead(items.slice(from).join(""), tags, 4000, rules);
  });

  it("reads items that are longer than its window, and tags that it has no room for", () => {
    expect(
      expectSameRead(
        item(PLAIN, ["1", "2", "3"], "") + item(PLAIN, ["1", "2", "3"]).replace("><", `>${" ".repeat(200_000)}<`),
      ),
    ).toBe(2);
    const wide = [...PLAIN.slice(0, 7), Buffer.from(`</Point3${" ".repeat(9000)}>`)];
    expect(expectSameRead(item(wide, ["1", "2", "3"]).repeat(30), wide)).toBe(30);
  });
});

describe("writing records by the module", () => {
  /** Writes numbers by the module and by the reference. */
  function expectSameText(values: Float32Array, separators: readonly Buffer[], notFinite: Buffer | null): void {
    const numbers = separators.length - 1;
    const room = (values.length / numbers) * recordBytes(separators);
    const expected = Buffer.alloc(room);
    const length = new RecordWriter().write(values, 0, values.length, separators, expected, 0, notFinite);
    const out = Buffer.alloc(room);
    const cut = numbers * Math.floor(values.length / numbers / 3);
    const parts = [values.subarray(0, cut), values.subarray(cut, cut), values.subarray(cut)];
    expect(module.write(parts, separators, out, notFinite)).toBe(length);
    expect(Buffer.compare(out.subarray(0, length), expected.subarray(0, length))).toBe(0);
  }

  const VECTOR = bytesOf(["<Vector3><x>", "</x><y>", "</y><z>", "</z></Vector3>"]);
  const ROW = bytesOf(["[", ",", "],"]);
  const WIDE = bytesOf([
    "<velocityHessian><a>",
    ...Array<string>(17).fill("</member><another>"),
    "</b></velocityHessian>",
  ]);

  it.each([
    ["vectors", VECTOR, 12_000, null],
    ["rows", ROW, 12_000, "null"],
    ["many components", WIDE, 9000, null],
    ["numbers alone", bytesOf(["<float>", "</float>"]), 9000, null],
    ["separators that it has no room for", bytesOf(["<", "-".repeat(9000), ">"]), 400, null],
  ])("gives the bytes of the reference for any bits: %s", (_name, separators, count, notFinite) => {
    const values = Float32Array.from({ length: count - (count % (separators.length - 1)) }, anyFloat);
    expectSameText(values, separators, notFinite === null ? null : Buffer.from(notFinite));
  });

  it("gives them for numbers of all magnitudes and few digits, and for powers of two and ten with their neighbours", () => {
    const values: number[] = [];
    for (let i = 0; i < 20_000; i++) values.push((random() - 0.5) * 10 ** Math.floor(random() * 40 - 18));
    for (let i = 0; i < 10_000; i++)
      values.push(Math.floor(random() * 10 ** Math.floor(random() * 9)) / 10 ** Math.floor(random() * 9));
    const bits = new DataView(new ArrayBuffer(4));
    const around = (value: number): void => {
      bits.setFloat32(0, value);
      const middle = bits.getUint32(0);
      for (let step = -3; step <= 3; step++) {
        bits.setUint32(0, Math.max(0, middle + step));
        values.push(bits.getFloat32(0), -bits.getFloat32(0));
      }
    };
    for (let k = -126; k < 128; k++) around(2 ** k);
    for (let k = -40; k < 38; k++) around(10 ** k);
    for (let k = 1; k < 10; k++) for (let power = -9; power < 9; power++) around(k * 10 ** power);
    while (values.length % 6 !== 0) values.push(0);
    const numbers = Float32Array.from(values);
    expectSameText(numbers, VECTOR, null);
    expectSameText(numbers, ROW, Buffer.from("null"));
  });
});
