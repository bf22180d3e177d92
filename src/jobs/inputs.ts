/** Inputs of jobs: points in uploaded files, or positions on axes of a dataset. */
import { createReadStream, readdirSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type NpyLayout, npyLayout, npyNumbers } from "../float32/npy.js";
import { type ColumnUnit, LONGEST_LINE, PointLines } from "../float32/point-lines.js";
import { LimitError, RequestError } from "../shared/errors.js";
import { makeFolder } from "../shared/system.js";
import { isId, keptOnlyIf, removeOld, writeWhole } from "./job-files.js";

type UploadForm = "octets" | "npy" | "csv";

/** The points of a job, as its owner states them. */
export type PointSource =
  | { readonly kind: "upload"; readonly form: UploadForm; readonly bytes: number }
  | {
      readonly kind: "rows";
      readonly points: number;
      /** As the question repeats them. */
      readonly stated: unknown;
    }
  | {
      readonly kind: "places";
      readonly counts: readonly number[];
      readonly axes: readonly AxisPlaces[];
    };

/** The places along an axis: places `first`, `first + step`, ... of those with a spacing, or their coordinates. */
export type AxisPlaces =
  | { readonly first: number; readonly step: number; readonly origin: number; readonly spacing: number }
  | { readonly coordinates: readonly number[] };

export interface JobInput {
  readonly id: string;
  readonly owner: string | null;
  readonly createdAt: number;
  readonly source: PointSource;
  readonly complete: boolean;
  /** Number of points with three numbers each; null until the upload is complete. */
  readonly points: number | null;
  readonly npy: NpyLayout | null;
  /** Numbers of a point, in float64; absent: points are float32, or as in the .npy file. */
  readonly width?: number;
  /** What the header of a CSV file states; absent: nothing, or an earlier version read it. */
  readonly units?: readonly ColumnUnit[];
  readonly unread?: readonly string[];
  /** Whether it was sent with a call, whose job alone uses it; absent: no. */
  readonly ofCall?: boolean;
}

/** The points of an input in rows of numbers: x, y, z, then the time or velocities. */
export interface InputRows {
  readonly count: number;
  readonly width: number;
  read(from: number, to: number): Promise<Float64Array>;
  close(): Promise<void>;
}

const NPY_HEADER_BYTES = 64 * 1024;
/** Most bytes of a point, by the form of its upload. */
export const MAX_POINT_BYTES: Readonly<Record<UploadForm, number>> = { octets: 24, npy: 24, csv: 2 * LONGEST_LINE };

const refuse = (message: string): RequestError => new RequestError("InvalidRequest", message);

export class Inputs {
  readonly #folder: string;
  readonly #mostPoints: number;
  /** Uploads of which a part is being received. */
  readonly #receiving = new Set<string>();

  /** @param mostPoints limit for uploads as text */
  constructor(folder: string, mostPoints: number) {
    this.#folder = folder;
    this.#mostPoints = mostPoints;
    makeFolder(folder);
  }

  #path(id: string, ending: string): string {
    return join(this.#folder, `${id}.${ending}`);
  }

  /** Adds an input; an upload has no bytes yet. */
  async add(input: Pick<JobInput, "id" | "owner" | "source">): Promise<JobInput> {
    const { source } = input;
    const placed = (counts: readonly number[]) => counts.reduce((product, count) => product * count, 1);
    const points = source.kind === "upload" ? null : "points" in source ? source.points : placed(source.counts);
    const added = { ...input, createdAt: Date.now(), complete: points !== null, points, npy: null };
    if (points === null) await writeFile(this.#path(input.id, "data"), "");
    await this.#keep(added);
    return added;
  }

  files(): ReadonlySet<string> {
    return new Set(readdirSync(this.#folder));
  }

  /** Adds the rows of a call. `stated`: the rows as the question repeats them. */
  async addRows(
    { id, owner }: Pick<JobInput, "id" | "owner">,
    rows: Float64Array,
    width: number,
    stated: unknown,
  ): Promise<JobInput> {
    const points = rows.length / width;
    const source = { kind: "rows", points, stated } as const;
    const input = { id, owner, source, createdAt: Date.now(), complete: true, points, npy: null, width, ofCall: true };
    const path = this.#path(id, "data");
    await keptOnlyIf([path], async () => {
      await writeFile(path, new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
      await this.#keep(input);
    });
    return input;
  }

  async #keep(input: JobInput): Promise<void> {
    await writeWhole(this.#path(input.id, "json"), (file) => file.writeFile(JSON.stringify(input)));
  }

  async find(id: string): Promise<JobInput | null> {
    if (!isId(id)) return null;
    try {
      return JSON.parse(await readFile(this.#path(id, "json"), "utf8")) as JobInput;
    } catch {
      return null;
    }
  }

  async received({ id, source }: JobInput): Promise<number> {
    if (source.kind !== "upload") return 0;
    return (await stat(this.#path(id, source.form === "csv" ? "csv" : "data")).catch(() => ({ size: 0 }))).size;
  }

  async list(): Promise<readonly JobInput[]> {
    const names = await readdir(this.#folder);
    const found = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => this.find(name.slice(0, -5))),
    );
    return found.filter((input) => input !== null);
  }

  async remove(id: string): Promise<void> {
    // Also its temporary files that a killed process has left.
    for (const name of await readdir(this.#folder))
      if (name.startsWith(`${id}.`)) await rm(join(this.#folder, name), { force: true });
  }

  /**
   * Removes files that belong to no input and to none of these jobs, left by a killed process. @param before files that
   * were last changed before this time are removed @param abandoned names of files that are removed whatever their age
   * @param jobs ids of the jobs whose files are kept
   */
  async sweep(before: number, abandoned: ReadonlySet<string>, jobs: ReadonlySet<string>): Promise<void> {
    const names = new Set(await readdir(this.#folder));
    const isLeft = (name: string): boolean => {
      const id = name.slice(0, name.indexOf("."));
      return !jobs.has(id) && !names.has(`${id}.json`);
    };
    await removeOld(this.#folder, before, isLeft);
    await removeOld(this.#folder, Number.POSITIVE_INFINITY, (name) => abandoned.has(name) && isLeft(name));
  }

  /**
   * Appends a part of an upload. What came before a failure is kept; the last byte completes the input, whose form is
   * then checked.
   *
   * @param from the place of its first byte, which has to be the number of bytes received so far
   * @param end  the offset after its last byte, as its sender states it
   * @throws RequestError if the input is complete, the part does not follow the bytes received, is longer
   *                      than the rest, or completes a file that does not hold points in its form
   * @throws LimitError if a CSV file has more points than a job may have
   */
  async receive(
    input: JobInput,
    from: number,
    end: number,
    parts: AsyncIterable<Buffer>,
    pause: () => Promise<void> | null,
  ): Promise<JobInput> {
    const { id, source } = input;
    if (source.kind !== "upload") throw refuse("The points of this input are places of a dataset; it takes no bytes.");
    if (input.complete) throw refuse("The input is complete; it takes no more bytes.");
    if (this.#receiving.has(id)) throw refuse("Another request is sending a part of this input.");
    this.#receiving.add(id);
    try {
      const received = await this.received(input);
      if (from !== received) throw refuse(`The input has ${received} bytes: continue with byte ${received}.`);
      const file = await open(this.#path(id, source.form === "csv" ? "csv" : "data"), "a");
      let at = from;
      try {
        for await (const part of parts) {
          at += part.length;
          if (at > end && end < source.bytes) throw refuse(`The part was to end before byte ${end}; more came.`);
          if (at > source.bytes) throw refuse(`The input was announced with ${source.bytes} bytes; more came.`);
          // Unlike `write`, `writeFile` writes all bytes, or fails.
          await file.writeFile(part);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      return at === source.bytes ? await this.#complete(input, source.form, pause) : input;
    } finally {
      this.#receiving.delete(id);
    }
  }

  async #complete(input: JobInput, form: UploadForm, pause: () => Promise<void> | null): Promise<JobInput> {
    const path = this.#path(input.id, "data");
    const lines = form === "csv" ? await readLines(this.#path(input.id, "csv"), path, this.#mostPoints, pause) : null;
    const { size } = await stat(path);
    const npy = form === "npy" ? await readHeader(path, size) : null;
    const points = npy?.rows ?? Math.floor(size / (lines === null ? 12 : 8 * lines.width));
    const complete = { ...input, complete: true, npy, points, ...lines };
    if (form === "csv") await rm(this.#path(input.id, "csv"), { force: true });
    await this.#keep(complete);
    return complete;
  }

  /** Opens points, with `isTimed` those of four numbers. Throws RequestError for others, and unfinished uploads. */
  async open({ id, source, points, complete, npy, width: ofRows }: JobInput, isTimed: boolean): Promise<InputRows> {
    if (!complete || points === null) throw refuse("The input has not been received in full.");
    if (source.kind === "places") {
      if (isTimed) throw refuse("The points of this input have no times.");
      const read = async (from: number, to: number) => Float64Array.from(placesIn(source, from, to - from));
      return { count: points, width: 3, read, close: async () => undefined };
    }
    // State folders of earlier versions hold inputs of other kinds, which have no file.
    if (!["upload", "rows"].includes(source.kind)) throw refuse("An earlier version made this input: make it again.");
    const path = this.#path(id, "data");
    const isOctets = ofRows === undefined && npy === null;
    const width = ofRows ?? npy?.columns ?? (isTimed ? 4 : 3);
    if (isTimed !== (width === 4 || width === 7))
      throw refuse(`The points of this input have ${isTimed ? "no times" : "times: ask with time=each"}.`);
    const { size } = await stat(path);
    if (isOctets && size % (4 * width) !== 0)
      throw refuse(`The input is not a whole number of points of ${4 * width} bytes each.`);
    const file = await open(path, "r");
    const read = async (from: number, to: number): Promise<Float64Array> => {
      const many = width * (to - from);
      if (npy !== null) {
        const [runs, each] = npy.columnMajor ? [width, 1] : [1, width];
        const out = new Float64Array(many);
        for (let run = 0; run < runs; run++) {
          const at = npy.start + (run * npy.rows + each * from) * npy.width;
          const number = npyNumbers(npy, await readAt(file, at, (many / runs) * npy.width));
          for (let i = 0; i < many / runs; i++) out[runs * i + run] = number(i);
        }
        return out;
      }
      const each = isOctets ? 4 : 8;
      const bytes = await readAt(file, width * from * each, many * each);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return Float64Array.from({ length: many }, (_, i) =>
        isOctets ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true),
      );
    };
    return { count: isOctets ? size / (4 * width) : points, width, read, close: () => file.close() };
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  if (bytesRead < length) throw refuse("The file of the input is cut short.");
  return bytes;
}

/** The layout of a .npy file. Throws RequestError if it holds no points, or not as many as it says. */
async function readHeader(path: string, size: number): Promise<NpyLayout> {
  const file = await open(path, "r");
  try {
    return npyLayout(await readAt(file, 0, Math.min(size, NPY_HEADER_BYTES)), size);
  } catch (error) {
    throw refuse(`The input is no .npy file of points: ${(error as Error).message}.`);
  } finally {
    await file.close();
  }
}

/** Turns lines of points into rows of float64. @throws RequestError naming the first wrong line, LimitError */
async function readLines(
  from: string,
  to: string,
  mostPoints: number,
  pause: () => Promise<void> | null,
): Promise<Pick<JobInput, "units" | "unread"> & { readonly width: number }> {
  const points = new PointLines();
  const naming = <T>(step: () => T): T => {
    try {
      return step();
    } catch (error) {
      throw refuse(`The input is no CSV file of points: ${(error as Error).message}.`);
    }
  };
  let count = 0;
  const add = (bytes: Uint8Array, isLast: boolean): Uint8Array => {
    naming(() => points.addBytes(bytes, isLast));
    const { buffer, byteOffset, byteLength, length } = points.take();
    count += length / points.columns.length;
    if (count > mostPoints) throw new LimitError("jobs.points", `Input too large (more than ${mostPoints} points)`);
    return new Uint8Array(buffer, byteOffset, byteLength);
  };
  await writeWhole(to, async (file) => {
    for await (const part of createReadStream(from)) {
      await file.writeFile(add(part as Buffer, false));
      await pause();
    }
    await file.writeFile(add(new Uint8Array(), true));
    naming(() => points.requireNamed());
  });
  return { width: points.columns.length, ...points.header };
}

function placesIn({ counts, axes }: Extract<PointSource, { kind: "places" }>, from: number, count: number) {
  const out = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    let at = from + i;
    for (let axis = 0; axis < 3; axis++) {
      const length = counts[axis] as number;
      out[3 * i + axis] = placeAlong(axes[axis] as AxisPlaces, at % length);
      at = Math.floor(at / length);
    }
  }
  return out;
}

function placeAlong(places: AxisPlaces, i: number): number {
  if ("coordinates" in places) return places.coordinates[i] as number;
  return places.origin + (places.first + i * places.step) * places.spacing;
}
