/**
 * A dataset behind HTTP through the whole service: the values of its copy on disk, its counts, and what a failing host
 * leads to.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { openFile } from "../../src/storage/open-file.js";
import { array, TABLES } from "../storage/zarr/numbered-cube.js";
import { nodeValue, stateGrid, writeField, writeHdf5 } from "../support/cubes.js";
import { type Faults, useObjectServer } from "../support/object-server.js";
import { useS3Bucket } from "../support/s3-server.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { envelope, getVelocity, items, PATH } from "../support/soap-service.js";
import { knownObjects, type StoreSpec, writeKnownZarr } from "../support/zarr.js";

const SCRATCH = scratchFolder();
const server = useObjectServer();
const bucket = useS3Bucket(join(SCRATCH, "s3"));
const SPEC: StoreSpec = {
  version: 3,
  arrays: { velocity: array(["t", "z", "y", "x", "c"], { codec: "gzip" }), ...TABLES },
  attributes: { periodic: [1, 1, 1] },
  consolidated: true,
};

/** Faults of a host, each with the answer that mends it. */
const FAULTS: readonly (readonly [string, Faults, Faults])[] = [
  ["fails", { failures: 1000 }, { failures: 0 }],
  ["breaks connections", { cuts: 1000 }, { cuts: 0 }],
  ["sends callers to another host", { redirect: "http://10.0.0.1:8081/" }, { redirect: null }],
];

describe("a dataset behind HTTP", () => {
  let service: RunningService;
  beforeAll(async () => {
    await server.put("far.zarr", knownObjects(SPEC));
    await server.put("gone.zarr", knownObjects(SPEC));
    await server.put("silent.zarr", knownObjects(SPEC));
    writeKnownZarr(join(SCRATCH, "data", "near.zarr"), SPEC);
    const path = await writeHdf5(join(SCRATCH, "data", "file.h5"), (file) => {
      stateGrid(file);
      file.create_attribute("periodic", [1, 1, 1]);
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
    await bucket.put("runs", new Map([...knownObjects(SPEC)].map(([key, bytes]) => [`bucket.zarr/${key}`, bytes])));
    const slow = [...Array.from({ length: 7 }, (_, i) => `slow-${i}`), ...FAULTS.map((_, i) => `told-${i}`)];
    for (const name of slow) await server.put(`${name}.zarr`, knownObjects(SPEC));
    const far = ["far", "gone", "silent", ...slow].map((name) => `${server.url}/${name}.zarr`);
    service = await serveTestData(
      [join(SCRATCH, "data"), ...far, `${server.url}/files/far-file.h5`, "s3://cubes/runs"],
      { EVENTS: "off" },
    );
  });
  afterAll(() => service.close());

  const ask = (dataset: string, signal?: AbortSignal): Promise<Response> => {
    const points = Array.from({ length: 200 }, (_, i) => [1 + (i % 9), 1 + ((7 * i) % 8), 1 + ((3 * i) % 9)]);
    const body = { time: 0.5, method: "Lag4", points };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    };
    return fetch(`${service.url}/api/datasets/${dataset}/values`, init);
  };
  const text = async (path: string) => (await fetch(service.url + path)).text();

  it("has the values of its copy in a folder, to the bit", async () => {
    const [near, far] = await Promise.all(["near", "far"].map(async (name) => (await ask(name)).json()));
    expect(near.rows).toHaveLength(200);
    expect(far.rows).toEqual(near.rows);
  });

  it("may be an HDF5 file, and answers what the page asks for", async () => {
    const [near, far] = await Promise.all(["file", "far-file"].map(async (name) => (await ask(name)).json()));
    expect(near.rows).toHaveLength(200);
    expect(far.rows).toEqual(near.rows);
    const described = JSON.parse(await text("/api/datasets"));
    expect(JSON.stringify(described)).toContain("far-file");
    await expect.poll(() => text("/readyz")).toContain("far-file.h5: answers");
  });

  it.each([
    ["near", "far"],
    ["near", "bucket"],
    ["file", "far-file"],
  ])(
    "gives the page the slices of its copy, byte by byte, and the nodes of its cutouts: %s and %s",
    async (near, far) => {
      const bytesOf = async (name: string, path: string, accept = "application/octet-stream") => {
        const answer = await fetch(`${service.url}/api/datasets/${name}/${path}`, { headers: { accept } });
        expect(answer.status).toBe(200);
        return Buffer.from(await answer.arrayBuffer());
      };
      for (const plane of ["what=u.x&z=3&time=0.5", "what=u.z&x=4.5&time=1", "what=norm(omega)&y=2&time=2"]) {
        const slice = await bytesOf(near, `grid?${plane}`);
        expect(slice.length).toBeGreaterThan(100);
        expect((await bytesOf(far, `grid?${plane}`)).equals(slice)).toBe(true);
      }
      const box = "nodes?what=u&i=1:9&j=0:10&k=2:8&frame=1&format=h5";
      const nodesOf = async (name: string) => {
        const path = join(SCRATCH, `${name}-cut.h5`);
        writeFileSync(path, await bytesOf(name, box, "*/*"));
        const file = openFile(path);
        const nodes = file.numbers("/Velocity_0002");
        file.close();
        return nodes;
      };
      expect(await nodesOf(near)).toHaveLength(8 * 10 * 6 * 3);
      expect(await nodesOf(far)).toEqual(await nodesOf(near));
    },
  );

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

  const few = [1, 2, 3].map((k) => [k, 2 * k, 3 * k]);
  const PATHS = { time: "0.5:0.5008", step: 0.0001, method: "Lag4", last: true, points: few };
  const DOORS: readonly (readonly [string, string, object | null])[] = [
    ["a search", "find?what=norm(u)&time=1&format=csv", null],
    ["a box filter", "values", { what: "filter(u)", filter: "box:3", time: 1, points: few }],
    ["tracking", "paths", PATHS],
    ["adaptive tracking", "paths", { ...PATHS, integrator: "dopri5" }],
    ["nodes", "nodes?what=u&frame=0&format=f32", null],
    ["gradients at nodes", "nodes?what=A&frame=0&format=f32", null],
  ];
  const atDoor = (name: string, path: string, body: object | null, signal?: AbortSignal): Promise<Response> =>
    fetch(`${service.url}/api/datasets/${name}/${path}`, {
      ...(signal && { signal }),
      ...(body && {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/csv" },
        body: JSON.stringify(body),
      }),
    });

  it.each(DOORS.map((door, i) => [...door, `slow-${i}`] as const))(
    "has the values of its copy though every object takes longer than a time slice: %s",
    async (_, path, body, name) => {
      await server.set({ pauseMs: 40 });
      const far = await atDoor(name, path, body);
      await server.set({ pauseMs: 0 });
      const near = await atDoor("near", path, body);
      expect([far.status, near.status]).toEqual([200, 200]);
      const [there, here] = await Promise.all(
        [far, near].map(async (answer) => Buffer.from(await answer.arrayBuffer())),
      );
      expect(here?.length).toBeGreaterThan(10);
      expect(there?.equals(here as Buffer)).toBe(true);
    },
  );

  it.each(DOORS)("delays no query of other datasets while it does not answer: %s", async (_, path, body) => {
    await server.set({ silent: true });
    const end = new AbortController();
    const statuses: number[] = [];
    const waiting = Array.from({ length: 20 }, () =>
      atDoor("silent", path, body, end.signal).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      ),
    );
    await expect.poll(() => text("/metrics")).toMatch(/^fieldprobe_batches_(queued|running) [1-9]/m);
    for (let i = 0; i < 10; i++) expect((await ask("near")).status).toBe(200);
    expect((await atDoor("near", path, body)).status).toBe(200);
    expect(statuses.filter((status) => status !== 503)).toEqual([]);
    end.abort();
    await Promise.all(waiting);
    await server.set({ silent: false });
  });

  it("refuses none of other datasets while 100 queries wait for it, and answers Busy to most of these", async () => {
    await server.set({ silent: true });
    const end = new AbortController();
    const statuses: (number | null)[] = [];
    const waiting = Array.from({ length: 100 }, () =>
      ask("silent", end.signal).then(
        ({ status }) => statuses.push(status),
        () => statuses.push(null),
      ),
    );
    const refused = (): number => statuses.filter((status) => status === 503).length;
    await expect.poll(refused, { timeout: 20_000 }).toBeGreaterThan(60);
    for (let i = 0; i < 20; i++) expect((await ask("near")).status).toBe(200);
    expect(statuses.filter((status) => status !== 503)).toEqual([]);
    end.abort();
    await Promise.all(waiting);
    await server.set({ silent: false });
  });

  it.each(FAULTS.map((fault, i) => [...fault, `told-${i}`] as const))(
    "names no address, port or path to callers when its host %s",
    async (_, fault, mended, name) => {
      await server.set(fault);
      const soap = envelope("1.1", getVelocity({ time: "0.5", points: items([[1, 2, 3]]) })).replace(
        "isotropic32",
        name,
      );
      const answers = [
        await ask(name),
        ...(await Promise.all(DOORS.map(([, path, body]) => atDoor(name, path, body)))),
        await fetch(service.url + PATH, { method: "POST", headers: { "content-type": "text/xml" }, body: soap }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBeGreaterThanOrEqual(500);
        // Digits of a port may be among those of a digest or of an id.
        const said = JSON.stringify([[...answer.headers], await answer.text()]).replaceAll(
          /[0-9a-f]{32}|[0-9a-f-]{36}/g,
          "",
        );
        for (const secret of [new URL(server.url).host, new URL(server.url).port, "10.0.0.1", ".zarr", SCRATCH])
          expect(said).not.toContain(secret);
      }
      await server.set(mended);
    },
  );

  it("counts what was fetched, and says in /readyz and in the answer when its host fails", async () => {
    await server.set({ failures: 1000 });
    const { status, detail } = await ask("gone").then(async (answer) => ({
      status: answer.status,
      detail: JSON.stringify(await answer.json()),
    }));
    expect(status).toBe(503);
    expect(detail).toMatch(/Busy/);
    await expect
      .poll(() => text("/readyz"), { timeout: 20_000 })
      .toContain(`store ${server.url}/gone.zarr: does not answer`);
    await server.set({ failures: 0 });
    // Its documents may have been looked at while the host failed: it answers again once it is read.
    const states = async () => {
      await ask("far");
      return text("/readyz");
    };
    await expect.poll(states, { timeout: 20_000 }).toContain(`store ${server.url}/far.zarr: answers`);
    const metrics = await text("/metrics");
    expect(metrics).toMatch(/fieldprobe_store_failures_total\{store="[^"]*gone\.zarr"\} [1-9]/);
    expect(metrics).toMatch(/fieldprobe_store_bytes_total\{store="[^"]*far\.zarr"\} [1-9]/);
    expect((await ask("near")).status).toBe(200);
  });
});
