/** Thresholds of expressions find the nodes that the built-in quantities and the statistics of the same nodes find. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { askEarlier } from "../support/earlier-questions.js";
import { serveTestData } from "../support/service.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

const BOX = { x_start: 1, y_start: 1, z_start: 1, x_end: 32, y_end: 32, z_end: 32 };

async function post(call: string, body: object): Promise<Record<string, unknown>> {
  const answer = await askEarlier(`${service.url}/api/datasets/isotropic32/${call}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function search(field: string, threshold: number, spatialInterpolation = "None_Fd4"): Promise<number[][]> {
  const asked = { field, time: 0.6, threshold, spatialInterpolation, ...BOX };
  return (await post("GetThreshold", asked)).values as number[][];
}

describe("thresholds of expressions", () => {
  it("find the nodes and values of the built-in quantities", async () => {
    const vorticity = await search("vorticity", 3);
    const expression = await search("norm(w)", 3);
    expect(vorticity.length).toBeGreaterThan(1000);
    expect(expression).toHaveLength(vorticity.length);
    const placed = (records: number[][]) => new Map(records.map(([x, y, z, value]) => [`${x} ${y} ${z}`, value]));
    const built = placed(vorticity);
    for (const [node, value] of placed(expression)) expect(value).toBeCloseTo(built.get(node) as number, 5);
    expect(await search("norm(velocity)", 1.5, "None")).toEqual(await search("velocity", 1.5, "None"));
  });

  it("find as many nodes as statistics count, of named quantities too", async () => {
    const conditions = [
      ["strain", 4],
      ["R < 0 ? Q : 0", 1],
      ["dot(u, w)", 2],
    ] as const;
    for (const [quantity, threshold] of conditions) {
      const { results } = await post("statistics", {
        time: 0.6,
        reduce: [{ moments: `(${quantity}) > ${threshold}`, order: 1 }],
      });
      const [{ mean }] = results as [{ mean: number }];
      const found = await search(quantity, threshold);
      expect(found.length).toBe(Math.round(mean * 32 ** 3));
      expect(found.length).toBeGreaterThan(0);
    }
  });

  it.each([
    ["norm(w)", "None", "For norm(w) it is None_Fd4, None_Fd6, None_Fd8."],
    ["u.x ^ 2", "None_Fd4", "For u.x ^ 2 it is None."],
    ["norm(w", "None_Fd4", "column"],
    ["norm(magnetic)", "None", "the dataset has no magnetic (column 6)"],
    ["nothing", "None", "Invalid field specified!"],
  ])("refuse %s by %s in one line", async (field, spatialInterpolation, text) => {
    const refused = await post("GetThreshold", { field, time: 0.6, threshold: 1, spatialInterpolation, ...BOX });
    expect(refused.detail).toContain(text);
    expect(refused.detail).not.toContain("\n");
  });
});
