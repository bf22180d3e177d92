/** Finds the producer of a file. */
import { basename, extname } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, readOr } from "../../shared/errors.js";
import { AXIS_NAMES } from "../dataset/dataset.js";
import type { Descriptor, DescriptorInput } from "../dataset/descriptor.js";
import { NAME_PATTERN, parseDescriptor, partsIn } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";
import type { StoredFile } from "../dataset/stored-file.js";
import { withFiles } from "../united-file.js";
import { ADAPTIVE } from "./adaptive.js";
import type { Answers } from "./answers.js";
import { CF } from "./cf.js";
import { CHANNELFLOW, CHANNELFLOW_NETCDF } from "./channelflow.js";
import { withOneUnit } from "./component-units.js";
import { convertedStore } from "./converted-store.js";
import type { DatedUnit } from "./dated-unit.js";
import { DEDALUS } from "./dedalus.js";
import { openLines, splitLines } from "./draft.js";
import { join, parentOf } from "./evidence.js";
import { FLUIDSIM } from "./fluidsim.js";
import { generic } from "./generic.js";
import { JHTDB } from "./jhtdb.js";
import {
  Contents,
  type FieldOfPlan,
  type Findings,
  type Layout,
  type Recognition,
  sourcesAt,
  withComponentOrder,
} from "./layout.js";
import { MPI4PY_FFT } from "./mpi4py-fft.js";
import { OPEN_PMD } from "./openpmd.js";
import { PDEBENCH } from "./pdebench.js";
import { PENCIL } from "./pencil.js";
import { layoutOf } from "./producer.js";
import { lostReason, unusedIn } from "./seen.js";
import { compareStatements } from "./statements.js";
import { type Structure, structureOf } from "./structure.js";
import { THE_WELL } from "./the-well.js";
import { VTKHDF } from "./vtkhdf.js";

export const LAYOUTS: readonly Layout[] = [
  convertedStore,
  ...JHTDB,
  ...[THE_WELL, CHANNELFLOW, CHANNELFLOW_NETCDF, PENCIL, FLUIDSIM, MPI4PY_FFT, OPEN_PMD, VTKHDF, PDEBENCH].map(
    layoutOf,
  ),
  ...ADAPTIVE,
  DEDALUS,
  CF,
  generic,
];

export interface Recognised {
  readonly producer: string;
  readonly descriptor: Descriptor;
  readonly written: DescriptorInput;
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
  /** Units and labels of its fields as text, which the files of a series share. */
  readonly units: string;
  /** The date and unit from which its times count; null if they name no date. */
  readonly dated: DatedUnit | null;
  readonly timeTable: string | null;
  /** Whether its format defines everything that it does not ask about. */
  readonly isKnown: boolean;
  readonly seen: readonly string[];
  /** What a confirmation holds for; empty unless a person looks at it. */
  readonly structure: Structure;
  readonly sources: readonly string[];
  /** What differs among several files and is not used. */
  readonly varies: readonly string[];
}

/** Whether a description may be served before a person has confirmed it: its format states everything. */
export function isComplete({ isKnown, descriptor }: Recognised): boolean {
  return isKnown && openLines(descriptor.questions).length === 0;
}

function withQuestions(plan: Recognition["plan"], findings: Findings, answers: Answers): Recognition["plan"] {
  const { questions, overridden } = splitLines(findings.questions, answers);
  const assumed = [...findings.assumed, ...overridden];
  return {
    ...plan,
    ...(assumed.length === 0 ? {} : { assumed }),
    ...(questions.length === 0 ? {} : { questions }),
  };
}

/**
 * Recognises a file; no field is read.
 * @param answers go before what the file states
 * @param name of the dataset if the file states none
 * @returns null when no fingerprint matches
 * @throws DataError when the file is not readable, or cannot be served
 */
export function recognise(
  path: string,
  answers: Answers = {},
  name = basename(path, extname(path)),
): Recognised | null {
  return withFiles([path], (file) => recogniseOpen(file, answers, name, true));
}

/**
 * @param isShown a person looks: what is not used is listed, and the structure is read
 * @throws DataError when it cannot be served
 */
export function recogniseOpen(file: StoredFile, answers: Answers, name: string, isShown = false): Recognised | null {
  const { path } = file;
  const contents = new Contents(file, isAddress(path) ? path : basename(path), answers);
  for (const layout of LAYOUTS) {
    const recognised = attempt(layout, contents);
    if (recognised === null) continue;
    const { findings } = recognised;
    const sources = new Set<string>();
    checkFields(contents, recognised, sources);
    const isOwn = layout === convertedStore;
    const units = isOwn ? "" : compareStatements(contents, recognised, layout.proposes !== true);
    const inUnits = isOwn ? recognised.plan : withOneUnit(contents, recognised.plan, findings);
    const plan = withQuestions(withComponentOrder(inUnits, answers, findings), findings, answers);
    requireFinite(plan);
    const written: DescriptorInput = { schemaVersion: 1, name: recognised.name ?? name, ...plan };
    if (!NAME_PATTERN.test(written.name)) throw new DataError(`${basename(path)}: ${nameRefusal(written.name)}`);
    const parsed = parseDescriptor(JSON.stringify(written));
    if ("problems" in parsed)
      throw new DataError(`recognised as ${layout.producer}, but its description fails: ${parsed.problems.join("; ")}`);
    return {
      producer: layout.producer,
      descriptor: parsed.descriptor,
      written,
      reasons: findings.reasons,
      warnings: findings.warnings,
      units,
      dated: findings.dated,
      timeTable: findings.timeTable,
      isKnown: layout.proposes !== true,
      seen: isShown ? unusedIn(contents, parsed.descriptor, findings.timeTable) : [],
      structure: isShown ? structureOf(file, parsed.descriptor, findings.timeTable, sources) : new Map(),
      sources: [...sources],
      varies: [],
    };
  }
  return null;
}

/**
 * Warns of coordinates that are named and cannot be found, and of links beside fields that lead nowhere.
 * @throws DataError for a field without values
 */
function checkFields(contents: Contents, { plan, findings }: Recognition, sources: Set<string>): void {
  const firstOf = (field: FieldOfPlan) => partsIn(field).map(({ path }) => placeOf(path, field, 0));
  const paths = new Set(Object.values(plan.fields).flatMap((field) => firstOf(field as FieldOfPlan)));
  for (const group of new Set([...paths].map(parentOf)))
    for (const path of (contents.group(group) ?? []).map((name) => join(group, name))) {
      const why = lostReason(contents, path);
      if (why !== null) findings.addWarning(`${path} is left out: it is ${why}.`);
    }
  for (const path of paths) {
    for (const source of sourcesAt(contents.file, path).files) sources.add(source);
    const shape = contents.dataset(path)?.shape ?? [];
    if (shape.includes(0)) throw new DataError(`${contents.name}: ${path} is ${shape.join(" x ")}, which has no nodes`);
    for (const dimension of contents.lostScales(path)) {
      const reference = `The attribute DIMENSION_LIST of ${path} refers to a scale of dimension ${dimension}`;
      findings.addWarning(`${reference} that cannot be found; the dimension has no scale.`);
    }
  }
}

/** @throws DataError for a time or a coordinate that is not a number, or an axis without nodes */
function requireFinite({ axes, time }: Recognition["plan"]): void {
  const check = (values: readonly number[], what: string) => {
    const at = values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0) throw new DataError(`the ${what} ${at} is ${values[at]}, not a number`);
  };
  check("values" in time ? time.values : [time.origin ?? 0], "time of frame");
  if ("step" in time && !Number.isFinite(time.step)) throw new DataError("the time of frame 1 is not a number");
  for (const name of AXIS_NAMES) {
    const axis = axes[name];
    if ("coordinates" in axis && Array.isArray(axis.coordinates))
      check(axis.coordinates, `coordinate along ${name} of node`);
    if ("nodes" in axis && axis.nodes === 0) throw new DataError(`there are no nodes along ${name}`);
  }
}

const nameRefusal = (name: string): string =>
  `the name "${name}" is not 1 to 64 of A-Z a-z 0-9 _ . -, as that of a dataset is; rename the file, or make a link to it`;

function attempt(layout: Layout, contents: Contents) {
  const recognised = () => layout.recognise(contents);
  return readOr(recognised, (error) => {
    // What cannot be read says nothing of who wrote it.
    if (error.message.startsWith(contents.file.path)) throw error;
    throw new DataError(`recognised as ${layout.producer}, but ${error.message}`, error);
  });
}
