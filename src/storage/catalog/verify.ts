/** Turns a description into a dataset: every file opened, every header held against the axes; problems are collected. */
import { join } from "node:path";
import { DataError } from "../../errors.js";
import { chooseBricking } from "../bricks/bricking.js";
import {
  type Dataset,
  FIELD_NAMES,
  type FieldName,
  type FieldPart,
  type FieldSource,
  type TimeAxis,
  type Triple,
} from "../dataset.js";
import { placeAt } from "../files.js";
import type { H5File, Stored } from "../hdf5/file.js";
import { hasExternalStorage } from "../hdf5/object-header.js";
import { type ReadAxis, readAxis } from "./axis.js";
import { type Descriptor, type FieldDescription, frameCount, STEP_PLACE } from "./descriptor.js";
import { readForcing } from "./forcing.js";
import { Verification } from "./verification.js";

/** A dataset in words, and where its words are at home. */
export interface Description {
  readonly descriptor: Descriptor;
  /** Folder that paths are relative to and may not leave. */
  readonly folder: string;
  /** Descriptor or bare file, for messages. */
  readonly location: string;
  readonly digest: string;
  readonly warnings: readonly string[];
}

/**
 * Verifies a description against its files. Everything that section 2 of the dataset rules refuses is found here.
 *
 * @param chunkBytes largest chunk and largest brick
 */
export function verify(description: Description, chunkBytes: number): { dataset: Dataset } | { problems: string[] } {
  const { descriptor, folder, location, digest, warnings } = description;
  const verification = new Verification(folder);
  try {
    const axes = readAxes(descriptor, verification);
    if (axes === null) return { problems: verification.problems };
    const grid = axes.map(({ axis }) => axis) as unknown as Dataset["axes"];
    const fields: Partial<Record<FieldName, FieldSource>> = {};
    for (const name of FIELD_NAMES) {
      const field = descriptor.fields[name];
      if (field === undefined) continue;
      const source = new FieldCheck(name, field, descriptor, axes, verification, chunkBytes).run();
      if (source !== null) fields[name] = source;
    }
    const forcing = verification.step("forcing", () => readForcing(descriptor, verification));
    if (verification.problems.length > 0 || forcing === null) return { problems: verification.problems };
    return {
      dataset: {
        name: descriptor.name,
        title: descriptor.title,
        aliases: descriptor.aliases,
        axes: grid,
        time: timeAxis(descriptor),
        fields,
        forcing,
        dnsStep: descriptor.dnsStep ?? null,
        frameVelocity: descriptor.frameVelocity,
        units: Object.fromEntries(Object.entries(descriptor.units)) as Record<string, string>,
        source: descriptor.source,
        location,
        digest,
        files: verification.files,
        warnings,
      },
    };
  } finally {
    verification.close();
  }
}

function readAxes(descriptor: Descriptor, verification: Verification) {
  const axes = (["x", "y", "z"] as const).map((name) =>
    verification.step(`axes.${name}`, () => readAxis(descriptor.axes[name], verification)),
  );
  return axes.some((axis) => axis === null) ? null : (axes as ReadAxis[]);
}

function timeAxis(descriptor: Descriptor): TimeAxis {
  const { time } = descriptor;
  const guards = "guardBefore" in time ? time : { guardBefore: 0, guardAfter: 0 };
  const { guardBefore, guardAfter } = guards;
  const count = frameCount(descriptor);
  if (!("values" in time)) {
    return { count, origin: time.origin, step: "step" in time ? time.step : 1, values: null, guardBefore, guardAfter };
  }
  const [origin, second] = time.values as [number, number | undefined];
  const step = second === undefined ? 1 : (time.values[count - 1] - origin) / (count - 1);
  return { count, origin, step, values: Float64Array.from(time.values), guardBefore, guardAfter };
}

/** One field against its files. */
class FieldCheck {
  private readonly name: FieldName;
  private readonly field: FieldDescription;
  private readonly descriptor: Descriptor;
  private readonly nodes: Triple;
  private readonly flip: FieldPart["flip"];
  private readonly verification: Verification;
  private readonly chunkBytes: number;

  constructor(
    name: FieldName,
    field: FieldDescription,
    descriptor: Descriptor,
    axes: readonly ReadAxis[],
    verification: Verification,
    chunkBytes: number,
  ) {
    this.name = name;
    this.field = field;
    this.descriptor = descriptor;
    this.nodes = axes.map(({ axis }) => axis.nodes) as unknown as Triple;
    this.flip = axes.map(({ descending }) => descending) as unknown as FieldPart["flip"];
    this.verification = verification;
    this.chunkBytes = chunkBytes;
  }

  run(): FieldSource | null {
    const { field, verification } = this;
    const member = `fields.${this.name}`;
    const places = "components" in field ? field.components : [field];
    const checked = places.map((place, index) =>
      verification.step(places.length === 1 ? member : `${member}.components[${index}]`, () => this.part(place)),
    );
    const [first] = checked;
    if (first === undefined || first === null || checked.some((entry) => entry === null)) return null;
    const components = this.name === "pressure" ? 1 : 3;
    const bricking = chooseBricking(this.nodes, components, first.part, first.stored, this.chunkBytes);
    return { components, bricking, parts: checked.map((entry) => (entry as { part: FieldPart }).part) };
  }

  /** Checks every dataset of a place: one, or one per frame. */
  private part({ file, path }: { file: string; path: string }): { part: FieldPart; stored: Stored } {
    const { field, verification } = this;
    const [gz, gy, gx] = field.ghost;
    const [oz, oy, ox] = field.offset;
    const series = STEP_PLACE.test(file) || STEP_PLACE.test(path);
    const frames = series ? frameCount(this.descriptor) : 1;
    const base = { firstStep: field.firstStep, stepIncrement: field.stepIncrement };
    let first: Stored | null = null;
    for (let frame = 0; frame < frames; frame++) {
      const step = base.firstStep + frame * base.stepIncrement;
      const at = placeAt(path, step);
      const h5 = verification.open(placeAt(file, step));
      const stored = checkStorage(h5, at, this.chunkBytes);
      first ??= stored;
      if (stored.shape.join() !== first.shape.join())
        throw new DataError(
          `${h5.path}: ${at} has shape ${stored.shape.join(" x ")}, the first ${first.shape.join(" x ")}`,
        );
      if (frame === 0) this.checkShape(`${h5.path}: ${at}`, stored, series);
    }
    const stored = first as Stored;
    return {
      stored,
      part: {
        file: STEP_PLACE.test(file) ? join(verification.locate("."), file) : verification.locate(file),
        path,
        dimensions: field.dimensions,
        shape: field.shape ?? stored.shape,
        declared: field.shape === undefined ? null : stored.shape,
        index: field.index,
        skip: [gx + ox, gy + oy, gz + oz],
        flip: this.flip,
        ...base,
      },
    };
  }

  /** Holds the shape against axes, components and times. */
  private checkShape(where: string, stored: Stored, series: boolean): void {
    const { field } = this;
    const shape = field.shape ?? stored.shape;
    const size = (lengths: readonly number[]) => lengths.reduce((product, length) => product * length, 1);
    const said = `${where} has shape ${stored.shape.join(" x ")}`;
    if (field.shape !== undefined && (size(shape) !== size(stored.shape) || stored.chunks !== null))
      throw new DataError(`${said}, which the contiguous values of ${shape.join(" x ")} do not fill`);
    if (shape.length !== field.dimensions.length)
      throw new DataError(`${said} but dimensions names ${field.dimensions.length} (${field.dimensions.join(" ")})`);
    for (const [index, dimension] of field.dimensions.entries()) {
      const length = shape[index];
      const wanted = this.wanted(dimension, series);
      const fits = dimension === "n" ? field.index < length : length === wanted;
      if (!fits) throw new DataError(`${said}: dimension ${dimension} must have ${wanted}`);
    }
  }

  private wanted(dimension: string, series: boolean): number {
    const { field } = this;
    if (dimension === "t") return series ? 1 : frameCount(this.descriptor);
    if (dimension === "c") return this.name === "pressure" ? 1 : 3;
    if (dimension === "n") return field.index + 1;
    const axis = "zyx".indexOf(dimension);
    return this.nodes[2 - axis] + 2 * field.ghost[axis] + field.offset[axis];
  }
}

/** Names of filters that are met in files and not read. Source: the list of registered filters of The HDF Group. */
const FOREIGN_FILTERS: ReadonlyMap<string, string> = new Map([
  ["#4", "szip"],
  ["#5", "nbit"],
  ["#6", "scale-offset"],
  ["#32000", "lzf"],
  ["#32001", "blosc"],
  ["#32004", "lz4"],
  ["#32008", "bitshuffle"],
  ["#32013", "zfp"],
  ["#32015", "zstd"],
]);

/** Header of a field's dataset. @throws DataError for everything that is refused whatever the axes say */
function checkStorage(file: H5File, path: string, chunkBytes: number): Stored {
  const where = `${file.path}: ${path}`;
  const resolved = file.resolve(path);
  if (resolved === null) throw new DataError(`${where} does not exist (fieldprobe inspect lists what does)`);
  if (file.kind(resolved) !== "dataset") throw new DataError(`${where} is not a dataset`);
  const stored = file.describe(resolved);
  if (stored.element !== "float" || (stored.size !== 4 && stored.size !== 8))
    throw new DataError(`${where} holds ${stored.element} elements of ${stored.size} bytes, not float32 or float64`);
  if (stored.virtual)
    throw new DataError(`${where} is a virtual dataset, which is refused; h5repack copies its values into one file`);
  const foreign = stored.filters.find((filter) => filter.startsWith("#"));
  if (foreign !== undefined) {
    const name = FOREIGN_FILTERS.get(foreign);
    const filter = name === undefined ? foreign : `${foreign} (${name})`;
    throw new DataError(
      `${where} is stored through filter ${filter}, which cannot be read; h5repack -f GZIP=1 replaces it`,
    );
  }
  const chunk = stored.chunks?.reduce((bytes, edge) => bytes * edge, stored.size) ?? 0;
  if (chunk > chunkBytes)
    throw new DataError(
      `${where} has chunks of ${chunk} bytes, more than engine.chunkBytes (${chunkBytes}); fieldprobe convert rewrites it`,
    );
  if (hasExternalStorage(file.path, file.headerAddress(resolved)))
    throw new DataError(`${where} keeps its values in an external raw file, which is refused`);
  return stored;
}
