import { describe, expect, it } from "vitest";
import { MisuseError } from "../../../src/cli/input/arguments.js";
import { FLAG_ENTRIES, FLAGS, flagsOf, readRequest, takesPoints } from "../../../src/cli/input/query-request.js";
import { ALL_OPERATIONS } from "../../../src/shared/operations.js";

/** A value for every flag, by its camel-case name. */
const VALUES = {
  token: "secret",
  dataset: "iso",
  time: "0.5",
  filterLength: "1e-1",
  layers: "2",
  startTime: "0",
  endTime: "1",
  dt: "-0.1",
  nt: "10",
  tp: "0",
  method: "Lag8",
  temporal: "None",
  points: "-",
  initialVelocity: "v.csv",
  field: "u",
  filterWidth: "0.5",
  spacing: "0.2",
  threshold: "1e2",
  frame: "1",
  xStart: "1",
  yStart: "1",
  zStart: "1",
  xEnd: "4",
  yEnd: "4",
  zEnd: "4",
  xStep: "2",
  yStep: "2",
  zStep: "2",
  filterNodes: "3",
  x: "0",
  y: "0",
  z: "0",
  xWidth: "4",
  yWidth: "4",
  zWidth: "4",
  function: "GetVelocity",
};

describe("flags", () => {
  it("exist for every request member, under different names", () => {
    const members = new Set(ALL_OPERATIONS.flatMap(({ request }) => request.map(({ name }) => name)));
    expect(FLAG_ENTRIES.map(([name]) => name).sort()).toEqual([...members].sort());
    expect(new Set(FLAG_ENTRIES.map(([, { name }]) => name)).size).toBe(members.size);
    expect(FLAG_ENTRIES.length).toBe(Object.keys(VALUES).length);
  });
});

describe("flagsOf", () => {
  const entryOf = (name: string): [string, string] => {
    const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return [key, VALUES[key as keyof typeof VALUES]];
  };

  it.each(ALL_OPERATIONS.map((row) => [row.name, row] as const))(
    "%s needs what is listed without brackets",
    (name, row) => {
      const text = flagsOf(row);
      const listed = [...text.matchAll(/(?<!\[)--([a-z-]+)/g)].map((flag) => entryOf(flag[1] as string));
      const needed = takesPoints(row) ? [...listed, entryOf("points")] : listed;
      const optional = [...text.matchAll(/\[--([a-z-]+)\]/g)].map((flag) => entryOf(flag[1] as string));
      expect(() => readRequest(name, Object.fromEntries(needed))).not.toThrow();
      expect(() => readRequest(name, Object.fromEntries([...needed, ...optional]))).not.toThrow();
      for (const left of needed) {
        const given = Object.fromEntries(needed.filter((flag) => flag !== left));
        expect(() => readRequest(name, given)).toThrow("is missing");
      }
    },
  );

  it("lists the methods that the operation takes", () => {
    const gradient = ALL_OPERATIONS.find(({ name }) => name === "GetPressureGradient");
    expect(gradient && flagsOf(gradient)).toBe(
      "--dataset --time --method None_Fd4|None_Fd6|None_Fd8|Fd4Lag4|M<m>Q<q> [--temporal]",
    );
  });
});

describe("readRequest", () => {
  it.each(ALL_OPERATIONS.map((row) => [row.name, row] as const))(
    "%s takes its members and nothing else",
    (name, row) => {
      const taken = new Set<string>(row.request.map((member) => member.name));
      const given = Object.fromEntries(
        FLAG_ENTRIES.filter(([member]) => taken.has(member)).map(([, flag]) => {
          const key = flag.name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()) as keyof typeof VALUES;
          return [key, VALUES[key]];
        }),
      );
      const request = readRequest(name, given);
      const scalars = row.request.filter(({ type }) => !type.startsWith("ArrayOf"));
      expect(Object.keys(request).sort()).toEqual(scalars.map((member) => member.name).sort());
      for (const { name: member, type } of scalars) {
        expect(typeof request[member]).toBe(type === "float" || type === "int" ? "number" : "string");
      }
      for (const [member, flag] of FLAG_ENTRIES) {
        if (taken.has(member)) continue;
        const key = flag.name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()) as keyof typeof VALUES;
        expect(() => readRequest(name, { ...given, [key]: VALUES[key] })).toThrow(
          `--${flag.name}: ${name} does not take it`,
        );
      }
      for (const { name: member, required } of scalars) {
        const flag = FLAGS[member];
        if (flag.fallback !== undefined || member === "authToken" || member === "function_name") continue;
        expect(required || member === "dataset" || member === "field").toBe(true);
        const key = flag.name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
        const { [key]: _, ...rest } = given;
        expect(() => readRequest(name, rest)).toThrow(`--${flag.name} is missing`);
      }
    },
  );

  it("interpolates in time with PCHIP and answers one layer unless told otherwise", () => {
    const given = { dataset: "iso", time: "1", filterLength: "1", points: "-" };
    expect(readRequest("GetBoxFilterVelocity", given)).toEqual({
      dataset: "iso",
      time: 1,
      filterlength: 1,
      nlayers: 1,
      temporalInterpolation: "PCHIP",
    });
  });

  it("refuses values that are no numbers", () => {
    const given = { dataset: "iso", startTime: "0", dt: "0.1", nt: "1", method: "Lag4", points: "-" };
    for (const text of ["", " ", "abc", "1,5", "Infinity", "1e999", "0x10", "0b1"]) {
      expect(() => readRequest("GetPosition", { ...given, dt: text })).toThrow(MisuseError);
    }
    expect(() => readRequest("GetPosition", { ...given, nt: "1.5" })).toThrow("--nt: 1.5 is not a whole number");
  });
});
