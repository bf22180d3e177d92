/** Verifies descriptions: compares every header with the axes, and collects all problems. */

import { DataError, readOr } from "../../shared/errors.js";
import { groupBy } from "../../shared/group-by.js";
import { chooseBricking } from "../bricks/bricking.js";
import type { Dataset, FieldName, FieldPart, FieldSource, Subject, TimeAxis, Walls } from "../dataset/dataset.js";
import { AXIS_NAMES, KNOWN_FIELDS } from "../dataset/dataset.js";
import type { AxisDescription, Descriptor, FieldDescription } from "../dataset/descriptor.js";
import { componentsIn, frameCount, guessesOf, partsIn, unitsOf } from "../dataset/descriptor.js";
import { placeOf, STEP_PLACE } from "../dataset/files.js";
import { isField, type Packing, packingOf } from "../dataset/packing.js";
import { ReadBuffer } from "../dataset/read-buffer.js";
import type { Stored } from "../dataset/stored.js";
import { NO_SOURCES, type StoredFile } from "../dataset/stored-file.js";
import { whyNotUndone } from "../hdf5-bytes/filters.js";
import { type ReadAxis, readAxis } from "./axis.js";
import { axesAt, inOneDomain, triple } from "./own-nodes.js";
import { readForcing } from "./read-forcing.js";
import { type GivenFile, Verification } from "./verification.js";

const MAX_COUNTED = 65_536;

export interface Description {
  readonly descriptor: Descriptor;
  readonly folder: string;
  /** Folders that its files must be in, for a separate descriptor; absent: its own folder. */
  readonly roots?: readonly string[];
  /** Descriptor or bare file, for messages. */
  readonly location: string;
  readonly digest: string;
  readonly warnings: readonly string[];
  /** Subjects of red lines that the user overrides. */
  readonly despite?: readonly Subject[];
  readonly file?: GivenFile;
}

/** Finds everything that docs/datasets.md says is refused. `chunkBytes`: largest chunk and largest brick. */
export function verify(description: Description, chunkBytes: number): { dataset: Dataset } | { problems: string[] } {
  const { descriptor, folder, roots, location, digest, warnings, file } = description;
  const verification = new Verification(folder, roots, file);
  try {
    const axes = readAxes(descriptor, verification);
    if (axes === null) return { problems: verification.problems };
    const fields: Record<FieldName, FieldSource> = {};
    const frames = frameCount(descriptor);
    const series: FieldSeries[] = [];
    for (const [name, field] of inOrder(descriptor)) {
      const source = checkField({ name, field, frames, axes, verification, chunkBytes, series, descriptor });
      if (source !== null) fields[name] = source;
    }
    checkFrames(series, frames, verification, chunkBytes);
    const onGrid = verification.step("fields", () =>
      inOneDomain(
        triple(axes, ({ axis }) => axis),
        fields,
      ),
    );
    const forcing = verification.step("forcing", () => readForcing(descriptor, verification));
    if (verification.problems.length > 0 || forcing === null || onGrid === null)
      return { problems: verification.problems };
    return {
      dataset: {
        name: descriptor.name,
        title: descriptor.title,
        aliases: descriptor.aliases,
        axes: onGrid.axes,
        walls: triple(AXIS_NAMES, (name, at) => wallsOf(descriptor.axes[name], axes[at])),
        openFaces: descriptor.openFaces,
        time: timeAxis(descriptor),
        countsFrames: descriptor.times === "frames",
        fields: onGrid.fields,
        forcing,
        dnsStep: descriptor.dnsStep ?? null,
        ...(descriptor.viscosity === undefined ? {} : { viscosity: descriptor.viscosity }),
        frameVelocity: descriptor.frameVelocity,
        units: unitsOf(descriptor),
        source: descriptor.source,
        location,
        digest,
        files: verification.files,
        warnings: [...warnings, ...onceEach(verification.warnings), ...guessesOf(descriptor)],
        assumed: descriptor.assumed,
        questions: descriptor.questions,
      },
    };
  } finally {
    verification.close();
  }
}

/** Merges warnings that differ only in the name of the file. */
function onceEach(texts: readonly string[]): string[] {
  const alike = groupBy(texts, (text) => text.replace(/^.*?: /, ""));
  const more = (count: number) => (count === 1 ? "" : ` The same holds for ${count - 1} more.`);
  return [...alike.values()].map((all) => `${all[0]}${more(all.length)}`);
}

function inOrder({ fields }: Descriptor): [FieldName, FieldDescription][] {
  const place = ([name]: readonly [string, unknown]): number => {
    const at = (KNOWN_FIELDS as readonly string[]).indexOf(name);
    return at < 0 ? KNOWN_FIELDS.length : at;
  };
  const all = Object.entries(fields).filter((entry): entry is [string, FieldDescription] => entry[1] !== undefined);
  return all.sort((a, b) => place(a) - place(b) || (a[0] < b[0] ? -1 : 1));
}

function readAxes(descriptor: Descriptor, verification: Verification) {
  const axes = AXIS_NAMES.map((name) =>
    verification.step(`axes.${name}`, () => readAxis(descriptor.axes[name], verification, name)),
  );
  return axes.some((axis) => axis === null) ? null : (axes as ReadAxis[]);
}

/** Walls at the ends of an axis, ascending; faces of a descriptor are in the order of its coordinates. */
function wallsOf({ faces = "open" }: AxisDescription, { descending }: ReadAxis): Walls {
  const [first, last] = (typeof faces === "string" ? [faces, faces] : faces).map((face) => face === "wall");
  return descending ? [last === true, first === true] : [first === true, last === true];
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

interface FieldCheck {
  readonly name: FieldName;
  readonly field: FieldDescription;
  readonly frames: number;
  readonly axes: readonly ReadAxis[];
  readonly descriptor: Descriptor;
  readonly verification: Verification;
  readonly chunkBytes: number;
  readonly series: FieldSeries[];
}

interface FieldSeries {
  readonly member: string;
  readonly file: string;
  readonly path: string;
  readonly steps: Pick<FieldPart, "firstStep" | "stepIncrement" | "numbers" | "steps">;
  readonly stored: Stored;
  readonly isEmpty: boolean;
  readonly dimensions: readonly string[];
  /** Index of each frame along `t`, if files hold several. */
  readonly frames: readonly number[] | undefined;
}

interface FieldPlace {
  readonly file: string;
  readonly path: string;
  readonly dimensions?: readonly string[] | undefined;
  readonly component?: number | undefined;
  readonly factor?: number | undefined;
  readonly constant?: number | undefined;
}

function checkField(check: FieldCheck): FieldSource | null {
  const { name, field, verification } = check;
  const places = partsIn(field);
  const checked = places.map((place, index) => {
    const member = places.length === 1 ? `fields.${name}` : `fields.${name}.components[${index}]`;
    return verification.step(member, () => {
      const axes = axesAt(check.descriptor, check.axes, { ...field.at, ...place.at }, verification);
      return { ...checkPart({ ...check, axes }, member, place), axes };
    });
  });
  const parts = checked.filter((part) => part !== null);
  if (parts.length === 0 || parts.length < places.length) return null;
  const components = componentsIn(name, field);
  const source = verification.step(`fields.${name}`, () => sourceOf(check, parts, components));
  if (source === null) return null;
  const title = field.long_name;
  return { ...source, ...(title === undefined ? {} : { title }), parts: parts.map(({ part }) => part) };
}

interface CheckedPart {
  readonly part: FieldPart;
  readonly stored: Stored;
  readonly axes: FieldCheck["axes"];
}

function sourceOf(check: FieldCheck, parts: readonly CheckedPart[], components: FieldSource["components"]) {
  const sourceOn = ({ part, stored, axes }: CheckedPart, size: FieldSource["components"]) => ({
    components: size,
    bricking: chooseBricking(
      triple(axes, ({ axis }) => axis.nodes),
      size,
      part,
      stored,
      check.chunkBytes,
    ),
    parts: [part],
    ...(axes === check.axes ? {} : { axes: triple(axes, ({ axis }) => axis) }),
  });
  const [first] = parts as [CheckedPart];
  const isSplit = parts.length === 3 && parts.some(({ axes }) => axes !== check.axes);
  if (!isSplit) return sourceOn(first, components);
  // Boxes of all components together have the nodes that every component has.
  const axes = triple(AXIS_NAMES, (_, a) => parts.map((part) => part.axes[a] as ReadAxis).reduce(fewer));
  return { ...sourceOn({ ...first, axes }, components), own: triple(parts, (part) => sourceOn(part, 1)) };
}

const fewer = (one: ReadAxis, other: ReadAxis): ReadAxis => (other.axis.nodes < one.axis.nodes ? other : one);

function checkPart(
  check: FieldCheck,
  member: string,
  { file, path, dimensions = check.field.dimensions, component, factor, constant }: FieldPlace,
): { part: FieldPart; stored: Stored } {
  const { field, verification, axes } = check;
  const { firstStep, stepIncrement, numbers } = field;
  const own = numbers === undefined ? {} : { numbers };
  const steps = { firstStep, stepIncrement, steps: field.steps ?? null, ...own };
  const isSeries = STEP_PLACE.test(file) || STEP_PLACE.test(path);
  if (isSeries) verification.expect(Array.from({ length: check.frames }, (_, frame) => placeOf(file, steps, frame)));
  const storedFile = verification.open(placeOf(file, steps, 0));
  const at = placeOf(path, steps, 0);
  const stored = checkStorage(storedFile, at, check.chunkBytes, verification);
  checkShape(check, dimensions, `${storedFile.path}: ${at}`, stored, isSeries);
  const isEmpty = hasNoValues(storedFile, at, stored);
  const { frames } = field;
  if (frames !== undefined) checkListed(frames, 0, dimensions, stored, `${storedFile.path}: ${at}`);
  if (isSeries) check.series.push({ member, file, path, steps, stored, isEmpty, dimensions, frames });
  else if (isEmpty) throw noValues(`${storedFile.path}: ${at}`);
  const [gz, gy, gx] = field.ghost;
  const [oz, oy, ox] = field.offset;
  const part = {
    file: STEP_PLACE.test(file) ? verification.pattern(file) : verification.locate(file),
    path,
    dimensions,
    shape: field.shape ?? stored.shape,
    declared: field.shape === undefined ? null : stored.shape,
    index: field.index,
    ...(component === undefined ? {} : { component }),
    ...(factor === undefined ? {} : { factor }),
    ...(constant === undefined ? {} : { constant }),
    skip: [gx + ox, gy + oy, gz + oz] as const,
    flip: triple(axes, ({ descending }) => descending),
    ...steps,
    ...(frames === undefined ? {} : { frames }),
  };
  return { stored, part };
}

function checkFrames(
  series: readonly FieldSeries[],
  frames: number,
  verification: Verification,
  chunkBytes: number,
): void {
  const failed = new Set<FieldSeries>();
  /** Series without values in any frame so far; without values in later frames only, a run has ended early. */
  const empty = new Set(series.filter(({ isEmpty }) => isEmpty));
  for (let frame = 1; frame < frames; frame++) {
    for (const one of series) {
      if (failed.has(one)) continue;
      const checked = verification.step(one.member, () => checkFrame(one, frame, verification, chunkBytes));
      if (checked === null) failed.add(one);
      else if (!checked.isEmpty) empty.delete(one);
    }
  }
  for (const { member, file, path } of empty)
    verification.step(member, () => {
      throw noValues(`${file}: ${path}, in every frame,`);
    });
}

function checkFrame(
  { file, path, steps, stored: first, isEmpty, dimensions, frames }: FieldSeries,
  frame: number,
  verification: Verification,
  chunkBytes: number,
): { readonly isEmpty: boolean } {
  const [name, at] = [placeOf(file, steps, frame), placeOf(path, steps, frame)];
  const storedFile = verification.open(name);
  const stored = checkStorage(storedFile, at, chunkBytes, verification);
  if (frames !== undefined) checkListed(frames, frame, dimensions, stored, `${storedFile.path}: ${at}`);
  const shapeWithoutTime = ({ shape }: Stored) =>
    shape.filter((_, i) => frames === undefined || dimensions[i] !== "t").join();
  if (shapeWithoutTime(stored) !== shapeWithoutTime(first))
    throw new DataError(
      `${storedFile.path}: ${at} has shape ${stored.shape.join(" x ")}, the first ${first.shape.join(" x ")}; levels of a pyramid are not times: name the datasets of one level (--velocity, --pressure)`,
    );
  return { isEmpty: isEmpty && hasNoValues(storedFile, at, stored) };
}

function checkListed(
  frames: readonly number[],
  frame: number,
  dimensions: readonly string[],
  { shape }: Stored,
  where: string,
): void {
  const count = shape[dimensions.indexOf("t")] ?? 1;
  if ((frames[frame] as number) >= count) throw new DataError(`${where} has ${count} times, and no ${frames[frame]}`);
}

function checkShape(
  check: FieldCheck,
  dimensions: readonly string[],
  where: string,
  stored: Stored,
  isSeries: boolean,
): void {
  const { field } = check;
  const shape = field.shape ?? stored.shape;
  const size = (lengths: readonly number[]) => lengths.reduce((product, length) => product * length, 1);
  const statement = `${where} has shape ${stored.shape.join(" x ")}`;
  if (field.shape !== undefined && (size(shape) !== size(stored.shape) || stored.chunks !== null))
    throw new DataError(`${statement}, which the contiguous values of ${shape.join(" x ")} do not fill`);
  if (shape.length !== dimensions.length)
    throw new DataError(`${statement} but dimensions names ${dimensions.length} (${dimensions.join(" ")})`);
  for (const [index, dimension] of dimensions.entries()) {
    const length = shape[index];
    const wanted = lengthOf(check, dimension, isSeries);
    const isGrowing = check.descriptor.confirmed !== undefined && (length as number) >= wanted;
    const isListed = dimension === "t" && (field.frames !== undefined || isGrowing);
    const fits = isListed || (dimension === "n" ? field.index < length : length === wanted);
    if (!fits) throw new DataError(`${statement}: dimension ${dimension} must have ${wanted}`);
  }
}

function lengthOf({ name, field, frames, axes }: FieldCheck, dimension: string, isSeries: boolean): number {
  if (dimension === "t") return isSeries ? 1 : frames;
  if (dimension === "c") return componentsIn(name, field);
  if (dimension === "n") return field.index + 1;
  const axis = "zyx".indexOf(dimension);
  return axes[2 - axis].axis.nodes + 2 * field.ghost[axis] + field.offset[axis];
}

function readPacking(file: StoredFile, path: string, where: string, stored: Stored): Packing {
  return readOr(
    () => packingOf(file.attributes(path), stored),
    ({ message }) => {
      throw new DataError(`${where}: ${message}`);
    },
  );
}

function remedyFor({ element, size }: Stored): string {
  if (element === "integer" && size <= 4)
    return "; an attribute scale_factor or add_offset says what integers of up to 4 bytes stand for (scale_factor 1: themselves)";
  if (element !== "other") return "";
  return size <= 8
    ? "; numbers of other bits than IEEE 754 or whole bytes are not read, and complex and compound values are not fields"
    : "; complex and compound values are not fields: store real and imaginary parts apart";
}

/** @throws DataError for storage that is refused whatever the axes */
function checkStorage(file: StoredFile, path: string, chunkBytes: number, verification: Verification): Stored {
  const where = `${file.path}: ${path}`;
  const resolved = file.resolve(path);
  if (resolved === null) throw new DataError(`${where} does not exist (fieldprobe inspect lists what does)`);
  if (file.kind(resolved) !== "dataset") throw new DataError(`${where} is not a dataset`);
  const stored = file.describe(resolved);
  if (!isField(stored, readPacking(file, resolved, where, stored)))
    throw new DataError(
      `${where} holds ${stored.element} elements of ${stored.size} bytes, not float32 or float64${remedyFor(stored)}`,
    );
  if (stored.virtual) verification.takeSources(file, resolved, where);
  const missing = file.missingChunks?.(resolved) ?? null;
  if (missing !== null) verification.warnings.push(`${where}: ${missing}.`);
  const unsupported = whyNotUndone(stored.filters);
  if (unsupported !== null) throw new DataError(`${where} ${unsupported}`);
  const sources = (file.sources?.(resolved) ?? NO_SOURCES).datasets.flatMap((source) => source.stored ?? []);
  const bytesOf = ({ chunks, size }: Stored) => chunks?.reduce((bytes, edge) => bytes * edge, size) ?? 0;
  const chunk = [stored, ...sources].reduce((most, one) => Math.max(most, bytesOf(one)), 0);
  if (chunk > chunkBytes)
    throw new DataError(
      `${where} has chunks of ${chunk} bytes, more than engine.chunkBytes (${chunkBytes}); fieldprobe convert rewrites it`,
    );
  if (file.hasExternalStorage(resolved))
    throw new DataError(`${where} keeps its values in an external raw file, which is refused`);
  return stored;
}

/** Whether every query of a dataset would fail: no value was ever written, and there is no fill value. */
function hasNoValues(file: StoredFile, path: string, stored: Stored): boolean {
  const resolved = file.resolve(path);
  if (resolved === null || stored.shape.includes(0) || !file.isUnwritten(resolved)) return false;
  const first = { offset: stored.shape.map(() => 0), count: stored.shape.map(() => 1) };
  const [fill] = file.readHyperslab(resolved, stored, first, new ReadBuffer());
  return !Number.isNaN(fill) && !packingOf(file.attributes(resolved), stored).missing.includes(fill);
}

/** How many chunks were never written, unless there are more than are counted. */
export function unwrittenIn(file: StoredFile, path: string, stored: Stored): string[] {
  const { chunks, shape } = stored;
  if (chunks === null) return [];
  const lengths = shape.map((length, at) => Math.ceil(length / chunks[at]));
  const strides = lengths.map((_, at) => lengths.slice(at + 1).reduce((product, length) => product * length, 1));
  const all = lengths.reduce((product, length) => product * length, 1);
  const firstOf = (n: number) => chunks.map((edge, at) => (Math.floor(n / strides[at]) % lengths[at]) * edge);
  const counted = (): string[] => {
    const index = all > MAX_COUNTED ? null : file.chunkIndex(path, stored);
    if (index === null) return [];
    const missing = Array.from({ length: all }, (_, n) => index.chunk(firstOf(n))).filter((chunk) => chunk === null);
    return missing.length === 0 ? [] : [`${missing.length} of ${all} chunks were never written`];
  };
  return readOr(counted, () => []);
}

function noValues(where: string): DataError {
  return new DataError(`${where} has no values: none was ever written (leave it out of the descriptor, or write it)`);
}
