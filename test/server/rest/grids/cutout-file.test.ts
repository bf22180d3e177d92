/** Files of cutouts: the stored nodes of a box, read back from the file that is sent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, h5wasm } from "h5wasm/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { descriptor, nodeValue, writeDescriptor, writeField, writeHdf5 } from "../../../support/cubes.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData } from "../../../support/service.js";

let service: RunningService;
beforeAll(async () => {
  const folder = scratchFolder();
  await writeHdf5(join(folder, "field.h5"), (file) => {
    writeField(file, "/velocity", { dimensions: ["t", "z", "y", "x", "c"] });
    writeField(file, "/pressure", { dimensions: ["t", "z", "y", "x"] });
  });
  const field = (path: string, dimensions: string[]) => ({ file: "field.h5", path, dimensions });
  const fields = {
    velocity: field("/velocity", ["t", "z", "y", "x", "c"]),
    pressure: field("/pressure", ["t", "z", "y", "x"]),
  };
  writeDescriptor(folder, descriptor("counted", { fields }));
  service = await serveTestData([folder], { QUERY_POINTS: "3000" });
});
afterAll(() => service.close());

const ask = (query: string, ending = "h5") => fetch(`${service.url}/api/datasets/counted/cutout.${ending}?${query}`);

it("sends the nodes of a box with their coordinates", async () => {
  const response = await ask("fields=velocity&start=3,2,4&end=6,4,5&frames=2,3");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="counted-3-6_2-4_4-5-t2-3.h5"');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get("content-length")).toBe(String(bytes.length));
  const path = join(scratchFolder(), "cutout.h5");
  writeFileSync(path, bytes);
  await h5wasm.ready;
  const file = new File(path, "r");
  try {
    const velocity = file.get("Velocity_0003") as unknown as { shape: number[]; value: Float32Array };
    expect(velocity.shape).toEqual([2, 3, 4, 3]);
    const { value } = velocity;
    for (const [i, got] of [...value].entries()) {
      const [c, x, y, z] = [i % 3, Math.floor(i / 3) % 4, Math.floor(i / 12) % 3, Math.floor(i / 36)];
      expect(got).toBe(nodeValue({ t: 2, z: z + 3, y: y + 1, x: x + 2, c }));
    }
    expect([...(file.get("xcoor") as unknown as { value: Float64Array }).value]).toEqual([2, 3, 4, 5]);
    expect(file.keys()).not.toContain("Pressure_0002");
    const manifest = response.headers.get("fieldprobe-manifest");
    expect(manifest).toMatch(/^[0-9a-f]{64}$/);
    expect(file.attrs.fieldprobe_manifest?.value).toBe(manifest);
    expect(file.attrs.fieldprobe_version?.value).toBe(response.headers.get("fieldprobe-version"));
  } finally {
    file.close();
  }
});

it("answers 304 to who holds the file", async () => {
  const query = "fields=pressure&end=4,4,4";
  const tag = (await ask(query)).headers.get("etag") as string;
  const url = `${service.url}/api/datasets/counted/cutout.h5?${query}`;
  expect((await fetch(url, { headers: { "if-none-match": tag } })).status).toBe(304);
  expect((await ask("fields=pressure&end=4,4,3")).headers.get("etag")).not.toBe(tag);
});

it("describes the same file for ParaView", async () => {
  const response = await ask("fields=pressure&end=4,4,4", "xmf");
  expect(response.headers.get("content-type")).toContain("application/xml");
  const text = await response.text();
  expect(text).toContain("counted-1-4_1-4_1-4-t1-1.h5:/Pressure_0001");
  expect(text).toContain('Dimensions="4 4 4"');
});

it.each([
  ["fields=temperature", 400, "fields"],
  ["fields=pressure,pressure&end=2,2,2", 400, "fields"],
  ["start=0,1,1", 400, "start"],
  ["start=5,1,1&end=4,2,2", 400, "end"],
  ["end=13,4,4", 400, "end"],
  ["frames=3,4&end=2,2,2", 400, "frames"],
  ["frames=2,1", 400, "frames"],
  ["box=1", 400, "box"],
])("refuses %s", async (query, status, member) => {
  const response = await ask(query);
  expect([response.status, ((await response.json()) as { member: string }).member]).toEqual([status, member]);
});

it("holds nodes times fields times frames to the limit of points", async () => {
  const response = await ask("frames=1,3");
  expect([response.status, ((await response.json()) as { limit: string }).limit]).toEqual([413, "query.points"]);
});
