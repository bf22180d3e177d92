/** R_LL and R_NN are <u'(x) u'(x + r)>, summed here over the nodes of a cutout. */
import { expect, it } from "vitest";
import { useTestData } from "../../../support/service.js";
import { ask as askOf, get, jsonOf } from "../ask.js";

const service = await useTestData();

const N = 32;
const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Values of a component at all nodes of the frame of time 0.6, x fastest. */
async function nodes(component: string): Promise<readonly number[]> {
  const members = { what: component, time: 0.6 };
  const response = await get(service, "isotropic32", "nodes", members, "application/octet-stream");
  return [...new Float32Array(await response.arrayBuffer())];
}

type Three = [number[], number[], number[]];
type Row = Readonly<Record<"R_LL" | "R_NN", number>>;
async function ask(more: object): Promise<readonly Row[]> {
  const question = { dataset: "isotropic32", call: "structure_functions", time: 0.6, axis: ["y"], orders: [2] };
  return (await jsonOf(await askOf(service, { ...question, ...more }))).separations;
}

/** <a(x) a(x + s e_y)> over all nodes, the axis taken for its period. */
function correlation(a: readonly number[], s: number): number {
  const steps = (y: number): number => ((y + s) % N) - y;
  return mean(a.map((value, i) => value * (a[i + N * steps(Math.floor(i / N) % N)] as number)));
}

it("are of fluctuations as their mean is removed", async () => {
  const [own] = await ask({ what: "fluc(u)", separations: [3] });
  const [known] = await ask({ what: "u", separations: [3] });
  expect(own?.R_LL).toBeCloseTo(known?.R_LL as number, 12);
  const [kept] = await ask({ what: "mean(u) + fluc(u)", separations: [3], remove: "none" });
  const [whole] = await ask({ what: "u", separations: [3], remove: "none" });
  expect(kept?.R_NN).toBeCloseTo(whole?.R_NN as number, 12);
});

it("are without the mean unless it is kept", async () => {
  const [x, y, z] = (await Promise.all(["u.x", "u.y", "u.z"].map(nodes))) as Three;
  const shift = [3, -2, 0.5] as const;
  const of = "u + [3, -2, 0.5]";
  const moved = [x, y, z].map((values, c) => values.map((one) => one + (shift[c] as number))) as Three;
  const fluctuations = moved.map((values) => {
    const m = mean(values);
    return values.map((one) => one - m);
  }) as Three;
  for (const [remove, [a, b, c]] of [
    [undefined, fluctuations],
    ["none", moved],
  ] as const) {
    const rows = await ask({ what: [of], separations: [1, 5], remove });
    for (const [i, s] of [1, 5].entries()) {
      expect(rows[i]?.R_LL).toBeCloseTo(correlation(b, s), 10);
      expect(rows[i]?.R_NN).toBeCloseTo((correlation(a, s) + correlation(c, s)) / 2, 10);
    }
  }
  const { R_LL } = (await ask({ what: [of], separations: { lengths: [Math.PI / 16], pairs: 20_000 } }))[0] as Row;
  expect(Math.abs(R_LL / correlation(fluctuations[1], 1) - 1)).toBeLessThan(0.05);
});
