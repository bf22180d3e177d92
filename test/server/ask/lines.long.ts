/** Spectra, pairs and correlations along lines at places, on grids of several kinds, against NumPy. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { askNumpy, GRID_KINDS, type GridKind, type MadeGrid, NUMPY } from "../../support/analysis-data.js";
import { type AnyAnswer, jsonOf, type Members } from "./ask.js";
import { useGrids } from "./grids.js";

const SCRIPT = fileURLToPath(new URL("oracle.py", import.meta.url));
const KINDS = GRID_KINDS.filter(({ name }) => ["periodic", "channel", "anisotropic", "duct"].includes(name));
const OPEN = GRID_KINDS.filter(({ name }) => ["open", "staggered", "holed"].includes(name));

function near(ours: unknown, expected: unknown, about: string, tolerance = 1e-9): void {
  const [a, b] = [[ours].flat(6), [expected].flat(6)] as [number[], number[]];
  expect(a.length, about).toBe(b.length);
  const scale = Math.max(...b.map(Math.abs));
  for (const [i, one] of b.entries())
    if (!(Math.abs((a[i] as number) - one) <= tolerance * scale + 1e-14))
      throw new Error(`${about} [${i}]: ${a[i]} for ${one}`);
}

const pdfsIn = ({ pdf: { longitudinal, transverse } }: AnyAnswer) =>
  [longitudinal, transverse].map((one) => [...one.density, ...one.counts, one.below, one.above]);

const WITHOUT = NUMPY === undefined ? " (skipped: no python3 here has numpy)" : "";

describe.skipIf(NUMPY === undefined)(`lines at places agree with NumPy${WITHOUT}`, () => {
  const { made, ask } = useGrids([...KINDS, ...OPEN]);
  const question = (dataset: string, call: string, members: Members): Promise<AnyAnswer> =>
    ask({ dataset, call, frame: "all", ...members }).then(jsonOf);

  it.each(KINDS.map((kind) => ({ kind, name: kind.name })))(
    "on the $name grid",
    async ({ kind }) => {
      const grid = made.get(kind) as MadeGrid;
      const f = (text: string) => `(${text} - mean(${text}, ('x','z','t')))`;
      const [a, b, c] = [f("u[0]"), f("u[1]*p"), "u[2]"];
      // Lines along x, averaged over z and time, at each y: periodic y too.
      const over = ["x", "z", "t"];
      const requests = [
        `line(${a}, 'x', 'zt')`,
        `pair(${a}, ${b}, 'x', 'zt')[0]`,
        `pair(${a}, ${b}, 'x', 'zt')[1]`,
        `correlation(${a}, ${b}, 'x', 'zt')`,
        `line(${c}, 'x', 'yzt')`,
        ...(kind.periodic[2] ? [`modes(${a})`, `line(${a}, 'z', 'xt')`] : []),
      ];
      const [expected = []] = askNumpy<unknown[][]>(SCRIPT, { grids: [{ grid, requests }] });
      const energy = await question(kind.name, "spectrum", { what: "u.x", kind: "line", over });
      near(energy.results[0].E, expected[0], `${kind.name} E`);
      expect(Object.keys(energy.results[0].coordinates)).toEqual(["y", "k"]);
      const cross = await question(kind.name, "spectrum", { cross: ["u.x", "u.y*p"], kind: "line", over });
      const [pair] = cross.results;
      near(pair.re, expected[1], `${kind.name} re`);
      near(pair.im, expected[2], `${kind.name} im`);
      const [re, im, E, F] = [pair.re, pair.im, pair.E_aa, pair.E_bb].map((list) => list[3][2] as number) as [
        number,
        number,
        number,
        number,
      ];
      expect(pair.coherence[3][2]).toBeCloseTo((re * re + im * im) / (E * F), 10);
      expect(pair.phase[3][2]).toBe(Math.atan2(im, re));
      const R = await question(kind.name, "correlation", { cross: ["u.x", "u.y*p"], axis: "x", over });
      near(R.results[0].R, expected[3], `${kind.name} R`);
      const all = await question(kind.name, "spectrum", { what: "u.z", kind: "line", over: "x,y,z,t", remove: "none" });
      near(all.results[0].E, expected[4], `${kind.name} over y`);
      if (!kind.periodic[2]) return;
      const modes = await question(kind.name, "spectrum", { what: "u.x", kind: "modes", axis: "x,z", over });
      near(modes.results[0].E, expected[5], `${kind.name} modes`);
      const alongZ = await question(kind.name, "spectrum", { what: "u.x", kind: "line", axis: "z", over });
      near(alongZ.results[0].E, expected[6], `${kind.name} along z`);
    },
    60_000,
  );

  it("gives the mean square, and lengths of correlations", async () => {
    const members = { what: "u.x", over: ["x", "z", "t"] };
    const { results, integral_length, crossed } = await question("channel", "correlation", { ...members, axis: "x" });
    const profile = await question("channel", "statistics", members);
    const R = results[0].R as number[][];
    for (const [j, one] of R.entries()) {
      expect(one[0]).toBeCloseTo(profile.results[0].variance[j], 12);
      expect(results[0].rho[j][0]).toBeCloseTo(1, 12);
      expect(crossed[j]).toBe(results[0].rho[j].slice(0, 9).some((rho: number) => rho <= 0));
      expect(integral_length[j]).toBeGreaterThan(0);
    }
    const density = await question("channel", "spectrum", { ...members, kind: "line", normalise: "density" });
    const sums = await question("channel", "spectrum", { ...members, kind: "line" });
    near(density.results[0].E, sums.results[0].E, "density over dk = 1");
    const waves = await question("channel", "spectrum", { ...members, kind: "line", normalise: "wavelength" });
    const premultiplied = sums.results[0].E.map((list: number[]) => list.map((e, k) => k * e));
    near(waves.results[0].E, premultiplied, "k E/dk, dk = 1");
    expect(waves.wavelength.slice(0, 3)).toEqual([null, 2 * Math.PI, Math.PI]);
  });

  it.each(KINDS.flatMap((kind) => [1, 2].map((stride) => ({ kind, name: kind.name, stride }))))(
    "has means around events on the $name grid, with stride $stride",
    async ({ kind, stride }) => {
      const grid = made.get(kind) as MadeGrid;
      const isStretched = kind.stretched === true;
      // More offsets along x than are evaluated together.
      const lag = [9, isStretched ? 0 : 1, 1];
      const where = stride === 1 ? "p > rms(p)" : "u.x > p";
      const members = { what: "u.y*p", where, lag, frame: [1, 2], i: `::${stride}` };
      const { results, events } = await question(kind.name, "around", members);
      const axes = `(${isStretched ? "0,1,3" : "0,1,2,3"})`;
      const holds = stride === 1 ? "p > np.sqrt(mean(p**2, 'xyz'))" : "(u[0] > p) & (np.arange(p.shape[-1]) % 2 == 0)";
      const hit = `(${holds})[1:3]`;
      const value = (k: number, j: number, i: number) => `shift(shift(shift(u[1]*p,'x',${i}),'y',${j}),'z',${k})[1:3]`;
      const runs = lag.map((n) => Array.from({ length: 2 * n + 1 }, (_, i) => i - n)) as [number[], number[], number[]];
      const offsets = runs[2].flatMap((k) => runs[1].flatMap((j) => runs[0].map((i) => value(k, j, i))));
      const known = (text: string) => `(${hit} & ~np.isnan(${text}))`;
      const requests = [
        `np.stack([np.nan_to_num((np.nan_to_num(${"f"})*weight[1:3]*(${hit}&~np.isnan(f))).sum(${axes})/(weight[1:3]*(${hit}&~np.isnan(f))).sum(${axes})) for f in [${offsets.join(",")}]], -1)`,
        `np.stack([c.sum(${axes}) for c in [${offsets.map(known).join(",")}]], -1)`,
        `${hit}.sum()`,
      ];
      const [[mean, count, total] = []] = askNumpy<number[][][]>(SCRIPT, { grids: [{ grid, requests }] });
      near(
        [results[0].mean].flat(6).map((one) => one ?? 0),
        mean,
        `${kind.name} around`,
      );
      near(results[0].count, count, `${kind.name} counts`);
      expect(events).toBe(total);
    },
    60_000,
  );

  it.each(["periodic", "channel", "duct"])(
    "has means around extremes, points and centres on the %s grid",
    async (name) => {
      const kind = KINDS.find((one) => one.name === name) as GridKind;
      const [x, rows, z] = (made.get(kind) as MadeGrid).axes as [number[], number[], number[]];
      const lowest = { events: { lowest: "p", count: 6, apart: 1 }, frame: 1 };
      const centres = { events: "centres", where: "p > rms(p)", least: 4, frame: 2 };
      const points = ["1,0.25,2", "4,0.25,0.5", "2.5,-0.5,3.25"].map((row) => row.split(",").map(Number));
      const extremes = { reduce: { extremes: "p", count: 6, apart: 1 }, frame: 1 };
      const { results } = await question(name, "statistics", extremes);
      const { structures } = await question(name, "structures", { where: "p > rms(p)", least: 4, frame: 2 });
      const cases: (readonly [Members, number[][]])[] = [
        [lowest, results[0].lowest.map((one: AnyAnswer) => one.at)],
        [{ points, method: "Lag4" }, points],
        [{ ...centres, method: "Lag4" }, structures.map((one: AnyAnswer) => one.centre)],
      ];
      for (const [members, events] of cases) {
        const answer = await question(name, "around", { what: "u.x*p", lag: [1, 0, 2], ...members });
        const { coordinates, mean, count } = answer.results[0];
        const places: (number | null)[] = coordinates.y ?? [null];
        // Centres count at the nearest node.
        const rowOf = (at: number): number | undefined =>
          "where" in members ? rows.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))[0] : at;
        const isInside = (at: number[]) =>
          kind.periodic[2] || (Number(at[2]) >= 0 && Number(at[2]) <= Number(z.at(-1)));
        for (const [j, y] of places.entries())
          for (const [i, k] of [0, 2, 3].entries()) {
            const r = [(i - 1) * Number(x[1]), 0, (k - 2) * Number(z[1])];
            const at = events
              .filter((one) => y === null || rowOf(one[1] as number) === y)
              .map((one) => one.map((c, a) => c + Number(r[a])));
            const own = { what: "u.x*p", points: at.filter(isInside), method: "Lag4", frame: members.frame ?? "all" };
            const [there] =
              own.points.length === 0 ? [{ mean: null, count: 0 }] : (await question(name, "statistics", own)).results;
            const at0 = (list: AnyAnswer) => (coordinates.y === undefined ? list : list[j])[k][0][i];
            expect([at0(count), at0(mean) ?? 0]).toEqual([there.count, expect.closeTo(there.mean ?? 0, 5)]);
          }
        expect(answer.events).toBe(events.length * (members.frame === undefined ? 4 : 1));
      }
    },
    60_000,
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
    near(
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
    const increment = (c: number, axis: string, n: number) => `(np.abs(shift(u[${c}],'${axis}',${n})-u[${c}])[[0,2]])`;
    const W = { x: "w[0]", z: "w[2][:,None,None]" };
    const known = "(lambda f, w: (np.nan_to_num(f)*w*~np.isnan(f)).sum()/(w*~np.isnan(f)).sum())";
    const mean = (axis: "x" | "z", n: number) => (p: number) =>
      `${known}(${increment(axis === "x" ? 0 : 2, axis, n)}**${p}, (weight/${W[axis]})[[0,2]])`;
    const means = (["x", "z"] as const).flatMap((axis) => separations.map((n) => mean(axis, n)));
    const requests = [1, 2.5, 3].map((p) => `[${means.map((of) => of(p)).join(",")}]`);
    const pdfs = (
      [
        ["x", 0, 1, 2],
        ["z", 2, 0, 1],
      ] as const
    ).flatMap(([axis, ...of]) =>
      separations.map((n) => {
        const list = (some: readonly number[], text: (c: number) => string) =>
          `np.array([${some.map(text).join(",")}])`;
        const signed = (c: number) => `(shift(u[${c}],'${axis}',${n})-u[${c}])[[0,2]]`;
        const all = [of.slice(0, 1), of.slice(1)].map((some) => {
          const [d, w] = [list(some, signed), list(some, () => `(weight/${W[axis]}+0*p)[[0,2]]`)];
          return `(lambda d, w: [*(np.histogram(d, 7, (-0.75,1), weights=w)[0]/(w[~np.isnan(d)].sum()*0.25)), *np.histogram(d, 7, (-0.75,1))[0], (d < -0.75).sum(), (d > 1).sum()])(${d},${w})`;
        });
        return `[${all.join(",")}]`;
      }),
    );
    requests.push(`[${pdfs.join(",")}]`);
    const [expected = []] = askNumpy<number[][][]>(SCRIPT, { grids: [{ grid: made.get(kind), requests }] });
    near(answer.separations.map(pdfsIn), expected.pop(), `${name} PDFs`);
    const S = [1, 2.5, 3].map((p) => answer.separations.map((one: AnyAnswer) => one.absolute[p]));
    near(S, expected, `${name} absolute`);
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
    near(answer.separations.map(pdfsIn), expected, "PDFs");
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
    near(results[0].values, quantiles, "quantiles");
    expect(results[0].count).toBe(grid.frames * 16 * 19 * 12);
    near(Object.values(results[1].central), moments, "moments");
    expect(results[1].standardised["4"]).toBeCloseTo(results[1].flatness, 10);
    expect(results[2].values).toEqual([-2]);
  });

  it.each(["open z 1", "open y 2", "duct z 1 linear"])(
    "has lines along an open axis, by segments: %s",
    async (text) => {
      const [name = "", axis, step, detrend] = text.split(" ");
      const members = { kind: "line", axis, over: axis === "z" ? "x,t" : "x,z,t", remove: "none", segment: 6, detrend };
      const answer = await question(name, "spectrum", { ...members, cross: "u.x,u.y*p", overlap: 6 - Number(step) });
      const less = detrend === undefined ? "s - s.mean(-1, keepdims=True)" : "g.detrended(s, -1)";
      const f = (of: string) => `np.moveaxis(${of}, ${axis === "z" ? 1 : 2}, -1)`;
      const U = (of: string) =>
        `(lambda s: np.fft.rfft((${less})*(1 - np.cos(2*np.pi*np.arange(6)/6))/2)/6)((lambda f: np.stack([f[..., i:i+6] for i in range(0, f.shape[-1] - 5, ${step})], -2))(${f(of)}))`;
      const [A, B, over] = [U("u[0]"), U("u[1]*p"), axis === "z" ? "(0,2,3)" : "(0,1,2,3)"];
      const mean = (of: string) =>
        `(lambda c, w: np.array([1,2,2,1])/0.375*(c*w).sum(${over})/(w + 0*c).sum(${over}))(${of}, ${f("weight")}[..., :1, None])`;
      const requests = [mean(`np.abs(${A})**2`), mean(`(np.conj(${A})*${B}).real`), mean(`(np.conj(${A})*${B}).imag`)];
      const kind = GRID_KINDS.find((one) => one.name === name) as GridKind;
      const [expected] = askNumpy<number[][][]>(SCRIPT, { grids: [{ grid: made.get(kind), requests }] });
      const { E_aa, re, im, coordinates } = answer.results[0];
      near([E_aa, re, im], expected, text);
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
    near([pair.results[0].R, pair.s_a, pair.s_b, pair.results[0].coordinates[`r_${axis}`]], of.pair, `${text} of two`);
    const { results, integral_length, crossed } = await question(name, "correlation", { ...members, what: "u.x" });
    near([results[0].R, integral_length, [crossed].flat(2).map(Number)], own.auto, text);
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
    expect(csv.split("\n")[0]).toBe("r_x,r_z,y,R,rho");
  });
});
