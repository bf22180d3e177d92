/** A question as a command of `fieldprobe`. */
import { questionOf, SOAP_ONLY } from "./question.js";
import { type Endpoint, type Recipe, shellText } from "./recipe.js";

export function commandLine(recipe: Recipe, { base, token }: Endpoint): string {
  const question = questionOf(recipe);
  if (question === null) return SOAP_ONLY;
  const { dataset, call, what, points, members } = question;
  const flags = members.map(([name, value]) =>
    value === "true" ? `--${name}` : `--${name.replaceAll("_", "-")}=${shellText(value)}`,
  );
  return [
    ...(recipe.note === undefined ? [] : [`# ${recipe.note}`]),
    [
      `npx fieldprobe ${call} ${shellText(dataset)}${what === null ? "" : ` ${shellText(what)}`}`,
      ...(points === null ? [] : [`--points=${shellText(points.join(";"))}`]),
      ...flags,
      `--url=${shellText(base.replace(/\/$/, ""))}`,
      ...(token ? ["--token=YOUR-TOKEN"] : []),
    ].join(" \\\n  "),
  ].join("\n");
}
