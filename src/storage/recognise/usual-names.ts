/** Usual names of axes, times, components and fields. */
import { AXIS_NAMES, type AxisName, type FieldName, type KnownField } from "../dataset/dataset.js";

export type Role = "t" | AxisName | "c";

/** Kinds of coordinate tables: one number per node, or the edges of cells, one more than there are nodes. */
export interface TableName {
  readonly role: "t" | AxisName;
  readonly isEdges: boolean;
}

const CENTRE =
  "c|v|coor|coords?|coordinates?|axis|grid|cent(?:er|re)s?|cell|cen|mid|m|h|q|g|r|s|t|psi|nodes?|points?|pts|pos|val(?:ue)?s|vec|dim|hash_\\w+|[123]?v|u|w|uv|p|rho|3d|l";
const EDGES = "edges?|faces?|bounds?|bnds|corners?|interfaces?|stag|f|b|e|[123]?f";
const ALIASES: Readonly<Record<AxisName, string>> = {
  x: "lon|longitude|lons",
  y: "lat|latitude|lats",
  z: "lev|levels?|height|depth|altitude|alt",
};
const exactly = (pattern: string) => new RegExp(`^(?:${pattern})$`, "i");
const TABLES: readonly (TableName & { readonly pattern: RegExp })[] = AXIS_NAMES.flatMap((role) => [
  {
    role,
    isEdges: false,
    pattern: exactly(`${role}${role}?(?:[_-]?(?:${CENTRE})){0,2}|(?:${ALIASES[role]})(?:[_-]?(?:${CENTRE}))?`),
  },
  { role, isEdges: true, pattern: exactly(`${role}[_-]?(?:${EDGES})`) },
]);
const TIMES = exactly("t|times?|sim_?times?|simulation_?times?|t[_-]coord\\w*|time_?(?:counter|values|coord\\w*)");
const FRAMES = exactly("t|frames?|snapshots?|nt|ntimes?|steps?|time_?steps?|iterations?");
const COMPONENTS = exactly(
  "c|comps?|components?|ncomp|vec|vectors?|values|directions?|uvw|i_?comp|vel(?:ocity)?_?comp\\w*|nvec",
);
const COUNTS = AXIS_NAMES.map((role) => ({ role, pattern: exactly(`n_?${role}|${role}[_-]?dim`) }));

export function tableNamed(name: string): TableName | null {
  if (name !== "T" && TIMES.test(name)) return { role: "t", isEdges: false };
  return TABLES.find(({ pattern }) => pattern.test(name)) ?? null;
}

export function roleNamed(name: string): Role | null {
  if (FRAMES.test(name)) return "t";
  if (COMPONENTS.test(name)) return "c";
  return tableNamed(name)?.role ?? COUNTS.find(({ pattern }) => pattern.test(name))?.role ?? null;
}

/** Names of three components, in lower case, the likeliest first. */
export const TRIPLES: readonly (readonly string[])[] = triples();

function triples(): string[][] {
  const all = [["u", "v", "w"], ...triplesOf(["u", "v", "vel", "velocity"])];
  for (const stem of ["velocity", "vel"])
    for (const gap of ["", "_", "-"]) all.push(AXIS_NAMES.map((axis) => `${axis}${gap}${stem}`));
  for (const stem of ["u", "v", "vel", "velocity"])
    for (const gap of ["", "_"])
      for (const first of [0, 1]) all.push([0, 1, 2].map((index) => `${stem}${gap}${first + index}`));
  return all;
}

function triplesOf(stems: readonly string[]): string[][] {
  return stems.flatMap((stem) => ["", "_", "-"].map((gap) => AXIS_NAMES.map((axis) => `${stem}${gap}${axis}`)));
}

/** Names of three components in a list of them, in the usual order. */
const COMPONENT_LISTS: readonly (readonly string[])[] = [AXIS_NAMES, ["0", "1", "2"], ["1", "2", "3"], ...TRIPLES];

/** Whether these names of three components are in the order x, y, z; null if they are not known. */
export function areInOrder(names: readonly string[]): boolean | null {
  const texts = names.map((name) => name.trim().toLowerCase());
  const list = COMPONENT_LISTS.find((known) => known.every((name) => texts.includes(name)));
  return list === undefined || texts.length !== list.length ? null : list.join() === texts.join();
}

/** Texts that say where on its cell a value is, in lower case, and flags that say that it is at the centre. */
const PLACES = new Set([
  ...["location", "position", "centering", "centring", "stagger", "staggering", "center", "association"],
  ...["grid_location", "gridlocation", "data_location", "datalocation", "value_location", "variable_location"],
  ...["data_centering", "mesh_location", "cell_location", "registration"],
]);
const FLAGS = /^(is_?)?cell_?cent(er|re)(ed|d)?$/;
const WORDS: readonly (readonly [place: Place, words: RegExp])[] = [
  ["elsewhere", /(?<![a-z])[xyz]?[-_]?(face|edge|corner)s?(?![a-z])|(?<!un|non[-_ ]?)stag|^[xyz]$/i],
  [
    "centre",
    /^(?!$)((at|the|of|in|cells?|zones?|elements?|volumes?|(mid|cent)(dle|er|re|roid|point)?(s|ed|d)?|averaged?|data|grid|pixel)[-_ ,]*)+$/i,
  ],
  ["node", /^(at |the )*(nod(e|al)|vert(ex|ices)|points?)[-_ a-z]*$/i],
];
export type Place = "centre" | "node" | "elsewhere";

export const namesPlace = (name: string): boolean => PLACES.has(name.toLowerCase()) || FLAGS.test(name.toLowerCase());

/** Where on their cells values are by an attribute; null if it does not say. */
export function placeIn(name: string, value: unknown): Place | null {
  const key = name.toLowerCase();
  if (FLAGS.test(key)) return /^(1|true|yes)$/i.test(`${value}`.trim()) ? "centre" : null;
  if (typeof value !== "string" || !PLACES.has(key)) return null;
  return WORDS.find(([, words]) => words.test(value.trim()))?.[0] ?? null;
}

export const VECTORS: readonly string[] = ["velocity", "u", "vel", "velocities", "uvw"];
export const PRESSURES: readonly string[] = ["p", "pressure", "pres", "press"];

/** Names of a field other than velocity and pressure: of the whole, and of three components. */
export interface OtherNames {
  readonly field: Exclude<KnownField, "velocity" | "pressure">;
  readonly whole: readonly string[];
  readonly triples: readonly (readonly string[])[];
}

/** A field other than velocity and pressure, as one dataset or three components. */
export interface OtherField {
  readonly field: FieldName;
  readonly paths: readonly string[];
}

const vector = (field: OtherNames["field"], whole: readonly string[], stems: readonly string[]): OtherNames => ({
  ...{ field, whole, triples: triplesOf(stems) },
});

/** Single letters that mean many things (a, f, t) name none of them. */
export const OTHERS: readonly OtherNames[] = [
  vector("magnetic", ["magnetic_field", "magneticfield", "magnetic", "mag", "b"], ["b", "mag", "magnetic_field"]),
  vector("potential", ["vector_potential", "vectorpotential", "magnetic_potential"], ["a", "vector_potential"]),
  vector("force", ["force", "forcing", "body_force"], ["f", "force", "forcing"]),
  { field: "density", whole: ["density", "rho", "dens"], triples: [] },
  { field: "temperature", whole: ["temperature", "temp"], triples: [] },
];
