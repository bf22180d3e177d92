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
  ["axis member", { ...VALID, axes: { x: { ...AXIS, dx: 1 }, y: AXIS, z: AXIS } }, "$.axes.x.dx: no such member"],
  ["missing axis", { ...VALID, axes: { x: AXIS, y: AXIS } }, /^\$\.axes\.z: /],
  ["no nodes", { ...VALID, axes: { x: { ...AXIS, nodes: 0 }, y: AXIS, z: AXIS } }, /^\$\.axes\.x\.nodes: /],
  ["coordinates", { ...VALID, axes: { x: AXIS, y: { coordinates: [] }, z: AXIS } }, /^\$\.axes\.y\.coordinates: /],
  [
    "snapshot",
    { ...VALID, time: { count: "one" } },
    "$.time.count: must be 1, a snapshot; several frames need origin, step and count, or values",
  ],
  ["step", { ...VALID, time: { step: 0, count: 4 } }, /^\$\.time\.step: /],
  [
    "name of a field",
    { ...VALID, fields: { pressure: PRESSURE, Helicity: PRESSURE } },
    "$.fields.Helicity: a name has 1 to 64 of the characters a-z 0-9 _ and begins with a letter",
  ],
  [
    "dimension",
    { ...VALID, fields: { pressure: { ...PRESSURE, dimensions: ["t", "z", "y", "r"] } } },
    /dimensions\[3\]: /,
  ],
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
  [
    "descending times",
    { ...VALID, time: { values: [0, 1, 1, 2] } },
    "$.time.values[2]: must be greater than the one before",
  ],
  ["only guards", { ...VALID, time: { step: 1, count: 3, guardBefore: 1, guardAfter: 2 } }, /^\$\.time: 1 \+ 2 guard/],
  ["zero spacing", { ...VALID, axes: { x: { ...AXIS, spacing: 0 }, y: AXIS, z: AXIS } }, /^\$\.axes\.x\.spacing: /],
  [
    "ends of a period",
    { ...VALID, axes: { x: { ...AXIS, faces: "wall" }, y: AXIS, z: AXIS } },
    "$.axes.x.faces: a periodic axis has no ends",
  ],
  [
    "edges of a period",
    { ...VALID, axes: { x: { ...AXIS, edges: [0, 1] }, y: AXIS, z: AXIS } },
    "$.axes.x.edges: cells of a periodic axis are a spacing wide",
  ],
  ["negative period", { ...VALID, axes: { x: { ...AXIS, spacing: -1 }, y: AXIS, z: AXIS } }, /^\$\.axes\.x\.spacing: /],
  [
    "twice",
    { ...VALID, fields: { pressure: { ...PRESSURE, dimensions: ["t", "x", "y", "x", "z"] } } },
    /names one twice/,
  ],
  ["no z", { ...VALID, fields: { pressure: { ...PRESSURE, dimensions: ["t", "y", "x"] } } }, /lacks z/],
  ["no c", { ...VALID, fields: { velocity: { ...PRESSURE, path: "/u" } } }, /velocity\.dimensions: lacks c/],
  ["no t", { ...VALID, fields: { pressure: { ...PRESSURE, dimensions: ["z", "y", "x"] } } }, /lacks t/],
  ["no force", { ...VALID, forcing: { kind: "stored" } }, "$.forcing.kind: stored needs the field force"],
];

describe("parseDescriptor", () => {
  it("takes a valid descriptor and fills in the defaults", () => {
    expect(parseDescriptor(JSON.stringify(VALID))).toMatchObject({
      descriptor: {
        title: "",
        aliases: [],
        forcing: { kind: "none" },
        frameVelocity: [0, 0, 0],
        time: { guardBefore: 0 },
      },
    });
  });

  it.each(WRONG)("refuses a wrong %s, as the JSON Schema does", (_, value, problem) => {
    expect(validate(value)).toBe(false);
    expect(problemsOf(value)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
  });

  it.each(INCONSISTENT)("refuses members that disagree: %s", (_, value, problem) => {
    expect(problemsOf(value)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
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
