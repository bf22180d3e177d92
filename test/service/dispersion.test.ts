/** Dispersion: against paths that are sent, and regular shapes at the start. */
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { callOf } from "../../src/shared/calls.js";
import type { AnyAnswer } from "../server/ask/ask.js";
import { scatter } from "../support/accuracy.js";
import { serveTestData, useTestData } from "../support/service.js";

const service = await useTestData();

async function post(path: string, body: object, url = service.url): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/api/datasets/isotropic32/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}
interface Paths {
  readonly times: readonly number[];
  /** Place and quantities of each particle at each time. */
  readonly records: readonly (readonly (readonly number[])[])[];
}

/** Paths of the service, their numbers float32 as JSON has the shortest text of them. */
async function paths(body: object): Promise<Paths> {
  const { rows, columns } = (await (await post("paths", body)).json()) as {
    readonly rows: number[][];
    readonly columns: readonly { readonly name: string }[];
  };
  const wanted = columns.flatMap(({ name }, c) => (/^([xyz]|u\..)$/.test(name) ? [c] : []));
  const count = new Set(rows.map(([particle]) => particle)).size;
  const particles = Array.from({ length: count }, (_, p) => rows.filter(([particle]) => particle === p));
  const records = particles.map((own) => own.map((row) => wanted.map((c) => Math.fround(row[c] as number))));
  return { times: (particles[0] ?? []).map(([, t]) => t as number), records };
}
const ask = async (body: object): Promise<AnyAnswer> => (await post("dispersion", body)).json();

const COUNT = 24;
const flat = scatter(COUNT);
const points = Array.from({ length: COUNT }, (_, i) => [...flat.subarray(3 * i, 3 * i + 3)]);
const times = { time: "0.4:1.1", step: 0.07, every: 2, method: "Lag6" };
const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
const square = (v: readonly number[]) => v.reduce((sum, x) => sum + x * x, 0);
const minus = (a: readonly number[], b: readonly number[]) => a.map((x, c) => x - (b[c] as number));

describe("dispersion", () => {
  it.each(["heun", "rk4", "dopri5"])("is the mean over paths that %s would send", async (integrator) => {
    const sent = await paths({ ...times, integrator, what: "u", points });
    const answer = await ask({ ...times, integrator, points: { pairs: points }, orders: [2, 3] });
    expect(answer.times).toEqual(sent.times);
    for (const [r] of sent.times.entries()) {
      const places = sent.records.map((records) => (records[r] as number[]).slice(0, 3));
      const before = sent.records.map((records) => (records[0] as number[]).slice(0, 3));
      const u = sent.records.map((records) => (records[r] as number[]).slice(3));
      const u0 = sent.records.map((records) => (records[0] as number[]).slice(3));
      const moved = places.map((place, i) => minus(place, before[i] as number[]));
      expect(answer.particles[r]).toBe(COUNT);
      expect(answer.mean_square[r]).toBeCloseTo(mean(moved.map(square)), 10);
      expect(answer.mean_square_axes[r]?.[1]).toBeCloseTo(mean(moved.map(([, y = 0]) => y * y)), 10);
      expect(answer.velocity_square[r]).toBeCloseTo(mean(u.map(square)), 10);
      const centred = (of: readonly number[][]) => {
        const means = [0, 1, 2].map((c) => mean(of.map((v) => v[c] as number)));
        return of.map((v) => minus(v, means));
      };
      const [v, v0] = [centred(u), centred(u0)];
      const product = mean(v.map((one, i) => one.reduce((sum, x, c) => sum + x * (v0[i]?.[c] as number), 0)));
      const norm = Math.sqrt(mean(v.map(square)) * mean(v0.map(square)));
      expect(answer.autocorrelation[r]).toBeCloseTo(product / norm, 10);
      const apart = places.flatMap((place, i) =>
        i % 2 === 0 ? [Math.sqrt(square(minus(places[i + 1] as number[], place)))] : [],
      );
      expect(answer.pairs.separation["2"]?.[r]).toBeCloseTo(mean(apart.map((d) => d ** 2)), 9);
      expect(answer.pairs.separation["3"]?.[r]).toBeCloseTo(mean(apart.map((d) => d ** 3)), 9);
    }
  });

  it("of tetrads is the mean shape of their four particles: trace and determinant of the moments", async () => {
    const given = { ...times, points: { tetrads: points.slice(0, 4) } };
    const { tetrads, times: at } = await ask(given);
    const { records: sent } = await paths({ ...times, points: points.slice(0, 4) });
    for (const [r] of at.entries()) {
      const corners = sent.map((records) => records[r] as number[]);
      const centre = [0, 1, 2].map((c) => mean(corners.map((corner) => corner[c] as number)));
      const offsets = corners.map((corner) => minus(corner, centre));
      // The moments about the centre are those of the reduced vectors; their determinant is (volume 3!)^2 / 4.
      const edges = corners.slice(1).map((corner) => minus(corner, corners[0] as number[])) as [
        number,
        number,
        number,
      ][];
      const [a, b, c] = edges as [[number, number, number], [number, number, number], [number, number, number]];
      const volume =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
      const [x = 0, y = 0, z = 0] = tetrads.eigenvalues[r] as number[];
      expect(x + y + z).toBeCloseTo(
        offsets.reduce((sum, offset) => sum + square(offset), 0),
        9,
      );
      expect(x * y * z).toBeCloseTo(volume ** 2 / 4, 8);
      expect(x >= y && y >= z).toBe(true);
    }
  });

  it("begins with pairs at their distance, and with regular tetrads", async () => {
    const short = { time: "0.4:0.41", step: 0.01, method: "Lag4" };
    const pairs = await ask({ ...short, points: { pairs: 500, distance: 0.3, seed: 7 } });
    expect(pairs.pairs.separation["2"]?.[0]).toBeCloseTo(0.09, 6);
    expect([pairs.particles[0], pairs.pairs.count[0]]).toEqual([1000, 500]);
    const { tetrads } = await ask({ ...short, points: { tetrads: 300, distance: 0.3 } });
    for (const value of tetrads.eigenvalues[0] as number[]) expect(value).toBeCloseTo(0.09 / 2, 6);
    const random = await ask({ ...short, points: { random: 1000, seed: 1 }, ...{ x: "0:1", y: "0:1", z: "0:1" } });
    expect(random.particles).toEqual([1000, 1000]);
    const given = await ask({ ...short, points });
    expect([given.particles[0], given.mean_square[0], given.autocorrelation[0]]).toEqual([COUNT, 0, 1]);
  });

  it("has the same bits with any number of workers, and however it is cut into parts", async () => {
    const asked = { time: "0.4:0.8", step: 0.1, points: { tetrads: 3000, distance: 0.2 }, method: "Lag4" };
    const text = await (await post("dispersion", asked)).text();
    const alone = await serveTestData([], { WORKERS: "1" });
    const cut = await serveTestData([], { QUERY_POINTS: "12500" });
    try {
      expect(await (await post("dispersion", asked, alone.url)).text()).toBe(text);
      expect(await (await post("dispersion", asked, cut.url)).text()).toBe(text);
    } finally {
      await alone.close();
      await cut.close();
    }
  });

  it("is answered to the typed client as the example says", async () => {
    const client = await connect(service.url);
    const { times: at, pairs } = await client.dispersion("isotropic32", callOf("dispersion").example as object);
    expect(at).toEqual([0.4, 0.45, 0.5, 0.55, 0.6]);
    expect(pairs.separation["2"]).toHaveLength(5);
  });

  it.each([
    [{ points: { pairs: points.slice(0, 3) } }, "points.pairs: 3 points are not a multiple of 2.", "points.pairs"],
    [{ points: { pairs: 3 } }, /^points.distance: /, "points.distance"],
    [{ points, time: "0.4:99" }, /^Time 99 out of range/, "time"],
    [{ points, tolerance: 1e-3 }, "Only dopri5 takes a tolerance: integrator is rk4.", "tolerance"],
  ])("is refused in one line: %j", async (more, detail, member) => {
    const answer = await ask({ ...times, ...more });
    expect(answer.detail).toMatch(detail);
    expect(answer.member).toBe(member);
  });

  it("is refused if it takes too many steps", async () => {
    const { detail } = await ask({ time: "0:1.9", step: 1e-5, points: { random: 1000 } });
    expect(detail).toMatch(
      /^Request size too large \(1000 > 131\): 131 particles fit with as many steps, or 25000 steps of 1000 particles \(3799\d{5} particle steps, of which a step here counts 2, were asked, the limit is 50000000\)$/,
    );
  });
});
