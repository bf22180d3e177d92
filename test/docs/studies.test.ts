/** The studies of docs/analysis.md answer what the text beside them says. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { useTestData } from "../support/service.js";

const TEXT = readFileSync(fileURLToPath(new URL("../../docs/analysis.md", import.meta.url)), "utf8");
/** The calls of the document: address below the datasets, and body. */
const CALLS = [...TEXT.matchAll(/^curl http:\/\/localhost:8080\/api\/datasets\/(\S+) .*\\\n {2}-d '(.*)'$/gm)].map(
  ([, path = "", body = ""]) => ({ path, body }),
);

const service = await useTestData();

async function study<T>(name: string, nth = 0): Promise<T> {
  const { path, body } = CALLS.filter((call) => call.path.endsWith(`/${name}`))[nth] as (typeof CALLS)[number];
  const response = await fetch(`${service.url}/api/datasets/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

interface Result {
  readonly mean: number;
  readonly means: readonly number[];
  readonly matrix: readonly (readonly number[])[];
}

it("has a command for each of them", () => {
  expect(CALLS.map(({ path }) => path.split("/")[1])).toEqual(
    expect.arrayContaining(["structure_functions", "statistics", "structures", "spectrum", "dispersion"]),
  );
  expect(CALLS).toHaveLength(6);
});

it("structure functions differ from axis to axis", async () => {
  const { separations } = await study<{ separations: { nodes: number; longitudinal: Record<number, number> }[] }>(
    "structure_functions",
  );
  const two = separations.filter(({ nodes }) => nodes === 2);
  expect(two.map(({ longitudinal }) => longitudinal[2]?.toFixed(4))).toEqual(["0.0262", "0.0277", "0.0243"]);
  expect(two.map(({ longitudinal }) => longitudinal[3]?.toFixed(4))).toEqual(["-0.0002", "-0.0028", "-0.0007"]);
});

it("vortices are stretched and strain amplified", async () => {
  const { results } = await study<{ results: Result[] }>("statistics");
  expect(results.slice(1).map(({ mean }) => mean.toFixed(3))).toEqual(["0.659", "-0.495", "0.706"]);
});

it("the first shells hold the energy, and shell 1 loses what goes to others", async () => {
  const { E, transfer } = await study<{ E: number[]; transfer: number[] }>("spectrum");
  expect(E.slice(1, 3).map((one) => one.toFixed(3))).toEqual(["0.300", "0.130"]);
  expect(transfer[1]?.toFixed(3)).toBe("-0.061");
  const { structures, nodes } = await study<{ structures: { nodes: number }[]; nodes: number }>("structures");
  expect([structures.length, structures[0]?.nodes, nodes]).toEqual([3, 1278, 1321]);
});

it("particles go ballistically at first, and pairs stay close", async () => {
  const {
    mean_square: meanSquare,
    velocity_square: velocitySquare,
    autocorrelation,
    pairs,
  } = await study<{
    mean_square: number[];
    velocity_square: number[];
    autocorrelation: number[];
    pairs: { separation: Record<number, number[]> };
  }>("dispersion");
  expect([meanSquare[1]?.toFixed(3), meanSquare[5]?.toFixed(1)]).toEqual(["0.179", "3.7"]);
  expect((0.44 ** 2 * (velocitySquare[0] as number)).toFixed(3)).toBe("0.183");
  // Falls through 1/e between 1.76 and 2.2.
  expect(autocorrelation[4] as number).toBeGreaterThan(Math.exp(-1));
  expect(autocorrelation[5] as number).toBeLessThan(Math.exp(-1));
  expect([0, 5].map((i) => pairs.separation[2]?.[i]?.toFixed(3))).toEqual(["0.040", "0.237"]);
});

it("models of the subgrid stress have the means and correlations that are printed", async () => {
  const { results } = await study<{ results: Result[] }>("statistics", 1);
  const [backward, fluxes, stresses] = results as [Result, Result, Result];
  expect(backward.mean.toFixed(2)).toBe("0.26");
  expect(fluxes.means.map((mean) => mean.toFixed(4))).toEqual(["0.0201", "0.0700", "0.0186"]);
  const correlation = ({ matrix }: Result, b: number) => {
    const at = (i: number, j: number) => matrix[i]?.[j] as number;
    return (at(0, b) / Math.sqrt(at(0, 0) * at(b, b))).toFixed(2);
  };
  expect([correlation(fluxes, 1), correlation(stresses, 1)]).toEqual(["0.79", "0.29"]);
  expect([correlation(fluxes, 2), correlation(stresses, 2)]).toEqual(["0.99", "0.98"]);
  // C that would give the flux its mean.
  expect((0.17 * Math.sqrt((fluxes.means[0] as number) / (fluxes.means[1] as number))).toFixed(3)).toBe("0.091");
});
