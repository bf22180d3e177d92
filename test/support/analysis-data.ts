/** Small datasets on grids of several kinds, with their numbers for oracles in NumPy. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, type Dataset as H5Dataset, h5wasm } from "h5wasm/node";
import { writeCube } from "../../tools/generate/cube.js";

/** A Python that has NumPy; undefined if there is none here. */
export const NUMPY = ["python3", "/usr/bin/python3"].find(
  (python) => spawnSync(python, ["-c", "import numpy"]).status === 0,
);

/** Added to the titles of tests that need it. */
export const WITHOUT = NUMPY === undefined ? " (skipped: no python3 here has numpy)" : "";

export interface GridKind {
  readonly name: string;
  readonly nodes: readonly [number, number, number];
  readonly periodic: readonly [boolean, boolean, boolean];
  readonly stretched?: boolean;
  readonly holes?: boolean;
  /** Whether the components of the velocity lie at the faces of cells, half a spacing below the other nodes. */
  readonly staggered?: boolean;
  readonly seed?: number;
  /** Changes the members of its descriptor. */
  // biome-ignore lint/suspicious/noExplicitAny: any member of a descriptor.
  readonly change?: (descriptor: any) => unknown;
}

export const GRID_KINDS: readonly GridKind[] = [
  { name: "periodic", nodes: [20, 18, 12], periodic: [true, true, true] },
  { name: "channel", nodes: [16, 19, 12], periodic: [true, false, true], stretched: true },
  { name: "open", nodes: [14, 18, 11], periodic: [false, false, false] },
  { name: "staggered", nodes: [16, 18, 12], periodic: [true, true, true], staggered: true },
  { name: "holed", nodes: [20, 12, 14], periodic: [true, true, false], holes: true },
  { name: "anisotropic", nodes: [32, 9, 15], periodic: [true, true, true] },
  { name: "duct", nodes: [20, 17, 13], periodic: [true, false, false], stretched: true },
];

export interface MadeGrid {
  readonly name: string;
  readonly axes: readonly (readonly number[])[];
  readonly periods: readonly (number | null)[];
  readonly weights: readonly (readonly number[])[];
  readonly frames: number;
  readonly times: readonly number[];
  readonly nu: number | null;
  readonly velocity: string;
  readonly pressure: string;
}

export async function makeGrid(kind: GridKind, folder: string, steps = 4): Promise<MadeGrid> {
  const home = join(folder, kind.name);
  const cube = {
    kind: "smooth",
    nodes: kind.nodes,
    steps,
    chunk: [8, 16, 16],
    filter: "none",
    seed: kind.seed ?? 3,
  } as const;
  await writeCube({ ...cube, name: kind.name, folder: home }, () => undefined);
  const descriptor = JSON.parse(readFileSync(join(home, "dataset.json"), "utf8"));
  const spacing = kind.nodes.map((n) => (2 * Math.PI) / n);
  const axes = kind.nodes.map((n, a) => Array.from({ length: n }, (_, i) => i * (spacing[a] as number)));
  if (kind.stretched)
    axes[1] = Array.from({ length: kind.nodes[1] }, (_, j) => -Math.cos((Math.PI * (j + 1)) / (kind.nodes[1] + 1)));
  kind.periodic.forEach((isPeriodic, a) => {
    const name = "xyz"[a] as string;
    if (isPeriodic) return;
    const { nodes, origin } = descriptor.axes[name];
    descriptor.axes[name] =
      kind.stretched && a === 1
        ? { coordinates: axes[1], periodic: false }
        : { nodes, origin, spacing: spacing[a], periodic: false };
  });
  if (kind.staggered) {
    const { file, path, dimensions } = descriptor.fields.velocity;
    const components = ["x", "y", "z"].map((axis, component) => ({ file, path, component, at: { [axis]: -0.5 } }));
    descriptor.fields.velocity = { components, dimensions };
  }
  descriptor.viscosity = 0.02;
  kind.change?.(descriptor);
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
  const { time, viscosity } = descriptor;
  const times = Array.from({ length: steps }, (_, k) => (time.origin ?? 0) + k * (time.step ?? 1));
  return {
    ...{ name: kind.name, axes, periods, weights, frames: steps, times, nu: viscosity ?? null },
    ...{ velocity: out[0] as string, pressure: out[1] as string },
  };
}

/** Writes the numbers of a field of an HDF5 file as they are. */
export async function writeRaw(source: string, field: string, path: string): Promise<void> {
  await h5wasm.ready;
  const file = new File(source, "r");
  const { buffer, byteOffset, byteLength } = (file.get(field) as H5Dataset).value as Float32Array;
  file.close();
  writeFileSync(path, new Uint8Array(buffer, byteOffset, byteLength));
}

/** Compares nested lists of numbers, null for missing ones, relative to the largest. @throws Error that names the first */
export function expectNear(ours: unknown, expected: unknown, about: string, tolerance = 1e-9): void {
  const [a, b] = [[ours].flat(6), [expected].flat(6)] as (number | null)[][] as [number[], (number | null)[]];
  const scale = Math.max(...b.map((one) => Math.abs(one ?? 0)));
  const isNear = (one: number | null, i: number) =>
    one === null ? a[i] === null : Math.abs((a[i] as number) - one) <= tolerance * scale + 1e-14;
  const i = a.length === b.length ? b.findIndex((one, n) => !isNear(one, n)) : a.length;
  if (i >= 0) throw new Error(`${about} [${i}]: ${a[i]} for ${b[i]}`);
}

/** Runs a script of NumPy on JSON. @throws Error with what it says on its error output */
export function askNumpy<T>(script: string, input: unknown): T {
  const run = spawnSync(NUMPY as string, [script], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(
    run.stdout.replaceAll("NaN", "null").replaceAll("-Infinity", "null").replaceAll("Infinity", "null"),
  );
}
