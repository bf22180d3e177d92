/** Flow maps of the included flow: incompressible, against GetPosition and differences of neighbouring paths. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import type { RunningService } from "../../src/main.js";
import { FLOW_MAP_EXAMPLE } from "../../src/server/rest/analysis/flow-map.js";
import { serveTestData } from "../support/service.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

interface FlowMap {
  readonly shape: number[];
  readonly map: number[][][];
  readonly gradient: number[][][][];
  readonly eigenvalues: number[][][];
  readonly ftle: number[][];
  readonly detail: string;
  readonly member: string;
}

async function post(path: string, body: object, accept = "application/json"): Promise<Response> {
  const headers = { "content-type": "application/json", accept };
  return fetch(`${service.url}/api/datasets/isotropic32/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
}
const ask = async (body: object): Promise<FlowMap> => (await (await post("flow-map", body)).json()) as FlowMap;

const det = ([a = [], b = [], c = []]: number[][]) => {
  const minor = (i: number, j: number) => (b[i] as number) * (c[j] as number) - (b[j] as number) * (c[i] as number);
  return (a[0] as number) * minor(1, 2) - (a[1] as number) * minor(0, 2) + (a[2] as number) * minor(0, 1);
};
const seeds = { plane: { normal: "z", at: 1.5, count: [8, 8] } };
const all = { quantities: ["map", "gradient", "eigenvalues", "ftle"] };

describe("flow maps", () => {
  it("keep volume: the median of |det F - 1| is below 1e-3 with splines, forward and backward", async () => {
    for (const [start, end] of [
      [0.4, 1.4],
      [1.4, 0.4],
    ]) {
      const { gradient, eigenvalues, ftle, shape } = await ask({
        start,
        end,
        dt: 0.01,
        method: "M2Q8",
        ...seeds,
        ...all,
      });
      expect(shape).toEqual([8, 8]);
      const off = gradient
        .flat()
        .map((F) => Math.abs(det(F) - 1))
        .sort((a, b) => a - b);
      expect(off[32]).toBeLessThan(1e-3);
      for (const [i, row] of ftle.entries())
        for (const [k, value] of row.entries())
          expect(value).toBeCloseTo(Math.log(Math.sqrt(eigenvalues[i]?.[k]?.[2] as number)), 4);
    }
  });

  it("are the places of GetPosition, and their gradients the differences of neighbouring paths", async () => {
    const h = 1e-3;
    const window = { origin: [1 - h / 2, 2 - h / 2], extent: [h, h] };
    const times = { start: 0.4, end: 1, dt: 0.05 };
    const one = await ask({ ...times, plane: { ...seeds.plane, count: [1] }, method: "M2Q8", window, ...all });
    const point = [1, 2, 1.5];
    const track = { StartTime: 0.4, EndTime: 1, dt: 0.05, spatialInterpolation: "M2Q8" };
    const around = [
      point,
      ...[0, 1, 2].flatMap((axis) => [1, -1].map((s) => point.map((x, c) => x + (c === axis ? s * 0.02 : 0)))),
    ];
    const answer = await post("GetPositionByEnd?integrator=rk4", { ...track, points: around });
    const { values } = (await answer.json()) as { values: number[][] };
    expect(one.map[0]?.[0]).toEqual(values[0]);
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) {
        const difference = ((values[1 + 2 * b]?.[a] as number) - (values[2 + 2 * b]?.[a] as number)) / 0.04;
        expect(Math.abs((one.gradient[0]?.[0]?.[a]?.[b] as number) - difference)).toBeLessThan(5e-3);
      }
  });

  it("are answered as octets, quantity by quantity, and as the example says", async () => {
    const json = await ask(FLOW_MAP_EXAMPLE);
    const response = await post("flow-map", FLOW_MAP_EXAMPLE, "application/octet-stream");
    expect(response.headers.get("fieldprobe-shape")).toBe("8,8");
    const numbers = [...new Float32Array(await response.arrayBuffer())];
    expect(numbers).toEqual([...json.map.flat(2), ...json.ftle.flat()].map(Math.fround));
  });

  it("count their seeds as points", async () => {
    const points = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(/^fieldprobe_points_total\{operation="flow-map"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await points();
    await ask({ ...seeds, start: 0.4, end: 0.5, dt: 0.05, method: "Lag4" });
    await expect.poll(points).toBe(before + 64);
  });

  it("are answered to the typed client", async () => {
    const { ftle, map, shape } = await (await connect(service.url)).flowMap("isotropic32", {
      ...{ start: 0.4, end: 0.6, dt: 0.05, box: { count: [2, 3, 4] }, method: "M2Q8" },
      ...{ derivatives: "M2Q8", quantities: ["ftle"] },
    });
    expect([shape, ftle?.length, map]).toEqual([[4, 3, 2], 4, undefined]);
  });

  it.each([
    [{ ...seeds, box: { count: [2] } }, "Either plane or box must be given.", "plane"],
    [{ ...seeds, derivatives: "Lag8" }, /^derivatives must be one of None_Fd4, /, "derivatives"],
    [{ ...seeds, end: 0.4 }, "The end of a flow map must not be its start.", "end"],
    [
      { plane: { normal: "z", at: 1, count: [2000, 1000] }, derivatives: "None_Fd4" },
      /^Request size too large \(2000000 > 520833\): 520833 particles fit with as many steps, or 3 steps of 2000000 particles \(192000000 particle steps, of which a step here counts 8, were asked, the limit is 50000000\)$/,
      undefined,
    ],
    [{ ...seeds, end: 99 }, /^Time 99 out of range/, "EndTime"],
    [{ ...seeds, quantities: ["area"] }, /^quantities\[0\]: /, "quantities[0]"],
    [{ ...seeds, window: { origin: [1], extent: [1] } }, "window.origin: expected array length", "window.origin"],
  ])("are refused in one line: %j", async (more, detail, member) => {
    const answer = await ask({ start: 0.4, end: 1, dt: 0.05, ...more });
    expect(answer.detail).toMatch(detail);
    expect(answer.member).toBe(member);
  });
});

describe("a batch", () => {
  const FLOW = { start: 0.4, end: 0.6, dt: 0.05, ...seeds, quantities: ["map", "ftle"] };
  const STATISTICS = { time: 0.4, reduce: [{ moments: "ux" }, { histogram: "p", bins: 4, range: [-1, 1] }] };
  const queries = [
    { dataset: "isotropic32", operation: "flow-map", ...FLOW },
    { dataset: "isotropic32", operation: "statistics", ...STATISTICS },
  ];
  const ask = (accept: string): Promise<Response> =>
    fetch(`${service.url}/api/batch`, {
      method: "POST",
      headers: { "content-type": "application/json", accept },
      body: JSON.stringify({ queries }),
    });

  it("answers a flow map and statistics as their own addresses do", async () => {
    const { results } = (await (await ask("application/json")).json()) as { results: unknown[] };
    const alone = [post("flow-map", FLOW), post("statistics", STATISTICS)].map(async (one) => (await one).json());
    expect(results).toEqual(await Promise.all(alone));
  });

  it("has the numbers of a flow map behind one line, and statistics in the line", async () => {
    const bytes = Buffer.from(await (await ask("application/octet-stream")).arrayBuffer());
    const begin = bytes.indexOf(10) + 1;
    const { results } = JSON.parse(bytes.toString("utf8", 0, begin));
    expect(results.map(({ numbers }: { numbers: number }) => numbers)).toEqual([8 * 8 * (3 + 1), 0]);
    const alone = await (await post("flow-map", FLOW, "application/octet-stream")).arrayBuffer();
    expect(bytes.subarray(begin)).toEqual(Buffer.from(alone));
    expect(results[1]).toMatchObject(await (await post("statistics", STATISTICS)).json());
  });
});
