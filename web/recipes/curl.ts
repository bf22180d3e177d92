/** A question as a curl command. */
import { questionOf, SOAP_ONLY } from "./question.js";
import { type Endpoint, type Recipe, shellText } from "./recipe.js";

export function curl(recipe: Recipe, { base, token }: Endpoint): string {
  const question = questionOf(recipe);
  if (question === null) return SOAP_ONLY;
  const { dataset, call, what, points, members } = question;
  const all: readonly (readonly [string, string])[] = [
    ...(what === null ? [] : [["what", what] as const]),
    ...(points === null ? [] : [["points", points.join(";")] as const]),
    ...members,
  ];
  const lines = all.map(([name, value]) => `  --data-urlencode ${shellText(`${name}=${value}`)}`);
  return [
    ...(recipe.note === undefined ? [] : [`# ${recipe.note}`]),
    `curl --fail --get '${base}api/datasets/${encodeURIComponent(dataset)}/${call}' \\`,
    ...(token ? ["  --header 'Authorization: Bearer YOUR-TOKEN' \\"] : []),
    lines.join(" \\\n"),
    ...(recipe.picture === undefined || call !== "grid"
      ? []
      : ["# with --data-urlencode format=png a picture instead"]),
  ].join("\n");
}
