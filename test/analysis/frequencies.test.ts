/** Energy of spectra in time, transforms of any length, parities of quantities, and increments along paths. */
import { describe, expect, it } from "vitest";
import { addPaths, dispersionMeans, dispersionSums } from "../../src/analysis/dispersion.js";
import { type FrequencyOptions, frequenciesOf } from "../../src/analysis/frequencies.js";
import type { Names } from "../../src/analysis/names.js";
import { paritiesOf, type Symmetry } from "../../src/analysis/parity.js";
import { Transform } from "../../src/analysis/transform.js";

describe("transforms", () => {
  it.each([1, 2, 7, 12, 30, 49, 64, 97])("of %i numbers are sums of all of them", (n) => {
    const numbers = Float64Array.from({ length: 2 * n }, (_, i) => Math.sin(3 * i * i + 1));
    const [re, im] = [numbers.slice(0, n), numbers.slice(n)];
    new Transform(n).forward(re, im);
    for (let k = 0; k < n; k++) {
      let [x, y] = [0, 0];
      for (let j = 0; j < n; j++) {
        const angle = (-2 * Math.PI * ((j * k) % n)) / n;
        const [a, b] = [numbers[j] as number, numbers[n + j] as number];
        x += a * Math.cos(angle) - b * Math.sin(angle);
        y += a * Math.sin(angle) + b * Math.cos(angle);
      }
      expect(re[k]).toBeCloseTo(x, 11);
      expect(im[k]).toBeCloseTo(y, 11);
    }
  });
});

it("frequencies sum to the mean square without a window, of segments too", () => {
  const [nodes, times] = [12, 15];
  const options: FrequencyOptions = {
    ...{ of: Array.from({ length: times }, (_, t) => t), times, length: 5, step: 5 },
    ...{ window: "none", detrend: "none", axis: null, nodes: 1, isPair: false },
  };
  const columns = options.of.map((t) =>
    Float64Array.from({ length: nodes }, (_, i) => Math.cos(i - t) + Math.sin(i * t)),
  );
  const { sums, weight, count } = frequenciesOf(options, columns, null, [nodes, 1, 1]);
  const square = columns.flatMap((one) => [...one]).reduce((sum, one) => sum + one * one, 0) / (nodes * times);
  expect(count).toBe(nodes);
  expect(sums.reduce((sum, one) => sum + one, 0) / weight).toBeCloseTo(square, 12);
});

it.each([[0], [1]] as const)("lines along open axis %i are left out and counted as lines", (line) => {
  const [times, ends] = [4, { length: 4, step: 4, axis: null, nodes: 1, isPair: false }];
  const options: FrequencyOptions = { of: [0], line, times, window: "none", detrend: "none", ...ends };
  const unknown = new Map([5, line === 0 ? 7 : 13].map((i) => [i, Number.NaN])).set(2, Number.POSITIVE_INFINITY);
  const values = Float64Array.from({ length: 16 }, (_, i) => unknown.get(i) ?? i);
  expect(frequenciesOf(options, [values], null, [4, 4, 1])).toMatchObject({ count: 2, missing: 1, infinite: 1 });
});

describe("parities", () => {
  const names: Names = { viscosity: 1, units: null, fields: { velocity: 3, pressure: 1 }, refusesEarlier: true };
  const mirror: Symmetry = { axis: 1, signs: [1, -1, 1], middle: [0, 0.7, 0], odd: [] };
  const rotation: Symmetry = { ...mirror, signs: [-1, -1, 1] };

  it.each([
    ["u", [1, -1, 1], [-1, -1, 1]],
    ["omega", [-1, 1, -1], [-1, -1, 1]],
    ["helicity", [-1], [1]],
    ["p*u.y", [-1], [-1]],
    ["u.x*u.y", [-1], [1]],
    ["d(u.x*u.y, y)", [1], [-1]],
    ["lap(p*u.y) + d(p, y)", [-1], [-1]],
    ["fluc(u.y)^2 + mean(p)", [1], [1]],
    ["Q", [1], [1]],
    ["R", [1], [1]],
    ["lambda2", [1], [1]],
    ["(y - 0.7)*p", [-1], [-1]],
    ["norm(u) > 0.5 ? p : abs(u.y)", [1], [1]],
    ["shift(p, z, 3)", [1], [1]],
  ])("of %s", (text, byMirror, byRotation) => {
    const ofLevel = { ...names, averaged: ["omega", "p*u.y"] };
    expect([names, ofLevel].map((of) => paritiesOf(text, of, mirror))).toEqual([byMirror, byMirror]);
    expect(paritiesOf(text, names, rotation)).toEqual(byRotation);
  });

  it("are those of named fields turned, and are not those of mixed quantities", () => {
    expect(paritiesOf("p*u.x", names, { ...mirror, odd: ["pressure"] })).toEqual([-1]);
    for (const text of ["u.x + u.y", "exp(u.y)", "y*p", "u.y > 0 ? p : u.x", "u.y > 3", "u.y < 2e-5", "max(u.y, -5)"])
      expect(() => paritiesOf(text, names, mirror)).toThrow(/neither even nor odd/);
    expect(() => paritiesOf("shift(p, y, 1)", names, mirror)).toThrow("shift(p, y, 1) is of other nodes");
  });
});

describe("increments along paths", () => {
  it("are means over particles, and over origins", () => {
    const [particles, records] = [3, 5];
    const u = Float32Array.from({ length: 3 * particles * records }, (_, i) => Math.fround(Math.sin(i * i)));
    u.fill(Number.NaN, 3 * (2 * records + 3), 3 * 3 * records);
    const part = { particles, records, width: 3, positions: new Float32Array(u.length), velocities: u, values: u };
    for (const isAll of [false, true]) {
      const names = ["x", "y", "z"];
      const asked = { names, orders: [2, 3, 1.5], isAll, bins: { count: 4, range: [-1, 1] as const } };
      const sums = dispersionSums(records, 1, [], asked);
      addPaths(sums, part, 0, 2);
      addPaths(sums, part, 2, 3);
      // biome-ignore lint/suspicious/noExplicitAny: members of an answer.
      const { increments, increment_histogram } = dispersionMeans(sums, true) as any;
      for (let lag = 0; lag < records; lag++) {
        const found: number[] = [];
        for (let i = 0; i < particles; i++)
          for (let o = 0; o + lag < records && (isAll || o === 0); o++) {
            const d = (u[3 * (i * records + o + lag) + 1] as number) - (u[3 * (i * records + o) + 1] as number);
            if (!Number.isNaN(d)) found.push(d);
          }
        const mean = (of: (d: number) => number, p: number) =>
          found.reduce((sum, d) => sum + of(d) ** p, 0) / found.length;
        expect(increments.count[lag]).toBe(found.length);
        expect(increments.moments["2"].y[lag]).toBeCloseTo(mean(Math.abs, 2), 12);
        expect(increments.moments["3"].y[lag]).toBeCloseTo(mean(Number, 3), 12);
        expect(increments.moments["1.5"].y[lag]).toBeCloseTo(mean(Math.abs, 1.5), 12);
        const inside = found.filter((d) => d >= 0 && d < 0.5).length;
        expect(increment_histogram.counts.y[lag][2]).toBe(inside);
      }
    }
  });
});
