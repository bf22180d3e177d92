/** Random requests on six kinds of grids against NumPy, all of one seeded generator. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { askNumpy, GRID_KINDS, type GridKind, type MadeGrid, NUMPY, WITHOUT } from "../../support/analysis-data.js";
import { type AnyAnswer, jsonOf, type Members } from "./ask.js";
import { useGrids } from "./grids.js";

const SCRIPT = fileURLToPath(new URL("oracle.py", import.meta.url));
const SEED = Number(process.env.FIELDPROBE_TEST_SEED ?? 62);
const REQUESTS = 200;
const FRAMES = 9;
const KINDS = GRID_KINDS.filter(({ name }) => name !== "duct");
const DIRECTIONS = ["x", "y", "z", "t"] as const;

let state = SEED;
function random(n: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

type Scalar = readonly [text: string, python: string];

const LEAVES: readonly Scalar[] = [
  ["p", "p"],
  ["u.x", "u[0]"],
  ["u.y", "u[1]"],
  ["u.z", "u[2]"],
  ["(dot(u,u)/2)", "(dot(u,u)/2)"],
  ["A[0][1]", "d(u[0],'y')"],
  ["omega.z", "curl(u)[2]"],
  ["Q", "(-sum(d(u[i],'xyz'[j])*d(u[j],'xyz'[i]) for i in (0,1,2) for j in (0,1,2))/2)"],
  ["(2*ddot(S,S))", "(sum((d(u[i],'xyz'[j])+d(u[j],'xyz'[i]))**2 for i in (0,1,2) for j in (0,1,2))/2)"],
  ["(eig1(S)+eig2(S)+eig3(S))", "div(u)"],
  ["norm(grad(p))", "np.sqrt(dot(grad(p),grad(p)))"],
];

/** A random scalar at nodes. @param leaves what the fields of the grid give */
function scalar(leaves: readonly Scalar[], depth: number, hasMeans = true): Scalar {
  const [a, f] = depth === 0 ? pick(leaves) : scalar(leaves, depth - 1, hasMeans);
  const [b, g] = pick(leaves);
  const axis = pick(["x", "y", "z"]);
  const by = 1 + random(3);
  const forms: readonly Scalar[] = [
    [a, f],
    [`(${a})*${b}`, `(${f})*${g}`],
    [`(${a} - ${b})`, `(${f} - ${g})`],
    [`abs(${a})^1.5`, `np.abs(${f})**1.5`],
    [`(sin(${a}) + max(${a}, ${b}))`, `(np.sin(${f}) + np.maximum(${f}, ${g}))`],
    [`(${a} > ${b} ? ${a} : -${b})`, `choose(above(${f}, ${g}), ${f}, -${g})`],
    [`d((${a})*${b}, ${axis})`, `d((${f})*${g}, '${axis}')`],
    [`d2(${b}*${b}, ${axis})`, `d2(${g}*${g}, '${axis}')`],
    [`shift((${a})*${b}, ${axis}, ${by})`, `shift((${f})*${g}, '${axis}', ${by})`],
    [`ddt((${a})*${b})`, `ddt((${f})*${g})`],
    [`fluc(${a})*fluc(${b})`, `fluc(${f})*fluc(${g})`],
    [`((${a})*rms(${b}) + mean(${b})*${b})`, `((${f})*np.sqrt(mean((${g})**2)) + mean(${g})*(${g}))`],
  ];
  return pick(hasMeans ? forms : forms.slice(0, -2));
}

interface Drawn {
  readonly call: string;
  readonly members: Members;
  readonly python: string;
  readonly asked: Readonly<Record<string, unknown>>;
  read(answer: AnyAnswer): unknown;
}

/** A region by nodes, which may go over seams. */
function region({ axes }: MadeGrid, { periodic }: GridKind, isWhole: boolean) {
  const box = axes.map((along, a) => {
    const count = isWhole ? along.length : 1 + random(along.length);
    return [isWhole ? 0 : random(periodic[a] ? along.length : along.length - count + 1), count] as const;
  });
  const text = Object.fromEntries(box.map(([from, count], a) => ["ijk"[a], `${from}:${from + count}`]));
  return { box, text: isWhole ? {} : text };
}

/** Directions of means; a slope in time of what has means needs one mean for all times. */
function directions(text: string): readonly (typeof DIRECTIONS)[number][] {
  const some = DIRECTIONS.filter(() => random(4) > 0);
  const isOverTime = some.length === 0 || (/ddt/.test(text) && /mean|rms|fluc/.test(text));
  return isOverTime && !some.includes("t") ? [...some, "t"] : some;
}

const flat = (value: unknown, depth: number): unknown[] => {
  let level: unknown[] = [value];
  for (let n = 0; n < depth; n++) level = level.flatMap((one) => one as unknown[]);
  return level;
};

/** Reductions with what of their results is compared. */
function reduction(scalars: () => Scalar) {
  const [[a, f], [b, g]] = [scalars(), scalars()];
  const [low, high] = [-0.7 - random(3) / 7, 0.9 + random(3) / 7];
  const range = [low, high];
  const bins = 2 + random(6);
  const at = [0.05, 0.5, 1];
  const binned = "bins=[@], range=[@]".replace("@", String(bins)).replace("@", `(${low}, ${high})`);
  const both = `bins=[${bins}, 3], range=[(${low}, ${high}), (${low}, ${high})]`;
  return pick([
    { reduce: { moments: a }, python: `'moments', ${f}` },
    { reduce: { covariance: [a, b] }, python: `'covariance', ${f}, ${g}` },
    { reduce: { histogram: a, bins, range }, python: `'histogram', ${f}, ${binned}` },
    { reduce: { joint: [a, b], bins: [bins, 3], range: [range, range] }, python: `'joint', ${f}, ${g}, ${both}` },
    { reduce: { conditional: a, on: b, bins, range }, python: `'conditional', ${f}, ${g}, ${binned}` },
    {
      reduce: { conditional: a, on: [b, a], bins: [bins, 3], range: [range, range] },
      python: `'conditional', ${f}, ${g}, ${f}, ${both}`,
    },
    { reduce: { extremes: a, count: 3 }, python: `'extremes', ${f}, count=3` },
    { reduce: { quantiles: a, at }, python: `'quantiles', ${f}, at=${JSON.stringify(at)}` },
  ]);
}

function drawStatistics(grid: MadeGrid, kind: GridKind, scalars: () => Scalar): Drawn {
  const { reduce, python } = reduction(scalars);
  const { box, text } = region(grid, kind, random(2) === 0);
  const over = directions(JSON.stringify(reduce));
  const frame = random(2) === 0 ? [0, 1, 3] : [random(4)];
  const kept = DIRECTIONS.filter((one) => !over.includes(one) && (one !== "t" || frame.length > 1)).toReversed();
  return {
    ...{ call: "statistics", members: { ...text, frame, over, reduce: [reduce] }, python: `g.reduced(${python})` },
    asked: { box, frames: frame, over: over.join(""), kept },
    read: ({ results: [result] }) =>
      Object.fromEntries(
        Object.entries(result as Record<string, unknown>)
          .filter(([, list]) => Array.isArray(list) || kept.length === 0)
          .map(([name, list]) => [name, flat(list, kept.length)]),
      ),
  };
}

function drawNodes(grid: MadeGrid, kind: GridKind, [text, python]: Scalar): Drawn {
  const { box, text: places } = region(grid, kind, random(2) === 0);
  const over = directions(text);
  const frame = random(4);
  return {
    call: "nodes",
    members: { ...places, frame, what: `q = ${text}`, over },
    python: `g.region(${python})`,
    asked: { box, frames: [frame], over: over.join("") },
    read: ({ data }) => [data.q],
  };
}

function drawLines({ periods, axes }: MadeGrid, axis: string, a: Scalar, b: Scalar): Drawn {
  const open = DIRECTIONS.filter((_, n) => n < 3 && periods[n] === null);
  const over = DIRECTIONS.filter((one) => one === axis || !open.includes(one));
  const others = over.filter((one) => one !== axis).join("");
  const asked = { over: over.join("") };
  const [f, g] = [a, b].map(([, python]) => `fluc(${python})`);
  const cross = [a[0], b[0]];
  const [letter = "y"] = open;
  const a0 = DIRECTIONS.indexOf(letter);
  const node = random(axes[a0]?.length ?? 1);
  const fixed: Drawn = {
    ...{ call: "correlation", members: { cross, axis, over, at: `${letter}:${axes[a0]?.[node]}` }, asked },
    python: `correlation(g.plane(${f}, '${letter}', ${node}), ${g}, '${axis}', '${others}')`,
    read: ({ results }) => results[0].R,
  };
  return pick<Drawn>([
    {
      ...{ call: "spectrum", members: { what: a[0], kind: "line", axis, over, remove: "mean" }, asked },
      python: `line(${f}, '${axis}', '${others}')`,
      read: ({ results }) => results[0].E,
    },
    {
      ...{ call: "spectrum", members: { cross, kind: "line", axis, over }, asked },
      python: `pair(${f}, ${g}, '${axis}', '${others}')`,
      read: ({ results }) => [results[0].re, results[0].im],
    },
    {
      ...{ call: "correlation", members: { cross, axis, over }, asked },
      python: `correlation(${f}, ${g}, '${axis}', '${others}')`,
      read: ({ results }) => results[0].R,
    },
    ...(open.length === 0 ? [] : [fixed]),
  ]);
}

function drawFrequencies({ periods }: MadeGrid, a: Scalar, b: Scalar): Drawn {
  const axis = periods[0] === null || random(2) === 0 ? null : "x";
  const over = DIRECTIONS.filter((one) => one === "t" || one === axis || random(4) > 0);
  const others = over.filter((one) => one !== axis && one !== "t");
  const segment = 4 + random(6);
  const overlap = random(segment);
  const [window, detrend] = [pick(["hann", "none"]), pick(["constant", "linear", "none"])];
  const how = `${JSON.stringify(others)}, ${segment}, ${segment - overlap}, '${window}', '${detrend}'`;
  const members = { over, segment, overlap, window, detrend };
  const isPair = axis === null && random(2) === 0;
  const [f, g] = [a, b].map(([, python]) => `fluc(${python})`);
  const kind = axis === null ? "frequency" : "wavenumber_frequency";
  const common = { call: "spectrum", asked: { over: over.join("") } };
  if (isPair)
    return {
      ...{ ...common, members: { kind, cross: [a[0], b[0]], ...members } },
      python: `(lambda C: [C.real, C.imag])(frequencies(${f}, ${g}, ${how}))`,
      read: ({ results }) => [results[0].re, results[0].im],
    };
  if (axis === null)
    return {
      ...{ ...common, members: { kind, what: a[0], ...members } },
      python: `frequencies(${f}, ${f}, ${how}).real`,
      read: ({ results }) => results[0].E,
    };
  return {
    ...{ ...common, members: { kind, what: a[0], axis, ...members } },
    python: `waves(${f}, '${axis}', ${how})`,
    read: ({ results }) => results[0].E,
  };
}

/** Leaves that the mirror of y turns the sign of. */
const ODD = ["u.y", "A[0][1]", "omega.z"];

function drawFolded(leaves: readonly Scalar[]): Drawn {
  const [[a, f], [b, g]] = [pick(leaves), pick(leaves)];
  const signs = [a, b].map((one) => (ODD.includes(one) ? -1 : 1)) as [number, number];
  const frame = [0, 2, 5];
  const isPair = random(2) === 0;
  const python = isPair
    ? `'covariance', ${JSON.stringify(signs)}, ${f}, ${g}`
    : `'moments', [${signs[0] * signs[1]}], (${f})*${g}`;
  return {
    call: "statistics",
    members: {
      frame,
      over: "x,z,t",
      fold: "y:mirror",
      reduce: [isPair ? { covariance: [a, b] } : { moments: `(${a})*${b}` }],
    },
    python: `g.folded(${python})`,
    asked: { frames: frame, over: "xzt", kept: "y" },
    read: ({ results }) => results[0],
  };
}

function drawErrors(a: Scalar): Drawn {
  const by = 1 + random(2);
  return {
    ...{
      call: "statistics",
      members: { what: `sin(997*${a[0]})`, by, over: "x,z,t" },
      python: `errors(np.sin(997*${a[1]}), ${by})`,
    },
    asked: { over: "xzt", kept: "y" },
    read: ({ results }) => results[0],
  };
}

function draw(grid: MadeGrid, kind: GridKind): Drawn {
  const isStaggered = kind.staggered === true;
  const leaves = isStaggered ? LEAVES.filter(([text]) => /^(norm\(grad\()?p\)*$/.test(text)) : LEAVES;
  const scalars = () => scalar(leaves, random(3));
  const transformed = DIRECTIONS.filter((_, a) => grid.periods[a as 0] != null);
  const way = random(kind.holes || transformed.length === 0 ? 5 : 6);
  if (way === 4 && grid.periods[1] === null) return drawFolded(leaves);
  if (way === 4) return drawErrors(pick(leaves.slice(0, 4)));
  if (way === 3)
    return drawFrequencies(kind.holes ? { ...grid, periods: [null, null, null] } : grid, pick(leaves), pick(leaves));
  if (way === 5) return drawLines(grid, pick(transformed), pick(leaves), pick(leaves));
  if (way > 0) return drawStatistics(grid, kind, scalars);
  // A component that lies on nodes of its own is read there.
  return drawNodes(grid, kind, isStaggered && random(3) === 0 ? ["u.y", "u[1]"] : scalars());
}

/** Compares numbers by the largest of their list. */
function compare(ours: unknown, expected: unknown, path: string, scale = 0): void {
  if (Array.isArray(expected)) {
    const numbers = expected.flat(8).filter((one) => typeof one === "number");
    const own = numbers.reduce((most, one) => Math.max(most, Math.abs(one)), scale);
    expect(Array.isArray(ours) && ours.length, path).toBe(expected.length);
    for (const [i, one] of expected.entries()) compare((ours as unknown[])[i], one, `${path}[${i}]`, own);
  } else if (typeof expected === "object" && expected !== null) {
    for (const [name, one] of Object.entries(expected))
      compare((ours as Record<string, unknown>)[name], one, `${path}.${name}`);
  } else if (expected === null) expect(ours, path).toBe(null);
  else {
    const value = typeof ours === "object" && ours !== null && "value" in ours ? ours.value : ours;
    if (!(Math.abs((value as number) - (expected as number)) <= 1e-6 * scale + 1e-9))
      throw new Error(`${path}: ${value} for ${expected}`);
  }
}

describe.skipIf(NUMPY === undefined)(`random requests agree with NumPy${WITHOUT}`, () => {
  const { made, ask } = useGrids(KINDS, FRAMES);

  it(`in ${REQUESTS} requests on ${KINDS.length} kinds of grids`, async () => {
    const drawn = Array.from({ length: REQUESTS }, (_, i) => {
      const kind = KINDS[i % KINDS.length] as GridKind;
      return { kind, ...draw(made.get(kind) as MadeGrid, kind) };
    });
    const grids = KINDS.map((kind) => ({
      grid: made.get(kind) as MadeGrid,
      requests: drawn.filter((one) => one.kind === kind).map(({ python, asked }) => ({ python, asked })),
    }));
    const answers = askNumpy<unknown[][]>(SCRIPT, { grids });
    const wrong: string[] = [];
    for (const [i, { kind, call, members, read }] of drawn.entries()) {
      const question = { dataset: kind.name, call, frame: "all", ...members };
      const about = `seed ${SEED}, request ${i}: ${JSON.stringify(question)}`;
      try {
        compare(read(await ask(question).then(jsonOf)), answers[i % KINDS.length]?.[Math.floor(i / KINDS.length)], "");
      } catch (error) {
        wrong.push(`${about}: ${(error as Error).message.slice(0, 300)}`);
      }
    }
    expect(wrong).toEqual([]);
  }, 300_000);
});
