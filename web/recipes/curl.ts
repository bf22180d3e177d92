/** This file writes a query as a curl command. */
import { httpPath, jsonBody } from "./http-request.js";
import type { Endpoint, Recipe } from "./recipe.js";

export function curl(recipe: Recipe, { base, token }: Endpoint): string {
  const bearer = token ? ["  --header 'Authorization: Bearer YOUR-TOKEN' \\"] : [];
  const note = recipe.note === undefined ? [] : [`# ${recipe.note}`];
  if (recipe.get !== undefined) {
    return [
      ...note,
      "curl --fail --output slice.f32 --dump-header - \\",
      ...bearer,
      `  '${base}${recipe.get}'`,
      "",
      ...(recipe.picture === undefined
        ? []
        : [
            "# a picture instead of float32:",
            "curl --fail --output slice.png --header 'Accept: image/png' \\",
            ...bearer,
            `  '${base}${recipe.get}${recipe.picture}'`,
          ]),
    ].join("\n");
  }
  return [
    ...note,
    `curl --fail '${base}${httpPath(recipe)}' \\`,
    ...bearer,
    "  --header 'Content-Type: application/json' \\",
    `  --data '${jsonBody(recipe)}'`,
  ].join("\n");
}
