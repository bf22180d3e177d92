/** Queries to a cube far larger than the cache, in a process of their own whose memory is watched. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeCube } from "../dist/tools/generate/cube.js";
import { inTurn } from "./alternate.js";
import { startReaders } from "./brick-readers.js";
import type { LargeTask } from "./large-worker.js";
import { findPython } from "./python.js";
import { type Row, ratioRow, summarise } from "./row.js";

const GIB = 2 ** 30;
/** Velocity and pressure, float32. */
const BYTES_PER_NODE = 16;
/** Nodes an axis of the cube that the clustered query is held against: one chunk. */
const SMALL = 64;
/** The cube behind gzip: 192 MiB of velocities. */
const PACKED = [256, 256, 256] as const;
const WORKER = fileURLToPath(new URL("./large-worker.js", import.meta.url));

export interface LargeOptions {
  readonly quick: boolean;
  /** Nodes an axis of the cube; 1024 make 16 GiB. */
  readonly nodes: number;
  /** The folder in which it is made; it is removed again. */
  readonly within: string;
}

/** Rows `large`: a cube is written whole (it takes about 10 s a GiB), asked, and removed. */
export async function benchLarge({ quick, nodes, within }: LargeOptions): Promise<Row[]> {
  if (!(nodes >= 128 && nodes <= 4096 && nodes % 64 === 0))
    throw new Error(`--large ${nodes}: a multiple of 64 from 128 to 4096 is needed`);
  const { bavail, bsize } = statfsSync(within);
  const needed = BYTES_PER_NODE * nodes ** 3;
  if (bavail * bsize < needed + GIB)
    throw new Error(
      `${within} has ${gib(bavail * bsize)} GiB free, ${gib(needed)} and 1 to spare are needed; see --folder`,
    );
  const folder = mkdtempSync(join(within, "fieldprobe-bench-"));
  try {
    const python = await findPython("h5py");
    const chunk = nodes < 512 ? 32 : 64;
    await make(folder, "large", nodes, chunk);
    await make(folder, "small", SMALL, SMALL);
    const task: LargeTask = {
      folder,
      nodes,
      chunk,
      smallNodes: SMALL,
      cacheMiB: nodes < 512 ? 64 : 512,
      randomPoints: nodes < 512 ? 100_000 : 1_000_000,
      clusteredPoints: quick ? 100_000 : 1_000_000,
      rounds: quick ? 3 : 9,
      python,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [WORKER, JSON.stringify(task)], {
      maxBuffer: 2 ** 24,
    });
    return [...(JSON.parse(stdout) as Row[]), ...(await decoding(folder, quick ? 3 : 9, python))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Prints the seconds that h5py takes for all chunks of a dataset, one after the other, as a user of it would read them.
 */
const H5PY = `
import h5py, sys, time
with h5py.File(sys.argv[1]) as file:
    velocity = file["velocity"]
    since = time.perf_counter()
    for chunk in velocity.iter_chunks():
        velocity[chunk]
    print(time.perf_counter() - since)
`;
/** MiB a second of bricks from chunks behind gzip: h5py, one thread of ours, and one for each core, in turn. */
async function decoding(within: string, rounds: number, python: string | null): Promise<Row[]> {
  const folder = join(within, "packed");
  const shape = {
    kind: "abc",
    nodes: PACKED,
    steps: 1,
    chunk: [SMALL, SMALL, SMALL],
    filter: "gzip",
    seed: 1,
  } as const;
  await writeCube({ ...shape, name: "packed", folder }, () => {});
  const of = { folder, dataset: "packed" };
  const [one, all] = [await startReaders(1, of), await startReaders(availableParallelism(), of)];
  const mib = (one.bricks * one.brickBytes) / 2 ** 20;
  const run = promisify(execFile);
  const seconds = async (python: string) => Number((await run(python, ["-c", H5PY, join(folder, "packed.h5")])).stdout);
  const runs = [
    async () => (1000 * mib) / (await one.read(one.bricks)),
    async () => (1000 * mib) / (await all.read(all.bricks)),
    ...(python === null ? [] : [async () => mib / (await seconds(python))]),
  ];
  await Promise.all([one.read(one.bricks), all.read(all.bricks)]);
  const [alone = [], together = [], peer = []] = await inTurn<number>(runs, rounds);
  await Promise.all([one.close(), all.close()]);
  const row = { bench: "large", case: "gzip, reading", unit: "MiB/s" } as const;
  const params = { nodes: PACKED[0], chunk: SMALL };
  const many = { ...params, threads: availableParallelism() };
  return [
    { ...row, backend: "fieldprobe", params: { ...params, threads: 1 }, ...summarise(alone) },
    { ...row, backend: "fieldprobe", params: many, ...summarise(together) },
    ...(peer.length === 0
      ? []
      : [
          { ...row, backend: "h5py", params: { ...params, threads: 1 }, ...summarise(peer) },
          ratioRow({ bench: "large", case: row.case, unit: "of h5py", params: many }, together, peer),
        ]),
  ];
}

function gib(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}

async function make(folder: string, name: string, nodes: number, edge: number): Promise<void> {
  const triple = (n: number) => [n, n, n] as const;
  const shape = { kind: "abc", nodes: triple(nodes), steps: 1, chunk: triple(edge), filter: "none", seed: 1 } as const;
  await writeCube({ ...shape, name, folder: join(folder, name) }, () => {});
}
