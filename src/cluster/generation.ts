/**
 * The generation of a dataset is a digest of everything that its values depend on: the code that computes them, the
 * settings that change numbers, and the bytes of its files. Peers answer each other only if their generations are
 * equal.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MANIFEST_NAME } from "../storage/catalog/manifest.js";
import type { Dataset, FileStamp } from "../storage/file/dataset.js";
import { digestFile } from "../storage/file/file-digest.js";

/** Bytes of the files of a dataset that are read whole; of more, samples are taken. */
const WHOLE_BYTES = 2 ** 29;
/** Samples taken of all files of a larger dataset together. */
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
    // Not cached: a file that could not be read may be readable later.
    if (!this.#known.has(dataset)) known.catch(() => this.#known.delete(dataset));
    this.#known.set(dataset, known);
    return known;
  }

  async #compute({ files, ...dataset }: Dataset): Promise<string> {
    // Left out, because paths and times differ from machine to machine.
    const { location, digest: _, fields, ...described } = dataset;
    const manifest = await readFile(join(dirname(location), MANIFEST_NAME)).catch(() => "");
    const hash = createHash("sha256").update(this.#settings).update(JSON.stringify(described)).update(manifest);
    for (const source of Object.values(fields)) {
      const parts = source.parts.map(({ file: __, ...part }) => part);
      hash.update(JSON.stringify({ ...source, parts }));
    }
    const isWhole = files.reduce((sum, { bytes }) => sum + bytes, 0) <= WHOLE_BYTES;
    const samples = isWhole ? Number.POSITIVE_INFINITY : Math.max(2, Math.floor(SAMPLES / files.length));
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
