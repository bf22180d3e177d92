/** Particles with drag, inputs as points, and given groups, against the SOAP operations and calls against each other. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import type { RunningService } from "../../../src/main.js";
import { serveTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

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
  const tracers = await question("paths", { points: POINTS, time: "0.4:0.9", method: "Lag6", last: true, step });
  const light = await question("paths", { ...members, points: POINTS, drag: 1e-4 });
  for (const [i, row] of (light.rows as number[][]).entries())
    for (let c = 2; c < 5; c++) expect(Math.abs((row[c] as number) - tracers.rows[i][c])).toBeLessThan(2e-3);
});

it.each([
  [{ time: "0.9:0.4", drag: 0.1 }, "time: particles with drag are not tracked backwards."],
  [{ time: "0.4:0.9", drag: 0.1, integrator: "rk4" }, "integrator: particles with drag are tracked by heun."],
  [{ time: "0.4:0.9", drag: -1 }, "drag: expected a number above 0"],
])("refuses %j in one line", async (members, words) => {
  const response = await ask(service, { dataset: "isotropic32", call: "paths", points: POINTS, ...members });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { detail: string }).detail).toContain(words);
});

it("refuses initial velocities of particles of the flow", async () => {
  const response = await fetch(`${service.url}/api/datasets/isotropic32/paths?time=0.4:0.5`, {
    method: "POST",
    headers: { "content-type": "text/csv" },
    body: "x,y,z,vx,vy,vz\n1,2,3,0,0,0\n",
  });
  expect(await response.json()).toMatchObject({ member: "points", status: 400 });
});

it.each([
  ["grid", { time: 0.5, samples: 200 }, "(8000000 > 2000000): 2000000 samples would fit"],
  [
    "grid",
    { time: "0:2:0.5", samples: 100 },
    "(5000000 > 2000000): 2 of 5 times with as many samples, or 400000 samples at 5 times would fit",
  ],
])("says what would fit above a limit: %s %j", async (call, members, words) => {
  const response = await ask(service, { dataset: "isotropic32", call, ...members });
  expect(response.status).toBe(413);
  expect(((await response.json()) as { detail: string }).detail).toContain(words);
});
