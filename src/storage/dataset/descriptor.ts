/** Schema of the descriptor `dataset.json`. All problems of a text are listed at once, each with its JSON path. */
import { z } from "zod";
import { DataError } from "../../shared/errors.js";
import { FIELDS, fieldNameProblem, type KnownField } from "../../shared/operations.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import type { Question, Subject } from "./dataset.js";
import { AXIS_NAMES, claimText, KNOWN_FIELDS, MAX_FIELDS, OPEN_FACES, SUBJECTS } from "./dataset.js";
import { countValues } from "./documents.js";
import { STEP_PLACE } from "./files.js";
import type { Refused } from "./scan.js";
import { contradictionOf, factorBetween, isNoVelocity, TIMES } from "./units.js";

export const NAME_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;

const name = z.string().regex(NAME_PATTERN, "must be 1 to 64 of the characters A-Z a-z 0-9 _ . -");
/** Most frames of a dataset, which bounds lists of times. */
const MAX_FRAMES = 1_000_000;
const whole = z.number().int().min(0);
const nodes = z.number().int().min(1);
const place = {
  file: z.string().min(1).describe("Relative to this descriptor, not above its folder; may hold {step:0Nd} or {step}."),
  path: z.string().min(1).describe("Of the dataset or group in the file; may hold {step:0Nd} or {step}."),
};

const face = z.enum(["wall", "open"]);
const faces = z
  .union([face, z.tuple([face, face])])
  .optional()
  .describe("At the ends of an axis that is not periodic, both or the first and the last: a wall holds particles.");

const edges = z
  .union([z.array(z.number()).min(2), z.strictObject(place)])
  .optional()
  .describe(
    "Faces of the cells around the nodes, in their order: one more than nodes, or the first and the last, if those " +
      "between are half way between nodes. Absent: the end nodes are the ends of the domain.",
  );

const uniformAxis = z.strictObject({
  nodes,
  origin: z.number().describe("Coordinate of the first stored node."),
  spacing: z.number().refine((spacing) => spacing !== 0, "must not be 0"),
  periodic: z.boolean().default(false).describe("The axis repeats after nodes * spacing."),
  faces,
  edges,
});
const tabulatedAxis = z.strictObject({
  coordinates: z
    .union([z.array(z.number()).min(1), z.strictObject(place)])
    .describe("One number per node, ascending or descending: a list, or a dataset of a file."),
  periodic: z.boolean().default(false),
  faces,
  edges,
});
const axis = z.union([uniformAxis, tabulatedAxis]).meta({ id: "axis" });

const guards = {
  guardBefore: whole.default(0).describe("Stored frames before the first queryable time."),
  guardAfter: whole.default(0).describe("Stored frames after the last queryable time."),
};
const uniformTime = z.strictObject({
  origin: z.number().default(0),
  step: z.number().positive(),
  count: nodes.max(MAX_FRAMES, `must be at most ${MAX_FRAMES}`),
  ...guards,
});
const NO_SNAPSHOT = "must be 1, a snapshot; several frames need origin, step and count, or values";
const snapshotTime = z.strictObject({ origin: z.number().default(0), count: z.literal(1, { error: NO_SNAPSHOT }) });
const listedTime = z.strictObject({
  values: z.array(z.number()).min(1).max(MAX_FRAMES, `must be at most ${MAX_FRAMES}`),
  ...guards,
});

const counts = z.tuple([whole, whole, whole]);
const nodesAt = z
  .union([
    z.number().describe("Offset from the nodes of a uniform axis, in spacings."),
    z.strictObject({ offset: z.number(), nodes }).describe("The same, with another number of nodes."),
    z
      .union([z.array(z.number()).min(1), z.strictObject(place)])
      .describe("Coordinates: a list, or a dataset of a file."),
  ])
  .meta({ id: "nodes" });
const at = z.strictObject({ x: nodesAt, y: nodesAt, z: nodesAt }).partial().optional();
const dimensions = z
  .array(z.enum(["t", "z", "y", "x", "c", "n"]))
  .min(3)
  .describe("Every stored dimension in order; n is one that is fixed at index.");
const storage = {
  dimensions,
  steps: z.array(z.string().min(1)).optional().describe("Texts that replace {step}, one per frame."),
  frames: z
    .array(whole)
    .optional()
    .describe("Where each frame is along t in its file, if the files of a series hold several."),
  firstStep: whole.default(0).describe("Number of the first frame in {step:0Nd}."),
  stepIncrement: z.number().int().min(1).default(1).describe("Between the numbers of consecutive frames."),
  numbers: z.array(whole).optional().describe("Numbers in {step:0Nd}, one per frame, instead of the two above."),
  offset: counts.default([0, 0, 0]).describe("Leading nodes to skip: z, y, x."),
  ghost: counts.default([0, 0, 0]).describe("Ghost layers to strip on both sides: z, y, x."),
  index: whole.default(0).describe("Where the dimension n is fixed, e.g. a trajectory."),
  shape: z
    .array(nodes)
    .min(3)
    .optional()
    .describe("Lengths in the order of dimensions, if the file declares others for the same contiguous values."),
  at: at.describe("Its nodes, if they are not those of the axes."),
  unit: z.string().optional().describe("Unit of its values."),
  long_name: z.string().optional().describe("What it is, in words."),
};
const single = z.strictObject({ ...place, ...storage }).meta({ id: "single" });
const component = z
  .strictObject({
    ...place,
    dimensions: dimensions.optional().describe("Of this component, if they differ from those of the others."),
    factor: z
      .number()
      .refine((factor) => factor !== 0, "must not be 0")
      .optional()
      .describe("Its values are multiplied by this number, as from cm/s to the m/s of the others."),
    constant: z.number().optional().describe("Its value everywhere; file and path are those of another component."),
    at: at.describe("The nodes of this component, if they are not those of the axes."),
    component: whole.max(2).optional().describe("Its place on the dimension c, if all components are in one dataset."),
  })
  .meta({ id: "component" });
const separate = z.strictObject({ components: z.tuple([component, component, component]), ...storage });
const vector = z.union([single, separate]).meta({ id: "field" });
const fields = z
  .object({
    velocity: vector.optional(),
    pressure: single.optional(),
    force: vector.optional(),
    magnetic: vector.optional().describe("The magnetic field."),
    potential: vector.optional().describe("The vector potential of the magnetic field."),
    density: single.optional(),
    temperature: single.optional(),
  })
  .catchall(vector)
  .meta({
    description: "Fields by name; any other name is that of a scalar, or of a vector with dimension c or components.",
    propertyNames: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
  })
  .refine((all) => Object.keys(all).length > 0, `must name at least one field, as ${KNOWN_FIELDS.join(", ")}`)
  .refine((all) => Object.keys(all).length <= MAX_FIELDS, `must name at most ${MAX_FIELDS} fields`);

/** Subjects that change no value: a dataset is served while questions about them are open. */
const HARMLESS: readonly Subject[] = ["snapshot", "periodicity", "faces"];
const question = z
  .strictObject({
    about: z.enum(SUBJECTS),
    axes: z.array(z.enum(AXIS_NAMES)).optional(),
    question: z.string().describe("A guess in this descriptor, and the evidence for it."),
    answer: z.string().optional().describe("The flag of inspect and the member that answer it."),
    red: z.literal(true).optional().describe("A statement of the file contradicts the guess."),
  })
  .meta({ id: "question" });

const forcing = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }),
  z.strictObject({ kind: z.literal("stored") }),
  z.strictObject({ kind: z.literal("constant"), value: z.tuple([z.number(), z.number(), z.number()]).readonly() }),
  z.strictObject({ kind: z.literal("taylorGreen"), amplitude: z.number(), wavenumber: z.number().int() }),
  z.strictObject({ kind: z.literal("modes"), ...place }),
]);

const descriptorSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schemaVersion: z.literal(1),
    name,
    title: z.string().default(""),
    aliases: z.array(name).default([]).describe("Other names that the service answers to."),
    axes: z.strictObject({ x: axis, y: axis, z: axis }),
    time: z.union([uniformTime, snapshotTime, listedTime]),
    fields,
    forcing: forcing.default({ kind: "none" }),
    dnsStep: z.number().positive().optional().describe("Time step of the simulation behind the data."),
    times: z
      .literal("frames")
      .optional()
      .describe("Clients of the public REST interface give numbers of frames, from 1, instead of times."),
    viscosity: z.number().positive().optional().describe("Kinematic viscosity, which expressions know as nu."),
    frameVelocity: z
      .tuple([z.number(), z.number(), z.number()])
      .default([0, 0, 0])
      .describe("Velocity of the stored grid: node x is at x + frameVelocity * t."),
    units: z
      .strictObject({ length: z.string(), time: z.string(), velocity: z.string(), pressure: z.string() })
      .partial()
      .default({}),
    openFaces: z
      .enum(OPEN_FACES)
      .default("fail")
      .describe("Particles that leave through an open face fail their query, or stop there."),
    source: z.string().default("").describe("How it was made, citation, licence."),
    questions: z
      .array(question)
      .default([])
      .describe("Open questions: the dataset is refused until they are answered and deleted, or moved to assumed."),
    assumed: z.array(question).default([]).describe("Guesses that have been accepted; every answer names them."),
    confirmed: z
      .strictObject({
        structure: z.record(z.string(), z.string()).describe("Paths, types, shapes, attributes and small datasets."),
        varies: z.array(z.string()).default([]).describe("What differs among its files without effect."),
        sources: z.array(z.string()).optional().describe("Files that virtual datasets are made of."),
        timeTable: z.string().optional().describe("The dataset of its times."),
        times: z.array(z.array(z.number()).nullable()).optional().describe("Times that its files state, one by one."),
      })
      .optional()
      .describe("The structure of the files that a person has confirmed; others wait."),
  })
  .meta({ title: "fieldprobe dataset", description: "A set of fields on one structured grid, kept in HDF5." });

export type DescriptorInput = z.input<typeof descriptorSchema>;
export type Descriptor = z.output<typeof descriptorSchema>;
export type AxisDescription = Descriptor["axes"]["x"];
export type FieldDescription = NonNullable<Descriptor["fields"]["velocity"]>;

type Issue = z.core.$ZodIssue;

const jsonPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => text + (typeof key === "number" ? `[${key}]` : `.${String(key)}`), "$");

/** Issues of a union: of the alternative with the fewest, probably the intended one; unknown members count most. */
function flatten(issue: Issue, base: readonly PropertyKey[]): string[] {
  const path = [...base, ...issue.path];
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const foreign = (issues: readonly Issue[]) =>
      issues.reduce((sum, inner) => sum + (inner.code === "unrecognized_keys" ? 10 * inner.keys.length : 1), 0);
    const closest = [...issue.errors].sort((a, b) => foreign(a) - foreign(b))[0] as readonly Issue[];
    return closest.flatMap((inner) => flatten(inner, path));
  }
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${jsonPath([...path, key])}: no such member`);
  const text = issue.message.replace(/^Invalid (input|option): /, "");
  return [`${jsonPath(path)}: ${text.endsWith("received undefined") ? "is missing" : text}`];
}

function syntaxProblem(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = / at position (\d+)/.exec(message);
  if (position === null) return message.replace(/\s+/g, " ");
  const line = text.slice(0, Number(position[1])).split("\n").length;
  return `${message.slice(0, position.index).replace(/\s+/g, " ")}, line ${line}`;
}

/** Reads a descriptor, and checks its own consistency only. */
export function parseDescriptor(text: string): { descriptor: Descriptor } | Refused {
  let value: unknown;
  try {
    if (countValues("$", Buffer.from(text)) > STORE_BOUNDS.values)
      return { problems: [`$ holds more than ${STORE_BOUNDS.values} values`] };
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { problems: [error instanceof DataError ? error.message : `$: ${syntaxProblem(error, text)}`] };
  }
  const parsed = descriptorSchema.safeParse(value);
  const problems = parsed.success
    ? consistency(parsed.data)
    : parsed.error.issues.flatMap((issue) => flatten(issue, []));
  return parsed.success && problems.length === 0 ? { descriptor: parsed.data } : { problems, names: namesIn(value) };
}

function namesIn(value: unknown): string[] {
  const { name, aliases }: { name?: unknown; aliases?: unknown } = Object(value);
  const stated = [name, ...(Array.isArray(aliases) ? aliases : [])];
  return stated.filter((one) => typeof one === "string" && NAME_PATTERN.test(one)) as string[];
}

export function frameCount({ time }: Descriptor): number {
  return "values" in time ? time.values.length : time.count;
}

/** Rules that the schema cannot state: members that have to agree with each other. */
function consistency(descriptor: Descriptor): string[] {
  const { time } = descriptor;
  const problems: string[] = [];
  const at = "values" in time ? time.values.findIndex((value, i) => i > 0 && value <= time.values[i - 1]) : -1;
  if (at > 0) problems.push(`$.time.values[${at}]: must be greater than the one before`);
  const count = frameCount(descriptor);
  if ("guardBefore" in time && time.guardBefore + time.guardAfter >= count)
    problems.push(`$.time: ${time.guardBefore} + ${time.guardAfter} guard frames leave none of ${count} to be queried`);
  for (const [axisName, axis] of Object.entries(descriptor.axes)) {
    if ("spacing" in axis && axis.periodic && axis.spacing < 0)
      problems.push(`$.axes.${axisName}.spacing: must be positive on a periodic axis`);
    if (axis.periodic && axis.faces !== undefined)
      problems.push(`$.axes.${axisName}.faces: a periodic axis has no ends`);
    if (axis.periodic && axis.edges !== undefined)
      problems.push(`$.axes.${axisName}.edges: cells of a periodic axis are a spacing wide`);
  }
  for (const [fieldName, field] of Object.entries(descriptor.fields)) {
    const path = `$.fields.${fieldName}`;
    const why = fieldNameProblem(fieldName);
    if (why !== null) problems.push(`${path}: ${why}`);
    const stem = /^(.*)_[xyz]$/.exec(fieldName)?.[1] ?? "";
    if (Object.hasOwn(descriptor.fields, stem)) problems.push(`${path}: this name is that of a component of ${stem}`);
    if (field !== undefined)
      problems.push(...dimensionProblems(path, field, componentsIn(fieldName, field) === 3, count));
  }
  if (descriptor.forcing.kind === "stored" && descriptor.fields.force === undefined)
    problems.push("$.forcing.kind: stored needs the field force");
  for (const [name, unit = ""] of Object.entries(descriptor.units))
    if (contradictionOf(descriptor.fields[name]?.unit ?? "", unit))
      problems.push(`$.fields.${name}.unit: $.units says ${unit}`);
  const problem = unitsProblem(unitsOf(descriptor));
  return problem === null ? problems : [...problems, problem];
}

/** Why units do not fit each other; null if they do. */
export function unitsProblem({ length = "", velocity = "", time = "" }: Record<string, string | undefined>) {
  const fitting = time === "" ? TIMES : [time];
  const known = factorBetween(velocity, "m s-1") ?? (time && (factorBetween(length, "m") ?? factorBetween(time, "s")));
  if (!known || !length || !isNoVelocity(velocity, length, fitting)) return null;
  return `$.units: ${velocity} is not ${length} over ${fitting.join(" or ")}: state units that fit, or none`;
}

/** The units of a descriptor, by what they measure. */
export function unitsOf({ units, fields }: Descriptor): Record<string, string> {
  const own = Object.entries(fields).flatMap(([name, field]) => (field?.unit ? [[name, field.unit]] : []));
  return Object.fromEntries([...own, ...Object.entries(units)]);
}

export function partsIn<Field extends object>(
  field: Field | undefined,
): readonly (Field extends { readonly components: readonly (infer Part)[] } ? Part : Field)[] {
  if (field === undefined) return [];
  return ("components" in field ? field.components : [field]) as never;
}

export function placesIn(part: unknown): { readonly file: string; readonly path: string }[] {
  if (typeof part !== "object" || part === null) return [];
  const { file, path } = part as Record<string, unknown>;
  const inside = Object.values(part).flatMap(placesIn);
  return typeof file === "string" && typeof path === "string" ? [{ file, path }, ...inside] : inside;
}

export function timesIn({ time }: Descriptor): number[] {
  if ("values" in time) return [...time.values];
  const step = "step" in time ? time.step : 0;
  return Array.from({ length: time.count }, (_, frame) => time.origin + frame * step);
}

/** Components of a field: fixed for a known one, else by its storage. */
export function componentsIn(fieldName: string, field: FieldDescription): 1 | 3 {
  if (Object.hasOwn(FIELDS, fieldName)) return FIELDS[fieldName as KnownField];
  return "components" in field || field.dimensions.includes("c") ? 3 : 1;
}

export function questionText(entry: Question): string {
  return `${claimText(entry)}${entry.answer === undefined ? "" : ` Answer: ${entry.answer}.`}`;
}

export function openQuestions({ questions }: Descriptor): string[] {
  return questions.filter(({ about }) => !HARMLESS.includes(about)).map(questionText);
}

/** Guesses on which the values or their metadata depend, accepted or harmless, a line each. */
export function guessesOf({ questions, assumed }: Descriptor): string[] {
  const open = questions.filter(({ about }) => HARMLESS.includes(about));
  return [...assumed.map((entry) => `assumed ${claimText(entry)}`), ...open.map((entry) => `open ${claimText(entry)}`)];
}

function dimensionProblems(path: string, field: FieldDescription, isVector: boolean, count: number): string[] {
  const { dimensions } = field;
  const problems: string[] = [];
  const has = (dimension: string) => (dimensions as string[]).includes(dimension);
  if (new Set(dimensions).size < dimensions.length) problems.push(`${path}.dimensions: names one twice`);
  for (const needed of ["x", "y", "z"]) if (!has(needed)) problems.push(`${path}.dimensions: lacks ${needed}`);
  const separated = "components" in field;
  if (separated)
    for (const [index, own] of field.components.entries())
      if (own.dimensions !== undefined && [...own.dimensions].sort().join() !== [...dimensions].sort().join())
        problems.push(`${path}.components[${index}].dimensions: must name ${dimensions.join(" ")}, in any order`);
  const isPicked = separated && field.components.every(({ component }) => component !== undefined);
  if (separated && has("c") !== isPicked)
    problems.push(
      isPicked
        ? `${path}.dimensions: lacks c, on which the components are picked`
        : `${path}.dimensions: has c although its components are stored apart`,
    );
  if (!separated && isVector && !has("c")) problems.push(`${path}.dimensions: lacks c, the three components`);
  if (field.shape !== undefined && field.shape.length !== dimensions.length)
    problems.push(`${path}.shape: has ${field.shape.length} numbers for ${dimensions.length} dimensions`);
  const places = separated ? field.components : [field];
  const series = places.filter(({ file, path: inner }) => STEP_PLACE.test(file) || STEP_PLACE.test(inner)).length;
  const isListed = places.some(({ file, path: inner }) => `${file}${inner}`.includes("{step}"));
  if (isListed !== (field.steps !== undefined))
    problems.push(`${path}.steps: {step} in a place and the list steps need each other`);
  if (field.steps !== undefined && field.steps.length !== count)
    problems.push(`${path}.steps: has ${field.steps.length} texts for ${count} frames`);
  if (field.numbers !== undefined && field.numbers.length !== count)
    problems.push(`${path}.numbers: has ${field.numbers.length} numbers for ${count} frames`);
  if (field.frames !== undefined && (field.frames.length !== count || !has("t") || series === 0))
    problems.push(`${path}.frames: needs the dimension t, {step} in a place, and a number for each of ${count} frames`);
  if (series !== 0 && series !== places.length)
    problems.push(`${path}.components: {step:0Nd} must be in all of them or none`);
  if (series === 0 && !has("t") && count > 1)
    problems.push(
      `${path}.dimensions: lacks t, and no {step:0Nd} names one dataset per frame, but there are ${count} frames`,
    );
  return problems;
}

/** The JSON Schema of a descriptor, for editors; `docs/schema/dataset.schema.json` is its text. */
export function descriptorJsonSchema(): object {
  return z.toJSONSchema(descriptorSchema, { io: "input" });
}
