/** This file writes a query as a curl command. */
import { httpPath, jsonBody } from "./http-request.js";
import type { Endpoint, Recipe } from "./recipe.js";

export function curl(recipe: Recipe, { base }: Endpoint): string {
  if (recipe.get !== undefined) {
    return [
      `curl --fail --output slice.f32 --dump-header - \\`,
      `  '${base}${recipe.get}'`,
      "",
      "# a picture instead of float32:",
      `curl --fail --output slice.png --header 'Accept: image/png' \\`,
      `  '${base}${recipe.get}'`,
    ].join("\n");
  }
  return [
    `curl --fail '${base}${httpPath(recipe)}' \\`,
    `  --header 'Content-Type: application/json' \\`,
    `  --data '${jsonBody(recipe)}'`,
  ].join("\n");
}
