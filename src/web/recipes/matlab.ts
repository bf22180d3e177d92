/** This file writes a query as a MATLAB script over the HTTP interface. */
import { httpPath } from "./http-request.js";
import { type Endpoint, parameterText, pointTexts, type Recipe } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  if (typeof value === "string") return `"${value}"`;
  return typeof value === "number" ? parameterText(value) : `[${parameterText(value)}]`;
}

export function matlab(recipe: Recipe, { base }: Endpoint): string {
  const { query } = recipe;
  const points = pointTexts(query).map((point) => `  ${point.join(" ")}`);
  return [
    `url = "${base}${httpPath(recipe)}";`,
    "points = [",
    ...points,
    "];",
    "body = struct();",
    ...Object.entries(query.parameters).map(([name, value]) => `body.${name} = ${literal(value)};`),
    "body.points = num2cell(points, 2);",
    'options = weboptions("MediaType", "application/json", "Timeout", 120);',
    "answer = webwrite(url, body, options);",
    "values = answer.values;",
    "",
  ].join("\n");
}
