/** Conditions find the nodes that thresholds over SOAP and statistics of the same nodes find. */
import { describe, expect, it } from "vitest";
import { soapRecords } from "../support/operation-questions.js";
import { useTestData } from "../support/service.js";

const service = await useTestData();

const NODES = 32 ** 3;

async function ask(call: string, members: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const question = new URLSearchParams({ time: "0.6", derivatives: "Fd4", format: "json", ...members });
  const answer = await fetch(`${service.url}/api/datasets/isotropic32/${call}?${question}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

const lastOf = (rows: readonly number[][]) => rows.map((row) => row.at(-1) as number).toSorted((a, b) => a - b);

describe("conditions", () => {
  it("find the values of thresholds over SOAP", async () => {
    const box = { x_start: 1, y_start: 1, z_start: 1, x_end: 32, y_end: 32, z_end: 32 };
    const asked = { field: "vorticity", time: 0.6, threshold: 4, spatialInterpolation: "None_Fd4", ...box };
    const expected = lastOf(await soapRecords(service.url, "isotropic32", "GetThreshold", asked));
    const { rows } = await ask("find", { where: "norm(omega) > 4", what: "norm(omega)", limit: "1000" });
    const found = lastOf(rows as number[][]);
    expect(expected.length).toBeGreaterThan(100);
    expect(found).toHaveLength(expected.length);
    for (const [i, value] of found.entries()) expect(value).toBeCloseTo(expected[i] as number, 5);
  });

  it.each(["norm(S) > 2", "(R < 0 ? Q : 0) > 1", "dot(u, omega) > 2"])(
    "find as many nodes as statistics count: %s",
    async (where) => {
      const reduce = JSON.stringify([{ moments: `(${where}) ? 1 : 0`, order: 1 }]);
      const { results } = await ask("statistics", { reduce });
      const [{ mean }] = results as [{ mean: number }];
      expect(mean).toBeGreaterThan(0);
      expect((await ask("find", { where, what: "p" })).total).toBe(Math.round(mean * NODES));
    },
  );
});
