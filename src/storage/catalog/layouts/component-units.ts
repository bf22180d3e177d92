/** Brings the components of a vector into one unit: known ones are converted, others are asked about. */
import { placeOf } from "../../file/files.js";
import type { Contents, FieldOfPlan, Findings, LayoutPlan } from "./layout.js";
import { contradictionOf, factorBetween } from "./units.js";

/** The plan with a factor for each component in another unit than the first that states one. */
export function inOneUnit(contents: Contents, plan: LayoutPlan, findings: Findings): LayoutPlan {
  const fields = Object.entries(plan.fields).map(([name, field]) => [
    name,
    converted(contents, name, field as FieldOfPlan, findings),
  ]);
  return { ...plan, fields: Object.fromEntries(fields) as LayoutPlan["fields"] };
}

function converted(contents: Contents, name: string, field: FieldOfPlan, findings: Findings): FieldOfPlan {
  if (!("components" in field)) {
    askList(contents, name, firstPath(field, field.path), findings);
    return field;
  }
  const said = field.components.map(({ path }) => {
    const first = firstPath(field, path);
    return { path: first, units: contents.texts(first, "units")?.join(" ").trim() ?? "" };
  });
  const to = said.find(({ units }) => units !== "") ?? (said[0] as (typeof said)[0]);
  const others = said.filter(({ units }) => contradictionOf(to.units, units));
  const unknown = others.find(({ units }) => factorBetween(units, to.units) === null);
  const [other] = others;
  if (other === undefined) return field;
  const unstated = said.find(({ units }) => units === "");
  if (unknown !== undefined || unstated !== undefined) {
    const { path, units } = unknown ?? other;
    askUnit(`${to.path} is in "${to.units}" and ${path} in "${units}"`, name, findings);
    return field;
  }
  const components = field.components.map((component, at) => {
    const { path, units } = said[at] as (typeof said)[0];
    const factor = factorBetween(units, to.units) as number;
    if (factor === 1) return component;
    findings.convert(
      `${path} is in "${units}" and is multiplied by ${Number(factor.toPrecision(9))}, into the "${to.units}" of ${to.path}.`,
    );
    return { ...component, factor };
  });
  return { ...field, components: components as never };
}

/** Asks about a list of units of one dataset, one for each component, that differ. */
function askList(contents: Contents, name: string, path: string, findings: Findings): void {
  const units = contents.texts(path, "units") ?? [];
  const [first = ""] = units;
  const other = units.find((one) => contradictionOf(first, one));
  if (other !== undefined) askUnit(`${path} is in "${first}" and "${other}"`, name, findings);
}

function askUnit(claim: string, name: string, findings: Findings): void {
  findings.ask(
    "scale",
    `${claim}; that the numbers of the ${name} are in one unit is a guess.`,
    "the same unit in the file, scale_factor included, or a descriptor without this question if they are in one",
  );
}

function firstPath(field: FieldOfPlan, path: string): string {
  const { firstStep = 0, stepIncrement = 1, steps = null } = field;
  return placeOf(path, { firstStep, stepIncrement, steps }, 0);
}
