/** The client's analyses of the shipped turbulence, typed, and their refusals as errors of the client. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientError, connect, type FieldClient } from "../../src/client/index.js";
import type { RunningService } from "../../src/main.js";
import { serveTestData } from "../support/service.js";

let service: RunningService;
let client: FieldClient;
beforeAll(async () => {
  service = await serveTestData();
  client = await connect(service.url);
});
afterAll(() => service.close());

describe("analyses", () => {
  it("answer statistics, structure functions and structures", async () => {
    const reduce = [{ moments: "ux" }] as const;
    const { results, frames, weights } = await client.statistics("isotropic32", { time: 0.6, reduce });
    expect(results[0]).toMatchObject({ of: "ux", count: 32768 });
    expect([frames.length, weights]).toEqual([1, "volume"]);
    const asked = { time: 0.6, separations: { nodes: [2] }, axes: ["x"] } as const;
    const { separations } = await client.structureFunctions("isotropic32", asked);
    expect(separations[0]?.longitudinal?.["2"]).toBeCloseTo(0.0262059706, 9);
    const columns = { ...asked, axes: ["x", "y"], form: "columns" } as const;
    const { axes, nodes } = await client.structureFunctions("isotropic32", columns);
    expect([axes.x?.longitudinal, nodes]).toEqual([separations[0]?.longitudinal, [2]]);
    const structures = { time: 0.6, of: "norm(w)", above: { rms: 2 } } as const;
    const { count, structures: list } = await client.structures("isotropic32", structures);
    const { shape, labels } = await client.structureLabels("isotropic32", structures);
    expect([count, list.length, ...shape]).toEqual([3, 3, 32, 32, 32]);
    expect(list.map(({ nodes }) => nodes)).toEqual([1, 2, 3].map((n) => labels.filter((label) => label === n).length));
  });

  it("take regions by nodes and by lengths", async () => {
    const moments = { time: 0.6, reduce: [{ moments: "p" }] } as const;
    const step = (2 * Math.PI) / 32;
    const byNodes = { ...moments, region: { start: [30, 1, 2], end: [34, 9, 5] } } as const;
    const origin = [30 * step, step, 2 * step] as const;
    const byLengths = { ...moments, region: { origin, extent: [4 * step, 8 * step, 3 * step] } } as const;
    const { results } = await client.statistics("isotropic32", byNodes);
    expect(results[0]).toMatchObject({ count: 96 });
    expect((await client.statistics("isotropic32", byLengths)).results).toEqual(results);
    const plane = { normal: "z", at: 1, count: [2, 2] } as const;
    const region = { origin: [0, 0], extent: [1, 1] } as const;
    const map = { start: 0.6, end: 0.65, dt: 0.05, plane, region, quantities: ["map"] } as const;
    expect((await client.flowMap("isotropic32", map)).shape).toEqual([2, 2]);
  });

  it("answer spectra", async () => {
    const { k, E, scales } = await client.spectrum("isotropic32", { time: 0.6 });
    expect([k.length, E.length]).toEqual([29, 29]);
    expect(scales?.energy).toBeCloseTo(0.46836768066, 10);
  });

  it("reject with what the service says", async () => {
    const bad = client.statistics("isotropic32", { time: 0.6, reduce: [{ moments: "wrong" }] });
    await expect(bad).rejects.toThrow("nothing has the name wrong");
    await expect(bad).rejects.toBeInstanceOf(ClientError);
    await expect(client.structures("none", { time: 0, of: "p", above: 1 })).rejects.toMatchObject({
      code: "UnknownDataset",
    });
  });
});
