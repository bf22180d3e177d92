/** Quantities along paths are, bit for bit, what point calls answer at the recorded places and times. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scatter } from "../support/accuracy.js";
import { serveTestData } from "../support/service.js";

const count = 40;
const flat = scatter(count);
const points = Array.from({ length: count }, (_, i) => [...flat.subarray(3 * i, 3 * i + 3)]);
const ask = { StartTime: 0.5, dt: 0.07, nt: 6, spatialInterpolation: "Lag6", points };

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

interface Paths {
  readonly times: number[];
  readonly values: number[][][];
  readonly with: Record<string, (number | number[])[][]>;
  readonly detail?: string;
  readonly member?: string;
}

async function post(path: string, body: object, accept = "application/json"): Promise<Response> {
  const headers = { "content-type": "application/json", accept };
  return fetch(`${service.url}/api/datasets/isotropic32/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
}

const quantities = ["u", "p", "A", "2*ddot(S,S)", "gradp", "t"];
const wanted = quantities.map((name) => `with=${encodeURIComponent(name)}`).join("&");

describe("values along paths", () => {
  it("of no points are none", async () => {
    const path = `trajectories?${wanted}`;
    const paths = (await (await post(path, { ...ask, points: [] })).json()) as Paths;
    expect(paths.values).toEqual([]);
    expect(Object.values(paths.with)).toEqual(quantities.map(() => []));
  });

  it.each(["heun", "rk4", "dopri5"])("are those of point calls, on paths of %s", async (integrator) => {
    const path = `trajectories?every=2&integrator=${integrator}`;
    const paths = (await (await post(`${path}&${wanted}`, ask)).json()) as Paths;
    const plain = (await (await post(path, ask)).json()) as Paths;
    expect(paths.values).toEqual(plain.values);
    expect(Object.keys(paths.with)).toEqual(quantities);
    for (const [k, time] of paths.times.entries()) {
      const places = paths.values.map((records) => records[k]?.slice(0, 3));
      const call = async (operation: string, spatialInterpolation: string): Promise<number[][]> => {
        const at = { time, spatialInterpolation, temporalInterpolation: "PCHIP", points: places };
        return ((await (await post(operation, at)).json()) as { values: number[][] }).values;
      };
      const along = (name: string) => paths.with[name]?.map((records) => records[k]);
      expect(along("u")).toEqual(await call("GetVelocity", "Lag6"));
      expect(along("p")).toEqual((await call("GetPressure", "Lag6")).map(([p]) => p));
      const gradients = await call("GetVelocityGradient", "Fd4Lag4");
      expect(along("A")).toEqual(gradients);
      expect(along("gradp")).toEqual(await call("GetPressureGradient", "Fd4Lag4"));
      expect(along("t")?.[0]).toBeCloseTo(time, 6);
      for (const [i, g] of gradients.entries()) {
        const strain = (a: number, b: number) => ((g[3 * a + b] as number) + (g[3 * b + a] as number)) / 2;
        let sum = 0;
        for (let a = 0; a < 3; a++) for (let b = 0; b < 3; b++) sum += 2 * strain(a, b) ** 2;
        expect((along("2*ddot(S,S)")?.[i] as number) / sum).toBeCloseTo(1, 5);
      }
    }
  });

  it("are columns of CSV and octets, by name", async () => {
    const path = "trajectories?every=3&with=u&with=Q";
    const paths = (await (await post(path, ask)).json()) as Paths;
    const rows = paths.values.flatMap((records, i) =>
      records.map((record, k) => [
        ...record,
        ...((paths.with.u?.[i]?.[k] ?? []) as number[]),
        paths.with.Q?.[i]?.[k] as number,
      ]),
    );
    const csv = (await (await post(path, ask, "text/csv")).text()).trim().split("\r\n");
    expect(csv[0]).toBe("time,x,y,z,u_x,u_y,u_z,Q");
    expect(csv.slice(1).map((line) => line.split(",").slice(1).map(Number))).toEqual(rows);
    const octets = await post(path, ask, "application/octet-stream");
    expect(octets.headers.get("fieldprobe-shape")).toBe(`${count},3,7`);
    expect([...new Float32Array(await octets.arrayBuffer())]).toEqual(rows.flat().map(Math.fround));
  });

  it("are taken at the times of paths that start at different times", async () => {
    const { StartTime: _, ...others } = ask;
    const startTimes = points.map((_point, i) => 0.4 + 0.1 * (i % 3));
    const paths = (await (await post("trajectories?every=6&with=t", { ...others, startTimes })).json()) as Paths;
    for (const [i, start] of startTimes.entries()) {
      expect(paths.with.t?.[i]?.[0]).toBeCloseTo(start, 6);
      expect(paths.with.t?.[i]?.[1]).toBeCloseTo(start + 0.42, 6);
    }
  });

  it("are refused in one line", async () => {
    const refused = async (query: string) => (await (await post(`trajectories?${query}`, ask)).json()) as Paths;
    expect((await refused("with=nothing")).member).toBe("with");
    expect(await refused("with=A&derivatives=Lag6")).toMatchObject({
      detail: expect.stringMatching(/^derivatives: GetFieldGradient takes None_Fd4, /),
      member: "derivatives",
    });
  });
});
