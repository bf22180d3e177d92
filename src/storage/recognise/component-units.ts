/** Red lines for components in other units, which are converted if the person says so. */
import { placeOf } from "../dataset/files.js";
import { contradictionOf, factorBetween, unitOf } from "../dataset/units.js";
import { groupsAbove, parentOf } from "./evidence.js";
import { type Contents, type FieldOfPlan, type Findings, type LayoutPlan, listOf } from "./layout.js";

/** Attributes of groups that name the unit of what is in them, or the system of their units. */
const GROUP_UNIT_NAMES = ["units", "unit", "velocity_units", "velocity_unit", "units_velocity", "unit_system"];
const SYSTEMS: readonly (readonly [name: RegExp, speed: number])[] = [
  [/^(si|mks)$/i, 1],
  [/^cgs$/i, 0.01],
];
const NO_UNIT = /^(|-|none|n\/a|mixed|various)$/i;

/** The unit that a dataset states, or else the nearest group above it; empty if it is not known. */
export function unitAt(contents: Contents, path: string): string {
  const unit = contents.units(path);
  if (unit !== "") return unit;
  const above = unitsAbove(contents, path).find(({ units }) => unitOf(units) !== null);
  return above?.units ?? "";
}

function unitsAbove(contents: Contents, path: string): { group: string; name: string; units: string }[] {
  return groupsAbove(parentOf(path)).flatMap((group) =>
    GROUP_UNIT_NAMES.flatMap((name) => {
      const value = contents.attributes(group, path).get(name) ?? null;
      const isOne = value !== null && (typeof value !== "object" || value.length === 1);
      const units = isOne ? contents.words(group, name) : "";
      return NO_UNIT.test(units) ? [] : [{ group, name, units }];
    }),
  );
}

/** Contradicts the unit of a velocity that is not the unit of a group above it. */
function checkAgainstGroups(contents: Contents, path: string, findings: Findings): void {
  const unit = contents.units(path);
  if (unit === "") return;
  const speed = unitOf(unit);
  const isOther = (units: string): boolean => {
    const system = SYSTEMS.find(([name]) => name.test(units));
    if (system !== undefined) return speed === null || Math.abs(speed.factor / system[1] - 1) > 1e-9;
    const isLength = unitOf(units)?.powers === unitOf("m")?.powers;
    return contradictionOf(unit, isLength ? `${units} s-1` : units);
  };
  const above = unitsAbove(contents, path).find(({ units }) => isOther(units));
  if (above === undefined) return;
  const { group, name, units } = above;
  contradictUnit(`${path} is in "${unit}" and the attribute ${name} of ${group} is "${units}"`, "velocity", findings);
}

/** The plan with all components of a field in the unit that the first of them states, if the person says so. */
export function withOneUnit(contents: Contents, plan: LayoutPlan, findings: Findings): LayoutPlan {
  const fields = Object.entries(plan.fields).map(([name, field]) => [
    name,
    convertField(contents, name, field as FieldOfPlan, findings),
  ]);
  return { ...plan, fields: Object.fromEntries(fields) as LayoutPlan["fields"] };
}

function convertField(contents: Contents, name: string, field: FieldOfPlan, findings: Findings): FieldOfPlan {
  if (!("components" in field)) {
    const path = placeOf(field.path, field, 0);
    checkUnitList(contents, name, path, findings);
    if (name === "velocity") checkAgainstGroups(contents, path, findings);
    return field;
  }
  const stated = field.components.map(({ path }) => {
    const first = placeOf(path, field, 0);
    return { path: first, units: unitAt(contents, first) };
  });
  if (name === "velocity" && stated[0] !== undefined) checkAgainstGroups(contents, stated[0].path, findings);
  const to = stated.find(({ units }) => units !== "") ?? (stated[0] as (typeof stated)[0]);
  const others = stated.filter(({ units }) => contradictionOf(to.units, units));
  const unknown = others.find(({ units }) => factorBetween(units, to.units) === null);
  const unstated = stated.find(({ units }) => units.trim() === "");
  const other = others[0] ?? (to.units.trim() === "" ? undefined : unstated);
  if (other === undefined) return field;
  if (unknown !== undefined || unstated !== undefined) {
    const { path, units } = unknown ?? other;
    contradictUnit(`${to.path} is in "${to.units}" and ${path} in "${units}"`, name, findings);
    return field;
  }
  const factors = stated.map(({ units }) => factorBetween(units, to.units) as number);
  const effects = stated.flatMap(({ path, units }, i) => {
    const by = Number(factors[i]?.toPrecision(9));
    const effect = `${path} is in "${units}" and is multiplied by ${by}, into the "${to.units}" of ${to.path}`;
    return factors[i] === 1 ? [] : [effect];
  });
  if (contents.answers.despite?.includes("units") !== true) {
    const claim = `${to.path} is in "${to.units}" and ${other.path} in "${other.units}"`;
    const question = `${claim}; that the numbers are in these units is a guess.`;
    findings.contradict("units", question, `--despite units: ${effects.join("; ")}`);
    return field;
  }
  for (const effect of effects) findings.convert(`${effect}.`);
  const components = field.components.map((component, i) =>
    factors[i] === 1 ? component : { ...component, factor: factors[i] },
  );
  return { ...field, components: components as never };
}

function checkUnitList(contents: Contents, name: string, path: string, findings: Findings): void {
  const [first = "", ...units] = listOf(contents.attribute(path, "units")).map(String);
  const other = units.find((unit) => contradictionOf(first, unit));
  if (other !== undefined) contradictUnit(`${path} is in "${first}" and "${other}"`, name, findings);
}

function contradictUnit(claim: string, name: string, findings: Findings): void {
  const answer =
    "the same unit in the file, scale_factor included, or a descriptor without this question if they are in one";
  findings.contradict("scale", `${claim}; that the numbers of the ${name} are in one unit is a guess.`, answer);
}
