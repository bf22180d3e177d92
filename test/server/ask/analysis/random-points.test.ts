/** Statistics at random points and structure functions at any lengths agree with those at nodes, within their noise. */
import { describe, expect, it } from "vitest";
import { useTestData } from "../../../support/service.js";
import type { AnyAnswer } from "../ask.js";

const service = await useTestData();

async function post(call: string, members: object): Promise<AnyAnswer> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ time: 0.6, ...members });
  return (await fetch(`${service.url}/api/datasets/isotropic32/${call}`, { method: "POST", headers, body })).json();
}

const h = Math.PI / 16;

describe("points that the service makes", () => {
  const reduce = [{ moments: "u.x" }];
  const paths = { time: "0.4:0.5", step: 0.05 };
  it.each([
    ["statistics", { points: { random: 1e12 }, reduce }],
    ["structure_functions", { what: ["u"], orders: [2], separations: { lengths: [0.1], pairs: 1e12 } }],
    ["dispersion", { ...paths, points: { random: 1e12 } }],
    ["dispersion", { ...paths, points: { tetrads: 1e12, distance: 0.1 } }],
  ])("are counted before they are made for %s %j", async (name, body) => {
    expect(await post(name, body)).toMatchObject({ status: 413, detail: expect.stringMatching(/ > 2000000/) });
  });
});

describe("statistics at random points", () => {
  it("are those of the field within the noise of the sample, and the same for the same seed", async () => {
    const body = {
      points: { random: 40_000, seed: 5 },
      reduce: [
        { moments: "u.x" },
        { moments: "2*ddot(S,S)" },
        { covariance: ["u.x", "u.y", "p"] },
        { extremes: "x", count: 1 },
        { moments: "tr(hess(p))" },
      ],
    };
    const answer = await post("statistics", body);
    expect([answer.weights, answer.question.weights]).toEqual(["points", undefined]);
    const [ux, strain, covariance, extremes] = answer.results;
    expect(ux?.count).toBe(40_000);
    // Standard errors are 0.003, 0.02 and 0.003; derivatives by Fd4Lag4 differ a little from those at nodes.
    expect(Math.abs(ux.variance - 0.2917)).toBeLessThan(0.01);
    expect(Math.abs(strain.mean - 3.03)).toBeLessThan(0.1);
    expect(Math.abs(covariance.matrix[0][1] - 0.0682)).toBeLessThan(0.01);
    const highest = extremes?.highest[0];
    expect(highest?.value).toBe(highest?.at[0]);
    expect(await post("statistics", body)).toEqual(answer);
    const other = await post("statistics", { ...body, points: { random: 40_000, seed: 6 } });
    expect(other.results[0]?.mean).not.toBe(ux?.mean);
  });

  it("stay in their region", async () => {
    const [origin, extent] = [
      [1, 2, 3],
      [0.5, 0.25, 0.125],
    ] as const;
    const region = { x: "1:1.5", y: "2:2.25", z: "3:3.125" };
    const reduce = ["x", "y", "z"].map((extremes) => ({ extremes, count: 1 }));
    const { results } = await post("statistics", { points: { random: 1000 }, ...region, reduce });
    results.forEach(({ highest }: AnyAnswer, a: number) => {
      const value = highest[0].value;
      expect(value).toBeLessThanOrEqual((origin[a] as number) + (extent[a] as number));
      expect(value).toBeGreaterThan((origin[a] as number) + 0.9 * (extent[a] as number));
    });
  });
});

describe("structure functions at lengths", () => {
  it("are those at nodes when they are whole separations, within their noise", async () => {
    const separations = { lengths: [4 * h, 8 * h], pairs: 30_000, seed: 3 };
    const answer = await post("structure_functions", { orders: [2], separations });
    const nodes = [0.0917695167, 0.247508106, 0.0946425061, 0.243697999, 0.0849836106, 0.227821171];
    expect(answer.separations.map(({ pairs }: AnyAnswer) => pairs)).toEqual(nodes.map(() => 30_000));
    expect(answer.question.weights).toBeUndefined();
    answer.separations.forEach(({ longitudinal }: AnyAnswer, i: number) => {
      expect(Math.abs(longitudinal["2"] / (nodes[i] as number) - 1)).toBeLessThan(0.05);
    });
  });
});

it("counts the pairs of structure functions once for all axes, which are computed one after another", async () => {
  const points = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^fieldprobe_points_total\{operation="structure_functions"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await points();
  await post("structure_functions", { what: ["u"], orders: [2], separations: { lengths: [h], pairs: 50 } });
  await expect.poll(points).toBe(before + 50);
});

describe("bad requests", () => {
  it.each([
    ["statistics", { points: { random: 10 }, over: ["x"], reduce: [{ moments: "u.x" }] }, "over: random points"],
    ["statistics", { points: { random: 0 }, reduce: [{ moments: "u.x" }] }, "points.random: "],
    [
      "statistics",
      { points: { random: 9 }, method: "Lag9", reduce: [{ moments: "u.x" }] },
      "method: expected one of nearest, Lag4",
    ],
    [
      "statistics",
      { derivatives: "Fd4Lag4", reduce: [{ moments: "u.x" }] },
      "derivatives: at nodes: expected one of Fd4",
    ],
    ["statistics", { points: { random: 9 }, weights: "volume" }, "weights: they are of nodes"],
    ["structure_functions", { separations: { lengths: [1], pairs: 9 }, weights: "nodes" }, "weights: they are of "],
    ["structure_functions", { separations: { lengths: [1], pairs: 0 } }, "separations.pairs: "],
    ["structure_functions", { separations: { sizes: [1] } }, "separations.sizes: expected lengths, pairs and seed."],
    ["structure_functions", { what: ["A"], separations: [1] }, "not of a tensor"],
    ["structure_functions", { remove: "frame" }, "remove: expected one of mean, none, not"],
    ["dispersion", { points: { random: 9 }, step: 0.1, remove: "frame" }, "remove: expected one of mean, none, not"],
    ["statistics", { points: { random: 3_000_000 }, reduce: [{ moments: "u.x" }] }, "000000 points would fit"],
  ])("%s %j", async (name, body, text) => {
    const { detail } = await post(name, body);
    expect(detail).toContain(text);
    expect(detail.split("\n")).toHaveLength(1);
  });
});
