/** This file writes a query as a Python script with the package of this project. */
import { type Endpoint, literal, parameterText, pointTexts, type Recipe } from "./recipe.js";

export function python(recipe: Recipe, { base, token }: Endpoint): string {
  const { query, get, note } = recipe;
  const address = JSON.stringify(base.replace(/\/$/, ""));
  return [
    ...(note === undefined ? [] : [`# ${note}`]),
    "# pip install ./python, in the folder of fieldprobe",
    "import fieldprobe",
    "",
    `ds = fieldprobe.connect(${address}${token ? ', token="YOUR-TOKEN"' : ""})[${JSON.stringify(query.dataset)}]`,
    ...(get === undefined ? atPoints(recipe) : plane(get)),
    "",
  ].join("\n");
}

/** The request for a plane by its grid, which is shorter than its points. */
function plane(get: string): string[] {
  const options = new URLSearchParams(get.slice(get.indexOf("?") + 1));
  const taken = ["field", "time", "axis", "at", "nodes", "region.origin", "region.extent"].map((name) => {
    const value = options.get(name) ?? "";
    options.delete(name);
    return value;
  });
  const [quantity, time, axis, at, nodes, origin, extent] = taken;
  return [
    `plane = ds.slice("${quantity}", ${time}, "${axis}", ${at}, nodes=(${nodes}),`,
    `    region={"origin": (${origin}), "extent": (${extent})},`,
    `    ${[...options].map(([name, value]) => `${name}="${value}"`).join(", ")})`,
    "print(plane.values.shape, plane.axes)",
  ];
}

function atPoints({ query, every, stops, integrator }: Recipe): string[] {
  const { operation, parameters } = query;
  const points = ["points = [", ...pointTexts(query).map((point) => `    (${point.join(", ")}),`), "]"];
  if (every !== undefined && operation === "GetPosition")
    return [...points, ...paths(parameters, every, stops, integrator)];
  const { time, ...others } = parameters;
  const members = Object.entries(others).map(([name, value]) => `, ${name}=${literal(value)}`);
  const call = (at: string) => `values = ds.call("${operation}", points${at}${members.join("")})`;
  if (!Array.isArray(time))
    return [...points, call(time === undefined ? "" : `, time=${literal(time)}`), "print(values)"];
  const times = (time as readonly number[]).map((one) => parameterText(one)).join(", ");
  return [...points, `for time in (${times}):`, `    ${call(", time=time")}`, "    print(time, values)"];
}

function paths(
  parameters: Recipe["query"]["parameters"],
  every: number,
  stops: boolean | undefined,
  integrator = "heun",
): string[] {
  const scheme = integrator === "heun" ? "" : `, integrator="${integrator}"`;
  const { StartTime, dt, nt, spatialInterpolation } = parameters as Record<string, number | string>;
  const [start, step, steps] = [StartTime, dt, nt].map((value) => parameterText(value as number));
  return [
    `paths = ds.trajectories(points, ${start}, ${start} + ${steps} * ${step}, ${step},`,
    `    method="${spatialInterpolation}", every=${every}${scheme}${stops ? ', openFaces="stop"' : ""})`,
    "print(paths.times, paths.positions.shape)",
  ];
}
