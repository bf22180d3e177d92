/** The question behind a recipe: what curl, the command line and Python send. */
import { QUANTITIES } from "../../src/shared/quantities.js";
import { parameterText, pointTexts, type Recipe, timesOf } from "./recipe.js";

export interface Question {
  readonly dataset: string;
  readonly call: "values" | "grid" | "paths";
  readonly what: string | null;
  /** Points as text; null if the question has none. */
  readonly points: readonly string[] | null;
  /** The other members as text. */
  readonly members: readonly (readonly [name: string, value: string])[];
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["Velocity", "u"],
  ["Pressure", "p"],
  ["MagneticField", "magnetic"],
  ["Magnetic", "magnetic"],
  ["VectorPotential", "potential"],
  ["Force", "force"],
  ["Density", "density"],
  ["Temperature", "temperature"],
]);
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["Gradient", "grad"],
  ["Hessian", "hess"],
  ["Laplacian", "lap"],
]);

/** An operation as quantities. */
function whatOf(operation: string, field: unknown): string {
  const [, box, name = "", operator = ""] =
    /^Get(BoxFilter)?(\w+?)(Gradient|Hessian|Laplacian)?$/.exec(operation) ?? [];
  if (name === "SGSStress") return "tau";
  const of = name.split("And").map((one) => (one === "Field" ? String(field) : (FIELDS.get(one) ?? one)));
  const derived = of.map((one) => (operator === "" ? one : `${OPERATORS.get(operator)}(${one})`));
  return derived.map((one) => (box === undefined ? one : `filter(${one})`)).join(", ");
}

/** The quantity of a name, in the words of questions. */
function quantityOf(name: string): string {
  const { expression = name } = QUANTITIES.find((one) => one.name === name) ?? {};
  return expression
    .replaceAll(/\bw\b/g, "omega")
    .replaceAll(/\bgrad_?p\b/g, "grad(p)")
    .replaceAll(/\bH_(\w+)/g, "hess($1)")
    .replaceAll(/\blapu\b/g, "lap(u)")
    .replaceAll(/\bgrad_(\w+)/g, "grad($1)");
}

/** How values are found, in the words of questions. */
function howOf(parameters: Recipe["query"]["parameters"]): [string, string][] {
  const spatial = parameters.spatialInterpolation as string | undefined;
  const { temporalInterpolation, filterlength } = parameters;
  const how: [string, string][] = [];
  if (spatial === "None") how.push(["method", "nearest"]);
  else if (spatial !== undefined)
    how.push([/^(None_)?Fd/.test(spatial) ? "derivatives" : "method", spatial.replace("None_", "")]);
  if (temporalInterpolation === "None") how.push(["time_method", "nearest"]);
  if (filterlength !== undefined) how.push(["filter", `box:${parameterText(filterlength)}`]);
  return how;
}

/** The plane of a GET request. */
function planeOf({ query, get = "" }: Recipe): Question {
  const options = new URLSearchParams(get.slice(get.indexOf("?") + 1));
  const text = (name: string) => options.get(name) ?? "";
  const normal = text("axis");
  const [origin, extent] = [text("region.origin"), text("region.extent")].map((list) => list.split(",").map(Number));
  const along = ["x", "y", "z"].filter((axis) => axis !== normal);
  const ranges = along.map((axis, i): [string, string] => {
    const first = origin?.[i] ?? 0;
    return [axis, `${first}:${Number((first + (extent?.[i] ?? 0)).toPrecision(9))}`];
  });
  const method = text("method");
  const how = howOf({ spatialInterpolation: method, temporalInterpolation: text("temporalInterpolation") });
  return {
    ...{ dataset: query.dataset, call: "grid", what: quantityOf(text("field")), points: null },
    members: [[normal, text("at")], ...ranges, ["samples", text("nodes")], ["time", text("time")], ...how],
  };
}

/** What is said of a recipe that only SOAP can ask. */
export const SOAP_ONLY = "# Only SOAP asks for this operation.";

/** The question of a recipe; null if only SOAP asks for its operation. */
export function questionOf(recipe: Recipe): Question | null {
  const { query, get, every, stops, integrator = "heun" } = recipe;
  if (get !== undefined) return planeOf(recipe);
  const { operation, parameters, dataset } = query;
  if (operation === "GetPositionInertialParticle" || operation === "GetPositionParticleControl") return null;
  const points = pointTexts(query).map((point) => point.join(","));
  if (!operation.startsWith("GetPosition")) {
    const times = parameters.time === undefined ? [] : [["time", timesOf(query).map(parameterText).join(",")] as const];
    const what = whatOf(operation, parameters.field);
    return { dataset, call: "values", what, points, members: [...times, ...howOf(parameters)] };
  }
  const { StartTime, dt, nt } = parameters as Readonly<Record<string, number>>;
  const end = Number(((StartTime ?? 0) + (dt ?? 0) * (nt ?? 0)).toPrecision(9));
  const records: [string, string] = every === undefined ? ["last", "true"] : ["every", String(every)];
  const members: [string, string][] = [
    ["time", `${parameterText(StartTime ?? 0)}:${end}`],
    ["step", parameterText(Math.abs(dt ?? 0))],
    records,
    ["integrator", integrator],
    ["open_faces", stops === true ? "stop" : "fail"],
    ...howOf(parameters),
  ];
  return { dataset, call: "paths", what: null, points, members };
}
