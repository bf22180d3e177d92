/** Descriptors: all problems at once with their JSON paths, and the JSON Schema that says the same to editors. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { descriptorJsonSchema, parseDescriptor } from "../../../src/storage/dataset/descriptor.js";

const ROOT = new URL("../../..", import.meta.url);
const SHIPPED = JSON.parse(readFileSync(new URL("data/isotropic32/dataset.json", ROOT), "utf8")) as object;
const AXIS = { nodes: 8, origin: 0, spacing: 1, periodic: true };
const PRESSURE = { file: "p.h5", path: "/p", dimensions: ["t", "z", "y", "x"] };
const VALID = {
  schemaVersion: 1,
  name: "a",
  axes: { x: AXIS, y: AXIS, z: AXIS },
  time: { origin: 0, step: 1, count: 4 },
  fields: { pressure: PRESSURE },
};

const along = (x: object) => ({ ...VALID, axes: { x: { ...AXIS, ...x }, y: AXIS, z: AXIS } });
const stored = (pressure: object) => ({ ...VALID, fields: { pressure: { ...PRESSURE, ...pressure } } });
const stating = (length = "", time?: string, velocity = "") => ({ ...VALID, units: { length, time, velocity } });

const validate = new Ajv2020({ strict: true }).compile(descriptorJsonSchema());

function problemsOf(value: unknown): readonly string[] {
  const parsed = parseDescriptor(JSON.stringify(value));
  return "problems" in parsed ? parsed.problems : [];
}

describe("JSON Schema", () => {
  it("is shipped as it is generated (vitest run descriptor.test.ts -u writes it)", async () => {
    const text = `${JSON.stringify(descriptorJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(fileURLToPath(new URL("docs/schema/dataset.schema.json", ROOT)));
  });

  it("accepts what ships", () => {
    expect(validate(SHIPPED)).toBe(true);
    expect(problemsOf(SHIPPED)).toEqual([]);
  });
});

/** Descriptors with one thing wrong that the schema can say: the problem, with its path. */
const WRONG: [string, unknown, string | RegExp][] = [
  ["version", { ...VALID, schemaVersion: 2 }, /^\$\.schemaVersion: /],
  ["name", { ...VALID, name: "a b" }, "$.name: must be 1 to 64 of the characters A-Z a-z 0-9 _ . -"],
  ["long name", { ...VALID, name: "a".repeat(65) }, /^\$\.name: /],
  ["alias", { ...VALID, aliases: ["ok", ""] }, /^\$\.aliases\[1\]: /],
  ["unknown member", { ...VALID, nmae: 1 }, "$.nmae: no such member"],
  ["axis member", along({ dx: 1 }), "$.axes.x.dx: no such member"],
  ["missing axis", { ...VALID, axes: { x: AXIS, y: AXIS } }, /^\$\.axes\.z: /],
  ["no nodes", along({ nodes: 0 }), /^\$\.axes\.x\.nodes: /],
  ["coordinates", { ...VALID, axes: { x: AXIS, y: { coordinates: [] }, z: AXIS } }, /^\$\.axes\.y\.coordinates: /],
  [
    "snapshot",
    { ...VALID, time: { count: "one" } },
    "$.time.count: must be 1, a snapshot; several frames need origin, step and count, or values",
  ],
  ["step", { ...VALID, time: { step: 0, count: 4 } }, /^\$\.time\.step: /],
  ["name of a field", { ...VALID, fields: { Vapour: PRESSURE } }, /Vapour: a name has 1 to 64 of the characters a-z/],
  ["dimension", stored({ dimensions: ["t", "z", "y", "r"] }), /dimensions\[3\]: /],
  [
    "two parts",
    { ...VALID, fields: { velocity: { components: [], dimensions: ["z", "y", "x"] } } },
    /velocity\.components: /,
  ],
  ["forcing", { ...VALID, forcing: { kind: "magic" } }, /^\$\.forcing\.kind: /],
  ["frame velocity", { ...VALID, frameVelocity: [0, 0] }, /^\$\.frameVelocity: /],
];

/** Rules that no schema can state: members that have to agree. */
const INCONSISTENT: [string, unknown, string | RegExp][] = [
  ["equal times", { ...VALID, time: { values: [0, 1, 1] } }, "$.time.values[2]: must be greater than the one before"],
  ["only guards", { ...VALID, time: { step: 1, count: 3, guardBefore: 1, guardAfter: 2 } }, /^\$\.time: 1 \+ 2 guard/],
  ["zero spacing", along({ spacing: 0 }), /^\$\.axes\.x\.spacing: /],
  ["name of a quantity", { ...VALID, fields: { omega: PRESSURE } }, /omega: this name means something else in/],
  ["ends of a period", along({ faces: "wall" }), "$.axes.x.faces: a periodic axis has no ends"],
  ["edges of a period", along({ edges: [0, 1] }), "$.axes.x.edges: cells of a periodic axis are a spacing wide"],
  ["negative period", along({ spacing: -1 }), /^\$\.axes\.x\.spacing: /],
  ["twice", stored({ dimensions: ["t", "x", "y", "x", "z"] }), /names one twice/],
  ["no z", stored({ dimensions: ["t", "y", "x"] }), /lacks z/],
  ["no c", { ...VALID, fields: { velocity: { ...PRESSURE, path: "/u" } } }, /velocity\.dimensions: lacks c/],
  ["no t", stored({ dimensions: ["z", "y", "x"] }), /lacks t/],
  ["cm in m/s", stating("cm", "s", "m s-1"), "$.units: m s-1 is not cm over s: state units that fit, or none"],
  ["ms of m/s", stating("m", "ms", "m/s"), /m\/s is not m over ms/],
  ["no time that fits", stating("m", undefined, "km/h"), /km\/h is not m over s or min or h or day: state/],
  ["cm in m/s", stating("cm", undefined, "m/s"), /m\/s is not cm over s or min/],
  ["no lengths", stating("1", "s", "m/s"), /m\/s is not 1 over s/],
  ["no velocity", stating("m", "s", "1"), /1 is not m over s/],
  ["two systems", stating("h", "s", "U_b"), /U_b is not h over s/],
  ["unit", { ...stored({ unit: "Pa" }), units: { pressure: "bar" } }, /says bar/],
  ["no force", { ...VALID, forcing: { kind: "stored" } }, "$.forcing.kind: stored needs the field force"],
];

describe("parseDescriptor", () => {
  it("takes a valid descriptor and fills in the defaults", () => {
    const defaults = { title: "", aliases: [], forcing: { kind: "none" }, frameVelocity: [0, 0, 0] };
    const descriptor = { ...defaults, time: { guardBefore: 0 } };
    expect(parseDescriptor(JSON.stringify(VALID))).toMatchObject({ descriptor });
  });

  it.each(WRONG)("refuses a wrong %s, as the JSON Schema does", (_, value, problem) => {
    expect(validate(value)).toBe(false);
    expect(problemsOf(value)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
  });

  it.each(INCONSISTENT)("refuses members that disagree: %s", (_, value, problem) => {
    expect(problemsOf(value)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
  });

  const fitting = ["metres s m.s**-1", "km h km/h", "1 1 1", "h h/U_b U_b", "word word word", "km  km/h", "m  U_b"];
  it.each(fitting)("takes units %s", (text) => {
    const [length, time, velocity] = text.split(" ");
    expect(problemsOf(stating(length, time || undefined, velocity))).toEqual([]);
  });

  it("lists every problem at once", () => {
    const value = { ...VALID, schemaVersion: 3, name: "", axes: { x: { nodes: 1.5 }, y: AXIS, z: AXIS }, extra: 1 };
    const paths = problemsOf(value).map((problem) => problem.split(": ")[0]);
    expect(paths).toEqual(
      expect.arrayContaining(["$.schemaVersion", "$.name", "$.axes.x.nodes", "$.axes.x.origin", "$.extra"]),
    );
  });

  it("says where a text is not JSON", () => {
    expect(parseDescriptor('{"schemaVersion": 1,}')).toEqual({ problems: [expect.stringMatching(/^\$: .*JSON/)] });
    expect(parseDescriptor('{\n  "schemaVersion": 1,\n}')).toEqual({ problems: [expect.stringMatching(/, line 3$/)] });
    expect(parseDescriptor('{\n  "name":\n u\n}')).toEqual({ problems: [expect.stringMatching(/^.*$/)] });
  });

  it("takes the byte order mark and the line ends of Windows", () => {
    const text = `\uFEFF${JSON.stringify(VALID, null, 2).replaceAll("\n", "\r\n")}`;
    expect(parseDescriptor(text)).toEqual(parseDescriptor(JSON.stringify(VALID)));
  });

  it("says which members are missing", () => {
    expect(parseDescriptor('{"schemaVersion": 1, "name": "u", "axes": {}, "time": {"count": 3}}')).toEqual({
      problems: ["x", "y", "z"]
        .map((axis) => `$.axes.${axis}: is missing`)
        .concat("$.time.step: is missing", "$.fields: is missing"),
      names: ["u"],
    });
  });
});
