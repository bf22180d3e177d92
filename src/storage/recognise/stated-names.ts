/** Attributes that contradict the component, field or axis that a dataset is taken for. */
import { DataError } from "../../shared/errors.js";
import { FIELDS } from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import type { Contents, Findings } from "./layout.js";

const NAMES = ["standard_name", "long_name"];

/** Words of a component along x, y, z. Source: CF standard name table, version 86. */
const COMPONENTS: Readonly<Record<AxisName, RegExp>> = {
  x: /eastward|zonal|(^|[_ ])x[-_ ](wind|velocity|component)|(^|[_ ])u[-_ ](velocity|component)/i,
  y: /northward|meridional|(^|[_ ])y[-_ ](wind|velocity|component)|(^|[_ ])v[-_ ](velocity|component)/i,
  z: /upward|downward|vertical[-_ ](velocity|component)|(^|[_ ])z[-_ ](wind|velocity|component)|(^|[_ ])w[-_ ](velocity|component)/i,
};
const VELOCITY_WORDS = ["velocity", /velocity|wind/i] as const;
const FIELD_WORDS = ["pressure", "temperature", "density", "magnetic"].map(
  (name) => [name, RegExp(name, "i")] as const,
);
const OTHER_WORDS = /vorticity|stream ?function|momentum|flux|gradient|stress|enstrophy|acceleration/i;
/** Methods of cells by which values stay those of the quantity. Source: CF conventions 1.11, appendix E. */
const PLAIN_METHODS = ["point", "mean", "instantaneous", "none"];

/** The attribute by which a dataset is a statistic of the quantity that it names, as text; null if there is none. */
function statisticText(contents: Contents, path: string): string | null {
  const text = contents.words(path, "cell_methods");
  const withoutComments = text.replace(/\([^)]*\)/g, " ");
  const methods = [...withoutComments.matchAll(/:\s*(\w+)(?!\w*:)/g)].map(([, method = ""]) => method.toLowerCase());
  const isPlain = methods.every((method) => PLAIN_METHODS.includes(method));
  const isRead = methods.length > 0 || withoutComments.trim() === "";
  return isPlain && isRead ? null : `cell_methods of ${path} is "${text}"`;
}

/** Words of coordinates along x, y, z. */
const AXES: Readonly<Record<AxisName, RegExp>> = {
  x: /longitude|(projection|grid)_x_|^x$/i,
  y: /latitude|(projection|grid)_y_|^y$/i,
  z: /height|depth|altitude|^z$/i,
};

const ANSWER = "--velocity PATH,PATH,PATH in the order x, y, z and --pressure PATH, or fields in a descriptor";

/** Contradicts names of another field or component. `paths`: one dataset, or those of the components along x, y, z. */
export function checkNames(contents: Contents, field: FieldName, paths: readonly string[], findings: Findings): void {
  // A field that keeps the name of its dataset is served as that, whatever its attributes say.
  if (paths.length === 1 && !Object.hasOwn(FIELDS, field)) return;
  for (const path of paths) {
    const statistic = statisticText(contents, path);
    const claim = `The attribute ${statistic}; that it holds the ${field} itself is a guess.`;
    if (statistic !== null) findings.contradict("fields", claim, ANSWER);
  }
  for (const [component, path] of paths.entries())
    for (const attribute of NAMES) {
      const text = contents.words(path, attribute);
      const expected = paths.length === 3 ? AXIS_NAMES[component] : null;
      if (!isNameOfOther(text, field, expected)) continue;
      const taken = expected === null ? `the ${field}` : `the component along ${expected} of the ${field}`;
      const claim = `The attribute ${attribute} of ${path} is "${text}"; that it is ${taken} is a guess.`;
      findings.contradict("fields", claim, ANSWER);
    }
}

/** Whether a text names another field, a component along another axis, or one that counts downwards. */
function isNameOfOther(text: string, field: FieldName, expected: AxisName | null): boolean {
  const axis = AXIS_NAMES.find((name) => COMPONENTS[name].test(text));
  const isOtherAxis = expected !== null && axis !== undefined && axis !== expected;
  const fields = [VELOCITY_WORDS, ...FIELD_WORDS].filter(([, words]) => words.test(text)).map(([name]) => name);
  const namesField = fields.length > 0 || OTHER_WORDS.test(text);
  const isOtherField = namesField && !fields.includes(field) && field !== "force";
  return isOtherAxis || isOtherField || /downward/i.test(text);
}

/** Contradicts components that count downwards, and components with different names in the attribute `coordinates`. */
export function checkPlaces(contents: Contents, field: FieldName, paths: readonly string[], findings: Findings): void {
  for (const path of paths)
    for (const name of ["positive", "direction"]) {
      const claim = `${path} counts downwards by its attribute ${name}; that it does not is a guess.`;
      if (/^down(wards?)?$/i.test(contents.words(path, name))) findings.contradict("fields", claim, ANSWER);
    }
  const coordinates = paths.map((path) => contents.words(path, "coordinates"));
  const other = coordinates.findIndex((text) => text !== coordinates[0]);
  if (other < 0) return;
  const texts = [0, other].map((component) => `"${coordinates[component]}" of ${paths[component]}`);
  const claim = `The attribute coordinates is ${texts.join(" and ")}; that the components of the ${field} are on the same nodes is a guess.`;
  findings.contradict("spacing", claim, "components on common nodes, or a descriptor without this question");
}

/** The axis that the attributes of a table of coordinates name; null if they name none. */
export function axisStatedAt(contents: Contents, path: string): AxisName | null {
  const texts = ["axis", "standard_name"].map((attribute) => contents.words(path, attribute));
  return AXIS_NAMES.find((axis) => texts.some((text) => AXES[axis].test(text))) ?? null;
}

/** Contradicts coordinates that are named after another axis, and heights that count downwards. */
export function checkCoordinateNames(contents: Contents, axis: AxisName, path: string, findings: Findings): void {
  for (const attribute of ["axis", ...NAMES]) {
    const text = contents.words(path, attribute);
    const named = AXIS_NAMES.find((name) => AXES[name].test(text));
    if (named === undefined || named === axis) continue;
    const claim = `The attribute ${attribute} of ${path} is "${text}"; that it has the coordinates along ${axis} is a guess.`;
    findings.contradict("order", claim, `--coordinates ${axis}=PATH, or axes.${axis} in a descriptor`, axis);
  }
  const reason = downwardReason(contents, path);
  const claim = `${path} counts downwards by ${reason}; that the component along ${axis} does so too is a guess.`;
  const answer = `--spacing (negative along ${axis}) and --origin, or axes.${axis} in a descriptor without this question`;
  if (reason !== null) findings.contradict("spacing", claim, answer, axis);
}

/** What says that coordinates count downwards, unless the attribute `positive` says up; null if nothing does. */
function downwardReason(contents: Contents, path: string): string | null {
  const positive = contents.words(path, "positive").toLowerCase();
  if (positive === "down") return "its attribute positive";
  const names = [path.split("/").at(-1) ?? "", ...NAMES.map((name) => contents.words(path, name))];
  return positive !== "up" && names.some((text) => DEPTH.test(text)) ? "its name" : null;
}

/** Names of coordinates that count downwards. Source: CF conventions 1.11, section 4.3. */
const DEPTH = /(^|_|\b)depths?(_|\b|$)/i;
/** Standard names of the vertical coordinates of CF conventions 1.11, appendix D. */
const PARAMETRIC = /^(atmosphere|ocean)_\w+_coordinate(_g[12])?$/;

/** @throws DataError for heights that vary from place to place: no answer can state them */
export function refuseParametric(contents: Contents, path: string): void {
  const name = contents.words(path, "standard_name");
  const isFormula = contents.attributes(path).has("formula_terms");
  if (!isFormula && !PARAMETRIC.test(name)) return;
  const reason = isFormula ? "its attribute formula_terms" : `its standard_name ${name}`;
  throw new DataError(
    `${path} is a parametric vertical coordinate by ${reason}, not a height; interpolate the fields to heights first`,
  );
}
