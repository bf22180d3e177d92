/** Adds the flags by which the user answers what a file does not say; the commands that read bare files share them. */
import { type Command, InvalidArgumentError } from "commander";
import { FIELDS, type KnownField, whyNoField } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, SUBJECTS, type Subject } from "../../storage/dataset/dataset.js";
import type { Answers } from "../../storage/recognise/answers.js";
import { OTHERS, type OtherField } from "../../storage/recognise/usual-names.js";
import { NUMBER, wholeNumber } from "./arguments.js";

const LETTERS = ["t", "z", "y", "x", "c"];

function number(text: string): number {
  const value = NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new InvalidArgumentError(`"${text}" is not a number.`);
  return value;
}

/** Three numbers for x, y, z, or one for all. */
function triple(text: string): number[] {
  const values = text.split(",").map(number);
  if (values.length === 1) return AXIS_NAMES.map(() => values[0] as number);
  if (values.length !== 3) throw new InvalidArgumentError("three numbers x,y,z are needed, or one for all.");
  return values;
}

function positive(text: string): number[] {
  const values = triple(text);
  if (values.some((value) => !(value > 0))) throw new InvalidArgumentError("numbers above 0 are needed.");
  return values;
}

/** Distances of neighbouring nodes, below 0 if coordinates descend. */
function steps(text: string): number[] {
  const values = triple(text);
  if (values.includes(0)) throw new InvalidArgumentError("numbers other than 0 are needed.");
  return values;
}

/** Orders of dimensions: of all fields, and of single ones. */
interface Orders {
  readonly all?: string[];
  readonly fields: ReadonlyMap<string, string[]>;
}

/** Adds an order to those of earlier flags: `z,y,x` of all fields or `pressure=z,y,x` of one. */
function dims(text: string, before: Orders | undefined): Orders {
  const fields = new Map(before?.fields);
  const [head, tail] = text.split("=");
  if (tail === undefined) return { all: order(text), fields };
  const name = (head as string).trim();
  checkFieldName(name);
  return { ...before, fields: fields.set(name, order(tail)) };
}

function checkFieldName(name: string): void {
  const why = whyNoField(name);
  if (why !== null) throw new InvalidArgumentError(`"${name}" cannot be the name of a field: ${why}.`);
}

/** The axes of the components of a vector in stored order. */
function components(text: string): AxisName[] {
  const letters = text
    .toLowerCase()
    .split(",")
    .map((letter) => letter.trim());
  if (letters.toSorted().join() !== AXIS_NAMES.join())
    throw new InvalidArgumentError("the axes of the components in stored order are needed, as in z,y,x.");
  return letters as AxisName[];
}

/** Paths of coordinates: `x=/grid/xm,y=/grid/ym`. */
function coordinates(text: string): ReadonlyMap<AxisName, string> {
  const found = text.split(",").map((part) => part.split("=").map((side) => side.trim()));
  const isPath = ([axis, path, more]: readonly string[]) =>
    (AXIS_NAMES as readonly string[]).includes(axis as string) &&
    path !== undefined &&
    path !== "" &&
    more === undefined;
  if (!found.every(isPath)) throw new InvalidArgumentError("paths by axis are needed, as in x=/grid/xm,y=/grid/ym.");
  return new Map(
    found.map(([axis, path]) => [axis as AxisName, `${(path as string).startsWith("/") ? "" : "/"}${path}`]),
  );
}

function order(text: string): string[] {
  const letters = text
    .toLowerCase()
    .split(",")
    .map((letter) => letter.trim());
  const isOrder = letters.every((letter) => LETTERS.includes(letter)) && new Set(letters).size === letters.length;
  if (!isOrder || !AXIS_NAMES.every((axis) => letters.includes(axis)))
    throw new InvalidArgumentError("the dimensions in stored order are needed, as in z,y,x or t,c,x,y,z.");
  return letters;
}

function axes(text: string): AxisName[] {
  if (text === "none") return [];
  const letters = [...text.toLowerCase().replaceAll(",", "")];
  if (!letters.every((letter) => (AXIS_NAMES as readonly string[]).includes(letter)))
    throw new InvalidArgumentError("the letters of axes are needed, as in xz, or none.");
  return letters as AxisName[];
}

function times(text: string): number[] | { origin: number; step: number } {
  const [origin, step, ...rest] = text.split(":");
  if (step === undefined) {
    const values = text.split(",").map(number);
    if (values.some((value, index) => index > 0 && value <= (values[index - 1] as number)))
      throw new InvalidArgumentError("times must ascend.");
    return values;
  }
  if (rest.length > 0 || !(number(step) > 0))
    throw new InvalidArgumentError("FIRST:STEP with a step above 0 is needed.");
  return { origin: number(origin as string), step: number(step) };
}

/** Subjects of red lines, between commas. */
function subjects(text: string): Subject[] {
  const found = text.split(",").map((word) => word.trim());
  const wrong = found.find((word) => !(SUBJECTS as readonly string[]).includes(word));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is no line: ${SUBJECTS.join(", ")}.`);
  return found as Subject[];
}

/** Paths of datasets, between commas. */
function paths(text: string): string[] {
  const found = text.split(",").map((path) => path.trim());
  if (found.includes("")) throw new InvalidArgumentError("paths are needed, with commas and no blanks between them.");
  return found.map((path) => (path.startsWith("/") ? path : `/${path}`));
}

/** The flags of the fields other than velocity and pressure; `--force` of `cutout` means something else. */
const FIELD_FLAGS = OTHERS.map(({ field }) => ({ field, flag: field === "force" ? "force-field" : field }));

/** The fields in words. */
const WORDS: Readonly<Record<Exclude<KnownField, "velocity" | "pressure">, string>> = {
  magnetic: "magnetic field",
  potential: "vector potential",
  force: "force",
  density: "density",
  temperature: "temperature",
};

/** The paths of a field, as many as it may have. */
function pathsOf(field: KnownField): (text: string) => OtherField {
  return (text) => {
    const found = paths(text);
    if (found.length !== 1 && found.length !== FIELDS[field])
      throw new InvalidArgumentError(`${FIELDS[field] === 1 ? "one path is" : "one path or three are"} needed.`);
    return { field, paths: found };
  };
}

/** Adds a field by its name and the paths of its dataset or its three components: `heatflux=/qx,/qy,/qz`. */
function namedField(text: string, before: readonly OtherField[] = []): OtherField[] {
  const [field = "", list, more] = text.split("=").map((part) => part.trim());
  if (list === undefined || more !== undefined)
    throw new InvalidArgumentError("a name and a path are needed, as in sgsenergy=/e, or with three of components.");
  checkFieldName(field);
  const found = paths(list);
  if (found.length !== 1 && found.length !== 3) throw new InvalidArgumentError("one path or three are needed.");
  return [...before, { field, paths: found }];
}

/** Adds the flags to a command. */
export function withAnswers(command: Command): Command {
  command
    .option(
      "--dims <order>",
      "dimensions in stored order, as h5dump lists them: z,y,x or t,c,x,y,z; of one field: pressure=z,y,x",
      dims,
    )
    .option("--components <axes>", "axes of the components of a vector in stored order: z,y,x", components)
    .option("--coordinates <paths>", "datasets of the coordinates: x=/grid/xm,y=/grid/ym", coordinates)
    .option("--periodic <axes>", "the periodic axes: xz, or none", axes)
    .option(
      "--cells <axes>",
      "the axes whose stated ends or edges are faces of cells, with the nodes in their centres: xyz, or none",
      axes,
    )
    .option("--walls <axes>", "the axes with walls at both ends, which hold particles: y, or none", axes)
    .option(
      "--length <x,y,z>",
      "period of a periodic axis, or distance between the end nodes of another; one number for all axes",
      positive,
    )
    .option(
      "--spacing <x,y,z>",
      "distance between neighbouring nodes, below 0 if coordinates descend; one number for all axes",
      steps,
    )
    .option("--origin <x,y,z>", "coordinates of the first node; one number for all axes", triple)
    .option("--times <times>", "FIRST:STEP, or a list with one time per frame", times)
    .option("--velocity <paths>", "the dataset of the velocity, or three of its components: /ux,/uy,/uz", paths)
    .option("--pressure <path>", "the dataset of the pressure", (text) => paths(text)[0]);
  for (const { field, flag } of FIELD_FLAGS) {
    const [value, three] = FIELDS[field] === 1 ? ["path", ""] : ["paths", ", or three of its components"];
    command.option(`--${flag} <${value}>`, `the dataset of the ${WORDS[field]}${three}`, pathsOf(field));
  }
  return command
    .option("--named <name=paths>", "any other field, by the dataset or the three components of it", namedField)
    .option("--trajectory <n>", "which one to read, if a file holds several", wholeNumber(0, 1e9))
    .option("--despite <lines>", "override red lines by their subjects: order,values", subjects)
    .option("--yes", "confirm: everything else is right as it is shown");
}

/** The answers among the flags of a command. */
export function answersOf(flags: Answers): Answers {
  const { periodic, walls, cells, length, spacing, origin, times, velocity, pressure, trajectory } = flags;
  const { all, fields: fieldDims } = (flags.dims as unknown as Orders | undefined) ?? {};
  const orders = { dims: all, fieldDims, components: flags.components, coordinates: flags.coordinates };
  const { despite, yes } = flags;
  const grid = { periodic, walls, cells, length, spacing, origin };
  const said = { ...orders, ...grid, times, velocity, pressure, trajectory, despite, yes };
  const given = flags as unknown as Readonly<Record<string, OtherField | undefined>>;
  const named = (flags as { readonly named?: readonly OtherField[] }).named ?? [];
  const fields = [...FIELD_FLAGS.flatMap(({ flag }) => given[flag.replace("-f", "F")] ?? []), ...named];
  return { ...said, fields: fields.length === 0 ? undefined : fields } as Answers;
}
