/** Particles with drag, inputs as points, and given groups, against the SOAP operations and calls against each other. */
import { expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { useTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

const service = await useTestData();

const question = (call: string, members: Members): Promise<AnyAnswer> =>
  ask(service, { dataset: "isotropic32", call, ...members }).then(jsonOf);

const POINTS = [
  [1, 2, 3],
  [4, 5, 6],
  [0.1, 6.2, 3.1],
] as const;
const VELOCITIES = [
  [0.5, 0, 0],
  [0, -1, 0],
  [0, 0, 2],
] as const;

it("moves particles with drag as the SOAP operation does, with and without velocities of their own", async () => {
  const client = await connect(service.url);
  const { step } = (await question("paths", { points: POINTS, time: "0.4:0.9", drag: 0.2 })).question;
  const track = {
    dataset: "isotropic32",
    StartTime: 0.4,
    EndTime: 0.9,
    Tp: 0.2,
    spatialInterpolation: "Lag6",
  } as const;
  const members = { time: "0.4:0.9", drag: 0.2, step, method: "Lag6", last: true };
  for (const velocities of [undefined, VELOCITIES]) {
    const own = velocities === undefined ? {} : { InitialV: velocities };
    const { values } = await client.GetPositionInertialParticle({ ...track, points: POINTS, ...own } as never);
    const body = `x,y,z${velocities === undefined ? "" : ",vx,vy,vz"}\n${POINTS.map((point, i) => [...point, ...(velocities?.[i] ?? [])].join(",")).join("\n")}\n`;
    const query = new URLSearchParams(Object.entries(members).map(([name, value]) => [name, String(value)]));
    const response = await fetch(`${service.url}/api/datasets/isotropic32/paths?${query}`, {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body,
    });
    const { rows } = await jsonOf(response);
    const width = values.length / POINTS.length;
    for (const [i, row] of (rows as number[][]).entries())
      for (let c = 0; c < 3; c++) expect(row[2 + c]).toBeCloseTo(values[width * i + c] as number, 5);
  }
  const tracers = await question("paths", { points: POINTS, time: [0.4, 0.9], method: "Lag6", last: true, step });
  const light = await question("paths", { ...members, points: POINTS, drag: 1e-4 });
  for (const [i, row] of (light.rows as number[][]).entries())
    for (let c = 2; c < 5; c++) expect(Math.abs((row[c] as number) - tracers.rows[i][c])).toBeLessThan(2e-3);
});

const FALLS = { call: "paths", points: POINTS };
const FITS = "(5000000 > 2000000): 2 of 5 times with as many samples, or 400000 samples at 5 times would fit";
it.each([
  [400, { ...FALLS, time: "0.9:0.4", drag: 0.1 }, "time: particles with drag are not tracked backwards."],
  [
    400,
    { ...FALLS, time: "0.4:0.9", drag: 0.1, integrator: "rk4" },
    "integrator: particles with drag are tracked by heun.",
  ],
  [400, { ...FALLS, time: "0.4:0.9", drag: -1 }, "drag: expected a number above 0"],
  [400, { ...FALLS, time: "0.4:0.9", points: "1,2,3,0,0,0" }, "points: initial velocities vx, vy, vz are of particles"],
  [413, { call: "grid", time: 0.5, samples: 200 }, "(8000000 > 2000000): 2000000 samples would fit"],
  [413, { call: "grid", time: "0:2:0.5", samples: 100 }, FITS],
  [422, { ...FALLS, points: "1,1,1,1;1,1,1,3", time: "each:0.5", step: 0.25 }, "Time 3 out of range"],
])("refuses by %i in one line, or says what would fit: %j", async (status, members, words) => {
  const response = await ask(service, { dataset: "isotropic32", ...members });
  expect(response.status).toBe(status);
  expect(((await response.json()) as { detail: string }).detail).toContain(words);
});

it("follows streamlines of one time, beyond the stored times, with quantities of that time", async () => {
  const [time, step, count] = [0.8, 0.05, 40] as const;
  const how = { method: "Lag6", integrator: "rk4" };
  const what = "u, p";
  const members = {
    what,
    points: POINTS,
    time: `${time}:${time + step * count}`,
    step,
    frozen: true,
    every: count / 2,
  };
  const { rows, question: understood } = await question("paths", { ...members, ...how });
  expect(understood.frozen).toBe(true);
  const velocity = async (at: readonly (readonly number[])[]): Promise<number[][]> =>
    (await question("values", { what: "u", points: at, time, method: "Lag6" })).rows.map((row: number[]) =>
      row.slice(-3),
    );
  const plus = (at: readonly (readonly number[])[], by: readonly number[][], scale: number) =>
    at.map((one, i) => one.map((x, c) => x + scale * ((by[i] as number[])[c] as number)));
  let at: readonly (readonly number[])[] = POINTS;
  for (let n = 0; n < count; n++) {
    const a = await velocity(at);
    const b = await velocity(plus(at, a, step / 2));
    const c = await velocity(plus(at, b, step / 2));
    const d = await velocity(plus(at, c, step));
    at = plus(plus(plus(plus(at, a, step / 6), b, step / 3), c, step / 3), d, step / 6);
  }
  for (const [i, place] of at.entries()) {
    const row = rows[3 * i + 2];
    for (let c = 0; c < 3; c++) expect(Math.abs(row[2 + c] - (place[c] as number))).toBeLessThan(1e-4);
    const there = await question("values", { what, points: [row.slice(2, 5)], time, method: "Lag6" });
    for (const [q, value] of there.rows[0].slice(-4).entries()) expect(row[6 + q]).toBeCloseTo(value, 6);
  }
  const moving = await ask(service, { dataset: "isotropic32", call: "paths", ...members, ...how, frozen: false });
  expect((await moving.json()).detail).toMatch(/out of range/);
});

it.each([
  ["u.x", "x", {}],
  ["omega.x", "omega.x", { what: "omega" }],
  ["lap(p)", "q", { what: "q = lap(p)" }],
])("has increments of %s along paths, and its histograms", async (what, name, more) => {
  const members = { points: POINTS, time: "0.4:0.9", step: 0.05, every: 2 };
  const asked = { ...members, ...more };
  const { increments, times } = await question("dispersion", { ...asked, increments: [2, 0.5], origins: "all" });
  const { rows } = await question("paths", { ...members, what });
  const records = times.length;
  const valueAt = (i: number, r: number): number => rows[i * records + r].at(-1);
  const { histogram, question: again } = await question("dispersion", { ...asked, bins: 3, range: [-1, 2] });
  expect((await question("dispersion", again)).histogram).toEqual(histogram);
  expect(histogram.edges).toEqual([-1, 0, 1, 2]);
  for (let r = 0; r < records; r++) {
    const values = POINTS.map((_, i) => valueAt(i, r));
    const inBins = [0, 1, 2].map((bin) => values.filter((one) => Math.floor(one) === bin - 1).length);
    expect([histogram.count[r], histogram.counts[name][r]]).toEqual([POINTS.length, inBins]);
  }
  for (let lag = 0; lag < records; lag++) {
    const found = POINTS.flatMap((_, i) =>
      Array.from({ length: records - lag }, (_lag, o) => valueAt(i, o + lag) - valueAt(i, o)),
    );
    const mean = found.reduce((sum, one) => sum + one * one, 0) / found.length;
    expect(increments.count[lag]).toBe(found.length);
    expect(Math.abs(increments.moments["2"][name][lag] - mean)).toBeLessThanOrEqual(1e-5 * mean);
  }
  const wrong = await ask(service, { dataset: "isotropic32", call: "dispersion", ...members, origins: "all" });
  expect((await wrong.json()).detail).toMatch(/^origins: it is of increments/);
});
