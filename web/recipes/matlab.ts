/** This file writes a query as a script for MATLAB and GNU Octave over the HTTP interface. */
import { httpPath } from "./http-request.js";
import { type Endpoint, parameterText, pointTexts, type Recipe } from "./recipe.js";

function literal(value: string | number | readonly number[]): string {
  if (typeof value === "string") return `"${value}"`;
  return typeof value === "number" ? parameterText(value) : `[${parameterText(value)}]`;
}

export function matlab(recipe: Recipe, { base, token }: Endpoint): string {
  const { query, note, get } = recipe;
  if (get !== undefined) return plane(get, note, `${base}${get}`, token);
  const points = pointTexts(query).map((point) => `  ${point.join(" ")}`);
  return [
    ...(note === undefined ? [] : [`% ${note}`]),
    `url = "${base}${httpPath(recipe)}";`,
    "points = [",
    ...points,
    "];",
    "body = struct();",
    ...Object.entries(query.parameters).map(([name, value]) => `body.${name} = ${literal(value)};`),
    "body.points = num2cell(points, 2);",
    "% sent by curl, which MATLAB and GNU Octave (7 and later) call alike",
    "file = [tempname() '.json'];",
    "id = fopen(file, 'w');",
    "fprintf(id, '%s', jsonencode(body));",
    "fclose(id);",
    "command = ['curl --silent --show-error --fail-with-body --header \"Content-Type: application/json\" ' ...",
    ...(token ? ["  '--header \"Authorization: Bearer YOUR-TOKEN\" ' ..."] : []),
    "  '--data-binary @\"' char(file) '\" \"' char(url) '\"'];",
    "[status, text] = system(command);",
    "delete(char(file));",
    "if status ~= 0, error(text); end",
    "answer = jsondecode(text);",
    "values = answer.values;",
    "",
  ].join("\n");
}

/** The request for a plane by its grid, which is shorter than its points: rows of values, the lowest first. */
function plane(get: string, note: string | undefined, url: string, token: boolean): string {
  const [columns, rows] = (new URLSearchParams(get.slice(get.indexOf("?") + 1)).get("nodes") ?? "").split(",");
  return [
    ...(note === undefined ? [] : [`% ${note}`]),
    "file = [tempname() '.f32'];",
    "% sent by curl, which MATLAB and GNU Octave (7 and later) call alike",
    `command = ['curl --silent --show-error --fail-with-body --output "' file '" ' ...`,
    ...(token ? ["  '--header \"Authorization: Bearer YOUR-TOKEN\" ' ..."] : []),
    `  '"${url}"'];`,
    "[status, text] = system(command);",
    "if status ~= 0, error(text); end",
    "id = fopen(file, 'r', 'ieee-le');",
    `values = fread(id, [${columns}, ${rows}], 'single')';`,
    "fclose(id);",
    "delete(file);",
    "",
  ].join("\n");
}
