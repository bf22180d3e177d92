/** The client's analyses of the shipped turbulence, typed, and their refusals as errors of the client. */
import { afterAll, describe, expect, it } from "vitest";
import { ClientError, connect } from "../../src/client/index.js";
import { serveTestData } from "../support/service.js";

const service = await serveTestData();
const client = await connect(service.url);
afterAll(() => service.close());

describe("analyses", () => {
  it("answer statistics, structure functions and structures", async () => {
    const reduce = [{ moments: "u.x" }] as const;
    const { results, frames, weights } = await client.statistics("isotropic32", { time: 0.6, reduce });
    expect(results[0]).toMatchObject({ of: "u.x", count: 32768 });
    expect([frames.length, weights]).toEqual([1, "volume"]);
    const asked = { time: 0.6, separations: [2], axis: "x" } as const;
    const { separations } = await client.structure_functions("isotropic32", asked);
    expect(separations[0]?.longitudinal?.["2"]).toBeCloseTo(0.0262059706, 9);
    const where = "norm(omega) > 2*rms(norm(omega))";
    const { count, structures, labels } = await client.structures("isotropic32", { time: 0.6, where, labels: true });
    const all = (labels as number[][][]).flat(2);
    expect([count, structures.length, all.length]).toEqual([3, 3, 32 ** 3]);
    expect(structures.map(({ nodes }: { nodes: number }) => nodes)).toEqual(
      [1, 2, 3].map((n) => all.filter((label) => label === n).length),
    );
    const { bytes, headers } = await client.ask("structures", "isotropic32", { time: 0.6, where, labels: true }, "npy");
    expect(headers.get("fieldprobe-shape")).toBe("32,32,32");
    expect([...new Int32Array(bytes.slice(bytes.byteLength - 4 * 32 ** 3))]).toEqual(all);
  });

  it("take regions by nodes and by lengths", async () => {
    const moments = { time: 0.6, reduce: [{ moments: "p" }] } as const;
    const step = (2 * Math.PI) / 32;
    const byNodes = { ...moments, i: "30:34", j: "1:9", k: "2:5" } as const;
    const [x, y, z] = [`${30 * step}:${33 * step}`, `${step}:${8 * step}`, `${2 * step}:${4 * step}`] as const;
    const { results } = await client.statistics("isotropic32", byNodes);
    expect(results[0]).toMatchObject({ count: 96 });
    expect((await client.statistics("isotropic32", { ...moments, x, y, z })).results).toEqual(results);
    const map = { what: "map", time: "0.6:0.65", step: 0.05, x: "0:1", y: "0:1", z: 1, samples: 2 } as const;
    expect((await client.flow_map("isotropic32", map)).coords).toMatchObject({ x: [0.25, 0.75], y: [0.25, 0.75] });
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
    await expect(client.structures("none", { time: 0, where: "p > 1" })).rejects.toMatchObject({
      code: "UnknownDataset",
    });
  });
});
