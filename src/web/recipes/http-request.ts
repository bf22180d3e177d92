/** Path and JSON body of a call to the HTTP interface, shared by the texts that use it. */
import { parameterText, pointTexts, type Recipe } from "./recipe.js";

/** The path below the service's root. */
export function httpPath({ call, every }: Recipe): string {
  const dataset = encodeURIComponent(call.dataset);
  if (every !== undefined) return `api/datasets/${dataset}/trajectories?operation=${call.operation}&every=${every}`;
  return `api/datasets/${dataset}/${call.operation}`;
}

/** The body, numbers in their shortest float32 form. */
export function jsonBody({ call }: Recipe): string {
  const members = Object.entries(call.parameters).map(([name, value]) => {
    const text = parameterText(value);
    const json = typeof value === "string" ? JSON.stringify(value) : typeof value === "number" ? text : `[${text}]`;
    return `"${name}":${json}`;
  });
  const points = pointTexts(call).map((point) => `[${point.join(",")}]`);
  return `{${[...members, `"points":[${points.join(",")}]`].join(",")}}`;
}
