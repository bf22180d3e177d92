/** Compares random reductions on four kinds of dataset with NumPy; they are skipped if it is not there. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { File, type Dataset as H5Dataset, h5wasm } from "h5wasm/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { writeCube } from "../../../../tools/generate/cube.js";
import { askEarlier } from "../../../support/earlier-questions.js";
import { serveTestData } from "../../../support/service.js";

const PYTHON = ["python3", "/usr/bin/python3"].find((python) => spawnSync(python, ["-c", "import numpy"]).status === 0);
const NODES = [20, 18, 70] as const;
const FRAMES = 2;
const REQUESTS = 50;

interface Kind {
  readonly name: string;
  /** Whether each axis is periodic, and whether y is stretched. */
  readonly periodic: readonly [boolean, boolean, boolean];
  readonly stretched: boolean;
  readonly holes: boolean;
}
const KINDS: readonly Kind[] = [
  { name: "periodic", periodic: [true, true, true], stretched: false, holes: false },
  { name: "channel", periodic: [true, false, true], stretched: true, holes: false },
  { name: "open", periodic: [false, false, false], stretched: false, holes: false },
  { name: "holed", periodic: [true, true, false], stretched: false, holes: true },
];

/** Quantities in both languages. */
const QUANTITIES: readonly (readonly [string, string])[] = [
  ["ux", "u[0]"],
  ["p", "p"],
  ["dot(u, u) / 2", "sum(a * a for a in u) / 2"],
  ["2*ddot(S,S)", "2 * sum(S[i][j] ** 2 for i in range(3) for j in range(3))"],
  ["Q", "-0.5 * sum(A[i][j] * A[j][i] for i in range(3) for j in range(3))"],
  ["dot(w, S*w)", "sum(w[i] * S[i][j] * w[j] for i in range(3) for j in range(3))"],
  ["helicity", "sum(u[i] * w[i] for i in range(3))"],
  ["norm(w)", "np.sqrt(sum(a * a for a in w))"],
  ["ux > 0 ? p : -uy", "np.where(np.isnan(u[0]), np.nan, np.where(u[0] > 0, p, -u[1]))"],
  ["ux < p && !(uy < 0)", "np.where(np.isnan(u[0] + u[1] + p), np.nan, (u[0] < p) & (u[1] >= 0))"],
  ["sin(x) * cos(y) + z", "np.sin(x) * np.cos(y) + z"],
  ["eig1(S) + eig2(S) + eig3(S) + max(ux, uy)", "S[0][0] + S[1][1] + S[2][2] + np.maximum(u[0], u[1])"],
];

let seed = 20_261_124;
function random(n: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
}

interface Made {
  readonly axes: readonly (readonly number[])[];
  readonly periods: readonly (number | null)[];
  readonly weights: readonly (readonly number[])[];
  readonly frames: number;
  readonly velocity: string;
  readonly pressure: string;
}

/** Writes a dataset, and its numbers for the oracle. */
async function make(kind: Kind, folder: string): Promise<Made> {
  const home = join(folder, kind.name);
  const cube = { kind: "smooth", nodes: NODES, steps: FRAMES, chunk: [8, 16, 32], filter: "none", seed: 3 } as const;
  await writeCube({ ...cube, name: kind.name, folder: home }, () => undefined);
  const descriptor = JSON.parse(readFileSync(join(home, "dataset.json"), "utf8"));
  const spacing = NODES.map((n) => (2 * Math.PI) / n);
  const axes = NODES.map((n, a) => Array.from({ length: n }, (_, i) => i * (spacing[a] as number)));
  if (kind.stretched)
    axes[1] = Array.from({ length: NODES[1] }, (_, j) => -Math.cos((Math.PI * (j + 1)) / (NODES[1] + 1)));
  kind.periodic.forEach((isPeriodic, a) => {
    const name = "xyz"[a] as string;
    if (isPeriodic) return;
    const { nodes, origin } = descriptor.axes[name];
    descriptor.axes[name] =
      kind.stretched && a === 1
        ? { coordinates: axes[1], periodic: false }
        : { nodes, origin, spacing: spacing[a], periodic: false };
  });
  writeFileSync(join(home, "dataset.json"), JSON.stringify(descriptor));
  await h5wasm.ready;
  const file = new File(join(home, `${kind.name}.h5`), kind.holes ? "a" : "r");
  const out: string[] = [];
  for (const field of ["velocity", "pressure"] as const) {
    const stored = file.get(`/${field}`) as H5Dataset;
    const values = stored.value as Float32Array;
    if (kind.holes) {
      const size = field === "velocity" ? 3 : 1;
      for (let i = 0; i < values.length / size; i++)
        if (Math.floor(i / 3) % 211 === 5) values.fill(Number.NaN, size * i, size * (i + 1));
      stored.write_slice(stored.shape?.map((n) => [0, n]) as never, values);
    }
    const path = join(folder, `${kind.name}.${field}`);
    writeFileSync(path, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    out.push(path);
  }
  file.close();
  rmSync(join(home, "manifest.json"), { force: true });
  const weights = axes.map((along, a) =>
    along.map((_, i) =>
      kind.periodic[a]
        ? (spacing[a] as number)
        : ((along[Math.min(i + 1, along.length - 1)] as number) - (along[Math.max(i - 1, 0)] as number)) / 2,
    ),
  );
  const periods = kind.periodic.map((isPeriodic) => (isPeriodic ? 2 * Math.PI : null));
  return { axes, periods, weights, frames: FRAMES, velocity: out[0] as string, pressure: out[1] as string };
}

/** A random request, for the service and for the oracle. */
function draw(dataset: number, { axes }: Made, { periodic }: Kind) {
  const pick = () => QUANTITIES[random(QUANTITIES.length)] as readonly [string, string];
  const kind = (["moments", "covariance", "histogram", "joint", "conditional", "extremes"] as const)[
    random(6)
  ] as string;
  const quantities = kind === "moments" || kind === "histogram" || kind === "extremes" ? [pick()] : [pick(), pick()];
  const names = quantities.map(([name]) => name);
  const bins = 2 + random(6);
  const range = [-0.7 - random(3) / 7, 0.9 + random(3) / 7];
  const reduction = {
    moments: { moments: names[0] },
    covariance: { covariance: names },
    histogram: { histogram: names[0], bins, range },
    joint: { joint: names, bins: [bins, 3], range: [range, range] },
    conditional: { conditional: names[0], on: names[1], bins, range },
    extremes: { extremes: names[0], count: 3 },
  }[kind] as object;
  const isWhole = random(2) === 0;
  const box = axes.map((along, a) => {
    const count = isWhole ? along.length : 1 + random(along.length);
    return [isWhole ? 0 : random(periodic[a] ? along.length : along.length - count + 1), count] as const;
  });
  const at = (a: number, i: number) => (axes[a] as number[])[i] as number;
  // On a periodic axis a region ends before its extent; on others its last node belongs to it.
  const extent = box.map(([first, count], a) => {
    const h = (2 * Math.PI) / (axes[a] as readonly number[]).length;
    return periodic[a] ? (count - 0.5) * h : at(a, first + count - 1) - at(a, first);
  });
  const region = { origin: box.map(([first], a) => at(a, first)), extent };
  const over = ["x", "y", "z", "t"].filter(() => random(4) > 0);
  const frames = random(2) === 0 ? [1, 2] : [1 + random(2)];
  const isKept = (name: string, a: number) => !over.includes(name) && (a > 0 || frames.length > 1);
  const kept = ["t", "z", "y", "x"].flatMap((name, a) => (isKept(name, a) ? [a] : []));
  return {
    body: { frames, reduce: [reduction], over, ...(isWhole ? {} : { region }) },
    oracle: {
      ...{ dataset, kind, box, kept, python: quantities.map(([, python]) => python) },
      ...{ bins: kind === "joint" ? [bins, 3] : bins, range: kind === "joint" ? [range, range] : range, count: 3 },
      frames: frames.map((frame) => frame - 1),
    },
  };
}

type Json = number | null | string | readonly Json[] | { readonly [name: string]: Json };

/** Compares numbers by the rounding of derivatives; places of extremes are left out. */
function compare(ours: Json, oracle: Json, path: string): void {
  if (Array.isArray(oracle)) {
    oracle.forEach((value, i) => {
      compare((ours as Json[])[i] as Json, value, `${path}[${i}]`);
    });
  } else if (typeof oracle === "object" && oracle !== null) {
    for (const [name, value] of Object.entries(oracle))
      compare((ours as Record<string, Json>)[name] as Json, value, `${path}.${name}`);
  } else if (typeof ours === "object" && ours !== null && "value" in ours) compare(ours.value as Json, oracle, path);
  else if (typeof oracle === "number" && Number.isFinite(oracle)) {
    expect(typeof ours, `${path}: ${JSON.stringify(ours)} for ${oracle}`).toBe("number");
    expect(Math.abs((ours as number) - oracle), `${path}: ${ours} for ${oracle}`).toBeLessThan(
      1e-6 * Math.abs(oracle) + 1e-9,
    );
  } else expect(ours, path).toBe(null);
}

/** The groups of a result, in their order: members are nested by the kept axes. */
function groupsOf(result: { readonly [name: string]: Json }, kept: number, names: readonly string[]): Json[] {
  const flat = (value: Json): Json[] => {
    let level = [value];
    for (let k = 0; k < kept; k++) level = level.flatMap((one) => one as Json[]);
    return level;
  };
  const lists = names.map((name) => [name, flat(result[name] as Json)] as const);
  return (lists[0]?.[1] ?? []).map((_, i) => Object.fromEntries(lists.map(([name, list]) => [name, list[i] as Json])));
}

const WITHOUT = PYTHON === undefined ? " (skipped: no python3 here has numpy)" : "";

describe.skipIf(PYTHON === undefined)(`random reductions agree with NumPy${WITHOUT}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-oracle-"));
  let service: RunningService;
  const made: Made[] = [];
  beforeAll(async () => {
    for (const kind of KINDS) made.push(await make(kind, folder));
    service = await serveTestData(KINDS.map(({ name }) => join(folder, name)));
  }, 60_000);
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  it(`in ${REQUESTS} requests on ${KINDS.length} kinds of dataset`, async () => {
    const drawn = Array.from({ length: REQUESTS }, (_, i) => {
      const dataset = i % KINDS.length;
      return draw(dataset, made[dataset] as Made, KINDS[dataset] as Kind);
    });
    const script = fileURLToPath(new URL("../../../analysis/oracle.py", import.meta.url));
    const input = JSON.stringify({ datasets: made, requests: drawn.map(({ oracle }) => oracle) });
    const run = spawnSync(PYTHON as string, [script], { input, encoding: "utf8", maxBuffer: 2 ** 28 });
    expect(run.stderr.replaceAll(/.*Warning.*\n.*\n/g, "")).toBe("");
    const answers = JSON.parse(run.stdout.replaceAll("NaN", "null")) as Json[][];
    let compared = 0;
    for (const [i, { body, oracle }] of drawn.entries()) {
      const name = KINDS[oracle.dataset]?.name as string;
      const response = await askEarlier(`${service.url}/api/datasets/${name}/statistics`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { readonly results: readonly [{ readonly [name: string]: Json }] };
      const about = `${name} ${JSON.stringify(body)}`;
      expect(response.status, `${about} ${JSON.stringify(answer).slice(0, 300)}`).toBe(200);
      const expected = answers[i] as readonly { readonly [name: string]: Json }[];
      const groups = groupsOf(answer.results[0], oracle.kept.length, Object.keys(expected[0] as object));
      expect(groups, about).toHaveLength(expected.length);
      compare(groups, expected, about);
      compared++;
    }
    expect(compared).toBe(REQUESTS);
  }, 120_000);
});
