/** A layout recognises the files of one producer and describes them, with a reason for each decision. */
import { DataError, readOr } from "../../shared/errors.js";
import { FIELDS, type KnownField } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type Question, type Subject } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import type { AttributeValue, Stored } from "../dataset/stored.js";
import { NO_SOURCES, type SourceDataset, type StoredFile, type VirtualSources } from "../dataset/stored-file.js";
import type { Answers } from "./answers.js";
import type { DatedUnit } from "./dated-unit.js";

/** A place where a file states something by a name: an attribute, or a small dataset. */
export interface Statement {
  /** Of the dataset, or of the object that has the attribute. */
  readonly path: string;
  readonly attribute: string | null;
}

/** Answers to questions about times and about lengths, as messages give them. */
export const TIMES_ANSWER = "--times FIRST:STEP or a list, or time in a descriptor";
export const LENGTHS_ANSWER = "--spacing and --origin in the unit of length of the velocity, or axes in a descriptor";

/** Reasons, warnings and open questions of a description, collected while it is made. */
export class Findings {
  readonly reasons: string[] = [];
  readonly warnings: string[] = [];
  readonly questions: Question[] = [];
  /** Conversions of stored numbers, and statements that an answer of the person overrides; served with every answer. */
  readonly assumed: Question[] = [];
  /** The date and unit from which its times count, in the unit in which they are served; null if they name no date. */
  dated: DatedUnit | null = null;
  /** The unit in which its times are served, as the file states it; empty if it states none. */
  timeUnit = "";
  /** The table of the times, whose statements count as those of coordinates do; null if there is none. */
  timeTable: string | null = null;

  addReason(reason: string): void {
    this.reasons.push(reason);
  }

  addWarning(warning: string): void {
    this.warnings.push(warning);
  }

  convert(text: string): void {
    this.assumed.push({ about: "units", question: text });
    this.reasons.push(text);
  }

  ask(about: Subject, question: string, answer: string, axis?: AxisName): void {
    this.add({ about, ...(axis === undefined ? {} : { axes: [axis] }), question, answer });
  }

  /** Adds a red line: a statement contradicts what was chosen. `isAnswered`: by an answer, which overrides it. */
  contradict(about: Subject, question: string, answer: string, axis?: AxisName, isAnswered = false): void {
    if (isAnswered) this.#assume(about, question.replace(/that [^;]* is a guess\.$/, "the answer holds."), axis);
    else this.add({ about, ...(axis === undefined ? {} : { axes: [axis] }), question, answer, red: true });
  }

  override(about: Subject, answer: string, statement: string, axis?: AxisName): void {
    this.#assume(about, `${answer} by an answer, against ${statement}.`, axis);
  }

  /** Adds what an answer overrides, unless something of the same subject and axis has been added. */
  #assume(about: Subject, question: string, axis?: AxisName): void {
    const isSame = (line: Question) => line.about === about && (!axis || !line.axes || line.axes.includes(axis));
    if (this.assumed.some(isSame)) return;
    this.add({ about, ...(axis === undefined ? {} : { axes: [axis] }), question, red: true }, this.assumed);
  }

  /** Adds a line; lines that differ in their axes only are one. */
  add(line: Question, lines = this.questions): void {
    const { about, question, axes } = line;
    const known = lines.find((entry) => entry.about === about && entry.question === question);
    if (known === undefined || axes === undefined) lines.push({ ...line });
    else known.axes = [...new Set([...(known.axes ?? []), ...axes])];
  }
}

/** A descriptor without its name; paths name the file by its base name. */
export type LayoutPlan = Omit<DescriptorInput, "schemaVersion" | "name">;
export type FieldOfPlan = NonNullable<LayoutPlan["fields"]["velocity"]>;

export interface Recognition {
  readonly plan: LayoutPlan;
  readonly findings: Findings;
  readonly name?: string;
  /** Names of attributes that the format defines; absent without a specification. */
  readonly defined?: readonly string[];
}

export interface Layout {
  readonly producer: string;
  /** Whether it proposes what its format does not state, so that a person confirms every file. */
  readonly proposes?: true;
  /** @returns null without its fingerprint @throws DataError when the file cannot be served */
  recognise(contents: Contents): Recognition | null;
}

export const listOf = (value: AttributeValue | null = null): (string | number)[] =>
  typeof value === "object" ? [...(value ?? [])] : [value];

export type AxisInput = DescriptorInput["axes"]["x"];

/** An open file as layouts look at it. What is missing, and a link that is refused, is null. */
export class Contents {
  readonly file: StoredFile;
  readonly name: string;
  readonly answers: Answers;

  constructor(file: StoredFile, name: string, answers: Answers) {
    this.file = file;
    this.name = name;
    this.answers = answers;
  }

  /** Objects looked up by path: the same ones are asked for many times, and each lookup lists their groups. */
  readonly #found = new Map<string, { readonly path: string; readonly kind: string } | null>();
  readonly #stored = new Map<string, Stored>();
  readonly #names = new Map<string, string[]>();
  /** Attributes, as `path@name`, and datasets that the description rests on. */
  readonly #used = new Set<string>();
  /** Datasets whose numbers were read, and objects that were asked for an attribute. */
  readonly read = { datasets: new Set<string>(), holders: new Set<string>() };

  #lookUp(path: string): { readonly path: string; readonly kind: string } | null {
    try {
      const resolved = this.file.resolve(path);
      return resolved === null ? null : { path: resolved, kind: this.file.kind(resolved) };
    } catch (error) {
      // Damage has a cause; an object that is there and cannot be read is not missing.
      if (error instanceof DataError && error.cause === undefined) return null;
      throw error;
    }
  }

  #find(path: string, kind: "group" | "dataset"): string | null {
    let found = this.#found.get(path);
    if (found === undefined) {
      found = this.#lookUp(path);
      this.#found.set(path, found);
    }
    return found?.kind === kind ? found.path : null;
  }

  group(path: string): string[] | null {
    const found = this.#find(path, "group");
    if (found === null) return null;
    const names = this.#names.get(found) ?? this.file.names(found);
    this.#names.set(found, names);
    return names;
  }

  datasets(path: string): string[] {
    const start = path === "/" ? "/" : `${path}/`;
    return (this.group(path) ?? []).filter((name) => this.dataset(`${start}${name}`) !== null);
  }

  dataset(path: string): Stored | null {
    const found = this.#find(path, "dataset");
    if (found === null) return null;
    const stored = this.#stored.get(found) ?? this.file.describe(found);
    this.#stored.set(found, stored);
    return stored;
  }

  /** The value of `use` for the dataset at a path; `none` if there is no dataset. */
  #ofDataset<T>(path: string, none: T, use: (found: string) => T): T {
    const found = this.#find(path, "dataset");
    return found === null ? none : use(found);
  }

  isUnwritten(path: string): boolean {
    return this.#ofDataset(path, false, (found) => this.file.isUnwritten(found));
  }

  /** Numbers of a dataset, or of the attribute `path@name`. @throws DataError if there is neither */
  numbers(path: string): Float64Array {
    const found = this.#find(path, "dataset");
    const [, holder = "", name = ""] = found === null ? (/^(.*)@(.*)$/.exec(path) ?? []) : [];
    const list = name === "" ? null : this.attribute(holder, name);
    if (list instanceof Float64Array) return list;
    if (found === null) throw new DataError(`${this.file.path} has no dataset ${path}.`);
    this.read.datasets.add(path);
    return this.file.numbers(found);
  }

  textsIn(path: string): readonly string[] | null {
    return this.#ofDataset(path, null, (found) => this.file.texts(found));
  }

  /** The object at a path, by a name that all paths to it share; null if there is none. */
  identity(path: string): string | null {
    const found = this.#find(path, "group") ?? this.#find(path, "dataset");
    return found === null ? null : `${this.file.address(found) ?? found}`;
  }

  /** An attribute; null if there is none. @throws DataError if it cannot be read: no default may stand in for it */
  attribute(path: string, name: string): AttributeValue | null {
    const value = this.attributes(path).get(name);
    if (path !== "/") this.read.holders.add(path);
    if (value !== undefined) this.use(path, name);
    if (value === null)
      throw new DataError(`the attribute ${name} of ${path} cannot be read: it is neither a number nor a text`);
    return value ?? null;
  }

  /** Records that the description rests on an attribute, or on a dataset. */
  use(path: string, name: string | null = null): void {
    this.#used.add(name === null ? path : `${path}@${name}`);
    if (name !== null) this.#used.add(`=${name}=${this.attributes(path).get(name)}`);
  }

  usedDatasets(): string[] {
    return [...this.#used].filter((path) => path.startsWith("/") && this.dataset(path) !== null);
  }

  /** Whether the description rests on an attribute of this name with the same value, here or elsewhere. */
  isValueUsed(path: string, name: string): boolean {
    return this.#used.has(`=${name}=${this.attributes(path).get(name)}`);
  }

  isUsed(path: string, name: string | null = null): boolean {
    return this.#used.has(name === null ? path : `${path}@${name}`);
  }

  /** @throws DataError if the attribute is not one number */
  number(path: string, name: string): number | null {
    return this.numberList(path, name, 1)?.[0] ?? null;
  }

  /** @throws DataError if the attribute is not `length` numbers */
  numberList(path: string, name: string, length: number): readonly number[] | null {
    const value = this.attribute(path, name);
    if (value === null) return null;
    const list = typeof value === "number" ? [value] : value instanceof Float64Array ? [...value] : [];
    if (list.length !== length)
      throw new DataError(`the attribute ${name} of ${path} is not ${length === 1 ? "a number" : `${length} numbers`}`);
    return list;
  }

  /** Attributes of an object. `member`: of several files, only those in the file of this dataset. */
  attributes(path: string, member?: string): ReadonlyMap<string, AttributeValue | null> {
    const found = this.#find(path, "group") ?? this.#find(path, "dataset");
    return found === null ? new Map() : this.file.attributes(found, member);
  }

  /** @throws DataError if the attribute is not of texts */
  texts(path: string, name: string): readonly string[] | null {
    const value = this.attribute(path, name);
    if (value === null) return null;
    if (typeof value === "number" || value instanceof Float64Array)
      throw new DataError(`the attribute ${name} of ${path} is not a text`);
    return typeof value === "string" ? [value] : value;
  }

  /** The words of an attribute, numbers spelled out; empty if there is none. */
  words(path: string, name: string): string {
    return listOf(this.attributes(path).get(name)).join(" ").trim();
  }

  units(path: string): string {
    const name = [...this.attributes(path).keys()].find((key) => /^units?$/i.test(key)) ?? "units";
    return [...new Set(listOf(this.attribute(path, name)))].join(" ").trim();
  }

  /** Base names of the dimension scales of a dataset, one per dimension, null if there is none. */
  scaleNames(path: string): (string | null)[] {
    return this.scales(path).map(([scale]) => scale?.split("/").pop() ?? null);
  }

  scales(path: string): string[][] {
    return this.#ofDataset(path, [], (found) => this.file.scales(found));
  }

  lostScales(path: string): readonly number[] {
    return this.#ofDataset(path, [], (found) => this.file.lostScales?.(found) ?? []);
  }

  sources(path: string): readonly SourceDataset[] {
    return this.#ofDataset(path, [], (found) => sourcesAt(this.file, found).datasets);
  }

  labels(path: string): (string | null)[] {
    return this.#ofDataset(path, [], (found) => this.file.labels(found));
  }
}

/** The sources of a virtual dataset; none if they are not read, which is a refusal wherever its values are needed. */
export function sourcesAt(file: StoredFile, path: string): VirtualSources {
  return readOr(
    () => file.sources?.(path) ?? NO_SOURCES,
    ({ message }) => ({ ...NO_SOURCES, refusal: message }),
  );
}

/** Asks for the order of the components of a vector that is stored as a whole, unless the user has said it. */
export function askOrderOfComponents(
  { answers }: Contents,
  path: string,
  order: readonly string[],
  findings: Findings,
): void {
  const stored = answers.components ?? order;
  if (order.join() === AXIS_NAMES.join() && stored.join() !== order.join())
    findings.override("order", `${path} with components along ${stored.join(", ")}`, `the axes ${order.join(", ")}`);
  if (answers.components !== undefined || order.join() === AXIS_NAMES.join()) return;
  const open = "nothing states whether its components are in this order or in that of x, y, z, which is a guess";
  const question = `The axes of ${path} are in the order ${order.join(", ")}, and ${open}.`;
  findings.ask("order", question, "--components with their axes in stored order, as in z,y,x");
}

/** The plan with the components of whole vectors in the order that the user says. */
export function withComponentOrder(plan: LayoutPlan, { components }: Answers, findings: Findings): LayoutPlan {
  if (components === undefined) return plan;
  const fields = Object.entries(plan.fields).map(([name, field]) => {
    // Scalars of some formats have a dimension for their only component.
    const isScalar = FIELDS[name as KnownField] === 1;
    if (field === undefined || "components" in field || isScalar || !field.dimensions.includes("c"))
      return [name, field];
    findings.addReason(`${name}: components along ${components.join(", ")}, from your answer.`);
    if (components.join() === AXIS_NAMES.join()) return [name, field];
    const { file, path, ...storage } = field;
    const places = AXIS_NAMES.map((axis) => ({ file, path, component: components.indexOf(axis) }));
    return [name, { components: places, ...storage }];
  });
  return { ...plan, fields: Object.fromEntries(fields) };
}

/** Contradicts a number that a format states if it differs from the number `taken` by more than `slack`. */
export function checkStated(
  findings: Findings,
  axis: AxisName,
  [where, value]: readonly [where: string, value: number | null],
  [what, taken, slack]: readonly [what: string, taken: number, slack: number],
): void {
  if (value === null || Math.abs(value - taken) <= slack) return;
  const claim = `${where} is ${value}, and the ${what} along ${axis} is ${taken}; that the latter holds is a guess.`;
  findings.contradict("spacing", claim, `--despite spacing if it does, or axes.${axis} in a descriptor`, axis);
}

type EvenLabels = { firstStep: number; stepIncrement: number };
/** Labels of frames as in a descriptor: the first and their distance, or a list. */
export type FrameLabels = EvenLabels | { numbers: number[] };

export function frameLabels(labels: readonly number[]): FrameLabels {
  const [firstStep = 0, second = firstStep + 1] = labels;
  const stepIncrement = second - firstStep;
  const isEven = stepIncrement > 0 && labels.every((label, k) => label === firstStep + k * stepIncrement);
  return isEven ? { firstStep, stepIncrement } : { numbers: [...labels] };
}

/** @throws DataError when the steps between labels differ */
export function requireEvenLabels(labels: readonly number[], what: string): EvenLabels {
  const members = frameLabels(labels);
  if ("firstStep" in members) return members;
  throw new DataError(`the labels of ${what} (${labels.join(", ")}) are not evenly spaced, which a series must be`);
}
