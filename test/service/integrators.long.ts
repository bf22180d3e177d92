/** Integrators of `/api`, the typed client and the command line, against steps made of single calls of GetVelocity. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type FieldClient } from "../../src/client/index.js";
import type { RunningService } from "../../src/main.js";
import { serveTestData } from "../support/service.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const dataset = "isotropic32";
const spatialInterpolation = "Lag6";
const points = [
  [1, 2, 3],
  [6.2, 0.1, 4],
] as [number, number, number][];
const ask = { StartTime: 0.5, dt: 0.1, nt: 3, spatialInterpolation } as const;

let service: RunningService;
let client: FieldClient;
beforeAll(async () => {
  service = await serveTestData();
  client = await connect(service.url);
});
afterAll(() => service.close());

async function post(path: string, more: object = {}): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.url}/api/datasets/${dataset}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ask, ...more, points }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The path of a client of its own, which asks for the velocity of every stage. */
async function stepsOfClient(): Promise<number[]> {
  const velocity = async (places: number[], time: number): Promise<number[]> => {
    const request = { dataset, time, spatialInterpolation, temporalInterpolation: "PCHIP" } as const;
    return [...(await client.GetVelocity({ ...request, points: Float32Array.from(places) })).values];
  };
  let x = points.flat();
  for (let step = 0; step < ask.nt; step++) {
    const t = ask.StartTime + step * ask.dt;
    const from = (h: number, k: number[]) => x.map((value, i) => value + h * (k[i] as number));
    const k1 = await velocity(x, t);
    const k2 = await velocity(from(ask.dt / 2, k1), t + ask.dt / 2);
    const k3 = await velocity(from(ask.dt / 2, k2), t + ask.dt / 2);
    const k4 = await velocity(from(ask.dt, k3), t + ask.dt);
    const mean = k1.map((k, i) => (k + 2 * (k2[i] as number) + 2 * (k3[i] as number) + (k4[i] as number)) / 6);
    x = from(ask.dt, mean);
  }
  return x;
}

describe("integrators", () => {
  it("rk4 takes the steps that a client of GetVelocity takes, heun others; the last record is the answer", async () => {
    const expected = await stepsOfClient();
    const ends = ((await post("GetPosition?integrator=rk4")).body.values as number[][]).flat();
    for (const [i, value] of expected.entries()) expect(Math.abs((ends[i] as number) - value)).toBeLessThan(2e-6);
    const { body } = await post("trajectories?integrator=rk4&every=2");
    expect((body.values as number[][][]).flatMap((records) => records.at(-1))).toEqual(ends);
    const heun = (await post("GetPosition?integrator=heun")).body.values;
    expect(heun).toEqual((await post("GetPosition")).body.values);
    expect(heun).not.toEqual(ends);
  });

  it("answer the same to the typed client and the command line, asked by either way", async () => {
    const values = ((await post("GetPosition?integrator=rk4")).body.values as number[][]).flat();
    const single = await connect(service.url, { pointsPerRequest: 1 });
    const answer = await single.track("GetPosition", { dataset, ...ask, points, integrator: "rk4" });
    expect(answer.components).toEqual(["x", "y", "z"]);
    expect([...answer.values]).toEqual(values.map(Math.fround));
    const flags = "--time 0.5:0.8 --step 0.1 --method Lag6 --integrator rk4 --last --points -".split(" ");
    for (const where of [[], ["--url", service.url]]) {
      const argv = [BIN, "paths", dataset, ...flags, ...where];
      const input = points.map((point) => point.join(",")).join("\n");
      // The service runs in this process, which must not wait for the command.
      const running = promisify(execFile)(process.execPath, argv);
      running.child.stdin?.end(input);
      const { stdout, stderr } = await running;
      expect(stderr).toBe("");
      const rows = stdout.trim().split("\n").slice(1);
      expect(rows.flatMap((row) => row.split(",").slice(2, 5).map(Number))).toEqual(values);
    }
  });

  it("dopri5 keeps its tolerance and answers the steps taken, alike to the typed client and the command line", async () => {
    const many = { dt: 0.3 / 256, nt: 256, spatialInterpolation: "M2Q8" };
    const exact = ((await post("GetPosition?integrator=rk4", many)).body.values as number[][]).flat();
    const few = { dt: 0.3, nt: 1, spatialInterpolation: "M2Q8" as const };
    const { body } = await post("GetPosition?integrator=dopri5&tolerance=1e-5", few);
    expect(body.components).toEqual(["x", "y", "z", "steps"]);
    expect(body.options).toMatchObject({ integrator: "dopri5", tolerance: 1e-5, openFaces: "fail" });
    const rows = body.values as number[][];
    for (const [i, [x = 0, y = 0, z = 0, steps]] of rows.entries()) {
      const off = [x, y, z].map((value, c) => value - (exact[3 * i + c] as number));
      expect(Math.hypot(...off)).toBeLessThan(1e-5 + 1e-6);
      expect(steps).toBeGreaterThan(1);
    }
    const answer = await client.track("GetPosition", {
      ...{ dataset, StartTime: 0.5, ...few, points, integrator: "dopri5", tolerance: 1e-5 },
    });
    expect(answer.record).toBe("Steps");
    expect([...answer.values]).toEqual(rows.flat().map(Math.fround));
    const flags =
      "--time 0.5:0.8 --step 0.3 --method M2Q8 --integrator dopri5 --tolerance 1e-5 --last --points -".split(" ");
    for (const where of [[], ["--url", service.url]]) {
      const running = promisify(execFile)(process.execPath, [BIN, "paths", dataset, ...flags, ...where]);
      running.child.stdin?.end(points.map((point) => point.join(",")).join("\n"));
      const lines = (await running).stdout.trim().split("\n");
      const ends = rows.flatMap((row) => row.slice(0, 3));
      expect(lines.slice(1).flatMap((row) => row.split(",").slice(2, 5).map(Number))).toEqual(ends);
    }
  });

  it("track by splines and backward, and end records with the answer", async () => {
    for (const integrator of ["heun", "rk4", "dopri5"]) {
      const spline = { spatialInterpolation: "M2Q8" };
      const there = (await post(`GetPosition?integrator=${integrator}`, spline)).body.values as number[][];
      const { body } = await post(`trajectories?integrator=${integrator}&every=2`, spline);
      expect((body.values as number[][][]).map((records) => records.at(-1))).toEqual(there);
      expect((body.values as number[][][]).map((records) => records[0]?.slice(0, 3))).toEqual(
        points.map((point) => point.map((value) => expect.closeTo(value, 6))),
      );
      const back = { ...spline, StartTime: 0.8, dt: -0.1 };
      const response = await fetch(`${service.url}/api/datasets/${dataset}/GetPosition?integrator=${integrator}`, {
        ...{ method: "POST", headers: { "content-type": "application/json" } },
        body: JSON.stringify({ ...ask, ...back, points: there.map((record) => record.slice(0, 3)) }),
      });
      const returned = ((await response.json()) as { values: number[][] }).values;
      for (const [i, point] of points.entries())
        for (const [c, value] of point.entries())
          expect(Math.abs((returned[i]?.[c] as number) - value)).toBeLessThan(integrator === "heun" ? 1e-3 : 5e-6);
    }
  });

  it("count steps by their evaluations against the limit of particle steps, and say what fits", async () => {
    for (const [integrator, most] of [
      ["heun", 1000],
      ["rk4", 500],
      ["dopri5", 333],
    ] as const) {
      const many = Array.from({ length: most + 1 }, () => [1, 2, 3]);
      const response = await fetch(`${service.url}/api/datasets/${dataset}/GetPosition?integrator=${integrator}`, {
        ...{ method: "POST", headers: { "content-type": "application/json" } },
        body: JSON.stringify({ StartTime: 0.5, dt: 1e-6, nt: 50_000, spatialInterpolation, points: many }),
      });
      expect(response.status).toBe(413);
      const { detail, limit } = (await response.json()) as { detail: string; limit: string };
      expect([detail, limit]).toEqual([
        `Request size too large (${most + 1} > ${most}): ${most} particles fit with as many steps; a job may take more (Prefer: respond-async)`,
        "query.particleSteps",
      ]);
    }
  });

  it("are refused by name: unknown ones, in the body, and with drag", async () => {
    expect(await post("GetPosition?integrator=euler")).toMatchObject({
      status: 400,
      body: { detail: "integrator must be one of heun, rk4, dopri5.", member: "integrator" },
    });
    expect(await post("GetPosition", { integrator: "rk4" })).toMatchObject({
      status: 400,
      body: { detail: 'integrator belongs in the query string, as in "?integrator=rk4", not in the body.' },
    });
    expect(await post("GetPosition?integrator=rk4&tolerance=1e-5")).toMatchObject({
      body: { detail: "Only dopri5 takes a tolerance: integrator is rk4.", member: "tolerance" },
    });
    expect(await post("GetPosition?integrator=dopri5&tolerance=0")).toMatchObject({
      body: { detail: "tolerance must be a number above 0.", member: "tolerance" },
    });
    const drag = { StartTime: 0.5, EndTime: 0.7, Tp: 0.1, spatialInterpolation };
    const response = await fetch(`${service.url}/api/datasets/${dataset}/GetPositionInertialParticle?integrator=rk4`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...drag, points }),
    });
    expect(response.status).toBe(400);
    const { detail, member } = (await response.json()) as { detail: string; member: string };
    expect([detail, member]).toEqual(["Only heun tracks particles with drag: integrator is rk4.", "integrator"]);
  });
});
