/** Times how `convert` rewrites a dataset, in turns with a copy by h5py that has the same chunks and checksums. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openSource } from "../dist/storage/catalog/source.js";
import { convert } from "../dist/storage/tools/convert.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { inTurn } from "./alternate.js";
import { findPython } from "./python.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";

const STORED_CHUNK = 32;
const CHUNK = 64;
const READ_BYTES = 64 * 1024 * 1024;

/** Copies each field of each frame into a file of its own, slabs of whole chunks at a time; prints the seconds. */
const H5PY = `
import h5py, sys, time
source, target, chunk = sys.argv[1], sys.argv[2], int(sys.argv[3])
since = time.perf_counter()
with h5py.File(source) as file:
    for name in ("velocity", "pressure"):
        field = file[name]
        frames, *shape = field.shape
        for frame in range(frames):
            with h5py.File(f"{target}/{name}{frame}.h5", "w") as out:
                copy = out.create_dataset(name, shape, "f4", chunks=(chunk,) * 3 + tuple(shape[3:]), fletcher32=True)
                for z in range(0, shape[0], chunk):
                    copy[z : z + chunk] = field[frame, z : z + chunk]
print(time.perf_counter() - since)
`;

/**
 * Rows `sources`: milliseconds to rewrite velocity and pressure of some frames with checksums of chunks (Fletcher), by
 * h5py, and by `convert`, which also writes SHA-256 of each file into the manifest.
 */
export async function benchConversion({ quick }: Pick<BenchOptions, "quick">): Promise<Row[]> {
  const nodes = quick ? 128 : 256;
  const steps = quick ? 1 : 4;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  try {
    const source = join(folder, "source");
    const edge = [STORED_CHUNK, STORED_CHUNK, STORED_CHUNK] as const;
    const shape = { nodes: [nodes, nodes, nodes], steps, chunk: edge, filter: "none", seed: 1 } as const;
    await writeCube({ kind: "abc", ...shape, name: "source", folder: source }, () => {});
    const row = { bench: "sources", params: { nodes, frames: steps, chunk: CHUNK } } as const;
    const ours = async () => {
      const target = join(folder, "target");
      const start = performance.now();
      await convert(
        openSource(source, READ_BYTES),
        { folder: target, name: "target", chunk: CHUNK, filter: "fletcher32" },
        () => {},
      );
      const milliseconds = performance.now() - start;
      rmSync(target, { recursive: true });
      return milliseconds;
    };
    const python = await findPython("h5py");
    const theirs = async (interpreter: string) => {
      const target = join(folder, "copy");
      mkdirSync(target);
      const words = [join(source, "source.h5"), target, `${CHUNK}`];
      const { stdout } = await promisify(execFile)(interpreter, ["-c", H5PY, ...words]);
      const bytes = readdirSync(target).reduce((sum, name) => sum + statSync(join(target, name)).size, 0);
      if (bytes < 16 * steps * nodes ** 3) throw new Error(`h5py has written ${bytes} bytes only`);
      rmSync(target, { recursive: true });
      return 1000 * Number(stdout);
    };
    await ours();
    const runs = [ours, ...(python === null ? [] : [() => theirs(python)])];
    const [mine = [], peer = []] = await inTurn<number>(runs, quick ? 2 : 5);
    const rows: Row[] = [{ ...row, case: "convert", backend: "fieldprobe", unit: "ms", ...summarise(mine) }];
    if (peer.length === 0) process.stdout.write("sources   convert: no Python with h5py to compare with\n");
    else {
      rows.push({ ...row, case: "convert", backend: "h5py", unit: "ms", ...summarise(peer) });
      rows.push(ratioRow({ ...row, case: "convert", unit: "of h5py" }, mine, peer));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
