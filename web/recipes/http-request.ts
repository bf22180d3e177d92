/** This file writes the path and the JSON body of a query to the HTTP interface. */
import { parameterText, pointTexts, type Recipe } from "./recipe.js";

/** The path below the service's root. */
export function httpPath({ query, every, stops, integrator = "heun" }: Recipe): string {
  const dataset = encodeURIComponent(query.dataset);
  if (every !== undefined) {
    const leaving = stops === true ? "&openFaces=stop" : "";
    return `api/datasets/${dataset}/trajectories?operation=${query.operation}&every=${every}${leaving}${integrator === "heun" ? "" : `&integrator=${integrator}`}`;
  }
  return `api/datasets/${dataset}/${query.operation}`;
}

/** The body, numbers in their shortest float32 form. */
export function jsonBody({ query }: Recipe): string {
  const members = Object.entries(query.parameters).map(([name, value]) => {
    const text = parameterText(value);
    const json = typeof value === "string" ? JSON.stringify(value) : typeof value === "number" ? text : `[${text}]`;
    return `"${name}":${json}`;
  });
  const points = pointTexts(query).map((point) => `[${point.join(",")}]`);
  return `{${[...members, `"points":[${points.join(",")}]`].join(",")}}`;
}
