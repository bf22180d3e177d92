/** The JSON body reader: whatever the pieces, the same triples and members. */

import { describe, expect, it, vi } from "vitest";
import { JsonReader } from "../../../../src/server/rest/body/json-reader.js";
import { TripleStore, TripleWriter } from "../../../../src/server/rest/triple-writer.js";
import { fc } from "../../../support/property.js";

/** Reads a body in pieces that end at the given offsets. */
function read(body: Buffer, cuts: readonly number[]) {
  const members = new Map<string, string>();
  const stores = new Map<string, TripleStore>();
  const reader = new JsonReader(["points", "InitialV"], {
    array(member) {
      const store = new TripleStore();
      stores.set(member, store);
      return new TripleWriter(store, { points: 100_000, name: "query.points" });
    },
    member: (name, text) => void members.set(name, text),
  });
  let from = 0;
  for (const cut of [...cuts, body.length]) {
    reader.write(body.subarray(from, cut));
    from = cut;
  }
  reader.end();
  const triples = new Map<string, number[]>();
  for (const [member, store] of stores) {
    const got: number[] = [];
    const slab = new Float32Array(30);
    store.replay({ slab, commit: (count) => void got.push(...slab.subarray(0, 3 * count)) });
    triples.set(member, got);
  }
  return { members, triples };
}

const BODY = ` { "time" : [0.1, 2e-1] , "spatialInterpolation":"Lag\\u0036","points":[ [1,-2.5,3e0],
  [ 0.1 , 1E-3, -0 ] ], "note, }": {"a": ["]", "\\"}"]},"InitialV":[] }`;

describe("JsonReader", () => {
  it("bounds a member of any pieces by 64 KiB", () => {
    const body = (bytes: number) => Buffer.from(`{"time":"${"0".repeat(bytes - 2)}"}`);
    const cuts = [30_000, 60_000];
    expect(read(body(65_536), cuts).members.get("time")).toHaveLength(65_536);
    expect(() => read(body(65_537), cuts)).toThrow("A member has more than 65536 bytes.");
    expect(() => read(body(65_537), [])).toThrow("A member has more than 65536 bytes.");
  });

  it("does not depend on where pieces end", () => {
    const body = Buffer.from(BODY);
    const whole = read(body, []);
    expect(whole.triples.get("points")).toEqual([1, -2.5, 3, Math.fround(0.1), Math.fround(1e-3), -0]);
    expect(whole.triples.get("InitialV")).toEqual([]);
    expect([...whole.members]).toEqual([
      ["time", "[0.1, 2e-1]"],
      ["spatialInterpolation", '"Lag\\u0036"'],
      ["note, }", '{"a": ["]", "\\"}"]}'],
    ]);
    for (let cut = 1; cut < body.length; cut++) expect(read(body, [cut])).toEqual(whole);
    expect(
      read(
        body,
        Array.from({ length: body.length - 1 }, (_, i) => i + 1),
      ),
    ).toEqual(whole);
  });

  it.each(["1e39", "-1e39", "1e999", "-1e999"])("refuses %s where it stands, which no float32 holds", (text) => {
    const body = Buffer.from(`{"points":[[1,2,3],[4,${text},6],[7]]}`);
    expect(() => read(body, [])).toThrow("points[1].y is not a finite float32");
  });

  it("reads any triples as JSON.parse does, rounded once", () => {
    const coordinate = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 40 }),
        fc.nat(),
        (points, cut) => {
          const body = Buffer.from(JSON.stringify({ points }));
          const got = read(body, [cut % body.length]).triples.get("points");
          expect(got).toEqual(points.flat().map((value) => (value === 0 ? 0 : value)));
        },
      ),
    );
  });

  it("rounds decimals near the middle of two float32 once, not twice", () => {
    const got = read(
      Buffer.from('{"points":[[1.00000005960464477540,1.00000005960464477538,1.000000059604644775390625]]}'),
      [],
    );
    expect(got.triples.get("points")).toEqual([1 + 2 ** -23, 1, 1]);
  });

  it("keeps more triples than one slab holds in order", () => {
    const points = Array.from({ length: 20_000 }, (_, i) => [i, i + 0.5, -i]);
    const got = read(Buffer.from(JSON.stringify({ points })), [10_000, 65_536, 100_001]).triples.get("points");
    expect(got).toEqual(points.flat().map((value) => (value === 0 ? 0 : value)));
  });

  it("looks at each byte of a number once, however it is cut", () => {
    const digits = `0.${"1".repeat(4_000)}`;
    const parts = [...`{"points":[[${digits},2,3]]}`].map((byte) => Buffer.from(byte));
    const concat = vi.spyOn(Buffer, "concat");
    const store = new TripleStore();
    const array = () => new TripleWriter(store, { points: 1, name: "query.points" });
    const reader = new JsonReader(["points"], { array, member: () => undefined });
    for (const part of parts) reader.write(part);
    reader.end();
    expect(store.count).toBe(1);
    // Joined when it is whole: the names of the member and three numbers.
    expect(concat.mock.calls.length).toBeLessThanOrEqual(4);
    concat.mockRestore();
  });

  it("bounds the length of a number", () => {
    const body = Buffer.from(`{"points":[[${"1".repeat(5_000)},2,3]]}`);
    expect(() => read(body, [2_000, 4_000, 4_500])).toThrow(/length/);
  });

  it("refuses a value that never ends", () => {
    expect(() => read(Buffer.from(`{"time":"${"x".repeat(70_000)}"}`), [100])).toThrow(/more than 65536 bytes/);
    expect(() => read(Buffer.from(`{"${"x".repeat(140_000)}"}`), [70_000, 139_000])).toThrow(/length/);
  });
});
