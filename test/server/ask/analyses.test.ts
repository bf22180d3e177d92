/** Tables and nodes by the calls of the table, against values that other programs have computed of the same data. */
import { describe, expect, it } from "vitest";
import { useTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

const service = await useTestData();

const question = (call: string, members: Members): Promise<AnyAnswer> =>
  ask(service, { dataset: "isotropic32", call, time: 0.6, ...members }).then(jsonOf);

const rowsOf = async (members: Members): Promise<readonly string[]> => {
  const how = { dataset: "isotropic32", call: "statistics", time: 0.6, format: "csv" };
  return (await (await ask(service, { ...how, ...members })).text()).trim().split(/\r?\n/);
};

const close = (value: number, expected: number): void =>
  expect(Math.abs(value - expected)).toBeLessThan(1e-9 * Math.max(1, Math.abs(expected)));

/** Stored frame of time 0.6 of isotropic32; float64 sums over its nodes by numpy. */
describe("statistics", () => {
  it("has moments of each component", async () => {
    const { results } = await question("statistics", { what: "u, p" });
    const [u, p] = results;
    expect(u.of).toEqual(["u.x", "u.y", "u.z"]);
    close(u.variance[0], 0.29170524861);
    close(p.variance, 0.15305113666757134);
  });

  it("has the reductions that are asked, in their order", async () => {
    const reduce = [
      { histogram: "u.x", bins: 20, range: [-2, 2] },
      { covariance: ["u"] },
      {
        joint: ["R", "-tr(A*A)/2"],
        bins: [4, 4],
        range: [
          [-8, 8],
          [-8, 8],
        ],
      },
    ];
    const { results } = await question("statistics", { reduce });
    expect(results[0].counts).toEqual([
      0, 1, 123, 336, 680, 1576, 2193, 2680, 3560, 4653, 4888, 4223, 3693, 1946, 1309, 639, 230, 38, 0, 0,
    ]);
    close(results[1].matrix[0][0], 0.29170524860974173);
    close(results[1].matrix[0][1], 0.06821034015139155);
    expect(results[2].counts).toEqual([
      [0, 0, 1, 17],
      [0, 6959, 8581, 258],
      [32, 12573, 4203, 103],
      [0, 0, 5, 12],
    ]);
  });

  it("leaves out and counts what a condition does not hold of", async () => {
    const { held, left_out, results, where } = await question("statistics", { what: "p", where: "p > 0" });
    const { results: all } = await question("statistics", { reduce: [{ histogram: "p", bins: 1, range: [0, 1e9] }] });
    expect(held + left_out).toBe(32 ** 3);
    expect(held).toBe(all[0].counts[0]);
    expect(where).toBe("p > 0");
    expect(results[0]).toMatchObject({ of: "p", count: held, missing: left_out });
    expect(results[0].min).toBeGreaterThan(0);
  });

  it("is of a region by nodes or by lengths, and over points", async () => {
    const byNodes = await question("statistics", { what: "p", i: "0:8", j: "4:20:2", k: 3 });
    const spacing = (2 * Math.PI) / 32;
    const byLength = await question("statistics", { what: "p", x: `0:${7 * spacing}`, j: "4:20:2", z: 3 * spacing });
    expect(byNodes.results[0].count).toBe(8 * 8);
    expect(byLength.results).toEqual(byNodes.results);
    const drawn = await question("statistics", { what: "p", points: { random: 1000, seed: 3 } });
    expect(drawn.results[0].count).toBe(1000);
    const given = await question("statistics", {
      what: "p",
      points: [
        [0, 0, 0],
        [1, 2, 3],
      ],
    });
    expect(given.results[0].count).toBe(2);
  });

  it("gives profiles along the directions that are left, two of them as a table too", async () => {
    const { results } = await question("statistics", { what: "p", over: "x,t" });
    expect(Object.keys(results[0].coordinates)).toEqual(["z", "y"]);
    expect(results[0].mean).toHaveLength(32);
    const [head = "", ...lines] = await rowsOf({ what: "p", over: "x,t" });
    expect(head.split(",").slice(0, 3)).toEqual(["y", "z", "mean"]);
    expect(lines).toHaveLength(32 * 32);
    expect(Number(lines[33]?.split(",")[2])).toBe(results[0].mean[1][1]);
  });

  it("has several reductions in every form", async () => {
    const [head = "", ...lines] = await rowsOf({ what: "u.x, p" });
    expect(head.split(",")).toContain("of");
    expect(lines).toHaveLength(2);
  });
});

describe("find", () => {
  it("has the nodes of a condition, largest first, and how many there are", async () => {
    const { rows, columns, total } = await question("find", {
      where: "norm(omega) > 2*rms(norm(omega))",
      what: "norm(omega), p",
      limit: 5,
    });
    expect(total).toBe(1321);
    expect(columns.map((one: { name: string }) => one.name)).toEqual([
      "i",
      "j",
      "k",
      "x",
      "y",
      "z",
      "norm(omega)",
      "p",
    ]);
    const found = rows.map((row: number[]) => row[6]);
    expect(found).toEqual([...found].sort((a, b) => b - a));
    const [i, j, k] = rows[0];
    const { data } = await question("nodes", { what: "norm(omega)", i, j, k });
    expect(data["norm(omega)"]).toBeCloseTo(found[0], 5);
    const { results } = await question("statistics", { what: "norm(omega)" });
    expect(found[0]).toBeCloseTo(results[0].max, 5);
  });

  it("counts all nodes that hold, also those where the first quantity has no value", async () => {
    const { total: held } = await question("find", { where: "u.x > 0.5", limit: 1 });
    const { total: positive } = await question("find", { where: "u.x > 0.5 && p > 0", limit: 1 });
    const logarithm = await question("find", { where: "u.x > 0.5", what: "log(p)", limit: 1 });
    expect(logarithm).toMatchObject({ total: held, missing: held - positive });
  });

  it("goes in the order of nodes without a quantity, and finds the greatest without a condition", async () => {
    const { rows, total } = await question("find", { where: "p > 0", limit: 3 });
    expect(total).toBeGreaterThan(3);
    const order = rows.map(([i, j, k]: number[]) => (i as number) + 32 * ((j as number) + 32 * (k as number)));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const greatest = await question("find", { what: "p", limit: 1 });
    const { results } = await question("statistics", { what: "p" });
    expect(greatest.rows[0][6]).toBeCloseTo(results[0].max, 6);
    expect(greatest.total).toBe(32 ** 3);
  });
});

describe("nodes", () => {
  it("are the stored numbers, over a seam as asked, a number without its dimension", async () => {
    const all = await question("nodes", { what: "u, p" });
    expect(all.dims).toEqual(["z", "y", "x"]);
    const part = await question("nodes", { what: "u, p", i: "30:35", j: 7, k: "-1:1" });
    expect(part.dims).toEqual(["z", "x"]);
    expect(part.coords.x.at(-1)).toBeCloseTo((34 * 2 * Math.PI) / 32, 6);
    for (const [c, k] of [31, 0].entries())
      for (const [a, i] of [30, 31, 0, 1, 2].entries()) {
        expect(part.data.u[c][a]).toEqual(all.data.u[k][7][i]);
        expect(part.data.p[c][a]).toBe(all.data.p[k][7][i]);
      }
  });

  it("have any quantity, and frames by number from 0", async () => {
    const { dims, data, coords } = await jsonOf(
      await ask(service, { dataset: "isotropic32", call: "nodes", what: "2*ddot(S,S)", frame: "0:2", k: 0 }),
    );
    expect(dims).toEqual(["t", "y", "x"]);
    expect(coords.t).toHaveLength(2);
    const plane = data["2*ddot(S,S)"][1].flat() as number[];
    const { results } = await jsonOf(
      await ask(service, { dataset: "isotropic32", call: "statistics", what: "2*ddot(S,S)", frame: 1, k: 0 }),
    );
    expect(plane.reduce((sum, one) => sum + one, 0) / plane.length).toBeCloseTo(results[0].mean, 5);
  });
});

describe("grid", () => {
  it("samples at the nodes of a whole axis what values has there", async () => {
    const { dims, coords, data } = await question("grid", { what: "p, u", z: 1.5, samples: [4, 3] });
    expect(dims).toEqual(["y", "x"]);
    expect(coords.x).toEqual([0, Math.PI / 2, Math.PI, (3 * Math.PI) / 2]);
    expect(coords.z).toBe(1.5);
    const points = coords.y.flatMap((y: number) => coords.x.map((x: number) => [x, y, 1.5]));
    const { rows } = await question("values", { what: "p, u", points });
    expect(data.p.flat()).toEqual(rows.map((row: number[]) => row[3]));
    expect(data.u.flat()).toEqual(rows.map((row: number[]) => row.slice(4)));
  });

  it("samples the middles of a range", async () => {
    const { coords } = await question("grid", { what: "p", x: "1:3", y: 1, z: 2, samples: 4 });
    expect(coords.x).toEqual([1.25, 1.75, 2.25, 2.75]);
  });
});

describe("paths", () => {
  const moving = {
    points: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    time: "0.4:0.6",
    step: 0.05,
  };

  it("record the start, every so many steps, and the end", async () => {
    const { columns, rows } = await question("paths", { ...moving, what: "u, p", every: 3 });
    const names = columns.map((one: { name: string }) => one.name);
    expect(names.join(" ")).toBe("particle t x y z exit u.x u.y u.z p");
    expect(rows.map((row: number[]) => row.slice(0, 2))).toEqual([
      [0, 0.4],
      [0, 0.55],
      [0, 0.6],
      [1, 0.4],
      [1, 0.55],
      [1, 0.6],
    ]);
    expect(rows[0].slice(2, 6)).toEqual([1, 2, 3, null]);
    const { rows: values } = await jsonOf(
      await ask(service, {
        dataset: "isotropic32",
        call: "values",
        what: "u, p",
        points: [rows[2].slice(2, 5)],
        time: 0.6,
      }),
    );
    expect(rows[2].slice(6)).toEqual(values[0].slice(3));
    const { rows: ends } = await question("paths", { ...moving, last: true });
    expect(ends.map((row: number[]) => row.slice(0, 5))).toEqual([rows[2].slice(0, 5), rows[5].slice(0, 5)]);
  });

  it("run for a time from a start of each one's own", async () => {
    const { rows } = await question("paths", {
      ...moving,
      points: [
        [1, 2, 3, 0.4],
        [4, 5, 6, 0.5],
      ],
      time: "each:0.1",
      last: true,
    });
    const first = await question("paths", { ...moving, points: [[1, 2, 3]], time: "0.4:0.5", last: true });
    const second = await question("paths", { ...moving, points: [[4, 5, 6]], time: "0.5:0.6", last: true });
    expect(rows[0].slice(1, 5)).toEqual(first.rows[0].slice(1, 5));
    expect(rows[1].slice(1, 5)).toEqual(second.rows[0].slice(1, 5));
  });
});

describe("flow_map", () => {
  it("maps particles as paths do", async () => {
    const { dims, coords, data } = await question("flow_map", { z: 1.5, samples: 3, time: "0.4:0.6", step: 0.05 });
    expect(dims).toEqual(["y", "x"]);
    const points = coords.y.flatMap((y: number) => coords.x.map((x: number) => [x, y, 1.5]));
    const { rows } = await question("paths", { points, time: "0.4:0.6", step: 0.05, last: true });
    expect(data.map.flat()).toEqual(rows.map((row: number[]) => row.slice(2, 5)));
    const [f] = data.gradient.flat() as number[][][];
    const [[a, b, c], [d, e, g], [h, i, j]] = f as unknown as [
      [number, number, number],
      [number, number, number],
      [number, number, number],
    ];
    expect(a * (e * j - g * i) - b * (d * j - g * h) + c * (d * i - e * h)).toBeCloseTo(1, 2);
    expect(data.ftle.flat()).toHaveLength(9);
  });
});

describe("dispersion", () => {
  it("starts pairs at their distance", async () => {
    const { times, pairs } = await question("dispersion", {
      points: { pairs: 20, distance: 0.2, seed: 1 },
      time: "0.4:0.6",
      step: 0.05,
    });
    expect(times).toEqual([0.4, 0.45, 0.5, 0.55, 0.6]);
    expect(pairs.separation[2][0]).toBeCloseTo(0.04, 5);
  });
});
