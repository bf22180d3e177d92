/** Operators and means of any expression, on grids of six kinds, against NumPy. */
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

/** Grids whose fields share their nodes. */
const KINDS = GRID_KINDS.filter(({ staggered }) => !staggered);
const SCRIPT = fileURLToPath(new URL("oracle.py", import.meta.url));

/** Scalars at nodes, in both languages; `O` is the directions of means. */
const EVERYWHERE: readonly (readonly [string, string])[] = [
  ["d(u.x*p, y)", "d(u[0]*p, 'y')"],
  ["d2(sin(p), y) + d2(u.z*u.z, x)", "d2(np.sin(p), 'y') + d2(u[2]*u[2], 'x')"],
  ["d(u.x, z)", "d(u[0], 'z')"],
  ["div(p*u)", "div([p*a for a in u])"],
  ["div([u.x*u, u.y*u, u.z*u]).y", "div([u[1]*a for a in u])"],
  ["curl(p*u).z + lap(p^2)", "curl([p*a for a in u])[2] + lap(p**2)"],
  ["dot(grad(dot(u,u)/2), u)", "dot(grad(dot(u,u)/2), u)"],
  ["div(grad(p*p))", "div(grad(p*p))"],
  ["d(d(u.x*u.y, x), y) - hess(u.x*u.y)[0][0]", "d(d(u[0]*u[1], 'x'), 'y') - d2(u[0]*u[1], 'x')"],
  ["ddt(u.x*p)", "ddt(u[0]*p)"],
  ["DDt(p)", "ddt(p) + dot(u, grad(p))"],
  ["DDt(u).z", "ddt(u[2]) + dot(u, grad(u[2]))"],
  ["field(p, 0) - p", "p[:1] - p"],
  ["shift(u.x*p, x, 3)", "shift(u[0]*p, 'x', 3)"],
  ["d(shift(u.x, z, -2), y) + shift(p, y, 2)^2", "d(shift(u[0], 'z', -2), 'y') + shift(p, 'y', 2)**2"],
  ["abs(p)^1.5", "np.abs(p)**1.5"],
  ["q = u.x*p", "u[0]*p"],
  ["mean(u.x*p) + d(mean(u.x), y)", "mean(u[0]*p, O) + d(mean(u[0], O), 'y')"],
  [
    "fluc(u.x)*fluc(u.y) - mean(fluc(u.x)*fluc(u.y))",
    "(u[0]-mean(u[0],O))*(u[1]-mean(u[1],O)) - mean((u[0]-mean(u[0],O))*(u[1]-mean(u[1],O)),O)",
  ],
  ["rms(fluc(p)) * fluc(u).z", "np.sqrt(mean((p-mean(p,O))**2,O)) * (u[2]-mean(u[2],O))"],
  ["div(mean(fluc(u)*p))", "div([mean((a-mean(a,O))*p,O) for a in u])"],
];
/** Of grids that are periodic along x and have numbers of nodes that transforms take. */
const FILTERED: readonly (readonly [string, string])[] = [
  [
    "filter(u.x*p, gaussian:1.1, x) - filter(u.x, gaussian:1.1, x)*filter(p, gaussian:1.1, x)",
    "gaussian(u[0]*p,1.1,'x') - gaussian(u[0],1.1,'x')*gaussian(p,1.1,'x')",
  ],
  ["d(filter(p*p, gaussian:0.9, x), y)", "d(gaussian(p*p,0.9,'x'), 'y')"],
  ["filter(filter(p, gaussian:0.9, x)^2, gaussian:1.3, x)", "gaussian(gaussian(p,0.9,'x')**2,1.3,'x')"],
  ["filter(d(p*p, y), gaussian:0.9, x)", "gaussian(d(p*p,'y'),0.9,'x')"],
];
const OVERS = ["xz", "xyz", "x", "xzt", "xyzt"] as const;

describe.skipIf(NUMPY === undefined)(`operators agree with NumPy${WITHOUT}`, { timeout: 120_000 }, () => {
  const { made, ask } = useGrids(KINDS, 4, ["data/turbulent-channel"]);
  const question = (dataset: string, call: string, members: Members): Promise<AnyAnswer> =>
    ask({ dataset, call, ...members }).then(jsonOf);

  it.each(KINDS.map((kind) => ({ kind, name: kind.name })))("at the nodes of the $name grid", async ({ kind }) => {
    const grid = made.get(kind) as MadeGrid;
    const isFiltered = kind.periodic[0] && !kind.holes;
    const all = [...EVERYWHERE, ...(isFiltered ? FILTERED : [])].map(
      ([text, python], i) => ({ text, python, over: OVERS[i % OVERS.length] as string, frame: i % 4 }) as const,
    );
    const requests = all.map(({ python, over, frame }) => {
      const directions = [...over].map((one) => `'${one}'`).join(",");
      return `np.broadcast_to(${python.replaceAll(/\bO\b/g, `(${directions},)`)}, p.shape)[${frame}].ravel()`;
    });
    const [expected] = askNumpy<(number | null)[][][]>(SCRIPT, { grids: [{ grid, requests }] });
    for (const [i, { text, over, frame }] of all.entries()) {
      const what = text.replace(/^\w+ = /, "");
      const means = /mean|rms|fluc/.test(text)
        ? { over: [...over], ...(over.includes("t") ? { mean_time: "all" } : {}) }
        : {};
      const members = { what: text, frame, ...means };
      const answer = await question(kind.name, "nodes", members);
      const values = (answer.data[text.startsWith("q =") ? "q" : what] as number[]).flat(3);
      expectNear(values, expected?.[i], `${kind.name} ${JSON.stringify(members)}`, 1e-6);
    }
  });

  it("gives the same bits whatever the region, and derivatives of profiles as profiles of derivatives", async () => {
    const members = { frame: [0, 1], over: ["x", "z", "t"], what: "d(mean(u.x*u.y), y), d(u.x*u.y, y)" };
    const { results } = await question("channel", "statistics", members);
    const [profile, other] = results;
    const scale = Math.max(...other.mean.map(Math.abs));
    for (const [j, one] of profile.mean.entries()) expect(Math.abs(one - other.mean[j])).toBeLessThan(1e-12 * scale);
    const part = { what: "d(mean(u.x*p), y)", frame: 1, over: ["x", "z"], mean_time: "all" };
    const whole = await question("channel", "nodes", { ...part });
    const inside = await question("channel", "nodes", { ...part, j: "4:9" });
    expect(inside.data[part.what][3]).toEqual(whole.data[part.what][3].slice(4, 9));
  });

  it("has the budget of each stress and of k, term by term", async () => {
    const grid = made.get(GRID_KINDS[1] as GridKind) as MadeGrid;
    const asked = ["uv", "ww", "k"] as const;
    const reduce = asked.map((name) => `budget:${name}`);
    const { results } = await question("channel", "statistics", { reduce, frame: [0, 1, 2], over: "x,z,t" });
    const whole = { ...grid, frames: 3, times: grid.times.slice(0, 3) };
    const requests = asked.map((name) => `budget('${name}')`);
    const [expected = []] = askNumpy<AnyAnswer[]>(SCRIPT, { grids: [{ grid: whole, requests }] });
    for (const [b, name] of asked.entries())
      for (const [term, values] of Object.entries(expected[b]))
        expectNear(results[b][term], values, `${name} ${term}`, 1e-10);
    expect(Object.keys(expected[0])).toHaveLength(7);
  });

  it("closes the budget of k of the shipped channel, averaged over its halves, in wall units", async () => {
    const members = { reduce: "budget:k", time: "all", over: "x,z,t", fold: "y:mirror", units: "plus" };
    const { results, wall_units } = await question("turbulent-channel", "statistics", members);
    const { u_tau, y_plus } = wall_units;
    expect(u_tau).toBeGreaterThan(0.97);
    expect(u_tau).toBeLessThan(1.02);
    const peak = Math.max(...results[0].produc);
    expect(peak).toBeGreaterThan(0.15);
    expect(peak).toBeLessThan(0.25);
    // Above y+ 1 most of it is the error of differences along x and z.
    for (const derivatives of ["Fd4", "Fd6"]) {
      const answer = await question("turbulent-channel", "statistics", { ...members, derivatives });
      const above = derivatives === "Fd4" ? 0.03 : 0.02;
      for (const [j, one] of answer.results[0].sum.entries())
        expect(Math.abs(one) / peak, `${derivatives}, y+ ${y_plus[j]}`).toBeLessThan(y_plus[j] > 1 ? above : 0.1);
    }
    const asked = { ...members, time: undefined, frame: 0, u_tau: 1 };
    const given = await question("turbulent-channel", "statistics", asked);
    expect(given.wall_units).toMatchObject({ u_tau: 1, source: "given" });
  });

  it("finds nodes by fluctuations, and gives quantities that are known at nodes only", async () => {
    const where = "abs(fluc(u.x)*fluc(u.y)) > 1.75*rms(fluc(u.x))*rms(fluc(u.y))";
    const what = "fluc(u.x)*fluc(u.y), p";
    const how = { frame: 1, over: "x,z" };
    const { columns, rows, total, mean_passes } = await question("channel", "find", { where, what, ...how });
    const { data } = await question("channel", "nodes", { what, ...how });
    expect(columns.map(({ name }: { name: string }) => name).slice(6)).toEqual(["fluc(u.x)*fluc(u.y)", "p"]);
    expect(total).toBeGreaterThan(rows.length > 0 ? 0 : 1);
    expect(mean_passes).toBe(2);
    const structures = await question("channel", "structures", { where, ...how });
    expect(structures.nodes).toBe(total);
    for (const [i, j, k, , , , value, p] of rows) {
      expect(value).toBe(data["fluc(u.x)*fluc(u.y)"][k][j][i]);
      expect(p).toBe(data.p[k][j][i]);
    }
  });

  it("states how far the flow goes between stored times beside slopes in time", async () => {
    const answer = await question("periodic", "statistics", { what: "DDt(p)", frame: "all" });
    const speeds = { what: "abs(u.x), abs(u.y), abs(u.z)", frame: "all" };
    const { results } = await question("periodic", "statistics", speeds);
    const { times, axes } = made.get(GRID_KINDS[0] as GridKind) as MadeGrid;
    const step = (times[1] as number) - (times[0] as number);
    const numbers = results.map(({ max }: { max: number }, a: number) => (max * step) / (axes[a]?.[1] as number));
    expect(answer.courant).toBeCloseTo(Math.max(...numbers), 12);
    expect(answer.warnings === undefined).toBe(answer.courant <= 1);
    const channel = await question("turbulent-channel", "statistics", { what: "DDt(u.x)", time: "all" });
    // The largest u of the stored frames times 0.025 / 0.0981748, by NumPy.
    expect(channel.courant).toBeCloseTo(4.595919, 6);
    expect(channel.warnings).toEqual([expect.stringMatching(/moves up to 4.60 nodes/)]);
  });

  it("refuses at points what is known at nodes, and says where it is", async () => {
    const members = { what: "grad(u.x*p)", points: [[1, 0.2, 1]], frame: 0 };
    const response = await ask({ dataset: "channel", call: "values", ...members });
    expect(response.status).toBe(422);
    expect((await response.json()).detail).toMatch(/known at nodes, not at points: ask nodes, find, statistics/);
  });
});
