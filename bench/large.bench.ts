/** Queries to a cube far larger than the cache, in a process of their own whose memory is watched. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeCube } from "../dist/generate/cube.js";
import type { LargeTask } from "./large-worker.js";
import type { Row } from "./row.js";

const GIB = 2 ** 30;
/** Velocity and pressure, float32. */
const BYTES_PER_NODE = 16;
/** Nodes an axis of the cube that the clustered query is held against: one chunk. */
const SMALL = 64;
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
    };
    const { stdout } = await promisify(execFile)(process.execPath, [WORKER, JSON.stringify(task)], {
      maxBuffer: 2 ** 24,
    });
    return JSON.parse(stdout) as Row[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function gib(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}

async function make(folder: string, name: string, nodes: number, edge: number): Promise<void> {
  const triple = (n: number) => [n, n, n] as const;
  const shape = { kind: "abc", nodes: triple(nodes), steps: 1, chunk: triple(edge), filter: "none", seed: 1 } as const;
  await writeCube({ ...shape, name, folder: join(folder, name) }, () => {});
}
