/** Statistics of the shipped turbulence are those published, and bad requests get one clear line. */
import { describe, expect, it } from "vitest";
import { incrementsOf } from "../../../../src/analysis/increments.js";
import { serveTestData, useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask, jsonOf } from "../ask.js";

const service = await useTestData(["data/turbulent-channel"]);

const post = (call: string, body: object) => ask(service, { dataset: "isotropic32", call, ...body });

async function reduce(reduction: object, more: object = {}): Promise<AnyAnswer> {
  const response = await post("statistics", { time: 0.6, reduce: [reduction], ...more });
  const answer: AnyAnswer = await response.json();
  expect(answer).toMatchObject({ question: { call: "statistics" } });
  return answer.results[0];
}

function near(value: number, expected: number, relative = 1e-12): void {
  expect(Math.abs(value / expected - 1)).toBeLessThan(relative);
}

describe("statistics of isotropic32 at 0.6", () => {
  it("are the published moments", async () => {
    const { variance, skewness, flatness, count, missing } = await reduce({ moments: "u.x" });
    near(variance, 0.29170524860974173);
    near(skewness, -0.138838522165, 5e-12); // printed to twelve digits
    near(flatness, 2.69488020799, 5e-12);
    expect([count, missing]).toEqual([32768, 0]);
    near((await reduce({ moments: "p" })).variance, 0.15305113666757134);
    near((await reduce({ moments: "dot(u,u)/2" })).mean, 0.4683676806610685);
  });

  it.each([
    ["2*ddot(S,S)", 3.030433812],
    ["epsilon / 0.036", 3.030433812],
    ["dot(omega,omega)", 3.030335853],
    ["dot(omega, S*omega)", 0.6592082795],
    ["tr(S*S*S)", -0.4947001701],
  ])("are the published mean of %s", async (moments, mean) => {
    near((await reduce({ moments })).mean, mean, 1e-9); // printed to ten digits
  });

  it("are the published covariances", async () => {
    const { matrix } = await reduce({ covariance: ["u.x", "u.y", "u.z"] });
    const flat = [0, 4, 8, 1, 2, 5].map((i) => matrix.flat()[i] as number);
    const published = [
      0.29170524860974173, 0.2967402797778054, 0.34828983293458976, 0.06821034015139155, -0.01595122659829742,
      -0.0056344142889206885,
    ];
    for (const [i, value] of flat.entries()) near(value, published[i] as number);
  });

  it("keep axes, regions and times apart", async () => {
    const whole = await reduce({ moments: "u.x" });
    const profile = await reduce({ moments: "u.x" }, { over: ["x", "z"] });
    expect(profile.mean).toHaveLength(32);
    expect(profile.mean.reduce((sum: number, mean: number) => sum + mean, 0) / 32).toBeCloseTo(whole.mean, 14);
    const both = await reduce({ moments: "u.x" }, { time: [0.4, 0.6], over: ["x", "y", "z"] });
    near(both.mean[1] as number, whole.mean);
    const h = Math.PI / 16;
    const region = { x: `${-h}:${0.5 * h}`, y: `0:${h / 2}`, z: `0:${h / 2}` };
    expect(await reduce({ moments: "y" }, region)).toMatchObject({ count: 2, mean: 0 });
  });

  it("give extremes with their places, and conditional means", async () => {
    const { min, max } = await reduce({ moments: "p" });
    const { highest, lowest } = await reduce({ extremes: "p", count: 2, apart: 1 });
    expect([highest[0]?.value, lowest[0]?.value]).toEqual([max, min]);
    const { mean, edges } = await reduce({ conditional: "2*u.x", on: "u.x", bins: 4 });
    expect(edges).toHaveLength(5);
    mean.forEach((value: number, i: number) => {
      expect(value / 2).toBeGreaterThanOrEqual(edges[i] as number);
      expect(value / 2).toBeLessThanOrEqual(edges[i + 1] as number);
    });
  });
});

it("give the mean, the variance and the count in each of 65 536 bins of two quantities and several frames", async () => {
  const stored = async (what: string) => {
    const path = `nodes?what=${what}&time=0.2,0.6&format=f32`;
    return new Float32Array(await (await fetch(`${service.url}/api/datasets/isotropic32/${path}`)).arrayBuffer());
  };
  const [u, p] = [await stored("u"), await stored("p")];
  const range = [-3, 3.1] as const;
  const binOf = (value: number) => Math.floor(((value - range[0]) / (range[1] - range[0])) * 256);
  const own = new Map<number, number[]>();
  for (const [n, value] of p.entries()) {
    const bin = 256 * binOf(u[3 * n] as number) + binOf(u[3 * n + 1] as number);
    own.set(bin, [...(own.get(bin) ?? []), value]);
  }
  const reduction = { conditional: "p", on: ["u.x", "u.y"], bins: [256, 256], range: [range, range] };
  const found = await reduce(reduction, { time: [0.2, 0.6], over: ["x", "y", "z", "t"] });
  const [means, variances, counts] = [found.mean, found.variance, found.counts].map((all) => [all].flat(2) as number[]);
  expect(counts).toEqual(Array.from({ length: 65_536 }, (_, bin) => own.get(bin)?.length ?? 0));
  for (const [bin, values] of own) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect([means?.[bin], variances?.[bin]]).toEqual([expect.closeTo(mean, 12), expect.closeTo(variance, 12)]);
  }
});

it("have the same bits with any number of workers", async () => {
  const alone = await serveTestData(["data/turbulent-channel"], { WORKERS: "1" });
  const channel = { dataset: "turbulent-channel", frame: [1, 4] };
  const auto = { bins: 8, range: "auto" };
  const reduce = [
    ...[{ moments: "norm(omega)" }, { covariance: ["u.x", "p"] }, { conditional: "p", on: "Q", ...auto }],
    ...[
      { histogram: "u.x", ...auto },
      { joint: ["u.x", "u.y"], bins: [9, 7], range: "auto" },
    ],
  ];
  const body = JSON.stringify([
    { dataset: "isotropic32", call: "statistics", frame: "all", reduce },
    { ...channel, call: "statistics", reduce },
    { ...channel, call: "structure_functions", axis: ["x", "z"], separations: [1, 2, 5] },
    { ...channel, call: "spectrum", kind: "line", axis: "z" },
    { ...channel, call: "structures", frame: [0], where: "norm(omega) > 2 * rms(norm(omega))" },
  ]);
  const options = { method: "POST", headers: { "content-type": "application/json" }, body };
  const [two, one] = await Promise.all([service, alone].map(({ url }) => fetch(`${url}/api/ask`, options)));
  const text = (await two?.text()) ?? "";
  expect(text).not.toContain('"problem"');
  expect(await one?.text()).toBe(text);
  await alone.close();
});

describe("structure functions of isotropic32 at 0.6", () => {
  it("are those published", async () => {
    const asked = { time: 0.6, orders: [2, 3], separations: [1, 2, 4, 8] };
    const { separations } = await jsonOf(await post("structure_functions", asked));
    const published = [
      [0.00680387645, 0.0262059706, 0.0917695167, 0.247508106],
      [0.00723836334, 0.0276745071, 0.0946425061, 0.243697999],
      [0.00629676897, 0.024267502, 0.0849836106, 0.227821171],
    ].flat();
    // Printed to nine digits.
    for (const [i, value] of published.entries()) near(separations[i]?.longitudinal[2] as number, value, 5e-9);
    for (const [axis, value] of [-0.000240740106, -0.00284623882, -0.000652823433].entries())
      near(separations[4 * axis + 1]?.longitudinal[3] as number, value, 5e-9);
    const scalar = { time: 0.6, what: ["u.y"], separations: [1], axis: ["x"] };
    const answer = await jsonOf(await post("structure_functions", scalar));
    near(answer.separations[0]?.scalar[2] as number, 0.0142477734, 5e-9);
    expect(answer.separations[0]?.pairs).toBe(32768);
  });

  it("answer the terms that were asked, and refuse separations beyond the region", async () => {
    const asked = { time: 0.6, orders: [2, 3], separations: [1, 2], terms: ["longitudinal"] };
    const { separations } = await jsonOf(await post("structure_functions", asked));
    expect(Object.keys(separations[0] ?? {}).slice(3)).toEqual(["pairs", "missing", "infinite", "longitudinal"]);
    const wrong = await post("structure_functions", { ...asked, terms: ["scalar"] });
    expect(await wrong.json()).toMatchObject({ member: "terms" });
    const beyond = await post("structure_functions", { time: 0.6, separations: [32] });
    expect(await beyond.json()).toMatchObject({ detail: "separations: the region has 32 nodes along x." });
  });

  it("count the pairs at which a scalar is known, and take yaglom where the velocity is known too", () => {
    const columns = [Float64Array.of(1, 3, 2, NaN), Float64Array.of(0, NaN, 1, 2)];
    const options = { axis: 0, separations: [1, 2], orders: [2], absolute: [], periodic: false } as const;
    const { pairs, missing, sums } = incrementsOf(columns, [4, 1, 1], options);
    expect([...pairs, ...missing]).toEqual([2, 1, 1, 1]);
    expect([...sums]).toEqual([5, 0, 0, 1, 1, 1]);
  });

  it.each([[[0.5, 1, 2.5, 16]], [[0.1, 1.3, 15.9]], [[0.05, 7.65]], [[1 / 3, 2.71]]])(
    "have powers %j of absolute increments, as Math.pow has them",
    (absolute) => {
      const options = { axis: 0, separations: [1], orders: [1], absolute, periodic: false } as const;
      for (const d of [0, 1e-150, 1e-12, 3e-5, 0.7, 1, 2.3, 4000, 1e12]) {
        const { sums } = incrementsOf([Float64Array.of(d, 0)], [2, 1, 1], options);
        for (const [k, p] of absolute.entries())
          expect(Math.abs((sums[k] as number) - d ** p), `${d}`).toBeLessThanOrEqual(1e-13 * d ** p);
      }
    },
  );
});

describe("bad requests", () => {
  const [moments, falling] = [{ reduce: [{ moments: "u.x" }] }, { histogram: "p", bins: 4, range: [1, 0] }];
  it.each([
    [{ ...moments }, 'time: it is missing; "isotropic32" stores 0, 0.2'],
    [{ time: 0.6, reduce: [] }, "reduce: expected 1 to 32 reductions."],
    [{ time: 0.6, reduce: [{ mean: "ux" }] }, "joint, conditional, extremes, quantiles, budget."],
    [{ time: 0.6, reduce: [{ conditional: "p", on: "Q" }] }, "reduce[0].bins: it is missing."],
    [{ time: 0.6, what: "mean(p / 0)", u_tau: 1 }, "u_tau: it is for units=plus."],
    [{ time: "all", reduce: [{ quantiles: "p", at: [0.5] }], by: 1 }, "conditional, budget, not quantiles."],
    [{ frame: [0, 2, 1, 3], ...moments, by: 1 }, "expected at least two blocks, of ascending times."],
    [{ time: 0.6, reduce: [{ moments: "mean(p/0)" }, { quantiles: "u", at: [0.5] }] }, "reduce[1].quantiles: u is a v"],
    [{ time: 0.6, reduce: [{ moments: "mean(p/0)*u" }, { histogram: "u", bins: 2 }] }, "reduce[1].histogram: u is a v"],
    [{ time: 0.6, what: "p", points: [[1, 2, 3]], units: "plus" }, "units: plus is of nodes, not of points."],
    [{ time: 0.6, reduce: [{ moments: "uq" }] }, "nothing has the name uq"],
    [{ time: 0.6, reduce: [{ moments: "u.x + u" }] }, "+ joins a scalar and a vector (column 5)"],
    [{ time: 0.6, reduce: [{ moments: "dissipation" }] }, "epsilon is 2*nu*ddot(S,S)"],
    [{ time: 0.61, ...moments }, "the nearest is at 0.6"],
    [{ time: 0.6, reduce: [{ histogram: "u.x", bins: 0, range: [0, 1] }] }, "reduce[0].bins"],
    [{ time: 0.6, reduce: [{ moments: "p", order: 6 }, falling] }, "reduce[1].range: the first edge must be below"],
    [{ time: 0.6, x: "0:-1", ...moments }, "x: expected first:last in ascending order"],
    [{ time: 0.6, over: ["x"], reduce: [{ histogram: "u.x", bins: 60000, range: [0, 1] }] }, "at most 1048576"],
    [{ time: 0.6, colour: "red", ...moments }, "colour: there is no such member"],
  ])("%j", async (body, text) => {
    const response = await post("statistics", body);
    const { detail } = (await response.json()) as { detail: string };
    expect(detail).toContain(text);
    expect(detail.split("\n")).toHaveLength(1);
    expect(response.status).toBeLessThan(500);
  });
});
