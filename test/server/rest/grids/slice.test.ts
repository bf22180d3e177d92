/** Slices: geometry on all three axes of a field without symmetry, derived quantities, pictures. */
import type { FastifyInstance } from "fastify";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyticEngine, closedForm, LOPSIDED } from "../analysis/analytic-engine.js";
import { serveApi } from "../serve-api.js";

const engine = analyticEngine();
let app: FastifyInstance;
beforeAll(async () => {
  app = await serveApi(engine);
});
afterAll(() => app.close());

const AXES = ["x", "y", "z"];

function slice(query: Record<string, string | number>, accept = "application/octet-stream") {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return app.inject({ url: `/api/datasets/lopsided/slice?${text}`, headers: { accept } });
}

function numbers(header: unknown): number[] {
  return String(header).split(",").map(Number);
}

function floatsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

describe.each(AXES)("a plane across %s", (axis) => {
  it("holds the value of each point where the headers say it is", async () => {
    const response = await slice({ field: "uy", axis, at: 0.5, time: 0.25 });
    expect(response.statusCode).toBe(200);
    const [rows, columns] = numbers(response.headers["fieldprobe-shape"]) as [number, number];
    const [rowAxis, columnAxis] = String(response.headers["fieldprobe-axes"]).split(",") as [string, string];
    const origin = numbers(response.headers["fieldprobe-origin"]);
    const spacing = numbers(response.headers["fieldprobe-spacing"]);
    expect([rowAxis, columnAxis, axis].sort()).toEqual(AXES);
    expect([rows, columns]).toEqual([rowAxis, columnAxis].map((name) => LOPSIDED.axes[AXES.indexOf(name) as 0].nodes));
    const values = floatsOf(response.rawPayload);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const at: Record<string, number> = { [axis]: Math.fround(0.5) };
        at[rowAxis] = Math.fround((origin[0] as number) + row * (spacing[0] as number));
        at[columnAxis] = Math.fround((origin[1] as number) + column * (spacing[1] as number));
        const { x, y, z } = at as { x: number; y: number; z: number };
        expect(values[row * columns + column]).toBe(closedForm(1, x, y, z, 0.25));
      }
    }
    const range = numbers(response.headers["fieldprobe-range"]);
    expect(range.map(Math.fround)).toEqual([Math.min(...values), Math.max(...values)]);
  });

  it("is upright as a picture", async () => {
    const query = { field: "p", axis, at: 0.5, time: 0, nodes: "7,5" };
    const values = floatsOf((await slice(query)).rawPayload);
    const picture = await slice({ ...query, map: "viridis" }, "image/png");
    expect(picture.headers["content-type"]).toBe("image/png");
    const png = PNG.sync.read(picture.rawPayload);
    expect([png.width, png.height]).toEqual([7, 5]);
    const colourAt = (index: number) => {
      const pixel = 4 * ((4 - Math.floor(index / 7)) * 7 + (index % 7));
      return [...png.data.subarray(pixel, pixel + 4)];
    };
    expect(colourAt(values.indexOf(Math.min(...values)))).toEqual([0x44, 0x01, 0x54, 255]);
    expect(colourAt(values.indexOf(Math.max(...values)))).toEqual([0xfd, 0xe7, 0x25, 255]);
  });
});

describe("a window", () => {
  it.each(AXES)("across %s has its samples in the middle of equal parts", async (axis) => {
    const [columnAxis, rowAxis] = AXES.filter((name) => name !== axis) as [string, string];
    const window = { origin: "0.25,0.5", extent: "0.5,0.25", nodes: "8,2" };
    const response = await slice({ field: "uz", axis, at: 0.25, time: 0.5, ...window });
    expect(response.headers["fieldprobe-shape"]).toBe("2,8");
    expect(response.headers["fieldprobe-axes"]).toBe(`${rowAxis},${columnAxis}`);
    const values = floatsOf(response.rawPayload);
    for (let row = 0; row < 2; row++) {
      for (let column = 0; column < 8; column++) {
        const at: Record<string, number> = { [axis]: 0.25 };
        at[columnAxis] = 0.25 + ((column + 0.5) * 0.5) / 8;
        at[rowAxis] = 0.5 + ((row + 0.5) * 0.25) / 2;
        const { x, y, z } = at as { x: number; y: number; z: number };
        expect(values[row * 8 + column]).toBe(closedForm(2, x, y, z, 0.5));
      }
    }
  });
});

describe("a volume", () => {
  it("holds the values of a sub-box, x fastest", async () => {
    const query = "field=uy&time=0.25&origin=0.5,-0.5,1&extent=1,0.5,0.25&nodes=4,2,3";
    const response = await app.inject({ url: `/api/datasets/lopsided/volume?${query}` });
    expect(response.headers["fieldprobe-shape"]).toBe("3,2,4");
    expect(response.headers["fieldprobe-axes"]).toBe("z,y,x");
    const values = floatsOf(response.rawPayload);
    for (let i = 0; i < 24; i++) {
      const [column, row, layer] = [i % 4, Math.floor(i / 4) % 2, Math.floor(i / 8)];
      const [x, y, z] = [0.625 + 0.25 * column, -0.375 + 0.25 * row, 1 + (0.25 * (layer + 0.5)) / 3];
      expect(values[i]).toBe(closedForm(1, x, y, Math.fround(z), 0.25));
    }
  });

  it("spans the domain by its nodes without a window", async () => {
    const response = await app.inject({ url: "/api/datasets/lopsided/volume?field=p&time=0" });
    expect(response.headers["fieldprobe-shape"]).toBe("4,6,8");
    expect(numbers(response.headers["fieldprobe-origin"])).toEqual([0, -1, 0]);
  });

  it("has a point limit of its own request", async () => {
    const response = await app.inject({ url: "/api/datasets/lopsided/volume?field=p&time=0&nodes=300" });
    expect(response.json()).toMatchObject({ code: "LimitExceeded", limit: "query.points" });
  });
});

describe("fields", () => {
  const plane = { axis: "z", at: 1, time: 0.5, nodes: "3,2" };
  /** Components of the record behind a field at the points of `plane`. */
  const record = (components: number) =>
    [0, 1].flatMap((row) =>
      [0, 1, 2].map((column) =>
        Array.from({ length: components }, (_, c) =>
          closedForm(c, Math.fround((column * 2 * Math.PI) / 3), -1 + 2 * row, 1, 0.5),
        ),
      ),
    );
  const gradient = record(9) as [number, number, number, number, number, number, number, number, number][];

  it.each([
    ["ux", record(3).map(([x]) => x as number)],
    ["uz", record(3).map(([, , z]) => z as number)],
    ["speed", record(3).map((u) => Math.hypot(...u))],
    ["divergence", gradient.map((g) => g[0] + g[4] + g[8])],
    ["vorticity", gradient.map((g) => Math.hypot(g[7] - g[5], g[2] - g[6], g[3] - g[1]))],
    [
      "Q",
      gradient.map((g) => {
        let sum = 0;
        for (let i = 0; i < 3; i++) {
          for (let j = 0; j < 3; j++) {
            const a = g[3 * i + j] as number;
            const b = g[3 * j + i] as number;
            sum += ((a - b) / 2) ** 2 - ((a + b) / 2) ** 2;
          }
        }
        return sum / 2;
      }),
    ],
  ])("%s follows from its record", async (field, expected) => {
    const got = floatsOf((await slice({ field, ...plane })).rawPayload);
    expect(got).toHaveLength(6);
    for (const [i, value] of got.entries()) {
      expect(Math.abs(value - (expected[i] as number))).toBeLessThanOrEqual(4e-7 * Math.abs(expected[i] as number));
    }
  });
});

describe("an expression", () => {
  const plane = { axis: "z", at: 0.5, time: 0.25, nodes: "3,2" } as const;
  const valuesOf = async (query: Record<string, unknown>) => floatsOf((await slice({ ...plane, ...query })).rawPayload);

  it.each([
    ["u.y", "uy", "Lag6"],
    ["-tr(A * A) / 2", "Q", "Fd4Lag4"],
    ["norm(gradp)", "gradpressure", "None_Fd4"],
    ["sqrt(2 * ddot(S, S))", "strain", "M2Q8"],
  ])("%s is the quantity %s", async (expression, field, method) => {
    const [ours, known] = [await valuesOf({ field: expression, method }), await valuesOf({ field, method })];
    expect(ours).toHaveLength(6);
    for (const [i, value] of ours.entries())
      expect(Math.abs(value - (known[i] as number))).toBeLessThanOrEqual(1e-5 * Math.abs(known[i] as number) + 1e-6);
  });

  it("knows places and the time", async () => {
    for (const value of await valuesOf({ field: "t + 0 * x" })) expect(value).toBe(0.25);
    for (const value of await valuesOf({ field: "z" })) expect(value).toBe(0.5);
  });

  it.each([
    ["p + u", "field: + joins a scalar and a vector (column 3)."],
    ["lap_speed", "field: nothing has the name lap_speed"],
    ["epsilon", "field: epsilon: nu is not known: the dataset states no viscosity"],
    ["dissipation", "field: nothing has the name dissipation; epsilon is 2*nu*ddot(S,S)"],
    ["magnetic.x", "field: the dataset has no magnetic"],
  ])("%s is refused in one line", async (field, text) => {
    const { detail } = (await slice({ ...plane, field })).json();
    expect(detail).toContain(text);
  });
});

describe("refusals", () => {
  const good = { field: "p", axis: "x", at: 0, time: 0 };
  it.each([
    ["an unknown field", { ...good, field: "colour" }, 400, "field"],
    ["a fourth axis", { ...good, axis: "w" }, 400, "axis"],
    ["no time", { field: "p", axis: "x", at: 0 }, 400, "time"],
    ["a method of values for derivatives", { ...good, field: "Q", method: "Lag4" }, 400, "method"],
    ["a position that is no number", { ...good, at: "middle" }, 400, "at"],
    ["no nodes", { ...good, nodes: 0 }, 400, "nodes"],
    ["nodes in hexadecimal", { ...good, nodes: "0x8" }, 400, "nodes"],
    ["nodes with a fraction", { ...good, nodes: "8.0" }, 400, "nodes"],
    ["an origin without an extent", { ...good, origin: "0,0" }, 400, "origin"],
    ["an extent of nothing", { ...good, origin: "0,0", extent: "1,0" }, 400, "extent"],
    ["an origin of three numbers", { ...good, origin: "0,0,0", extent: "1,1" }, 400, "origin"],
    ["a filter width for a value", { ...good, filterlength: 1 }, 400, "filterlength"],
    ["a filtered quantity without a width", { ...good, field: "boxp" }, 400, "filterlength"],
    ["a method for a filtered quantity", { ...good, field: "boxp", filterlength: 1, method: "Lag4" }, 400, "method"],
    ["a descending range", { ...good, range: "1,0" }, 400, "range"],
    ["an unknown parameter", { ...good, colour: "red" }, 400, "colour"],
  ])("refuses %s", async (_what, query, status, member) => {
    const response = await slice(query, "image/png");
    expect([response.statusCode, response.json().member]).toEqual([status, member]);
  });

  it("says what is missing and what is allowed without a word of schemas", async () => {
    const { axis: _, ...rest } = good;
    expect((await slice(rest, "image/png")).json().detail).toBe("axis is missing.");
    expect((await slice({ ...good, axis: "w" }, "image/png")).json().detail).toBe("axis must be one of x, y, z.");
  });

  it("names the parameters that there are in place of one that there is not", async () => {
    const { detail } = (await slice({ ...good, colour: "red" }, "image/png")).json();
    expect(detail).toMatch(/^A slice has no parameter "colour"; it has field, time, method, [A-Za-z., ]+\.$/);
  });

  it("refuses more points than a request may hold, before any work", async () => {
    const started = engine.log.started.length;
    const response = await slice({ ...good, nodes: "2000,1001" });
    expect(response.json()).toMatchObject({ code: "LimitExceeded", limit: "query.points" });
    expect(engine.log.started).toHaveLength(started);
  });
});
