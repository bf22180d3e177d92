/** Writes HDF5 files box by box in bounded memory; equal content gives equal bytes. */
import { renameSync, rmSync } from "node:fs";
import type { Dataset, Group, File as Hdf5File } from "h5wasm/node";
import { DataError } from "../../shared/errors.js";

/** Filters of chunks; h5wasm allows one per dataset. */
export const FILTERS = ["none", "gzip", "fletcher32"] as const;
export type Filter = (typeof FILTERS)[number];

const ELEMENTS = { float32: "<f", float64: "<d", int16: "<h", int32: "<i" } as const;
export type WritableArray = Float32Array | Float64Array | Int16Array | Int32Array;

/** Arguments of `create_dataset` by filter: HDF5's filter number and its parameters. */
const FILTER_ARGUMENTS: Readonly<Record<Filter, { compression?: number; compression_opts?: number[] }>> = {
  none: {},
  gzip: { compression: 1, compression_opts: [6] },
  fletcher32: { compression: 3, compression_opts: [] },
};

export interface DatasetShape {
  /** Path in the file; missing groups are created. */
  readonly path: string;
  readonly type: keyof typeof ELEMENTS;
  readonly shape: readonly number[];
  /** Chunk lengths, each at most the length of the shape; null stores the dataset contiguously, written in one slab. */
  readonly chunks: readonly number[] | null;
  readonly filter: Filter;
}

/** Writes the slab that starts at `start` and has `count` elements per dimension; the first starts at the origin. */
export type WriteHyperslab = (start: readonly number[], count: readonly number[], values: WritableArray) => void;

export const product = (lengths: readonly number[]) => lengths.reduce((all, length) => all * length, 1);

/**
 * Runs `write` with the clock at the epoch: HDF5 stamps object headers with the time. `write` is synchronous, so no
 * other code sees this clock.
 */
function untimed<T>(write: () => T): T {
  const { now } = Date;
  Date.now = () => 0;
  try {
    return write();
  } finally {
    Date.now = now;
  }
}

/** Matches the message of the operating system among the many lines that HDF5 prints about a failure. */
const REASON = /error message = '([^']*)'/;

/** @throws DataError in one line if the library cannot write */
function writing<T>(path: string, write: () => T): T {
  try {
    return untimed(write);
  } catch (cause) {
    const text = String(cause);
    if (!text.includes("HDF5-DIAG")) throw cause;
    const reason = REASON.exec(text)?.[1] ?? "the HDF5 library failed";
    const isFull = reason === "No space left on device" || reason === "Disk quota exceeded";
    const reported = isFull ? Object.assign(new Error(reason), { code: "ENOSPC" }) : cause;
    throw new DataError(`${path} cannot be written: ${reason}`, reported);
  }
}

/** An HDF5 file being written, invisible under its name until `close`. */
export class Hdf5Writer {
  readonly #file: Hdf5File;
  readonly #path: string;
  #open = true;
  readonly #missing = new Map<string, number>();

  private constructor(file: Hdf5File, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Writes the file `path`, or none if `write` fails. Throws DataError when it cannot be written. */
  static async write(path: string, write: (writer: Hdf5Writer) => void | Promise<void>): Promise<void> {
    const writer = await Hdf5Writer.create(path);
    try {
      await write(writer);
      writer.close();
    } finally {
      writer.discard();
    }
  }

  /** Starts the file `path`; `close` replaces an existing one. Throws DataError when it cannot be created. */
  static async create(path: string): Promise<Hdf5Writer> {
    // Loaded on demand: the library takes longer to start than most commands to run.
    const { File, ready } = await import("h5wasm/node");
    (await ready).activate_throwing_error_handler();
    try {
      return new Hdf5Writer(
        writing(path, () => new File(`${path}.partial`, "w")),
        path,
      );
    } catch (error) {
      rmSync(`${path}.partial`, { force: true });
      throw error;
    }
  }

  /**
   * Declares a dataset, written in slabs that start on chunk borders (others are slow).
   * @throws RangeError when a slab does not fit the shape
   */
  dataset(spec: DatasetShape): WriteHyperslab {
    this.#missing.set(spec.path, product(spec.shape));
    let dataset: Dataset | null = null;
    return (start, count, values) => {
      const fits = spec.shape.every((length, d) => {
        const from = start[d] ?? -1;
        const many = count[d] ?? 0;
        return from >= 0 && many > 0 && from + many <= length;
      });
      if (!fits || start.length !== spec.shape.length || values.length !== product(count)) {
        throw new RangeError(`${spec.path}: slab ${count} at ${start} of ${values.length} values, shape ${spec.shape}`);
      }
      if (dataset === null) {
        const origin = start.every((from) => from === 0);
        const whole = count.every((many, d) => many === spec.shape[d]);
        if (!origin || (spec.chunks === null && !whole)) {
          throw new RangeError(`${spec.path}: the first slab has ${count} elements at ${start}, shape ${spec.shape}`);
        }
        dataset = writing(this.#path, () => this.#create(spec, count, values));
      } else {
        const ranges = start.map((from, d): [number, number] => [from, from + count[d]]);
        const target = dataset;
        writing(this.#path, () => target.write_slice(ranges, values));
      }
      this.#missing.set(spec.path, (this.#missing.get(spec.path) as number) - values.length);
    };
  }

  /** Writes a small dataset at once: contiguous, unfiltered. */
  whole(path: string, type: DatasetShape["type"], shape: readonly number[], values: WritableArray): void {
    this.dataset({ path, type, shape, chunks: null, filter: "none" })(
      shape.map(() => 0),
      shape,
      values,
    );
  }

  /** Sets an attribute of the file: text, or a number stored as float64. */
  attribute(name: string, value: string | number): void {
    this.#set(this.#file, name, value);
  }

  /** Sets attributes of a dataset: texts, or numbers stored as float64; those without a value are left out. */
  describe(path: string, attributes: Readonly<Record<string, string | number | null | undefined>>): void {
    for (const [name, value] of Object.entries(attributes))
      if (value != null) this.#set(this.#file.get(path) as Dataset, name, value);
  }

  scale(path: string, name = path): void {
    writing(this.#path, () => (this.#file.get(path) as Dataset).make_scale(name));
  }

  attach(path: string, dimension: number, scale: string): void {
    writing(this.#path, () => (this.#file.get(path) as Dataset).attach_scale(dimension, `/${scale}`));
  }

  /** Gives the file its name. Throws Error when a dataset is not complete, DataError when it cannot be written. */
  close(): void {
    const incomplete = [...this.#missing].find(([, elements]) => elements !== 0);
    if (incomplete !== undefined) {
      this.discard();
      throw new Error(`${incomplete[0]}: ${incomplete[1]} elements were not written`);
    }
    try {
      writing(this.#path, () => this.#file.close());
    } catch (error) {
      this.discard();
      throw error;
    }
    this.#open = false;
    renameSync(`${this.#path}.partial`, this.#path);
  }

  /** Closes and removes the file. Does nothing after `close`, so it may be called in a `finally`. */
  discard(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.#file.close();
    } catch {
      // The file is removed anyway.
    }
    rmSync(`${this.#path}.partial`, { force: true });
  }

  #set(target: Hdf5File | Dataset, name: string, value: string | number): void {
    writing(this.#path, () => {
      if (typeof value === "string") target.create_attribute(name, value);
      else target.create_attribute(name, value, [], "<d");
    });
  }

  #create(spec: DatasetShape, count: readonly number[], values: WritableArray): Dataset {
    const parts = spec.path.split("/").filter((part) => part !== "");
    const name = parts.pop() as string;
    let group: Group = this.#file;
    for (const part of parts) {
      group = group.keys().includes(part) ? (group.get(part) as Group) : group.create_group(part);
    }
    const dataset = group.create_dataset({
      name,
      data: values,
      dtype: ELEMENTS[spec.type],
      shape: [...count],
      ...(spec.chunks === null ? {} : { maxshape: [...spec.shape], chunks: [...spec.chunks] }),
      ...FILTER_ARGUMENTS[spec.filter],
    });
    if (spec.chunks !== null) dataset.resize([...spec.shape]);
    return dataset;
  }
}
