/** Points that have times of their own get, bit for bit, what one call at each time answers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scatter } from "../support/accuracy.js";
import { serveTestData } from "../support/service.js";

const count = 300;
const flat = scatter(count);
const points = Array.from({ length: count }, (_, i) => [...flat.subarray(3 * i, 3 * i + 3)]);
/** Stored times, times between them, and several points at one time. */
const times = points.map((_, i) => [0.4, 0.43, 0.6, 1.234, 0.5 + 0.004 * (i % 60)][i % 5] as number);

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

type Answer = Record<string, unknown> & { values: number[][]; options: object };
const url = (path: string): string => `${service.url}/api/datasets/isotropic32/${path}`;
async function post(path: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url(path), { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

/** What single calls answer, one for each time. */
async function oneByOne(path: string, ask: object, member: string): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const time of new Set(times)) {
    const here = times.flatMap((one, i) => (one === time ? [i] : []));
    const answer = await post(path, { ...ask, [member]: time, points: here.map((i) => points[i]) });
    here.forEach((i, k) => {
      values[i] = answer.values[k];
    });
  }
  return values;
}

const fields = { spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" };

describe("points with times of their own", () => {
  it.each([
    ["GetVelocity", fields],
    ["GetVelocity", { ...fields, temporalInterpolation: "None" }],
    ["GetVelocityAndPressure", { ...fields, spatialInterpolation: "M2Q8" }],
    ["GetVelocityGradient", { ...fields, spatialInterpolation: "Fd4Lag4" }],
    ["GetPressureHessian", { ...fields, spatialInterpolation: "None_Fd6" }],
    ["GetForce", fields],
    ["GetBoxFilter", { field: "u", filterwidth: 0.6 }],
  ])("get the bits of one call at each time from %s %j", async (operation, ask) => {
    const { values, options } = await post(operation, { times, pairing: "each", ...ask, points });
    expect(values).toEqual(await oneByOne(operation, ask, "time"));
    expect(options).toEqual({ ...ask, pairing: "each" });
  });

  it("have each frame read once by a cache with room for five", async () => {
    const small = await serveTestData([], { CACHE_BYTES: `${5 * 12 * 32 ** 3}` });
    try {
      const spread = scatter(2000);
      const many = Array.from({ length: 2000 }, (_, i) => [...spread.subarray(3 * i, 3 * i + 3)]);
      const own = many.map((_, i) => 0.405 + 0.001 * (i % 1000));
      const response = await fetch(`${small.url}/api/datasets/isotropic32/GetVelocity`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ times: own, pairing: "each", ...fields, points: many }),
      });
      const { values } = (await response.json()) as Answer;
      const apart = [7, 912, 1999];
      for (const i of apart) {
        const alone = await post("GetVelocity", { time: own[i], ...fields, points: [many[i]] });
        expect(values[i]).toEqual(alone.values[0]);
      }
      const text = await (await fetch(`${small.url}/metrics`)).text();
      // Times from 0.4 to 1.41 need the nine frames from 0.2 to 1.8; few points need the last one.
      const read = Number(/^fieldprobe_read_bytes_total ([0-9.e+]+)$/m.exec(text)?.[1]);
      expect(read).toBeGreaterThan(8 * 12 * 32 ** 3);
      expect(read).toBeLessThanOrEqual(9 * 12 * 32 ** 3);
    } finally {
      await small.close();
    }
  });

  it("are read from octets with four columns, and answered as octets", async () => {
    const body = new Float32Array(4 * count);
    for (const [i, point] of points.entries()) body.set([...point, times[i] as number], 4 * i);
    const { values } = await post("GetVelocity", { times, ...fields, points });
    const response = await fetch(`${url("GetVelocity")}?columns=xyzt&${new URLSearchParams(fields)}`, {
      ...{ method: "POST", body: Buffer.from(body.buffer) },
      headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
    });
    expect([...new Float32Array(await response.arrayBuffer())]).toEqual(values.flat().map(Math.fround));
  });

  it("start paths at their times, with records timed from the start", async () => {
    const steps = { dt: 0.05, nt: 4, spatialInterpolation: "Lag4" };
    for (const integrator of ["heun", "dopri5"]) {
      const path = `GetPosition?integrator=${integrator}`;
      const { values } = await post(path, { startTimes: times, ...steps, points });
      expect(values).toEqual(await oneByOne(path, steps, "StartTime"));
      const along = `trajectories?every=2&integrator=${integrator}`;
      const records = await post(along, { startTimes: times, ...steps, points });
      expect(records.values).toEqual(await oneByOne(along, steps, "StartTime"));
      expect(records.times).toEqual([0, 0.1, 0.2].map((time) => expect.closeTo(time, 12)));
    }
  });

  it("refuse records of paths of different lengths, and end such paths at their common time", async () => {
    const ended = { EndTime: 1, dt: 0.05, spatialInterpolation: "Lag4", points: points.slice(0, 2) };
    const path = "trajectories?operation=GetPositionByEnd";
    const refused = await post(path, { startTimes: [0.4, 0.7], ...ended });
    expect([refused.detail, refused.member]).toEqual([
      "Paths of different durations have different numbers of records: give dt and nt.",
      "startTimes",
    ]);
    const both = await post("GetPositionByEnd", { startTimes: [0.4, 0.7], ...ended });
    const later = await post("GetPositionByEnd", { StartTime: 0.7, ...ended });
    expect(both.values[1]).toEqual(later.values[1]);
  });

  it.each([
    [{ times: [0.4], points: points.slice(0, 2) }, "times has 1 numbers for 2 points.", "times"],
    [{ times: [0.4], time: 0.4, points: points.slice(0, 1) }, "times and time exclude each other.", "times"],
    [{ times: [0.4, 99], points: points.slice(0, 2) }, 'Time 99 out of range for "isotropic32".', "times[1]"],
    [{ times: [0.4, null], points: points.slice(0, 2) }, "times", "times"],
    [{ times: 0.4, points: points.slice(0, 1) }, "times must be a list of numbers.", "times"],
    [{ times: [], points: [] }, "times is an empty list.", "times"],
    [{ times: [0.4], pairing: "all", points: points.slice(0, 1) }, "pairing must be one of each.", "pairing"],
  ])("are refused in one line: %j", async (body, detail, member) => {
    const answer = await post("GetVelocity", { ...fields, ...body });
    expect(answer.detail).toContain(detail);
    expect(answer.member).toBe(member);
  });
});
