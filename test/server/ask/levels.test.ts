/** Levels over HTTP: made by POST, shown by GET, asked by the name of a level. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FetchStore, open, get as read, root } from "zarrita";
import type { Dataset } from "../../../src/engine/contract/dataset.js";
import type { RunningService } from "../../../src/main.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA, serveTestData } from "../../support/service.js";
import { type AnyAnswer, ask, get, jsonOf } from "./ask.js";

const SCRATCH = scratchFolder();
const [NAME, CHANNEL] = ["isotropic32", "turbulent-channel"] as const;

const OWN = ["norm(omega)", "omega", "norm(u)", "p*u.x", "u.x>=0?p:1", "u.x^2"];

let service: RunningService;
/** Levels of many frames, on a machine that does other things too. */
const LONG_MS = 180_000;

beforeAll(async () => {
  const data = folderIn(SCRATCH, "data");
  for (const name of [NAME, CHANNEL]) cpSync(join(SHIPPED_DATA, "..", name), join(data, name), { recursive: true });
  service = await serveTestData([], { DATA: data, STATE: join(SCRATCH, "state") });
});
afterAll(() => service.close());

const ofLevels = (method: string, body?: object) =>
  fetch(`${service.url}/api/datasets/${NAME}/levels`, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });

/** What is said of the levels of a dataset once they are made. */
async function whenMade({ url }: RunningService, dataset: string): Promise<AnyAnswer> {
  let state: AnyAnswer;
  const isMade = async () => {
    state = await jsonOf(await fetch(`${url}/api/datasets/${dataset}/levels`));
    return state.making === null;
  };
  await vi.waitUntil(isMade, { timeout: LONG_MS });
  return state;
}

async function nodes(dataset: string, what: string): Promise<number[][][]> {
  const answer: AnyAnswer = await jsonOf(await get(service, dataset, "nodes", { what, frame: 2 }));
  return Object.values(answer.data)[0] as number[][][];
}

describe("levels over HTTP", () => {
  it("says that there are none, and why a quantity can have none", async () => {
    expect(await jsonOf(await ofLevels("GET"))).toEqual({
      ...{ dataset: NAME, what: [], levels: [], making: null, problem: null },
    });
    for (const [body, detail] of [
      [{ what: "A" }, "what: A is a tensor"],
      [{ what: "filter(u)" }, "what: filter(...) needs a filter"],
      [{ what: "filter(p,gaussian:0.8)" }, "needs a filter, which levels have not"],
      [{ what: "grad(rms(p))" }, "what: grad(rms(p)) needs a mean, which levels have not"],
      [{ what: "omega +" }, "what: "],
      [{ which: "u" }, "which: "],
    ] as const)
      expect(await (await ofLevels("POST", body)).json()).toMatchObject({
        ...{ status: 400, detail: expect.stringContaining(detail) },
      });
  });

  it(
    "are made by POST, with an expression of which each level is the mean",
    async () => {
      const started = await ofLevels("POST", { what: OWN });
      expect(started.status).toBe(202);
      const state = await whenMade(service, NAME);
      expect(state).toMatchObject({ what: ["velocity", "pressure", ...OWN], problem: null });
      expect(state.levels.map((one: AnyAnswer) => one.cubes)).toEqual([
        [16, 16, 16],
        [8, 8, 8],
      ]);
      for (const what of ["p", "norm(omega)"]) {
        const fine = await nodes(NAME, what);
        const found = (await nodes(`${NAME}@2`, what)).flat(2);
        for (const [i, value] of found.entries()) {
          const [x, y, z] = [i % 8, Math.floor(i / 8) % 8, Math.floor(i / 64)];
          let sum = 0;
          for (let n = 0; n < 64; n++)
            sum += fine[4 * z + (n >> 4)]?.[4 * y + ((n >> 2) & 3)]?.[4 * x + (n & 3)] as number;
          expect(value).toBeCloseTo(sum / 64, 4);
        }
      }
    },
    LONG_MS,
  );

  it(
    "are made by a job, which ends with them",
    async () => {
      const headers = { "content-type": "application/json", prefer: "respond-async" };
      const settings = { DATA: join(SCRATCH, "data"), STATE: join(SCRATCH, "jobs"), EVENTS: "off" };
      const withJobs = await serveTestData([], settings, false);
      try {
        const url = `${withJobs.url}/api/datasets/${NAME}/levels`;
        const started = await fetch(url, { method: "POST", headers, body: JSON.stringify({ what: "p*p" }) });
        expect(started.status, await started.clone().text()).toBe(202);
        const job = `${withJobs.url}${started.headers.get("location")}`;
        expect(await (await fetch(`${job}/events`)).text()).toContain('"state":"done"');
        const result: AnyAnswer = await jsonOf(await fetch(`${job}/result`));
        expect(result).toMatchObject({ dataset: NAME, making: null, problem: null });
        expect(result.what).toContain("p*p");
      } finally {
        await withJobs.close();
      }
      expect((await jsonOf(await ofLevels("GET"))).what).toContain("p*p");
    },
    LONG_MS,
  );

  it("of other numbers are unknown datasets", async () => {
    for (const name of [`${NAME}@3`, `${NAME}@0`, "other@1"])
      expect((await ask(service, { dataset: name, call: "nodes", frame: 0 })).status).toBe(404);
  });
});

describe("a grid by levels", () => {
  const common = { dataset: NAME, call: "grid", frame: 2 };
  const gridOf = async (members: object): Promise<AnyAnswer> => jsonOf(await ask(service, { ...common, ...members }));
  const [nodes0, length] = [32, 2 * Math.PI];

  /** Coordinates of the nodes of the channel. */
  const nodes0Of = async (axis: string): Promise<unknown> =>
    (await gridOf({ dataset: CHANNEL, call: "nodes", what: "p", i: 0, k: 0 })).coords[axis];

  /** Linear along each axis between the positions of cubes, over the seam. */
  function interpolated(values: number[][][], k: number, at: readonly number[]): number {
    const n = nodes0 / 2 ** k;
    const [x, y, z] = at.map((place) => {
      const cube = ((place / length) * nodes0 - (2 ** k - 1) / 2) / 2 ** k;
      return { j: Math.floor(cube), t: cube - Math.floor(cube) };
    }) as [{ j: number; t: number }, { j: number; t: number }, { j: number; t: number }];
    const wrap = (j: number) => ((j % n) + n) % n;
    let sum = 0;
    for (let m = 0; m < 8; m++) {
      const [a, b, c] = [m & 1, (m >> 1) & 1, m >> 2];
      const weight = (a ? x.t : 1 - x.t) * (b ? y.t : 1 - y.t) * (c ? z.t : 1 - z.t);
      sum += weight * (values[wrap(z.j + c)]?.[wrap(y.j + b)]?.[wrap(x.j + a)] as number);
    }
    return sum;
  }

  it.each([
    ["u.x", 1, { z: 3 }],
    ["u.x", 2, { z: "6.0:7.5" }],
    ["norm(u)", 1, { z: 0.1 }],
  ])("is linear between the means of cubes: %s of level %i", async (what, level, place) => {
    const coarse = await nodes(`${NAME}@${level}`, what);
    const answer = await gridOf({ what, level, samples: 8, ...place });
    const { x, y, z } = answer.coords;
    const values: unknown = Object.values(answer.data)[0];
    const planes = (typeof z === "number" ? [values] : values) as number[][][];
    let checked = 0;
    for (const [k, plane] of planes.entries())
      for (const [j, row] of plane.entries())
        for (const [i, value] of row.entries()) {
          const at = [x[i], y[j], typeof z === "number" ? z : z[k]];
          expect(value).toBeCloseTo(interpolated(coarse, level, at), 5);
          checked++;
        }
    expect(checked).toBeGreaterThanOrEqual(64);
  });

  it("takes the coarsest level whose spacing is that of the samples at most, and says it", async () => {
    const seen = [];
    for (const samples of [4, 8, 15, 16, 17, 31, 32, 64]) {
      const { level, spacing, thickness, question } = await gridOf({ what: "u.x", z: 3, samples, level: "auto" });
      expect(question.level).toBe(level === 0 ? "auto" : level);
      expect(spacing).toEqual(Array(3).fill((2 ** level * length) / nodes0));
      expect(thickness).toBe(spacing[2]);
      seen.push([samples, level]);
    }
    expect(seen.join("; ")).toBe("4,2; 8,2; 15,1; 16,1; 17,0; 31,0; 32,0; 64,0");
  });

  it("is what it was by default, and where level 0 is fine enough", async () => {
    const plain = await gridOf({ what: "u", z: 3, samples: 40 });
    expect(plain.level).toBeUndefined();
    expect(plain.question.level).toBe(0);
    const dataOf = async (more: object) => (await gridOf({ what: "u", z: 3, ...more })).data;
    expect(await dataOf({ samples: 40, level: "auto" })).toEqual(plain.data);
    expect(await dataOf({ samples: 8 })).not.toEqual(await dataOf({ samples: 8, level: "auto" }));
  });

  it("is one mean in every call, also as a part of an expression", async () => {
    const fields = await Promise.all(["u.x", "u.y", "u.z", "p"].map((what) => nodes(NAME, what)));
    const [u, v, w, p] = fields.map((of) => of.flat(2)) as [number[], number[], number[], number[]];
    const meansOf = (at: (n: number) => number): number[] => {
      const sums = new Array(512).fill(0);
      for (let n = 0; n < nodes0 ** 3; n++) sums[64 * (n >> 12) + 8 * ((n >> 7) & 7) + ((n >> 2) & 7)] += at(n) / 64;
      return sums;
    };
    const speed = meansOf((n) => Math.hypot(u[n] as number, v[n] as number, w[n] as number));
    const [ux, ps] = [meansOf((n) => u[n] as number), meansOf((n) => p[n] as number)];
    const flux = meansOf((n) => (p[n] as number) * (u[n] as number));
    const what = ["norm(velocity)", "1 - 2*(p * u.x)", "p*2*u.x", "q = u.x >= 0 ? p : 1", "omega.x"];
    const chosen = meansOf((n) => ((u[n] as number) >= 0 ? (p[n] as number) : 1));
    const expected = [speed, flux.map((one) => 1 - 2 * one), ux.map((one, c) => 2 * one * (ps[c] as number)), chosen];
    const level_of = ["mean", "of means", "of means", "mean", "mean"];
    const of = async (call: string, more: object = {}): Promise<AnyAnswer> =>
      jsonOf(await ask(service, { ...common, what, level: 2, call, ...more }));
    for (const more of [{}, { level: 0, dataset: `${NAME}@2` }]) {
      const { data, ...said } = await of("nodes", more);
      const found: number[][] = Object.values(data).map((one) => (one as number[][][]).flat(2));
      for (const [q, list] of expected.entries())
        expect(Math.max(...list.map((one, c) => Math.abs(one - (found[q]?.[c] as number))))).toBeLessThan(1e-5);
      expect([said.level, said.level_of]).toEqual([2, level_of]);
    }
    const elsewhere = [`field(norm(u), "${NAME}@2")`, "field(u, 1).x", "field(2*p, 1)", "2*field(p, 1)"];
    const kinds = { level_of: ["mean", "mean", "of means", "of means"] };
    expect(await of("nodes", { what: elsewhere })).toMatchObject(kinds);
    const points = [0, 77, 511].map((c) => [c & 7, (c >> 3) & 7, c >> 6].map((j) => ((4 * j + 1.5) * length) / nodes0));
    const { rows } = await of("values", { points, method: "nearest" });
    for (const [row, c] of [0, 77, 511].entries())
      for (const [q, list] of expected.entries()) expect(rows[row].slice(-5)[q]).toBeCloseTo(list[c] as number, 5);
    const grid = await of("grid", { z: "1.1780972450961724:1.2", y: 1.1780972450961724, samples: 2 });
    const where = { what: "norm(u)", where: `norm(u) > ${speed.toSorted((a, b) => a - b)[460]}` };
    const [{ total, ...said }, { held }] = [await of("find", where), await of("statistics", where)];
    expect([total, held, said.level_of, grid.level_of]).toEqual([51, 51, ["mean"], level_of]);
    const { results, ...told } = await of("statistics", { what: undefined, reduce: { moments: "norm(u)" } });
    const mean = expect.closeTo(speed.reduce((sum, one) => sum + one, 0) / 512, 5);
    expect([results[0].mean, told.level_of]).toEqual([mean, { "norm(u)": "mean" }]);
    const rms = Math.sqrt(ux.reduce((sum, one) => sum + one * one, 0) / 512);
    expect((await of("statistics", { what: "rms(u.x)", over: "x,y,z" })).results[0].mean).toBeCloseTo(rms, 5);
    expect(await of("find", { ...where, what: undefined })).toMatchObject({ total: 51, level: 2 });
    const map = { dataset: NAME, call: "flow_map", what: "map", time: "0:0.1", z: 1, samples: 2, level: 2 };
    expect(await jsonOf(await ask(service, map))).toMatchObject({ level: 2, dims: ["y", "x"] });
  });

  it("draws a picture of a level, and repeats its question", async () => {
    const png = await ask(service, { ...common, what: "u.x", z: 3, samples: 8, level: "auto", format: "png" });
    expect([png.status, png.headers.get("fieldprobe-level")]).toEqual([200, "2"]);
    const first = await gridOf({ what: "u.x", z: 3, samples: 8, level: "auto" });
    const again = await jsonOf(await ask(service, first.question));
    expect(again.data).toEqual(first.data);
  });

  it.each([
    [422, { level: 3 }, "level", /levels 0 to 2/],
    [400, { level: "fine" }, "level", /not a number/],
    [400, { level: -1 }, "level", /./],
    [400, { level: 1, what: "p*x" }, "level", /x jumps at the seam/],
    [400, { level: 1, filter: "box:0.5", what: "filter(u)" }, "filter", /not filtered/],
  ])("refuses with %i in one line %j", async (status, members, member, text) => {
    const answer = await ask(service, { ...common, z: 3, ...members });
    const problem = (await answer.json()) as AnyAnswer;
    expect([answer.status, problem.member]).toEqual([status, member]);
    expect(problem.detail).toMatch(text);
  });

  it(
    "takes the stored nodes in the first and last cubes at walls",
    async () => {
      await service.engine.makeLevels(service.engine.find(CHANNEL) as Dataset, [], {});
      const of = (level: number) =>
        gridOf({ dataset: CHANNEL, what: "u.x", z: 0.1, y: "-1:1", samples: "4,40", level });
      const [fine, coarse, finest] = [await of(0), await of(2), (await nodes0Of("y")) as number[]];
      const face = (i: number) => ((finest[i - 1] as number) + (finest[i] as number)) / 2;
      const inside = (y: number) => y >= face(4) && y <= face(4 * Math.floor((finest.length - 1) / 4));
      let walls = 0;
      for (const [j, y] of (fine.coords.y as number[]).entries()) {
        const isSame = JSON.stringify(coarse.data["u.x"][j]) === JSON.stringify(fine.data["u.x"][j]);
        expect([y, isSame]).toEqual([y, !inside(y)]);
        if (!inside(y)) walls++;
      }
      expect(walls).toBeGreaterThanOrEqual(1);
    },
    LONG_MS,
  );

  it("is asked by number in other calls, whose answers are those of the level", async () => {
    const answer = await jsonOf(await ask(service, { ...common, call: "nodes", what: "u.x", level: 1, k: 0 }));
    const data = { "u.x": (await nodes(`${NAME}@1`, "u.x"))[0] };
    expect([answer.question.dataset, answer.question.level, answer.data]).toEqual([NAME, 1, data]);
    const body = await jsonOf(await ask(service, { ...common, call: "statistics", what: "u.x", level: 2 }));
    const means = { level: 2, spacing: Array(3).fill((4 * length) / nodes0), level_of: ["mean"] };
    expect(body).toMatchObject({ ...means, question: { level: 2 } });
    const grid = { dataset: `${NAME}@2`, z: 3 };
    for (const members of [grid, { ...grid, level: "auto" }, { call: "values", level: 2, points: "1,2,3" }]) {
      const of = await ask(service, { ...common, what: "norm(omega)", ...members });
      const said = expect.objectContaining({ ...means, ...("z" in members && { thickness: means.spacing[2] }) });
      expect([of.headers.get("fieldprobe-level"), await of.json()]).toEqual(["2", said]);
    }
  });
});

describe("conditions on a dataset with levels", () => {
  const LARGER = "isotropic64";
  let [with_, without, aside]: (RunningService | undefined)[] = [];
  beforeAll(async () => {
    const start = (folder: string) => {
      const data = folderIn(SCRATCH, folder);
      cpSync(join(SHIPPED_DATA, "..", LARGER), join(data, LARGER), { recursive: true });
      return serveTestData([], { DATA: data, STATE: join(SCRATCH, `${folder}-state`) });
    };
    [with_, without, aside] = [await start("with"), await start("without"), await start("aside")];
    const made = await fetch(`${with_.url}/api/datasets/${LARGER}/levels`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ what: "norm(omega)" }),
    });
    expect(made.status).toBe(202);
    const state = await whenMade(with_, LARGER);
    expect(state).toMatchObject({ what: ["velocity", "pressure", "norm(omega)"], problem: null });
    await with_.close();
    with_ = await serveTestData([], { DATA: join(SCRATCH, "with"), STATE: join(SCRATCH, "with-state") });
  }, LONG_MS);
  afterAll(() => Promise.all([with_?.close(), without?.close(), aside?.close()]));

  const both = async (question: object): Promise<readonly [AnyAnswer, AnyAnswer, number, number]> => {
    const asked = { dataset: LARGER, ...question };
    const services = [with_, without] as [RunningService, RunningService];
    const before = services.map(({ engine }) => engine.status().bytesRead);
    const answers: AnyAnswer[] = [];
    for (const one of services) answers.push(await jsonOf(await ask(one, asked)));
    const read = services.map(({ engine }, i) => engine.status().bytesRead - (before[i] as number));
    return [answers[0], answers[1], read[0] as number, read[1] as number];
  };

  async function extreme(field: string, component: number, frame: number, isLeast: boolean): Promise<number> {
    const { engine } = with_ as RunningService;
    const dataset = engine.find(LARGER) as Dataset;
    const set = engine.levels(dataset) as NonNullable<ReturnType<typeof engine.levels>>;
    const quantity = set.quantities.find(({ text }) => text === field) as (typeof set.quantities)[number];
    const n = quantity.components;
    const { values } = await engine.levelExtrema(set, quantity, dataset.time.guardBefore + frame);
    const own = values.filter((_, i) => i % (2 * n) === component + (isLeast ? 0 : n));
    return own.reduce((one, other) => (isLeast ? Math.min(one, other) : Math.max(one, other)));
  }

  it.each([
    ["find", "u.x >", "velocity", 0, { call: "find", frame: 3, what: "u.x, p", limit: 50 }],
    ["find below", "p <", "pressure", 0, { call: "find", frame: 4, what: "p" }],
    ["structures", "u.y >", "velocity", 1, { call: "structures", frame: 6, what: "p" }],
  ] as const)("reads less and answers the same: %s", async (_, comparison, field, component, question) => {
    const value = await extreme(field, component, question.frame, comparison.endsWith("<"));
    const where = `${comparison} ${(0.97 * value).toFixed(4)}`;
    const [found, expected, read, all] = await both({ ...question, where });
    expect(found).toEqual(expected);
    expect(question.call === "find" ? found.total : found.count).toBeGreaterThan(0);
    expect(read).toBeLessThan(0.8 * all);
  });

  it.each([
    ["norm(u)", 5],
    ["p^2", 0],
  ])("reads less and answers the same above a threshold of %s", async (what, frame) => {
    const top = await jsonOf(
      await ask(aside as RunningService, { dataset: LARGER, call: "find", what, frame, limit: 1 }),
    );
    const largest = top.rows[0].at(-1) as number;
    const where = `${what} > ${(0.97 * largest).toFixed(4)}`;
    const [found, expected, read, all] = await both({ call: "find", frame, where, what: "p" });
    expect(found).toEqual(expected);
    expect(found.total).toBeGreaterThan(0);
    expect(read).toBeLessThan(0.8 * all);
  });

  it.each([
    { what: "u.x", near: 0.98, frame: 8, share: 0.8 },
    { what: "norm(omega)", near: 0.9, frame: 7, share: 1 },
    { what: "p", near: 0.9, frame: 2, i: "-20:44", k: "30:70", share: 1 },
  ])("reads less for the cells of an isosurface, and has their nodes: %j", async ({ near, share, ...members }) => {
    const question = { dataset: LARGER, call: "nodes", format: "npy", ...members };
    const valuesOf = async (of: AnyAnswer, more: object = {}): Promise<readonly [Float32Array, number]> => {
      const before = of.engine.status().bytesRead;
      const bytes = await (await ask(of, { ...question, ...more })).arrayBuffer();
      return [new Float32Array(bytes.slice(128)), of.engine.status().bytesRead - before];
    };
    const [all] = await valuesOf(aside);
    const isovalue = near * all.reduce((one, other) => Math.max(one, other));
    const [[some, read], [same, most]] = [await valuesOf(with_, { isovalue }), await valuesOf(without, { isovalue })];
    expect([same, some.every((value, i) => Number.isNaN(value) || value === all[i])]).toEqual([all, true]);
    const corners = Array.from({ length: 8 }, (_, c) => (c & 1) + 64 * ((c >> 1) & 1) + 4096 * (c >> 2));
    let crossed = 0;
    for (let at = 0; at < all.length - 4161; at++) {
      const above = corners.filter((by) => (all[at + by] as number) > isovalue).length;
      if (at % 64 === 63 || Math.floor(at / 64) % 64 === 63 || above % 8 === 0) continue;
      crossed++;
      expect(corners.some((by) => Number.isNaN(some[at + by]))).toBe(false);
    }
    expect([crossed > 20, some.includes(Number.NaN), most > 0 && read <= share * most]).toEqual([true, true, true]);
  });

  it("reads nothing where an expression with levels is below the threshold, else what its stencils need", async () => {
    const none = await both({ call: "find", frame: 1, where: "norm(omega) > 1000", what: "p" });
    expect(none[0]).toEqual(none[1]);
    expect([none[0].total, none[2], none[3] > 0]).toEqual([0, 0, true]);
    const some = await both({ call: "find", frame: 1, where: "norm(omega) > 20", what: "p" });
    expect(some[0]).toEqual(some[1]);
    expect(some[0].total).toBeGreaterThan(0);
  });

  it.each([
    { call: "find", frame: 7, where: "u.x > 1 && p > 0" },
    { call: "find", frame: 7, where: "abs(u.x) > 1.2" },
    { call: "find", frame: 2, where: "u.x * u.y > 1.5" },
    { call: "structures", frame: 8, where: "u.x - u.z > 2" },
    { call: "find", frame: 7, where: "norm(u) >= 2.3" },
    { call: "find", frame: 7, where: "norm(omega) > 20", derivatives: "Fd6" },
    { call: "structures", frame: 7, where: "p > 0.4" },
    { call: "find", frame: 7, where: "p > 0.4", i: "50:80" },
  ])("answers the same where nothing or something is skipped: %j", async (question) => {
    const [found, expected] = await both(question);
    expect(found).toEqual(expected);
  });
});

/** What Neuroglancer makes of an image: of each scale its address, the size of a voxel and its lower corner. */
function asNeuroglancer(attributes: AnyAnswer, zarrVersion: 2 | 3) {
  const { ome } = attributes;
  const [image] = ome === undefined ? attributes.multiscales : ome.multiscales;
  const version = ome === undefined ? image.version : ome.version;
  expect([version, ome !== undefined]).toEqual(zarrVersion === 3 ? ["0.5", true] : ["0.4", false]);
  for (const { name, unit } of image.axes)
    expect([typeof name, [undefined, "meter", "second"].includes(unit)]).toEqual(["string", true]);
  return image.datasets.map(({ path, coordinateTransformations: [first, second] }: AnyAnswer) => {
    expect([first.type, second.type]).toEqual(["scale", "translation"]);
    for (const one of first.scale) expect(one).toBeGreaterThan(0);
    // In OME the origin of a voxel is its centre, in Neuroglancer its lower corner.
    const corner = second.translation.map((at: number, a: number) => at - first.scale[a] / 2);
    return { path, scale: first.scale, corner };
  });
}

it("says ranges and volume fractions of a frame from its histograms", async () => {
  const { ranges }: AnyAnswer = await jsonOf(await fetch(`${service.url}/api/datasets/${NAME}/levels?what=u&frame=2`));
  expect(ranges.map(({ name }: AnyAnswer) => name)).toEqual(["u.x", "u.y", "u.z"]);
  for (const { name, central, above, bin } of ranges) {
    const values = (await nodes(NAME, name)).flat(2).sort((a, b) => a - b);
    const quantile = (part: number) => values[Math.min(values.length - 1, Math.floor(part * values.length))] as number;
    const near = (found: number, part: number) => {
      expect(found).toBeGreaterThan(quantile(part - 1 / values.length) - bin);
      expect(found).toBeLessThan(quantile(part + 1 / values.length) + bin);
    };
    near(central[0], 0.0005);
    near(central[1], 0.9995);
    for (const { fraction, value } of above) near(value, 1 - fraction);
  }
  for (const [query, member] of [
    ["what=Q", "what"],
    ["what=u&frame=99", "frame"],
  ]) {
    const answer = await fetch(`${service.url}/api/datasets/${NAME}/levels?${query}`);
    expect([answer.status, ((await answer.json()) as AnyAnswer).member]).toEqual([400, member]);
  }
});

describe("levels in the Zarr view", () => {
  const address = (path: string) => `${service.url}/zarr/${NAME}/levels/${path}`;
  const attributesOf = async (image: string, version: 2 | 3) => {
    const body: AnyAnswer = await jsonOf(await fetch(address(`${image}/${version === 3 ? "zarr.json" : ".zattrs"}`)));
    return version === 3 ? body.attributes : body;
  };

  it.each([2, 3] as const)("are images by the rules of Neuroglancer, in Zarr %i", async (version) => {
    for (const image of ["velocity.x", "pressure"]) {
      const scales = asNeuroglancer(await attributesOf(image, version), version);
      const d = (2 * Math.PI) / 32;
      expect(scales.map(({ path }: AnyAnswer) => path)).toEqual(["0", "1", "2"]);
      for (const [k, { scale, corner }] of scales.entries()) {
        expect(scale.slice(1)).toEqual(Array(3).fill(2 ** k * d));
        // Voxels of all levels fill the same box.
        for (const at of corner.slice(1)) expect(at).toBeCloseTo(-d / 2, 12);
      }
    }
  });

  it("counts nodes along a stretched axis, without a unit", async () => {
    const url = `${service.url}/zarr/${CHANNEL}/levels/velocity.y/zarr.json`;
    const { attributes }: AnyAnswer = await jsonOf(await fetch(url));
    const scales = asNeuroglancer(attributes, 3);
    expect(scales.map(({ scale, corner }: AnyAnswer) => [scale[2], corner[2]])).toEqual(
      scales.map((_: unknown, k: number) => [2 ** k, -0.5]),
    );
    expect(attributes.ome.multiscales[0].axes[2]).toEqual({ name: "y", type: "space" });
  });

  it("are read by zarrita from npm: one component a picture", async () => {
    for (const [what, image] of [
      ["u.z", "velocity.z"],
      ["p", "pressure"],
    ] as const)
      for (const level of [0, 1, 2]) {
        const array = await open.v3(root(new FetchStore(address(image))).resolve(`/${level}`), { kind: "array" });
        const { data, shape } = await read(array, [2, null, null, null]);
        const expected = await nodes(level === 0 ? NAME : `${NAME}@${level}`, what);
        expect(shape).toEqual(Array(3).fill(32 / 2 ** level));
        expect([...(data as Float32Array)]).toEqual(expected.flat(2).map(Math.fround));
      }
  });
});
