/**
 * Digests of datasets, by which copies on different machines are compared. They cover the description and the bytes of
 * the files: all bytes of small files, else the checksums that `check` has compared, else samples.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Dataset, FileStamp } from "../dataset/dataset.js";
import { digestStamped } from "../dataset/file-digest.js";
import { verifiedManifestOf } from "./check-record.js";
import { MANIFEST_NAME } from "./manifest.js";

const WHOLE_BYTES = 2 ** 29;
const SAMPLES = 16_384;

export interface DatasetDigest {
  readonly digest: string;
  /** Whether a change of any byte would change the digest. */
  readonly verified: boolean;
}

export class DatasetDigests {
  samples = 0;
  readonly #state: string;
  readonly #known = new WeakMap<Dataset, Promise<DatasetDigest>>();
  /** Digests of files that have not changed, by path. */
  readonly #files = new Map<string, { readonly state: string; readonly digest: Promise<string> }>();

  constructor(state: string) {
    this.#state = state;
  }

  of(dataset: Dataset): Promise<DatasetDigest> {
    const known = this.#known.get(dataset) ?? this.#compute(dataset);
    // Failures are not cached: the file may be readable later.
    if (!this.#known.has(dataset)) known.catch(() => this.#known.delete(dataset));
    this.#known.set(dataset, known);
    return known;
  }

  async #compute(dataset: Dataset): Promise<DatasetDigest> {
    // Left out because paths and times differ between machines.
    const { files, location, digest: _, fields, ...described } = dataset;
    const manifest = await readFile(join(dirname(location), MANIFEST_NAME)).catch(() => "");
    const hash = createHash("sha256").update(JSON.stringify(described)).update(manifest);
    for (const source of Object.values(fields)) {
      const parts = source.parts.map(({ file: __, ...part }) => part);
      hash.update(JSON.stringify({ ...source, parts }));
    }
    const isWhole = files.reduce((sum, { bytes }) => sum + bytes, 0) <= WHOLE_BYTES;
    const isRead = files.every(({ newestMs, version }) => version !== undefined || (isWhole && newestMs === undefined));
    const sums = isRead ? null : verifiedManifestOf(this.#state, dataset);
    if (sums !== null) return { digest: hash.update(sums).digest("hex"), verified: true };
    const samples = isWhole ? Number.POSITIVE_INFINITY : Math.max(2, Math.floor(SAMPLES / files.length));
    for (const record of files) hash.update(await this.#digestOf(record, samples));
    return { digest: hash.digest("hex"), verified: isRead };
  }

  #digestOf(record: FileStamp, samples: number): Promise<string> {
    const { path, bytes, modifiedMs, inode, changedMs, newestMs, version } = record;
    const state = [bytes, modifiedMs, inode, changedMs, newestMs, version, samples].join(" ");
    const known = this.#files.get(path);
    if (known?.state === state) return known.digest;
    const digest = digestStamped(record, samples, () => {
      this.samples++;
    });
    this.#files.set(path, { state, digest });
    digest.catch(() => this.#files.delete(path));
    return digest;
  }
}
