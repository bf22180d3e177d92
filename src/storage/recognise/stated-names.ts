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

/** The methods of cells by which a dataset is a statistic of the quantity that it names; null if there are none. */
function methodsOf(contents: Contents, path: string): string | null {
  const text = contents.words(path, "cell_methods");
  const said = text.replace(/\([^)]*\)/g, " ");
  const methods = [...said.matchAll(/:\s*(\w+)(?!\w*:)/g)].map(([, method = ""]) => method.toLowerCase());
  const isPlain = methods.every((method) => PLAIN_METHODS.includes(method));
  return isPlain && (methods.length > 0 || said.trim() === "") ? null : `cell_methods of ${path} is "${text}"`;
}

const AXES: Readonly<Record<AxisName, RegExp>> = {
  x: /longitude|(projection|grid)_x_|^x$/i,
  y: /latitude|(projection|grid)_y_|^y$/i,
  z: /height|depth|altitude|^z$/i,
};

const ANSWER = "--velocity PATH,PATH,PATH in the order x, y, z and --pressure PATH, or fields in a descriptor";

/** Asks about the names of a field. `paths`: its dataset, or those of its components along x, y and z. */
export function askNames(contents: Contents, field: FieldName, paths: readonly string[], findings: Findings): void {
  // Whatever they say of a field under a name of its own, it is served as that.
  if (paths.length === 1 && !Object.hasOwn(FIELDS, field)) return;
  for (const path of paths) {
    const derived = methodsOf(contents, path);
    if (derived !== null)
      findings.contradict("fields", `The attribute ${derived}; that it holds the ${field} itself is a guess.`, ANSWER);
  }
  for (const [at, path] of paths.entries())
    for (const attribute of NAMES) {
      const text = contents.words(path, attribute);
      const axis = AXIS_NAMES.find((one) => COMPONENTS[one].test(text));
      const isOtherAxis = paths.length === 3 && axis !== undefined && axis !== AXIS_NAMES[at];
      const named = [VELOCITY_WORDS, ...FIELD_WORDS].filter(([, words]) => words.test(text)).map(([name]) => name);
      const isElse = named.length > 0 || OTHER_WORDS.test(text);
      const isOtherField = isElse && !named.includes(field) && field !== "force";
      const isDown = /downward/i.test(text);
      if (!isOtherAxis && !isOtherField && !isDown) continue;
      const taken = paths.length === 3 ? `the component along ${AXIS_NAMES[at]} of the ${field}` : `the ${field}`;
      findings.contradict(
        "fields",
        `The attribute ${attribute} of ${path} is "${text}"; that it is ${taken} is a guess.`,
        ANSWER,
      );
    }
}

/** Asks about components that count downwards, and about those whose coordinates have other names. */
export function askPlaces(contents: Contents, field: FieldName, paths: readonly string[], findings: Findings): void {
  const textAt = (path: string, name: string) => contents.words(path, name);
  for (const path of paths)
    for (const name of ["positive", "direction"])
      if (/^down(wards?)?$/i.test(textAt(path, name)))
        findings.contradict(
          "fields",
          `${path} counts downwards by its attribute ${name}; that it does not is a guess.`,
          ANSWER,
        );
  const other = paths.find((path) => textAt(path, "coordinates") !== textAt(paths[0] ?? path, "coordinates"));
  if (other === undefined) return;
  const said = [paths[0] ?? other, other].map((path) => `"${textAt(path, "coordinates")}" of ${path}`);
  findings.contradict(
    "spacing",
    `The attribute coordinates is ${said.join(" and ")}; that the components of the ${field} are on the same nodes is a guess.`,
    "components on common nodes, or a descriptor without this question",
  );
}

export function axisSaid(contents: Contents, path: string): AxisName | null {
  const texts = ["axis", "standard_name"].map((attribute) => contents.words(path, attribute));
  return AXIS_NAMES.find((axis) => texts.some((text) => AXES[axis].test(text))) ?? null;
}

/** Asks about the names of a table of coordinates, and about heights that count downwards. */
export function askCoordinateNames(contents: Contents, axis: AxisName, path: string, findings: Findings): void {
  for (const attribute of ["axis", ...NAMES]) {
    const text = contents.words(path, attribute);
    const named = AXIS_NAMES.find((one) => AXES[one].test(text));
    if (named !== undefined && named !== axis)
      findings.contradict(
        "order",
        `The attribute ${attribute} of ${path} is "${text}"; that it has the coordinates along ${axis} is a guess.`,
        `--coordinates ${axis}=PATH, or axes.${axis} in a descriptor`,
        axis,
      );
  }
  const positive = contents.words(path, "positive").toLowerCase();
  const isDepth = [path.split("/").at(-1) ?? "", ...NAMES.map((name) => contents.words(path, name))];
  const where = isDepth.some((text) => DEPTH.test(text)) ? "its name" : null;
  const downBy = positive === "down" ? "its attribute positive" : positive === "up" ? null : where;
  if (downBy !== null)
    findings.contradict(
      "spacing",
      `${path} counts downwards by ${downBy}; that the component along ${axis} does so too is a guess.`,
      `--spacing (negative along ${axis}) and --origin, or axes.${axis} in a descriptor without this question`,
      axis,
    );
}

/** Names of coordinates that count downwards. Source: CF conventions 1.11, section 4.3. */
const DEPTH = /(^|_|\b)depths?(_|\b|$)/i;
/** Standard names of the vertical coordinates of CF conventions 1.11, appendix D. */
const PARAMETRIC = /^(atmosphere|ocean)_\w+_coordinate(_g[12])?$/;

/** Refuses heights that vary from place to place, whatever is answered: no spacing states them. @throws DataError */
export function refuseParametric(contents: Contents, path: string): void {
  const name = contents.words(path, "standard_name");
  const isFormula = contents.attributes(path).has("formula_terms");
  if (!isFormula && !PARAMETRIC.test(name)) return;
  const said = isFormula ? "its attribute formula_terms" : `its standard_name ${name}`;
  throw new DataError(
    `${path} is a parametric vertical coordinate by ${said}, not a height; interpolate the fields to heights first`,
  );
}
