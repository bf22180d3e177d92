/** A dataset behind HTTP through the whole service: the values of its copy on disk, its counts, and what a failing host leads to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { array, TABLES } from "../storage/zarr/numbered-cube.js";
import { nodeValue, stateGrid, writeField, writeHdf5 } from "../support/cubes.js";
import { useObjectServer } from "../support/object-server.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { type StoreSpec, writeZarr, zarrObjects } from "../support/zarr.js";

const SCRATCH = scratchFolder();
const server = useObjectServer();
const SPEC: StoreSpec = {
  version: 3,
  arrays: { velocity: array(["t", "z", "y", "x", "c"], { codec: "gzip" }), ...TABLES },
  consolidated: true,
};

describe("a dataset behind HTTP", () => {
  let service: RunningService;
  beforeAll(async () => {
    await server.put("far.zarr", zarrObjects(SPEC));
    await server.put("gone.zarr", zarrObjects(SPEC));
    await server.put("silent.zarr", zarrObjects(SPEC));
    writeZarr(join(SCRATCH, "near.zarr"), SPEC);
    const path = await writeHdf5(join(SCRATCH, "file.h5"), (file) => {
      stateGrid(file);
      for (const [c, name] of ["u", "v", "w"].entries())
        writeField(file, name, {
          dimensions: ["t", "z", "y", "x"],
          chunks: [1, 4, 10, 5],
          filter: "gzip",
          value: (at) => nodeValue({ ...at, c }),
        });
      file.create_dataset({ name: "time", data: Float64Array.of(0, 1, 2) });
    });
    await server.put("files", new Map([["far-file.h5", readFileSync(path)]]));
    const far = ["far", "gone", "silent"].map((name) => `${server.url}/${name}.zarr`);
    service = await serveTestData([SCRATCH, ...far, `${server.url}/files/far-file.h5`], { EVENTS: "off" });
  });
  afterAll(() => service.close());

  const ask = (dataset: string, signal?: AbortSignal): Promise<Response> => {
    const points = Array.from({ length: 200 }, (_, i) => [1 + (i % 9), 1 + ((7 * i) % 8), 1 + ((3 * i) % 9)]);
    const body = { time: 0.5, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP", points };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    };
    return fetch(`${service.url}/api/datasets/${dataset}/GetVelocity`, init);
  };
  const text = async (path: string) => (await fetch(service.url + path)).text();

  it("has the values of its copy in a folder, to the bit", async () => {
    const [near, far] = await Promise.all(["near", "far"].map(async (name) => (await ask(name)).json()));
    expect(near.values).toHaveLength(200);
    expect(far.values).toEqual(near.values);
  });

  it("may be an HDF5 file, and answers what the page asks for", async () => {
    const [near, far] = await Promise.all(["file", "far-file"].map(async (name) => (await ask(name)).json()));
    expect(near.values).toHaveLength(200);
    expect(far.values).toEqual(near.values);
    const described = JSON.parse(await text("/api/datasets"));
    expect(JSON.stringify(described)).toContain("far-file");
    await expect.poll(() => text("/readyz")).toContain("far-file.h5: answers");
  });

  it("delays no query of other datasets while its host does not answer", async () => {
    await server.set({ silent: true });
    const before = server.requests;
    const end = new AbortController();
    let answered = 0;
    const waiting = Array.from({ length: 4 }, () =>
      ask("silent", end.signal).then(
        () => answered++,
        () => undefined,
      ),
    );
    await expect.poll(() => server.requests).toBeGreaterThan(before);
    for (const name of ["near", "near", "near"]) expect((await ask(name)).status).toBe(200);
    expect(answered).toBe(0);
    end.abort();
    await Promise.all(waiting);
    await server.set({ silent: false });
  });

  it("counts what was fetched, and says in /readyz and in the answer when its host fails", async () => {
    await server.set({ failures: 1000 });
    const { status, detail } = await ask("gone").then(async (answer) => ({
      status: answer.status,
      detail: JSON.stringify(await answer.json()),
    }));
    await server.set({ failures: 0 });
    expect(status).toBe(503);
    expect(detail).toMatch(/Busy/);
    await expect.poll(() => text("/readyz")).toContain(`store ${server.url}/gone.zarr: does not answer`);
    expect(await text("/readyz")).toContain(`store ${server.url}/far.zarr: answers`);
    const metrics = await text("/metrics");
    expect(metrics).toMatch(/fieldprobe_store_failures_total\{store="[^"]*gone\.zarr"\} [1-9]/);
    expect(metrics).toMatch(/fieldprobe_store_bytes_total\{store="[^"]*far\.zarr"\} [1-9]/);
    expect((await ask("near")).status).toBe(200);
  });
});
