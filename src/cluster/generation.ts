/**
 * The generation of a dataset is a digest of everything that its values depend on: the code that computes them, the
 * settings that change numbers, and the bytes of its files. Peers answer each other only where their generations are
 * equal.
 */
import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MANIFEST_NAME } from "../storage/catalog/manifest.js";
import type { Dataset, FileStamp } from "../storage/dataset.js";

/** Bytes of a sample of a file, and samples taken of all files of a dataset together. */
const SAMPLE_BYTES = 4096;
const SAMPLES = 16_384;

/** The generations of datasets, each computed once, when it is first asked for. */
export class Generations {
  /** Samples of files that have been read so far. */
  samples = 0;
  readonly #settings: string;
  readonly #known = new WeakMap<Dataset, Promise<string>>();
  /** Digests of files that have not changed since, by path. */
  readonly #files = new Map<string, { readonly state: string; readonly digest: Promise<string> }>();

  /** @param build of `digestBuild` */
  constructor(build: string, fd8Legacy: boolean) {
    this.#settings = JSON.stringify([build, fd8Legacy]);
  }

  /** The generation of a dataset: 64 hexadecimal digits. @throws the error of the system when a file cannot be read */
  of(dataset: Dataset): Promise<string> {
    const known = this.#known.get(dataset) ?? this.#compute(dataset);
    this.#known.set(dataset, known);
    // A file that could not be read may be readable later.
    known.catch(() => this.#known.delete(dataset));
    return known;
  }

  async #compute({ files, ...dataset }: Dataset): Promise<string> {
    // Places and times differ from machine to machine.
    const { location, digest: _, fields, ...described } = dataset;
    const manifest = await readFile(join(dirname(location), MANIFEST_NAME)).catch(() => "");
    const hash = createHash("sha256").update(this.#settings).update(JSON.stringify(described)).update(manifest);
    for (const source of Object.values(fields)) {
      const parts = source.parts.map(({ file: __, ...part }) => part);
      hash.update(JSON.stringify({ ...source, parts }));
    }
    const samples = Math.max(2, Math.floor(SAMPLES / Math.max(1, files.length)));
    for (const record of files) hash.update(await this.#digestOf(record, samples));
    return hash.digest("hex");
  }

  #digestOf(record: FileStamp, samples: number): Promise<string> {
    const { path, bytes, modifiedMs, inode } = record;
    const state = `${bytes} ${modifiedMs} ${inode} ${record.newestMs} ${record.version} ${samples}`;
    const known = this.#files.get(path);
    if (known?.state === state) return known.digest;
    const digest = digestFile(record, samples, () => {
      this.samples++;
    });
    this.#files.set(path, { state, digest });
    digest.catch(() => this.#files.delete(path));
    return digest;
  }
}

/**
 * The digest of a file: size, second of its last change, and samples at even distances, the first and the last bytes
 * among them. Of a store of many objects: size and the times of its newest one and of its folder; of one at an address
 * its version.
 */
async function digestFile(record: FileStamp, samples: number, sampled: () => void): Promise<string> {
  const { path, bytes, modifiedMs, newestMs, version } = record;
  // Peers ask for what lies at an address by themselves, at times of their own.
  if (version !== undefined) return createHash("sha256").update(version).digest("hex");
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  const hash = createHash("sha256").update(JSON.stringify([bytes, seconds(modifiedMs)]));
  if (newestMs !== undefined) return hash.update(` ${seconds(newestMs)}`).digest("hex");
  const file = await open(path);
  try {
    const whole = bytes <= samples * SAMPLE_BYTES;
    const count = whole ? Math.ceil(bytes / (64 * SAMPLE_BYTES)) : samples;
    const buffer = Buffer.alloc(whole ? 64 * SAMPLE_BYTES : SAMPLE_BYTES);
    for (let i = 0; i < count; i++) {
      const at = whole ? i * buffer.length : Math.round((i * (bytes - SAMPLE_BYTES)) / (count - 1));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      hash.update(buffer.subarray(0, bytesRead));
      sampled();
    }
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}
