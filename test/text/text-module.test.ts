/**
 * The text module against a regular expression, `parseFloat32`, a C library's table and `shortestFloat32`: the same
 * bits, bytes and ends, on random and adversarial texts and numbers.
 */
import { describe, expect, it } from "vitest";
import { shortestFloat32 } from "../../src/float32/format.js";
import { parseFloat32 } from "../../src/float32/parse.js";
import { FULL, LONGEST_NUMBER, ODD, SHORT } from "../../src/text/text-layout.js";
import { recordBytes, textModule } from "../../src/text/text-module.js";
import type { ItemForm } from "../../src/text/text-task.js";
import { bitsOf, STRTOF_ROWS } from "../float32/strtof.js";

const XML = (tags: string): ItemForm => ({ tags: tags.split(" "), rules: "xml" });
const PLAIN = XML("<Point3> <x> </x> <y> </y> <z> </z> </Point3>");
const LONG: ItemForm = {
  tags: [
    "<some:Point3>",
    "<some:x xmlns:some='urn:x'>",
    "</some:x>",
    "<some:y xmlns:some='urn:yyyyyyyyyyyyyyyyyyyyy'>",
    "</some:y>",
    "<z>",
    "</z>",
    "</some:Point3>",
  ],
  rules: "xml",
};
const LINES: ItemForm = { tags: ["", "", "\t", "", "\t", "", "\n", ""], rules: "lines" };

let state = 20_261_122;
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** An item of three numbers, with white space in some places. */
function item({ tags }: ItemForm, numbers: readonly string[], space = ""): string {
  const inner = numbers.map((number, i) => `${tags[1 + 2 * i]}${space}${number}${space}${tags[2 + 2 * i]}`);
  return `${tags[0]}${space}${inner.join(space)}${space}${tags[7]}`;
}

/** Reads items by a regular expression and `parseFloat32`, up to the first that has another form. */
function byExpression(text: string, { tags, rules }: ItemForm, room: number): { numbers: number[]; bytes: number } {
  const space = rules === "xml" ? "[ \\t\\r\\n]*" : "";
  const literal = (tag: string) => space + tag.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const number = `(${space}[^<\\s]+${space})`;
  const form = new RegExp(tags.map((tag, i) => literal(tag) + (i % 2 === 1 && i < 6 ? number : "")).join(""), "y");
  const numbers: number[] = [];
  let bytes = 0;
  for (let match = form.exec(text); match !== null && numbers.length < 3 * room; match = form.exec(text)) {
    const parts = match.slice(1);
    const values = parts.map((part) => parseFloat32(part.trim()));
    const fits = (value: number | undefined) => value !== undefined && (rules === "xml" || Number.isFinite(value));
    if (!values.every(fits) || parts.some(({ length }) => length > LONGEST_NUMBER)) break;
    numbers.push(...(values as number[]));
    bytes = form.lastIndex;
  }
  return { numbers, bytes };
}

/** Expects the module to read what the expression reads; returns why it stopped. */
function expectRead(text: string, form: ItemForm = PLAIN, room = 20_000): number {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text, "latin1")));
  bytes.write(text, "latin1");
  const out = new Float32Array(3 * room);
  const read = textModule().read(bytes, form, out);
  const expected = byExpression(text, form, room);
  expect([read.count, read.bytes, text]).toEqual([expected.numbers.length / 3, expected.bytes, text]);
  const same = expected.numbers.every((value, i) => Object.is(value, out[i]));
  expect(same).toBe(true);
  return read.why;
}

/** A decimal in one of the ways that programs write them. */
function decimal(): string {
  const value = (random() - 0.5) * 10 ** Math.floor(random() * 12 - 6);
  const forms = [
    () => value.toFixed(7),
    () => String(value),
    () => value.toExponential(8),
    () => String(Math.fround(value)),
    () => value.toPrecision(17),
    () => `+${Math.abs(value).toFixed(20)}`,
    () => String(Math.floor(value * 1e6)),
    () => `${"0".repeat(Math.floor(random() * 12))}${Math.abs(value).toFixed(Math.floor(random() * 18))}`,
  ];
  return (forms[Math.floor(random() * forms.length)] as () => string)();
}

function anyFloat(): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, Math.floor(random() * 2 ** 32));
  return view.getFloat32(0);
}

describe("reading items", () => {
  it.each([
    [PLAIN, ""],
    [PLAIN, "\r\n \t"],
    [LONG, " "],
    [LINES, ""],
  ])("rounds decimals in many forms, across windows of the text: form %#", (form, space) => {
    const items = Array.from({ length: 6000 }, () => item(form, [decimal(), decimal(), decimal()], space));
    expect(expectRead(items.join(""), form)).not.toBe(ODD);
    expect(expectRead(items.join(""), form, 6000)).toBe(FULL);
  });

  it("R69, L6: agrees with strtof on every row", () => {
    const out = new Float32Array(3);
    const wrong = STRTOF_ROWS.filter(([text, bits]) => {
      const bytes = Buffer.from(`<Point3><x>${text}</x><y> ${text}\n</y><z>1</z></Point3>`);
      const { count } = textModule().read(bytes, PLAIN, out);
      const isShort = text.length + 2 <= LONGEST_NUMBER;
      return isShort && (count !== 1 || bitsOf(out[0] as number) !== bits || bitsOf(out[1] as number) !== bits);
    });
    expect(wrong).toEqual([]);
  });

  it.each([PLAIN, LINES])("stops at room, at each cut, and at what has another form: form %#", (form) => {
    const whole = item(form, ["1.5", "-0.000001", "123456789.125e-3"], form === PLAIN ? " " : "").repeat(2);
    expect(expectRead(whole.repeat(40), form, 7)).toBe(FULL);
    for (let end = 0; end < whole.length; end++) {
      expect(expectRead(whole.slice(0, end), form)).toBe(SHORT);
      for (const odd of ["x", "<", "1", ">", ","])
        expectRead(`${whole.slice(0, end)}${odd}${whole.slice(end + 1)}`, form);
    }
    expect(expectRead(`${whole}</points>`, form)).toBe(ODD);
  });

  it.each([
    ["no number", ""],
    ["words", "INF"],
    ["another word", "-INF"],
    ["no value", "NaN"],
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
    ["a plus sign and zeros", "+007.50"],
    ["two numbers", "1 2"],
    ["a comma", "1,5"],
  ])("reads %s as the expression does", (_name, number) => {
    for (const form of [PLAIN, LINES]) {
      const text = item(form, ["1", "2", "3"]) + item(form, ["4", number, "5"]) + item(form, ["6", "7", number]);
      expectRead(text + item(form, ["6", "7", "8"]), form);
      for (let end = 0; end < text.length; end++) expectRead(text.slice(0, end), form);
    }
  });

  it("leaves items that are longer than its window, and tags that it has no room for", () => {
    const far = item(PLAIN, ["1", "2", "3"]).replace("><", `>${" ".repeat(200_000)}<`);
    const out = new Float32Array(9);
    const near = item(PLAIN, ["1", "2", "3"]);
    expect(textModule().read(Buffer.from(near + far), PLAIN, out)).toEqual({ count: 1, bytes: near.length, why: ODD });
    const wide: ItemForm = { ...PLAIN, tags: PLAIN.tags.with(7, `</Point3${" ".repeat(9000)}>`) };
    const text = Buffer.from(item(wide, ["1", "2", "3"]));
    expect(textModule().read(text, wide, out)).toEqual({ count: 0, bytes: 0, why: ODD });
  });
});

describe("writing records", () => {
  function expectText(values: Float32Array, separators: readonly string[], notFinite: string | null): void {
    const numbers = separators.length - 1;
    let expected = "";
    for (const [i, value] of values.entries()) {
      const text = notFinite === null || Number.isFinite(value) ? shortestFloat32(value) : notFinite;
      expected += `${separators[i % numbers]}${text}${i % numbers === numbers - 1 ? separators[numbers] : ""}`;
    }
    const form = { separators, notFinite };
    const out = Buffer.alloc(5 + (values.length / numbers) * recordBytes(form));
    const cut = numbers * Math.floor(values.length / numbers / 3);
    const parts = [values.subarray(0, cut), values.subarray(cut, cut), values.subarray(cut)];
    expect(out.toString("latin1", 5, textModule().write(parts, form, out, 5)) === expected).toBe(true);
  }

  const VECTOR = ["<Vector3><x>", "</x><y>", "</y><z>", "</z></Vector3>"];
  const ROW = ["[", ",", "],"];
  const WIDE = ["<velocityHessian><a>", ...Array<string>(17).fill("</member><another>"), "</b></velocityHessian>"];

  it.each([
    ["vectors", VECTOR, 12_000, null],
    ["rows", ROW, 12_000, "null"],
    ["many components", WIDE, 9000, null],
    ["very many components", ["", ...Array<string>(299).fill(","), "\r\n"], 9000, null],
    ["numbers alone", ["<float>", "</float>"], 9000, null],
  ])("writes the shortest decimals of any bits: %s", (_name, separators, count, notFinite) => {
    expectText(Float32Array.from({ length: count }, anyFloat), separators, notFinite);
  });

  it("writes numbers of all magnitudes and few digits, and powers of two and ten with their neighbours", () => {
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
    expectText(Float32Array.from(values), VECTOR, null);
    expectText(Float32Array.from(values), ROW, "null");
  });

  it("refuses separators that it has no room for", () => {
    const form = { separators: ["<", "-".repeat(9000), ">"], notFinite: null };
    expect(() => textModule().write([new Float32Array(2)], form, Buffer.alloc(10_000))).toThrow(RangeError);
  });
});
