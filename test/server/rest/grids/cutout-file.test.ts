/** Files of cutouts: the stored nodes of a box, read back from the file that is sent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, h5wasm } from "h5wasm/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Query } from "../../../../src/engine/contract/query.js";
import type { RunningService } from "../../../../src/main.js";
import { gridOf } from "../../../../src/server/rest/grids/cutout-forms.js";
import { BusyError } from "../../../../src/shared/errors.js";
import type { FieldSource } from "../../../../src/storage/dataset/dataset.js";
import { descriptor, nodeValue, writeDescriptor, writeField, writeHdf5 } from "../../../support/cubes.js";
import { FakeEngine } from "../../../support/fake-engine.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData } from "../../../support/service.js";
import { LOPSIDED } from "../analysis/analytic-engine.js";
import { serveApi } from "../serve-api.js";

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

/** An engine with one dataset, whose cutouts are read in parts and end with an error. */
class BrokenCutouts extends FakeEngine {
  onPart: () => Promise<void> = async () => undefined;

  override find(): undefined {
    return LOPSIDED as unknown as undefined;
  }

  override start(...given: Parameters<FakeEngine["start"]>): ReturnType<FakeEngine["start"]> {
    const { onPart } = this;
    const stream = (async function* () {
      yield new Float32Array(3 * 48);
      await onPart();
      throw new BusyError("The store does not answer.");
    })();
    const result = { items: 192, itemsPerPoint: 1, components: 3, values: [], release: () => undefined };
    return {
      ...super.start(...given),
      nodes: 192,
      finish: async () => ({ ...result, shape: [4, 6, 8, 3], stream }),
    };
  }
}

it("holds a slot, and memory for all numbers twice, while a NetCDF cutout is read", async () => {
  const engine = new BrokenCutouts();
  const app = await serveApi(engine);
  const held = async () => {
    const { body } = await app.inject("/metrics");
    return ["requests_in_flight", "points_in_flight"].map((name) =>
      Number(new RegExp(`^fieldprobe_${name} (.*)$`, "m").exec(body)?.[1]),
    );
  };
  let meanwhile: readonly number[] = [];
  engine.onPart = async () => {
    meanwhile = await held();
  };
  const url = "/api/datasets/lopsided/cutout?field=u&T=1&region.start=0,0,0&region.end=7,5,3";
  const answer = await app.inject({ url, headers: { accept: "application/netcdf" } });
  expect(answer.statusCode).toBe(503);
  expect(meanwhile).toEqual([1, (192 * 3 * 4 * 2) / 12]);
  await expect.poll(held).toEqual([0, 0]);
  await app.close();
});

it("deals the components of a staggered field to variables within time slices", async () => {
  const parts = (async function* () {
    for (const first of [0, 6]) yield Float32Array.from({ length: 6 }, (_, i) => first + i);
  })();
  const field = LOPSIDED.fields.velocity as FieldSource;
  const own = { ...field, components: 1 } as const;
  const dataset = { ...LOPSIDED, fields: { velocity: { ...field, own: [own, own, own] as const } } };
  const slices: number[] = [];
  const each = async (count: number, treat: (from: number, to: number) => void) => {
    slices.push(count);
    treat(0, count);
  };
  const query: Query = { operation: "GetAnyCutoutWeb", T: 1 };
  for (const axis of ["x", "y", "z"] as const) Object.assign(query, { [`${axis}_start`]: 1, [`${axis}_step`]: 1 });
  const ahead = [0, 0, 0] as const;
  const cutout = { dataset, query, ahead, content: { field: "velocity" }, shape: [1, 1, 4, 3], options: {} };
  const { variables } = await gridOf(cutout, parts, { each });
  expect(variables.map(({ values }) => [...values])).toEqual([0, 1, 2].map((c) => [c, c + 3, c + 6, c + 9]));
  expect(slices).toEqual([2, 2]);
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
