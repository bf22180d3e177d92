/** Brownian particles against the laws of diffusion and the words of the convention, and their bits in every cut. */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { descriptor, NODES, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

const SCRATCH = scratchFolder();
/** A steady flow u on the test grid of unit spacing; the component `lacks` is missing beyond x = 7 and y = 2. */
async function writeFlow(name: string, u: readonly number[], y: object, lacks = -1): Promise<void> {
  const folder = folderIn(SCRATCH, name);
  const velocity = { file: "u.h5", path: "/u", dimensions: ["t", "z", "y", "x", "c"] as const };
  const value = ({ x, y, c }: Record<"x" | "y" | "c", number>) =>
    c === lacks && x > 7 && y > 2 ? Number.NaN : (u[c] ?? 0);
  await writeHdf5(join(folder, "u.h5"), (file) => writeField(file, "/u", { ...velocity, value }));
  const content = descriptor(name, { fields: { velocity } });
  writeDescriptor(folder, { ...content, axes: { ...(content.axes as object), y: { ...UNIT, ...y } } });
}
const UNIT = { nodes: NODES.y, origin: 0, spacing: 1 };
await writeFlow("still", [0, 0, 0], { periodic: true });
await writeFlow("wind", [2, 0, -1], { periodic: true });
for (const c of [0, 1, 2]) await writeFlow(`lacks${c}`, [2, 0, -1], { periodic: true }, c);
await writeFlow("slab", [0, 0, 0], { faces: "wall" });
await writeFlow("shore", [0, 0, 0], { faces: ["wall", "open"] });

function serve(workers: string, particleSteps: string): Promise<RunningService> {
  const settings = { WORKERS: workers, QUERY_PARTICLE_STEPS: particleSteps, STATE: scratchFolder(), EVENTS: "off" };
  return serveTestData([SCRATCH], settings, false);
}
/** The second takes few particle steps, so that its jobs have many tasks. */
const [one, four] = await Promise.all([serve("1", "8000000"), serve("4", "8000")]);
afterAll(() => Promise.all([one.close(), four.close()]));

const question = (members: Members): Promise<AnyAnswer> => ask(one, members).then(jsonOf);
const mean = (all: readonly number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;
const COUNT = 4000;
const at = (...place: number[]) => Array.from({ length: COUNT }, () => place);
/** Paths of the slab, at rest whatever the interpolation. */
const SLAB = { call: "paths", dataset: "slab", method: "nearest", integrator: "heun", last: true, seed: 7 };

/** Philox4x32-10 as the paper writes it, in whole numbers of any length. */
function philoxOf(counter: readonly number[], key: readonly number[]): readonly number[] {
  let [a = 0n, b = 0n, c = 0n, d = 0n] = counter.map(BigInt);
  let [k = 0n, l = 0n] = key.map(BigInt);
  for (let round = 0; round < 10; round++) {
    const [p, q] = [0xd2511f53n * a, 0xcd9e8d57n * c];
    [a, b, c, d] = [(q >> 32n) ^ b ^ k, q & 0xffffffffn, (p >> 32n) ^ d ^ l, p & 0xffffffffn];
    [k, l] = [(k + 0x9e3779b9n) & 0xffffffffn, (l + 0xbb67ae85n) & 0xffffffffn];
  }
  return [a, b, c, d].map(Number);
}

it("move by the numbers of the convention", async () => {
  const seed = 2 ** 32 - 5;
  const how = { dataset: "still", call: "paths", time: "0:1", step: 0.5, diffusivity: 0.25, seed };
  const { rows } = await question({ ...how, points: at(1, 2, 3).slice(0, 4) });
  for (const i of [0, 1, 3]) {
    let place: readonly number[] = [1, 2, 3];
    for (const n of [1, 2]) {
      const [a = 0, b = 0, c = 0, d = 0] = philoxOf([i, n, 0, 2], [seed, 0]).map((w) => w / 2 ** 32);
      const [r, far] = [a, c].map((w) => Math.sqrt(-2 * Math.log(w + 2 ** -32))) as [number, number];
      const by = [r * Math.cos(2 * Math.PI * b), r * Math.sin(2 * Math.PI * b), far * Math.cos(2 * Math.PI * d)];
      place = place.map((x, axis) => x + Math.sqrt(2 * 0.25 * 0.5) * (by[axis] as number));
      for (const [axis, x] of place.entries()) expect(rows[3 * i + n][2 + axis]).toBeCloseTo(x, 5);
    }
  }
});

it.each(["0:1.9", "1.9:0"])(
  "have a mean square displacement of 2 n kappa t in a fluid at rest, over %s",
  async (time) => {
    const how = {
      call: "dispersion",
      dataset: "still",
      time,
      step: 0.25,
      diffusivity: 0.03,
      points: { random: COUNT, seed: 5 },
    };
    const { times, mean_square, mean_square_axes, question: asked } = await question(how);
    for (const [i, t] of times.entries()) {
      const along = 2 * 0.03 * Math.abs(t - times[0]);
      expect(Math.abs(mean_square[i] - 3 * along)).toBeLessThanOrEqual(4 * 3 * along * Math.sqrt(2 / 3 / COUNT));
      for (const square of mean_square_axes[i])
        expect(Math.abs(square - along)).toBeLessThanOrEqual(4 * along * Math.sqrt(2 / COUNT));
    }
    expect(asked).toMatchObject({ diffusivity: 0.03, seed: 0, walls: "reflect" });
  },
);

it("solve advection and diffusion by their ends backwards", async () => {
  // theta = exp(-kappa k^2 t) cos(k (x - U t)) of cos(k x) in a wind U.
  const [k, t, x] = [(2 * Math.PI) / NODES.x, 1.5, 5];
  const how = { call: "paths", last: true, dataset: "wind", time: `${t}:0`, step: 0.25, diffusivity: 1, seed: 8 };
  const { rows } = await question({ ...how, points: at(x, 5, 5) });
  const found = mean((rows as number[][]).map((row) => Math.cos(k * (row[2] as number))));
  const expected = Math.exp(-(k ** 2) * t) * Math.cos(k * (x - 2 * t));
  expect(Math.abs(found - expected)).toBeLessThan(4 * Math.sqrt(0.5 / COUNT));
});

it("are reflected by walls and stay uniform, and leave by an open face opposite", async () => {
  const how = { ...SLAB, points: { random: COUNT, seed: 2 }, time: "0:2", step: 0.1, diffusivity: 2 };
  const heights = ((await question(how)).rows as number[][]).map((row) => row[3] as number);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...heights)).toBeLessThanOrEqual(NODES.y - 1);
  const tenthOf = (y: number) => Math.min(9, Math.floor((10 * y) / (NODES.y - 1)));
  const tenths = Array.from({ length: 10 }, (_, n) => heights.filter((y) => tenthOf(y) === n).length);
  // Of nine degrees of freedom, one in a thousand is above.
  expect(mean(tenths.map((n) => (n - COUNT / 10) ** 2 / 40))).toBeLessThan(27.9);
  const open = (await question({ ...how, dataset: "shore" })).rows as number[][];
  expect(open.every(([, , , y = -1]) => y >= 0)).toBe(true);
  const left = open.filter((row) => row[5] !== null);
  expect(left.every((row) => row[3] === NODES.y - 1)).toBe(true);
  expect(left.length / COUNT).toBeCloseTo(0.25, 0);
});

it("stop at walls, as many as the law of first passages says", async () => {
  const [t, kappa, step] = [2, 0.1, 0.005];
  const how = { ...SLAB, points: at(1, 1, 1), walls: "stop", time: `0:${t}`, step, diffusivity: kappa };
  const stopped = ((await question(how)).rows as number[][]).filter((row) => row[5] !== null);
  expect(stopped.every(([, , , y = 1, , exit = 0]) => y < 1e-6 && exit > 0 && exit < t + 1e-6)).toBe(true);
  // 2 P(X > 1) of a normal X of variance 2 kappa t; steps see a wall 0.5826 sqrt(2 kappa dt) farther off.
  const away = (1 + 0.5826 * Math.sqrt(2 * kappa * step)) / Math.sqrt(2 * kappa * t);
  const tail = Array.from({ length: 4000 }, (_, i) => Math.exp(-((away + (i + 0.5) / 400) ** 2) / 2) / 400);
  const expected = 4000 * mean(tail) * Math.sqrt(2 / Math.PI);
  expect(Math.abs(stopped.length / COUNT - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / COUNT));
});

const UNTIL = { time: "0:1.9", step: 0.25, method: "nearest", points: "5.1,5,5;9,5,5" };
it.each<Members>([
  { integrator: "heun" },
  { integrator: "rk4" },
  { integrator: "dopri5" },
  { diffusivity: 1e-9 },
  { drag: 0.1 },
  { frozen: true },
])("have no coordinate from the step on that meets a velocity without one of its components: %o", async (members) => {
  for (const dataset of ["lacks0", "lacks1", "lacks2"]) {
    const { rows } = await question({ call: "paths", dataset, ...UNTIL, ...members });
    const known = (rows as number[][]).map((row) => row.slice(2, 5).filter((one) => one !== null).length);
    // The first meets the hole at x = 7.5 after 1.2, the second starts in it.
    expect(known).toEqual([...[3, 3, 3, 3, 3, 0, 0, 0, 0], ...[3, 0, 0, 0, 0, 0, 0, 0, 0]]);
    if (members.integrator === undefined) continue;
    const { particles, velocity_square } = await question({ call: "dispersion", dataset, ...UNTIL, ...members });
    expect(particles).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 0]);
    expect(velocity_square).toEqual([5, 5, 5, 5, 5, null, null, null, null]);
  }
});

it.each(["lacks0", "lacks2"])("have no flow map from the step on that meets a hole: %s", async (dataset) => {
  // The stencil of the velocity has the hole from x = 4, that of its gradient from 5.5.
  const how = { call: "flow_map", time: "0:0.5", step: 0.25, method: "Lag8", derivatives: "Fd4" };
  const grid = { x: "4.2:4.9", y: "4:5", z: "4:5", samples: 2, what: ["map", "gradient", "ftle"] };
  const { data } = await question({ dataset, ...how, ...grid });
  expect(new Set(Object.values(data as object).flat(9))).toEqual(new Set([null]));
});

const BITS = { points: { random: 1000, seed: 4 }, time: "0.4:0.6", step: 0.01, diffusivity: 0.01, seed: 9 };
const post = (service: RunningService, call: string, members: Members): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  const url = `${service.url}/api/datasets/isotropic32/${call}`;
  return fetch(url, { method: "POST", headers, body: JSON.stringify({ ...BITS, ...members }) });
};

it.each([
  ["paths", { what: "p", every: 7 }],
  ["dispersion", { every: 5 }],
])("have the same bits whole by 1 worker, and as a job by 4: %s", async (call, members) => {
  const whole = await (await post(one, call, members)).text();
  const { id, cost } = await jsonOf(await post(four, call, { ...members, job: true }));
  expect(cost.tasks).toBeGreaterThan(5);
  await (await fetch(`${four.url}/api/jobs/${id}/events`)).text();
  expect(await (await fetch(`${four.url}/api/jobs/${id}/result`)).text()).toBe(whole);
});

it("have the same bits whatever the other particles are, and with starts of their own", async () => {
  const rowsOf = async (more: Members, service = one): Promise<number[][]> =>
    (await jsonOf(await post(service, "paths", { step: 0.02, ...more }))).rows;
  const first = await rowsOf({});
  const fewer = await rowsOf({ points: { random: 300, seed: 4 } }, four);
  expect(fewer).toEqual(first.slice(0, fewer.length));
  const other = await rowsOf({ seed: 10 });
  expect([other[0], other[1]]).toEqual([first[0], expect.not.objectContaining(first[1] as number[])]);
  const points = [0.4, 0.5, 0.4, 0.5].map((t, i) => [1 + i, 2, 3, t]);
  const apart = await rowsOf({ points, time: "each:0.1" });
  const together = await rowsOf({ points: points.map((row) => row.slice(0, 3)), time: "0.5:0.6" });
  for (const i of [1, 3]) expect(apart.slice(6 * i, 6 * i + 6)).toEqual(together.slice(6 * i, 6 * i + 6));
});

const FOLDED = { dataset: "shore", call: "statistics", what: "u.x", time: 0, points: undefined };
it.each([
  [{ diffusivity: -1 }, "diffusivity: expected a number above 0, not -1"],
  [{ seed: 4 }, "seed: it is of random displacements, which diffusivity states"],
  [{ diffusivity: 1, seed: -1 }, "seed: expected a number of at least 0"],
  [{ walls: "reflect" }, "walls: reflect is for particles with diffusivity"],
  [{ diffusivity: 1, integrator: "dopri5" }, "diffusivity: random displacements are of equal steps"],
  [{ diffusivity: 1, drag: 1 }, "diffusivity: particles with drag have no random displacements"],
  [{ walls: "stop", open_faces: "fail" }, "open_faces: fail is not for walls that stop particles"],
  [{ ...FOLDED, fold: "y:mirror", over: "x,z" }, "fold: one end of y alone is a wall"],
])("refuses %j in one line", async (members, words) => {
  const response = await ask(one, { dataset: "slab", call: "paths", points: "1,2,3", time: "0:1", ...members });
  const { detail } = (await response.json()) as { detail: string };
  expect([response.status, detail]).toEqual([400, expect.stringContaining(words)]);
});
