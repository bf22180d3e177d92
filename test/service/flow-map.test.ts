/** Flow maps of the included flow: incompressible, against GetPosition and differences of neighbouring paths. */
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { type AnyAnswer, ask as askOf } from "../server/ask/ask.js";
import { useTestData } from "../support/service.js";

const service = await useTestData();

async function post(path: string, body: object, accept = "application/json"): Promise<Response> {
  const headers = { "content-type": "application/json", accept };
  return fetch(`${service.url}/api/datasets/isotropic32/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
}
async function ask(body: object): Promise<AnyAnswer> {
  const answer: AnyAnswer = await (await post("flow_map", body)).json();
  return { ...answer, ...answer.data };
}

const det = ([a = [], b = [], c = []]: number[][]) => {
  const minor = (i: number, j: number) => (b[i] as number) * (c[j] as number) - (b[j] as number) * (c[i] as number);
  return (a[0] as number) * minor(1, 2) - (a[1] as number) * minor(0, 2) + (a[2] as number) * minor(0, 1);
};
const seeds = { z: 1.5, samples: 8 };
const all = { what: "map, gradient, eigenvalues, ftle" };

describe("flow maps", () => {
  it("keep volume: the median of |det F - 1| is below 1e-3 with splines, forward and backward", async () => {
    for (const time of ["0.4:1.4", "1.4:0.4"]) {
      const { gradient, eigenvalues, ftle } = await ask({ time, step: 0.01, method: "M2Q8", ...seeds, ...all });
      expect([ftle.length, ftle[0]?.length]).toEqual([8, 8]);
      const off = gradient
        .flat()
        .map((F: number[][]) => Math.abs(det(F) - 1))
        .sort((a: number, b: number) => a - b);
      expect(off[32]).toBeLessThan(1e-3);
      for (const [i, row] of ftle.entries())
        for (const [k, value] of row.entries())
          expect(value).toBeCloseTo(Math.log(Math.sqrt(eigenvalues[i]?.[k]?.[2] as number)), 4);
    }
  });

  it("are the places of GetPosition, and their gradients the differences of neighbouring paths", async () => {
    const times = { time: "0.4:1", step: 0.05, method: "M2Q8" };
    const point = [1, 2, 1.5];
    const [x, y, z] = point;
    const one = (await ask({ ...times, x, y, z, ...all })) as unknown as Record<"map", number[]> & {
      readonly gradient: number[][];
    };
    const around = [
      point,
      ...[0, 1, 2].flatMap((axis) => [1, -1].map((s) => point.map((x, c) => x + (c === axis ? s * 0.02 : 0)))),
    ];
    const answer = await post("paths", { ...times, last: true, points: around });
    const { rows } = (await answer.json()) as { rows: number[][] };
    const values = rows.map((row) => row.slice(2, 5));
    expect(one.map).toEqual(values[0]);
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) {
        const difference = ((values[1 + 2 * b]?.[a] as number) - (values[2 + 2 * b]?.[a] as number)) / 0.04;
        expect(Math.abs((one.gradient[a]?.[b] as number) - difference)).toBeLessThan(5e-3);
      }
  });

  it("are answered as octets of one quantity", async () => {
    const asked = { ...seeds, what: "map", time: "0.4:0.6", step: 0.05 };
    const json = await ask(asked);
    const response = await post("flow_map", asked, "application/octet-stream");
    expect(response.headers.get("fieldprobe-shape")).toBe("8,8,3");
    expect([...new Float32Array(await response.arrayBuffer())]).toEqual(json.map.flat(2).map(Math.fround));
  });

  it("count their seeds as points", async () => {
    const points = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(/^fieldprobe_points_total\{operation="flow_map"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await points();
    await ask({ ...seeds, time: "0.4:0.5", step: 0.05, method: "Lag4" });
    await expect.poll(points).toBe(before + 64);
  });

  it("are answered to the typed client", async () => {
    const { data, dims } = await (await connect(service.url)).flow_map("isotropic32", {
      ...{ what: "ftle", time: "0.4:0.6", step: 0.05, samples: [2, 3, 4], method: "M2Q8", derivatives: "M2Q8" },
    });
    expect([dims, data.ftle.length, data.ftle[0].length, data.map]).toEqual([["z", "y", "x"], 4, 3, undefined]);
  });

  it.each([
    [{ ...seeds, derivatives: "Lag8" }, /^derivatives: expected one of Fd4, /, "derivatives"],
    [{ ...seeds, time: "0.4:0.4" }, "time: an interval has two different ends.", "time"],
    [
      { z: 1, samples: [2000, 1000], derivatives: "Fd4" },
      /^Request size too large \(2000000 > 520833\): 520833 particles fit with as many steps, or 3 steps of 2000000 particles \(192000000 particle steps, of which a step here counts 8, were asked, the limit is 50000000\)$/,
      undefined,
    ],
    [{ ...seeds, time: "0.4:99" }, /^Time 99 out of range/, "time"],
    [{ ...seeds, what: "area" }, /^what: expected some of map, gradient/, "what"],
    [{ ...seeds, samples: [8, 8, 8] }, "samples: expected one number", "samples"],
  ])("are refused in one line: %j", async (more, detail, member) => {
    const answer = await ask({ time: "0.4:1", step: 0.05, ...more });
    expect(answer.detail).toMatch(detail);
    expect(answer.member).toBe(member);
  });
});

describe("a list of questions", () => {
  it("answers a flow map and statistics as their own addresses do", async () => {
    const flow = { time: "0.4:0.6", step: 0.05, ...seeds, what: "map, ftle" };
    const statistics = { time: 0.4, reduce: [{ moments: "u.x" }, { histogram: "p", bins: 4, range: [-1, 1] }] };
    const dataset = "isotropic32";
    const response = await askOf(service, [
      { dataset, call: "flow_map", ...flow },
      { dataset, call: "statistics", ...statistics },
    ]);
    const alone = [post("flow_map", flow), post("statistics", statistics)].map(async (one) => (await one).json());
    expect(await response.json()).toEqual(await Promise.all(alone));
  });
});
