/** JSON bodies: the members of an object as they are written, and points as JSON.parse reads them. */
import { describe, expect, it } from "vitest";
import { FieldprobeError } from "../../src/shared/errors.js";
import { isMalformed, type JsonMember, rangesOfItems, readMembers } from "../../src/text/json-members.js";
import { fc } from "../support/property.js";

function read(body: string): Map<string, string | number[]> {
  const entry = (member: JsonMember) => [member.name, "text" in member ? member.text : [...member.triples]] as const;
  return new Map(readMembers(Buffer.from(body), ["points", "InitialV"]).map(entry));
}

/** The refusal of a body: code, member and message. */
function refusal(body: string): string {
  try {
    read(body);
  } catch (error) {
    if (error instanceof FieldprobeError) return `${error.code} ${error.context.member ?? ""}: ${error.message}`;
    throw error;
  }
  return "none";
}

/** A list of points as text, of which some are replaced. */
function listOf(count: number, replaced: Readonly<Record<number, string>> = {}): string {
  const rows = Array.from({ length: count }, (_, i) => replaced[i] ?? `[${i}, ${i / 8} ,-${i}e-3]`);
  return `{"points":[${rows.join(" ,\n")}]}`;
}

describe("readMembers", () => {
  it("keeps the text of members and their order", () => {
    const body = ` { "time" : [0.10, 2e-1] , "spatialInterpolation":"Lag\\u0036","points":[ [1,-2.5,3e0],
      [ 0.1 , 1E-3, -0 ] ], "note, }": {"a": ["]", "\\"}"]},"InitialV":[] }\n`;
    expect([...read(body)]).toEqual([
      ["time", "[0.10, 2e-1]"],
      ["spatialInterpolation", '"Lag\\u0036"'],
      ["points", [1, -2.5, 3, Math.fround(0.1), Math.fround(1e-3), -0]],
      ["note, }", '{"a": ["]", "\\"}"]}'],
      ["InitialV", []],
    ]);
    expect(read(" {\n} ").size).toBe(0);
  });

  it("reads any points as JSON.parse does, rounded to float32", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -3e38, max: 3e38 });
    const space = fc.constantFrom("", " ", "\n\t", "\r");
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number, number), { maxLength: 40 }), space, (points, blank) => {
        const text = JSON.stringify({ points }).replaceAll(/[[\],]/g, (mark) => `${blank}${mark}${blank}`);
        const expected = (JSON.parse(text) as { points: number[][] }).points.flat().map(Math.fround);
        expect(read(text).get("points")).toEqual(expected);
      }),
    );
  });

  it("reads long lists of points whole, whatever the length of their rows", () => {
    for (const count of [1, 3_000, 20_000]) {
      const text = listOf(count);
      const { points } = JSON.parse(text) as { points: number[][] };
      expect(read(text).get("points")).toEqual(points.flat().map(Math.fround));
    }
  });

  it.each(["1e39", "-1e39", "1e999", "-1e999"])("refuses %s where it stands, which no float32 holds", (text) => {
    const member = "points[8000].y";
    expect(refusal(listOf(9_000, { 8000: `[4,${text},6]`, 8500: "[7]" }))).toBe(
      `OutOfRange ${member}: ${member} is not a finite float32.`,
    );
  });

  it.each(["NaN", "Infinity", "-Infinity", "+2", "02", "2.", ".5", '"1"', "null", "1e", "0x1"])(
    "refuses %s where it stands, which is no number of JSON",
    (text) => {
      const member = "points[8000].z";
      expect(refusal(listOf(9_000, { 8000: `[4,5,${text}]` }))).toBe(
        `InvalidRequest ${member}: ${member} must be a number, not ${text}.`,
      );
    },
  );

  it.each(["[1,2]", "[1,2,3,4]", "[]", "1", '"]"', "{}", "[[1,2,3]]", "", `[1,2${" ".repeat(70_000)},3,4]`])(
    "refuses a row that is none: %s",
    (row) => {
      const member = "points[8000]";
      expect(refusal(listOf(9_000, { 8000: row }))).toBe(
        `InvalidRequest ${member}: ${member} must be a list of three numbers.`,
      );
    },
  );

  it.each(['{"points":[[1,2,3],]}', '{"points":[,[1,2,3]]}', '{"points":7}', '{"points":{"a":1}}', '{"points":"x"}'])(
    "refuses points that are none: %s",
    (body) => expect(refusal(body)).toMatch(/^InvalidRequest points(\[\d\])?: points/),
  );

  it.each(["time", "points", "a\\u0062"])("refuses the member %s that is given twice", (name) => {
    const value = name === "points" ? "[]" : "1";
    const body = `{"${name}":${value},"ab":2,"${name}":${value}}`;
    expect(refusal(body)).toBe(`InvalidRequest ${JSON.parse(`"${name}"`)}: A member is given twice.`);
  });

  it.each([
    ...[
      "",
      " ",
      "[1]",
      "7",
      "{",
      "}",
      '{"a"}',
      '{"a":}',
      '{"a":1',
      '{"a":1]',
      '{"a":1,}',
      '{,"a":1}',
      "{a:1}",
      '{"a":1:2}',
    ],
    ...['{"a":1}x', '{"a":1}}', '{"a":[1}', '{"a":"x}', '{"a":tru}', '{"a":1 2}', '{"a":01}', '{"a" "b":1}', "{1:2}"],
    ...[
      '{"points":[[1,2,3]',
      '{"points":[[1,2,3]]',
      '{"points":[[1,2,3]] 1}',
      '{"points":[[1,2,3] [4,5,6]]}',
      "\uFEFF{}",
    ],
  ])("refuses what is not JSON: %s", (body) => {
    expect(() => JSON.parse(body) as unknown).toSatisfy((parse: () => unknown) => {
      try {
        return typeof parse() !== "object" || body === "[1]";
      } catch {
        return true;
      }
    });
    try {
      read(body);
      expect.unreachable();
    } catch (error) {
      expect(isMalformed(error)).toBe(true);
    }
  });

  it("accepts and refuses the same texts as JSON.parse, cut or changed anywhere", () => {
    const body = '{"time":[0.5,1],"points":[[1,2,3],[4,5,6]],"x":{"a":"]\\"","b":[{}]},"InitialV":[]}';
    const same = (text: string): void => {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      // What JSON allows may still be no points.
      if (!valid) expect(refusal(text), text).not.toBe("none");
    };
    for (let i = 0; i < body.length; i++) {
      same(body.slice(0, i));
      same(body.slice(0, i) + body.slice(i + 1));
      for (const byte of '[]{},:"\\1') same(body.slice(0, i) + byte + body.slice(i + 1));
    }
  });

  it("bounds names and values, but for flat lists", () => {
    const times = `[${Array.from({ length: 20_000 }, (_, i) => i / 4).join(", ")}]`;
    expect(read(`{"times":${times}}`).get("times")).toBe(times);
    for (const value of [`"${"x".repeat(70_000)}"`, `[${"[],".repeat(30_000)}0]`, `{"a":${times}}`])
      expect(refusal(`{"times":${value}}`)).toBe("LimitExceeded : A member has more than 65536 bytes.");
    expect(refusal(`{"${"x".repeat(5_000)}":1}`)).toMatch(/a name and a colon/);
  });
});

describe("rangesOfItems", () => {
  it("finds the items of a list, whatever they hold", () => {
    const items = (text: string): string[] =>
      [...rangesOfItems(Buffer.from(text), { from: 0, to: text.length })].map(({ from, to }) => text.slice(from, to));
    expect(items(' [ {"a":"],"}, [1,[2]],3] ')).toEqual(['{"a":"],"}', "[1,[2]]", "3"]);
    expect(items("[ ]")).toEqual([]);
    for (const text of ["[1", "[1}", "[1]2", "7"]) expect(() => items(text)).toThrow("not JSON");
  });
});
