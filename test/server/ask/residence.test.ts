/** Times in regions against the straight lines of a uniform wind, and leaving a slab by diffusion against its series. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { descriptor, NODES, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";
import { useTestData } from "../../support/service.js";
import { type AnyAnswer, ask, get, jsonOf, type Members } from "./ask.js";

const SCRATCH = scratchFolder();
const WIND = [7, 0, -3];
for (const [name, u] of Object.entries({ wind: WIND, still: [0, 0, 0] })) {
  mkdirSync(join(SCRATCH, name));
  const velocity = { file: "u.h5", path: "/u", dimensions: ["t", "z", "y", "x", "c"] as const };
  await writeHdf5(join(SCRATCH, name, "u.h5"), (file) =>
    writeField(file, "/u", { ...velocity, value: ({ c }) => u[c] ?? 0 }),
  );
  const content = descriptor(name, { fields: { velocity } });
  const z = { nodes: NODES.z, origin: 0, spacing: 1 };
  writeDescriptor(join(SCRATCH, name), { ...content, axes: { ...(content.axes as object), z } });
}
const service = await useTestData([SCRATCH], { STATE: scratchFolder() }, false);

const PATHS = { call: "paths", dataset: "wind", time: "0:2", step: 0.125, method: "nearest" };
const question = (members: Members): Promise<AnyAnswer> => ask(service, { ...PATHS, ...members }).then(jsonOf);
const named = ({ columns, rows }: AnyAnswer): Readonly<Record<string, number>>[] =>
  rows.map((row: number[]) => Object.fromEntries(row.map((value, c) => [columns[c].name, value])));

/** Starts in and out of the region x 2 to 5, z 4 to 6, some of whose paths leave the domain at z = 0. */
const POINTS = Array.from({ length: 40 }, (_, i) => [(i * 1.37) % 12, 5, (i * 0.61) % 10]);
const REGION = { x: "2:5", z: "4:6" };

/** By small steps of time: the time inside, and the first time outside after one inside; x wraps after 12. */
function walked([x = 0, , z = 0]: readonly number[], end: number, sign = 1): readonly [number, number | null] {
  const [n, dt] = [40_000, 2 / 40_000];
  let [spent, left, was] = [0, null as number | null, false];
  for (let i = 0; i < n; i++) {
    const t = (i + 0.5) * dt;
    const [a, c] = [(((x + sign * 7 * t) % 12) + 12) % 12, z - sign * 3 * t];
    const inDomain = c >= 0 && c <= NODES.z - 1;
    const is = inDomain && a >= 2 && a <= 5 && c >= 4 && c <= 6;
    if (is && t < end) spent += dt;
    if (was && !is) left ??= t;
    was = is;
  }
  return [spent, left];
}

it.each([
  ["0:2", 1],
  ["2:0", -1],
] as const)("are those of straight paths over seams, over %s", async (time, sign) => {
  const members = { points: POINTS, time, residence: REGION, exit_from: REGION };
  const rows = named(await question(members));
  const ends = named(await question({ ...members, last: true }));
  const start = sign > 0 ? 0 : 2;
  for (const [i, point] of POINTS.entries()) {
    const [spent, left] = walked(point, 2, sign);
    const end = ends[i] as Readonly<Record<string, number | null>>;
    expect(end).toEqual(rows[17 * i + 16]);
    expect(Math.abs((end.residence as number) - spent)).toBeLessThan(2e-4);
    expect(end.censored).toBe(left === null ? 1 : 0);
    if (left === null) expect(end.exit_from).toBeNull();
    else expect(Math.abs(sign * ((end.exit_from as number) - start) - left)).toBeLessThan(2e-4);
    expect(rows[17 * i]).toMatchObject({ residence: 0, exit_from: null, censored: 1 });
  }
  expect(ends.filter(({ censored }) => censored === 0).length).toBeGreaterThan(10);
});

it("are the same as a job, by an address and whatever else is recorded", async () => {
  const members = {
    points: { random: 500, seed: 1 },
    residence: REGION,
    exit_from: REGION,
    diffusivity: 0.5,
    what: "u.x",
  };
  const whole = await question(members);
  const address = { ...PATHS, points: members.points, "residence.x": "2:5", "residence.z": "4:6", exit_from: REGION };
  const { call, dataset, ...texts } = { ...address, diffusivity: 0.5, what: "u.x" };
  expect((await jsonOf(await get(service, dataset, call, texts))).rows).toEqual(whole.rows);
  const url = `${service.url}/api/datasets/wind/paths`;
  const { call: _, dataset: __, ...body } = { ...PATHS, ...members, job: true };
  const headers = { "content-type": "application/json" };
  const { id } = await jsonOf(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
  await (await fetch(`${service.url}/api/jobs/${id}/events`)).text();
  const result = await jsonOf(await fetch(`${service.url}/api/jobs/${id}/result`));
  expect(result.rows).toEqual(whole.rows);
  expect((await jsonOf(await ask(service, whole.question))).rows).toEqual(whole.rows);
});

it("leave a layer by diffusion as the series of its modes says", async () => {
  const [count, kappa, t, width] = [2000, 0.1, 1, 1];
  const points = Array.from({ length: count }, () => [5, 5, 5]);
  const how = { dataset: "still", points, time: `0:${t}`, step: 0.005, every: 1, diffusivity: kappa, last: true };
  const rows = named(await question({ ...how, exit_from: { z: "4.5:5.5" }, integrator: "heun" }));
  // Seen only at the ends of steps, the layer is 0.5826 sqrt(2 kappa dt) thicker on each side.
  const seen = width + 2 * 0.5826 * Math.sqrt(2 * kappa * how.step);
  const modes = [0, 1, 2, 3].map((n) => {
    const k = (2 * n + 1) * Math.PI;
    return (((-1) ** n * 4) / k) * Math.exp((-kappa * k ** 2 * t) / seen ** 2);
  });
  const stay = modes.reduce((sum, mode) => sum + mode, 0);
  const found = rows.filter(({ censored }) => censored === 1).length / count;
  expect(Math.abs(found - stay)).toBeLessThan(4 * Math.sqrt((stay * (1 - stay)) / count));
});

it.each([
  [{ residence: {} }, "residence: expected ranges of x, y or z"],
  [{ residence: { x: "1:2", t: "0:1" } }, "residence.t: expected ranges of x, y or z"],
  [{ exit_from: { y: 3 } }, "exit_from.y: expected two ascending numbers"],
])("refuse %j in one line", async (members, words) => {
  const response = await ask(service, { ...PATHS, points: "1,2,3", ...members });
  expect([response.status, (await response.json()).detail]).toEqual([400, expect.stringContaining(words)]);
});
