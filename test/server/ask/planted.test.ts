/** Planted flows with known answers: waves both ways, vortices at a seam and at a wall, and folded halves. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { descriptor, type Index, NODES, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { useTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

const SCRATCH = scratchFolder();
const K = (2 * Math.PI) / NODES.x;
const FRAMES = 8;
type Flow = (at: Index) => readonly number[];
/** Writes a flow on the test grid of unit spacing, with walls along y. */
async function plant(name: string, flow: Flow): Promise<string> {
  const folder = folderIn(SCRATCH, name);
  const velocity = { file: "u.h5", path: "/u", dimensions: ["t", "z", "y", "x", "c"] as const };
  const value = (at: Index) => flow(at)[at.c] as number;
  const lengths = { t: FRAMES };
  await writeHdf5(join(folder, "u.h5"), (file) => writeField(file, "/u", { ...velocity, lengths, value }));
  const content = descriptor(name, { fields: { velocity }, time: { origin: 0, step: 1, count: FRAMES } });
  const y = { nodes: NODES.y, origin: 0, spacing: 1, faces: "wall" };
  writeDescriptor(folder, { ...content, axes: { ...(content.axes as object), y } });
  return folder;
}

/** A wave of two periods to +x at 3/4, and one of three to -x at 1. */
const waves: Flow = ({ x, t }) => [Math.cos(2 * K * (x - 0.75 * t)) + Math.cos(3 * K * (x + t)) / 2, 0, 0];
/** A vortex along z over the seam of x, and one twice as strong at the wall, whose centres u.z marks, but in frame 1. */
const vortices: Flow = ({ x, y, z, t }) => {
  const [a, b, c, d] = [((x + 6) % 12) - 6, y - 5, x - 6, ((z + 8) % 11) - 5];
  const [weak, strong] = [Math.exp(-(a * a + b * b + (z - 3) ** 2)), 2 * Math.exp(-(c * c + y * y + d * d))];
  return [-b * weak - y * strong, a * weak + c * strong, Number(t !== 1 && (weak === 1 || strong === 2))];
};
const heightOf = (y: number) => (y - (NODES.y - 1) / 2) / 10;
/** Unknown in a plane of one half, and at some nodes of others. */
const dye = (x: number, y: number) => (y === 2 || (x * y) % 5 === 1 ? Number.NaN : x + y);
/** Couette flow, off by 0.3, and fluctuations that differ between its halves. */
const shear: Flow = ({ x, y }) => [y - 4.5 + 0.3 + Math.cos(K * x), (1 + heightOf(y)) * Math.cos(K * x), dye(x, y)];

const folders = Object.entries({ waves, vortices, shear }).map(([name, flow]) => plant(name, flow));
const service = await useTestData(await Promise.all(folders));
const question = (members: Members): Promise<AnyAnswer> => ask(service, members).then(jsonOf);

it("waves that travel both ways have the signs and the speeds of their ways", async () => {
  const how = { kind: "wavenumber_frequency", axis: "x", frame: "all", over: "x,y,z,t" };
  const plain = { window: "none", detrend: "none", remove: "none" };
  const answer = await question({ call: "spectrum", dataset: "waves", what: "u.x", ...how, ...plain });
  const [{ E, convection_velocity: c }] = answer.results;
  for (const [k, row] of E.entries())
    for (const [w, one] of row.entries())
      expect(one, `${k} ${w}`).toBeCloseTo(k === 2 && w === 1 ? 1 / 2 : k === 3 && w === 6 ? 1 / 8 : 0, 6);
  expect([c[2], c[3]]).toEqual([expect.closeTo(0.75, 6), expect.closeTo(-1, 6)]);
  const { results: still } = await question({ call: "spectrum", dataset: "waves", what: "u.x*0", ...how, ...plain });
  expect(still[0]).toMatchObject({ convection_velocity: c.map(() => null), mean_convection_velocity: null });
  const growing = { ...how, ...plain, call: "spectrum", dataset: "waves", what: "u.x*(1 + t*cos(pi*x/6))" };
  const [grown] = (await question(growing)).results;
  let [sum, carried] = [0, 0];
  for (const [i, v] of grown.convection_velocity.entries())
    for (const one of v === null ? [] : grown.E[i]) [sum, carried] = [sum + i * i * one, carried + i * i * one * v];
  expect(grown.mean_convection_velocity).toBeCloseTo(carried / sum, 9);
  const at = (i: number): Index => ({ x: i % NODES.x, t: Math.floor(i / NODES.x), ...{ y: 0, z: 0, c: 0, n: 0 } });
  const speeds = Array.from({ length: NODES.x * FRAMES }, (_, i) => Math.abs(waves(at(i))[0] as number));
  expect(answer.courant).toBeCloseTo(Math.max(...speeds), 6);
  const told = /^between stored times the flow moves up to 1\.\d+ nodes: convection/;
  expect(answer.warnings).toEqual([expect.stringMatching(told)]);
});

it.each<Members>([
  { call: "find", where: "ddt(u.x) > 0" },
  { call: "find", what: "u.x + mean(ddt(u.x))" },
  { call: "structures", where: "DDt(u.x) > 0" },
  { call: "structures", where: "DDt(u.x) > 0", frame: "all" },
  { call: "around", where: "DDt(u.x) > 0", what: "u.x", lag: 1 },
  { call: "around", where: "DDt(u.x) > 0", what: "u.x", lag: 0, events: "centres" },
  { call: "correlation", what: "DDt(u.x)" },
  { call: "spectrum", what: "u.x", kind: "line", axis: "x", terms: "cross:DDt(u.x)" },
  { call: "spectrum", what: "DDt(u.x)", kind: "line", axis: "x" },
  { call: "spectrum", what: "DDt(u.x)", kind: "wavenumber_frequency", axis: "x", frame: "all" },
  { call: "structure_functions", what: "DDt(u.x)" },
])("slopes in time state how far the waves go between times: %o", async (members) => {
  const how = { dataset: "waves", frame: 1, ...members };
  const { courant, warnings } = await question(how);
  const { results } = await question({ call: "statistics", dataset: "waves", what: "abs(u.x)", frame: how.frame });
  expect(courant).toBeCloseTo(results[0].max, 6);
  expect(warnings[0]).toMatch(/^between stored times the flow moves up to 1\.\d+ nodes: ddt and DDt/);
});

it("vortices at a seam and at a wall have the means of what is inside, by their cells", async () => {
  const how = { call: "around", dataset: "vortices", where: "u.z > 0.5", frame: 0, lag: 2, over: "x,y,z" };
  const { results, events } = await question({ ...how, what: "u" });
  expect(events).toBe(2);
  for (let i = 0; i < 125; i++) {
    const [x, y, z] = [(i % 5) - 2, (Math.floor(i / 5) % 5) - 2, Math.floor(i / 25) - 2];
    // The cell at the wall is half a cell: (1 + 2/2)/(1 + 1/2).
    const w = (y < 0 ? 1 : 4 / 3) * Math.exp(-(x * x + y * y + z * z));
    for (const [c, { mean, count }] of results.entries()) {
      expect(count.flat(2)[i]).toBe(y < 0 ? 1 : 2);
      expect(mean.flat(2)[i], `${c} ${x} ${y} ${z}`).toBeCloseTo([-y * w, x * w, Number(i === 62)][c] as number, 6);
    }
  }
});

it("centres are events of every frame, in any order of times", async () => {
  const how = { call: "around", dataset: "vortices", events: "centres", where: "u.z > 0.5", frame: [2, 1, 0] };
  const { results, weights, question: asked } = await question({ ...how, lag: 0, over: "x,y,z", what: "u.z" });
  expect({ t: results[0].coordinates.t, count: results[0].count.flat(3) }).toEqual({ t: [2, 1, 0], count: [2, 0, 2] });
  expect([weights, asked.weights]).toEqual(["events", undefined]);
});

it.each([
  ["the first node over the seam", "x == 0 && y < 2 || x == 11 && y == 0", [0]],
  ["the last node before it", "x == 11 && y < 2 || x == 0 && y == 0", [11]],
  ["the nearest node inside", "x == 4 && y < 2 || x == 5 && y == 0", [4]],
])("centres count at %s", async (_, where, x) => {
  const how = { call: "around", dataset: "vortices", events: "centres", frame: 0, lag: 0, over: "y,z", what: "u.z" };
  const { results } = await question({ ...how, where: `(${where}) && z == 3` });
  expect([results[0].coordinates.x, results[0].count.flat(3)]).toEqual([x, [1]]);
});

it.each([
  ["rotation", (h: number) => 10 * h, () => 1 / 2],
  ["mirror", () => 0.3, (h: number) => h / 2],
] as const)("halves of a shear flow are folded by %s", async (by, mean, stress) => {
  const how = { call: "statistics", dataset: "shear", frame: 0, over: "x,z", fold: `y:${by}` };
  const { results } = await question({ ...how, what: "u.x,u.x*u.y,u.z,mean(u.z),rms(u.z)^2,fluc(u.z)" });
  for (const [j, h] of [0, 1, 2, 3, 4].map(heightOf).entries()) {
    const own = [j, 9 - j].flatMap((y) => Array.from({ length: NODES.x }, (_, x) => dye(x, y))).filter(Number.isFinite);
    const meanOf = (power: number) => own.reduce((sum, value) => sum + value ** power / own.length, 0);
    const pooled = [mean(h), stress(h), meanOf(1), meanOf(1), meanOf(2), 0];
    expect(results.map((one: AnyAnswer) => one.mean[j])).toEqual(pooled.map((one) => expect.closeTo(one, 6)));
  }
});
