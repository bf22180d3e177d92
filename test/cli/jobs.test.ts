/** `fieldprobe values --job` and `fieldprobe jobs` against a service, and the methods of the typed client. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { jobsOf } from "../../src/client/jobs.js";
import type { RunningService } from "../../src/main.js";
import { fieldprobe } from "../support/run-command.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const folder = scratchFolder();
let service: RunningService;

beforeAll(async () => {
  service = await serveTestData([], { STATE: folder, EVENTS: "off" }, false);
});
afterAll(() => service.close());

it("starts a job, lists it, saves its result and forgets it", async () => {
  const points = join(folder, "points.csv");
  writeFileSync(points, "1,2,3\n2,2,2\n");
  const flags = ["isotropic32", "u", "--time", "0.4", "--method", "Lag6", "--points", points];
  const { url } = service;
  const started = await fieldprobe("values", ...flags, "--url", url, "--format", "f32", "--job");
  const id = started.stdout.split(" ")[0] as string;
  expect(started.stdout).toMatch(/^[0-9a-f]{24} {2}queued +0 % {2}POST \/api\/datasets\/isotropic32\/values/);
  const other = await fieldprobe("jobs", id, "--url", url, "--out", join(folder, "result.npy"));
  expect([other.status, other.stderr]).toEqual([2, expect.stringMatching(/the result is .*--format of the call/)]);
  const saved = join(folder, "result.f32");
  expect((await fieldprobe("jobs", id, "--url", url, "--out", saved)).stdout).toBe("");
  const bytes = readFileSync(saved);
  const client = await connect(url);
  const request = { dataset: "isotropic32", time: 0.4, spatialInterpolation: "Lag6" } as const;
  const { values } = await client.GetVelocity({
    ...request,
    temporalInterpolation: "None",
    points: Float32Array.of(1, 2, 3, 2, 2, 2),
  });
  expect(Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))).toEqual([...values]);
  expect((await fieldprobe("jobs", "--url", url)).stdout).toMatch(
    new RegExp(`^${id} {2}done +100 % {2}24 bytes, sha256 `),
  );
  await fieldprobe("jobs", id, "--url", url, "--cancel");
  expect((await fieldprobe("jobs", "--url", url)).stdout).toBe("There are no jobs.\n");
  expect(await fieldprobe("jobs", id, "--url", url)).toMatchObject({
    status: 1,
    stderr: "fieldprobe: There is no job of that id.\n",
  });
  expect(await fieldprobe("values", ...flags, "--job")).toMatchObject({ status: 2 });
});

it("is a method of the typed client too, which says why a job was refused", async () => {
  const client = await connect(service.url);
  const points = [
    [1, 2, 3],
    [2, 2, 2],
  ];
  const asked = { time: 0.4, method: "Lag6", points } as const;
  const { id } = await client.submit("isotropic32", "values", { ...asked, format: "csv" });
  const seen: number[] = [];
  expect(await client.wait(id, { onProgress: ({ progress }) => void seen.push(progress) })).toMatchObject({
    state: "done",
  });
  expect(seen.at(-1)).toBe(1);
  expect(await (await client.result(id)).text()).toMatch(/^x,y,z,u\.x,u\.y,u\.z\r\n.*\r\n.*\r\n$/);
  const wrong = client.submit("isotropic32", "values", { ...asked, method: "Lag5" });
  await expect(wrong).rejects.toMatchObject({ code: "InvalidRequest", detail: { member: "method" } });
  const early = client.submit("isotropic32", "values", { ...asked, time: 99 });
  await expect(early).rejects.toThrow('Time 99 out of range for "isotropic32"');
  const late = client.submit("isotropic32", "statistics", { what: "u", time: 99 });
  await expect(late).rejects.toThrow("stores no frame at 99");
});

it("refuses a result that is not what the job has written, and saves nothing of it", async () => {
  // Between service and client: one bit of each result changes.
  const between = createServer(async ({ url = "", method = "" }, reply) => {
    const answer = await fetch(`${service.url}${url}`, { method });
    const body = Buffer.from(await answer.arrayBuffer());
    if (url.endsWith("/result")) body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1);
    reply.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(body);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  try {
    const direct = await connect(service.url);
    const asked = { time: 0.4, points: [[1, 2, 3]], format: "npy" } as const;
    const { id } = await direct.submit("isotropic32", "values", asked);
    await direct.wait(id);
    expect((await (await direct.result(id)).arrayBuffer()).byteLength).toBeGreaterThan(12);
    const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const answer = await jobsOf(url, undefined).result(id);
    const why = /^[0-9a-f]{24}-[0-9a-f]{8}\.npy is not what the job has written\.$/;
    await expect(answer.arrayBuffer()).rejects.toMatchObject({
      code: "DataError",
      message: expect.stringMatching(why),
    });
    const saved = join(folder, "changed.npy");
    expect(await fieldprobe("jobs", id, "--url", url, "--out", saved)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^fieldprobe: [0-9a-f]{24}-[0-9a-f]{8}\.npy is not what the job has written\.\n$/),
    });
    expect([existsSync(saved), readdirSync(folder).filter((name) => name.includes("partial"))]).toEqual([false, []]);
  } finally {
    between.close();
  }
});
