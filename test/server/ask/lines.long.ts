/** Spectra, pairs and correlations along lines at places, on grids of several kinds, against NumPy. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  askNumpy,
  expectNear,
  GRID_KINDS,
  type GridKind,
  type MadeGrid,
  NUMPY,
  WITHOUT,
} from "../../support/analysis-data.js";
import { type AnyAnswer, jsonOf, type Members } from "./ask.js";
import { useGrids } from "./grids.js";

const SCRIPT = fileURLToPath(new URL("oracle.py", import.meta.url));
const KINDS = GRID_KINDS.filter(({ name }) => ["periodic", "channel", "anisotropic", "duct"].includes(name));
const OPEN = GRID_KINDS.filter(({ name }) => ["open", "staggered", "holed"].includes(name));

/** Call, members, what of the result or the whole answer is compared, and the same in Python. */
type Case = readonly [string, Members, (one: AnyAnswer, body: AnyAnswer) => unknown, string];

const pdfsIn = ({ pdf: { longitudinal, transverse } }: AnyAnswer) =>
  [longitudinal, transverse].map((one) => [...one.density, ...one.counts, one.below, one.above]);

describe.skipIf(NUMPY === undefined)(`lines at places agree with NumPy${WITHOUT}`, { timeout: 60_000 }, () => {
  const { made, ask } = useGrids([...KINDS, ...OPEN]);
  const question = (dataset: string, call: string, members: Members): Promise<AnyAnswer> =>
    ask({ dataset, call, frame: "all", ...members }).then(jsonOf);

  it.each(KINDS.map((kind) => ({ kind, name: kind.name })))("on the $name grid", async ({ kind }) => {
    const grid = made.get(kind) as MadeGrid;
    const f = (text: string) => `(${text} - mean(${text}, ('x','z','t')))`;
    const [a, b] = [f("u[0]"), f("u[1]*p")];
    // Lines along x, averaged over z and time, at each y: periodic y too.
    const over = ["x", "z", "t"];
    const [line, cross, all] = [{ kind: "line", over }, ["u.x", "u.y*p"], "x,y,z,t"];
    const coherence = "(lambda c, E, F: (c[0]**2 + c[1]**2)/(E*F))";
    const alongZ: readonly Case[] = [
      ["spectrum", { what: "u.x", kind: "modes", axis: "x,z", over }, (one) => one.E, `modes(${a})`],
      ["spectrum", { ...line, what: "u.x", axis: "z" }, (one) => one.E, `line(${a}, 'z', 'xt')`],
    ];
    const cases: readonly Case[] = [
      ["spectrum", { ...line, what: "u.x" }, (one) => one.E, `line(${a}, 'x', 'zt')`],
      ["spectrum", { ...line, cross }, (one) => [one.re, one.im], `pair(${a}, ${b}, 'x', 'zt')`],
      [
        "spectrum",
        { ...line, cross },
        (one) => one.coherence.map((list: number[]) => list.slice(1, 3)),
        `${coherence}(pair(${a}, ${b}, 'x', 'zt'), line(${a}, 'x', 'zt'), line(${b}, 'x', 'zt'))[:, 1:3]`,
      ],
      ["correlation", { cross, axis: "x", over }, (one) => one.R, `correlation(${a}, ${b}, 'x', 'zt')`],
      [
        "correlation",
        { what: "u.x", axis: "x", over },
        (_, body) => [body.integral_length, body.crossed.map(Number)],
        `lengths(correlation(${a}, ${a}, 'x', 'zt'), 'x')`,
      ],
      ["spectrum", { what: "u.z", ...line, over: all, remove: "none" }, (one) => one.E, "line(u[2], 'x', 'yzt')"],
      ...(kind.periodic[2] ? alongZ : []),
    ];
    const requests = cases.map(([, , , python]) => python);
    const [expected = []] = askNumpy<unknown[][]>(SCRIPT, { grids: [{ grid, requests }] });
    for (const [i, [call, members, read, python]] of cases.entries()) {
      const answer = await question(kind.name, call, members);
      expectNear(read(answer.results[0], answer), expected[i], `${kind.name} ${python}`);
    }
  });

  it("normalises spectra of lines by their wavenumbers", async () => {
    const members = { what: "u.x", over: ["x", "z", "t"], kind: "line" };
    const density = await question("channel", "spectrum", { ...members, normalise: "density" });
    const sums = await question("channel", "spectrum", members);
    expectNear(density.results[0].E, sums.results[0].E, "density over dk = 1");
    expect(Object.keys(sums.results[0].coordinates)).toEqual(["y", "k"]);
    const [{ phase, re, im }] = (
      await question("channel", "spectrum", { ...members, what: undefined, cross: "u.x,u.y" })
    ).results;
    expect(phase[3][2]).toBe(Math.atan2(im[3][2], re[3][2]));
    const still = { kind: "frequency", cross: "u.x,u.y", over: ["z"], frame: [0, 1, 2, 3], window: "none" };
    const { coherence } = (await question("periodic", "spectrum", still)).results[0];
    expect(coherence.flat().map(([one]: number[]) => one)).toEqual(coherence.flat().fill(null));
    const waves = await question("channel", "spectrum", { ...members, normalise: "wavelength" });
    const premultiplied = sums.results[0].E.map((list: number[]) => list.map((e, k) => k * e));
    expectNear(waves.results[0].E, premultiplied, "k E/dk, dk = 1");
    expect(waves.wavelength.slice(0, 3)).toEqual([null, 2 * Math.PI, Math.PI]);
  });

  it.each(KINDS.flatMap((kind) => [1, 2].map((stride) => ({ kind, name: kind.name, stride }))))(
    "has means around events on the $name grid, with stride $stride",
    async ({ kind, stride }) => {
      const grid = made.get(kind) as MadeGrid;
      // More offsets along x than are evaluated together.
      const lag = [9, kind.stretched === true ? 0 : 1, 1];
      const where = stride === 1 ? "p > rms(p)" : "u.x > p";
      const members = { what: "u.y*p", where, lag, frame: [1, 2], i: `::${stride}` };
      const { results, events } = await question(kind.name, "around", members);
      const holds = stride === 1 ? "p > np.sqrt(mean(p**2, 'xyz'))" : "(u[0] > p) & (np.arange(p.shape[-1]) % 2 == 0)";
      const requests = [`around(u[1]*p, ${holds}, ${JSON.stringify(lag)}, [1, 2])`];
      const [[{ mean, count, total } = {}] = []] = askNumpy<AnyAnswer[]>(SCRIPT, { grids: [{ grid, requests }] });
      expectNear(results[0].mean, mean, `${kind.name} around`);
      expectNear(results[0].count, count, `${kind.name} counts`);
      expect(events).toBe(total);
    },
  );

  it.each(["periodic", "channel", "duct"])(
    "has means around extremes, points and centres on the %s grid",
    async (name) => {
      const kind = KINDS.find((one) => one.name === name) as GridKind;
      const [x, rows, z] = (made.get(kind) as MadeGrid).axes as [number[], number[], number[]];
      const extreme = { count: 6, apart: 1 };
      const [where, least, frame] = ["p > rms(p)", 4, 2];
      const points = ["1,0.25,2", "4,0.25,0.5", "2.5,-0.5,3.25"].map((row) => row.split(",").map(Number));
      const { results } = await question(name, "statistics", { reduce: { extremes: "p", ...extreme }, frame: 1 });
      const { structures } = await question(name, "structures", { where, least, frame });
      const cases: (readonly [Members, number[][]])[] = [
        [{ events: { lowest: "p", ...extreme }, frame: 1 }, results[0].lowest.map((one: AnyAnswer) => one.at)],
        [{ points, method: "Lag4" }, points],
        [{ events: "centres", where, least, frame, method: "Lag4" }, structures.map((one: AnyAnswer) => one.centre)],
      ];
      const isInside = (at: number[]) => kind.periodic[2] || (Number(at[2]) >= 0 && Number(at[2]) <= Number(z.at(-1)));
      for (const [members, events] of cases) {
        const answer = await question(name, "around", { what: "u.x*p", lag: [1, 0, 2], ...members });
        const { coordinates, mean, count } = answer.results[0];
        // Centres count at the nearest node.
        const rowOf = (at: number): number | undefined =>
          "where" in members ? rows.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))[0] : at;
        for (const [j, y] of (coordinates.y ?? [null]).entries())
          for (const [i, k] of [0, 2, 3].entries()) {
            const r = [(i - 1) * Number(x[1]), 0, (k - 2) * Number(z[1])];
            const own = events.filter((one) => y === null || rowOf(one[1] as number) === y);
            const at = own.map((one) => one.map((c, a) => c + Number(r[a]))).filter(isInside);
            const asked = { what: "u.x*p", points: at, method: "Lag4", frame: members.frame ?? "all" };
            const none = { results: [{ mean: null, count: 0 }] };
            const [there] = (at.length === 0 ? none : await question(name, "statistics", asked)).results;
            const at0 = (list: AnyAnswer) => (coordinates.y === undefined ? list : list[j])[k][0][i];
            expect([at0(count), at0(mean) ?? 0]).toEqual([there.count, expect.closeTo(there.mean ?? 0, 5)]);
          }
        expect(answer.events).toBe(events.length * (members.frame === undefined ? 4 : 1));
      }
    },
  );

  it.each([
    { orient: "strain", where: "norm(omega) > 1.5*rms(norm(omega))" },
    { orient: "omega", where: "norm(omega) > 1.5*rms(norm(omega))" },
    { orient: "strain", events: { highest: "norm(omega)", count: 17 } },
  ])("has means around events in axes of their own: %j", async ({ orient, ...which }) => {
    const members = { frame: 1, what: "p, u, S", orient, lag: [1, 0, 2], method: "Lag6", ...which };
    const answer = await question("periodic", "around", members);
    const requests = [`turned(1, ${which.events?.count ?? "None"}, '${orient}', (1, 0, 2))`];
    const grid = made.get(KINDS[0] as GridKind);
    const [[expected] = []] = askNumpy<AnyAnswer[]>(SCRIPT, { grids: [{ grid, requests }] });
    expect(answer.events).toBe(expected.events);
    expectNear(
      answer.results.map(({ mean }: AnyAnswer) => mean),
      expected.means,
      orient,
      1e-5,
    );
  });

  it("has increments of a scalar where the velocity has nodes of its own, without it", async () => {
    const members = { what: "p", axis: "x", orders: "2", separations: 1, absolute: 2, frame: 0 };
    const [row] = (await question("staggered", "structure_functions", members)).separations;
    expect([row.absolute[2] / row.scalar[2], row.yaglom]).toEqual([expect.closeTo(1, 12), undefined]);
  });

  it.each(["periodic", "open"])("has real orders of increments and their slopes on the %s grid", async (name) => {
    const kind = GRID_KINDS.find((one) => one.name === name) as GridKind;
    const separations = [1, 2, 4, 6];
    const members = { what: "u", axis: "x,z", orders: "2", separations, absolute: [1, 2.5, 3], frame: [0, 2] };
    const answer = await question(name, "structure_functions", { ...members, bins: 7, range: "-0.75,1" });
    const requests = ["increments('xz', [1, 2, 4, 6], [0, 2], [1, 2.5, 3], 7, (-0.75, 1))"];
    const [[all] = []] = askNumpy<AnyAnswer[]>(SCRIPT, { grids: [{ grid: made.get(kind), requests }] });
    expectNear(answer.separations.map(pdfsIn), all.pdfs, `${name} PDFs`);
    const expected = all.absolute as number[][];
    const S = [1, 2.5, 3].map((p) => answer.separations.map((one: AnyAnswer) => one.absolute[p]));
    expectNear(S, expected, `${name} absolute`);
    for (const [r, { slope, nodes }] of answer.separations.entries()) {
      const rise = (p: number) => Math.log((expected[p]?.[r + 1] as number) / (expected[p]?.[r - 1] as number));
      if (nodes === 1 || nodes === 6) expect(slope["2.5"]).toBe(null);
      else expect(slope["2.5"]).toBeCloseTo(rise(1) / rise(2), 8);
    }
  });

  it("has PDFs of the increments of random pairs", async () => {
    const separations = { lengths: [0.35, 1.5], pairs: 3000, seed: 5 };
    const members = { what: "u", axis: "y", frame: 2, method: "Lag4", bins: 9, range: "-0.6,0.75", separations };
    const answer = await question("periodic", "structure_functions", members);
    const requests = separations.lengths.map((r) => `random_pdfs(2, 'y', ${r}, 3000, 5, 9, (-0.6, 0.75))`);
    const [expected] = askNumpy<unknown[]>(SCRIPT, { grids: [{ grid: made.get(KINDS[0] as GridKind), requests }] });
    expectNear(answer.separations.map(pdfsIn), expected, "PDFs");
  });

  it("has quantiles, which are values, and moments to the eighth", async () => {
    const grid = made.get(KINDS[1] as GridKind) as MadeGrid;
    const at = [0, 0.05, 0.5, 0.9, 1];
    const reduce = [
      { quantiles: "u.x*p", at },
      { moments: "u.x", order: 8 },
      { quantiles: "x - x - 2", at: [0.3] },
    ];
    const { results } = await question("channel", "statistics", { reduce });
    const requests = [
      `(lambda f, w: [f[np.searchsorted(np.cumsum(w), (q - 1e-12)*w.sum())] for q in ${JSON.stringify(at)}])(*(lambda f, o: (f[o], weight.ravel()[o]))((u[0]*p).ravel(), np.argsort((u[0]*p).ravel(), kind='stable')))`,
      "[np.average((u[0]-np.average(u[0],weights=weight))**n, weights=weight) for n in range(2,9)]",
    ];
    const [[quantiles, moments] = []] = askNumpy<number[][][]>(SCRIPT, { grids: [{ grid, requests }] });
    expectNear(results[0].values, quantiles, "quantiles");
    expect(results[0].count).toBe(grid.frames * 16 * 19 * 12);
    expectNear(Object.values(results[1].central), moments, "moments");
    expect(results[1].standardised["4"]).toBeCloseTo(results[1].flatness, 10);
    expect(results[2].values).toEqual([-2]);
  });

  it.each(["open z 1", "open y 2", "duct z 1 linear"])(
    "has lines along an open axis, by segments: %s",
    async (text) => {
      const [name = "", axis, step, detrend] = text.split(" ");
      const members = { kind: "line", axis, over: axis === "z" ? "x,t" : "x,z,t", remove: "none", segment: 6, detrend };
      const answer = await question(name, "spectrum", { ...members, cross: "u.x,u.y*p", overlap: 6 - Number(step) });
      const requests = [`open_spectra(u[0], u[1]*p, '${axis}', ${step}, ${detrend === undefined ? 0 : 1})`];
      const kind = GRID_KINDS.find((one) => one.name === name) as GridKind;
      const [expected] = askNumpy<number[][][]>(SCRIPT, { grids: [{ grid: made.get(kind), requests }] });
      const { E_aa, re, im, coordinates } = answer.results[0];
      expectNear([E_aa, re, im], expected?.[0], text);
      const h = Number(made.get(kind)?.axes["xyz".indexOf(axis as "z")]?.[1]);
      expect(coordinates.k[1]).toBeCloseTo((2 * Math.PI) / (6 * h), 12);
    },
  );

  it.each(["open z x,t", "open y x,z,t", "duct z x,t"])("has correlations along an open axis: %s", async (text) => {
    const [name = "", axis = "", over = ""] = text.split(" ");
    const kind = GRID_KINDS.find((one) => one.name === name) as GridKind;
    const members = { axis, over: `${over},${axis}` };
    const requests = ["u[1]*p", "u[0]"].map((of) => `open_line(u[0], ${of}, '${axis}', '${over.replaceAll(",", "")}')`);
    const [[of = {}, own] = []] = askNumpy<AnyAnswer[]>(SCRIPT, { grids: [{ grid: made.get(kind), requests }] });
    const pair = await question(name, "correlation", { ...members, cross: "u.x,u.y*p" });
    expectNear(
      [pair.results[0].R, pair.s_a, pair.s_b, pair.results[0].coordinates[`r_${axis}`]],
      of.pair,
      `${text} of two`,
    );
    const { results, integral_length, crossed } = await question(name, "correlation", { ...members, what: "u.x" });
    expectNear([results[0].R, integral_length, [crossed].flat(2).map(Number)], own.auto, text);
    expect(await question(name, "correlation", pair.question)).toEqual(pair);
  });

  it("refuses correlations along a stretched axis, and along an open one with holes", async () => {
    for (const [dataset, axis, why] of [
      ["channel", "y", /evenly spaced/],
      ["holed", "z", /needs all nodes/],
    ] as const)
      await expect(question(dataset, "correlation", { what: "p", axis, over: "x,y,z,t" })).rejects.toThrow(why);
  });

  it("asks again by its question, and as CSV", async () => {
    const members = { dataset: "channel", call: "correlation", what: "u.x", axis: "x,z", frame: 1 };
    const first = await ask(members).then((response) => response.text());
    const { question: again } = JSON.parse(first);
    expect(await ask(again).then((response) => response.text())).toBe(first);
    const csv = await ask({ ...members, format: "csv" }).then((response) => response.text());
    expect(csv.split("\r\n")[0]).toBe("r_x,r_z,y,R,rho");
  });
});
