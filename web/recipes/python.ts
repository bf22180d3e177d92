/** A question as a Python script with the package of this project. */
import { questionOf, SOAP_ONLY } from "./question.js";
import type { Endpoint, Recipe } from "./recipe.js";

/** A value as Python writes it: numbers as they are, everything else as text. */
function pythonValue(text: string): string {
  if (text === "true") return "True";
  return /^[+-]?\d+\.?\d*(e[+-]?\d+)?$/i.test(text) ? text : JSON.stringify(text);
}

export function python(recipe: Recipe, { base, token }: Endpoint): string {
  const question = questionOf(recipe);
  if (question === null) return SOAP_ONLY;
  const { dataset, call, what, points, members } = question;
  const address = JSON.stringify(base.replace(/\/$/, ""));
  const words = [
    ...(what === null ? [] : [JSON.stringify(what)]),
    ...(points === null ? [] : [`${what === null ? "points=" : ""}points`]),
    ...members.map(([name, value]) => `${name}=${pythonValue(value)}`),
  ];
  return [
    ...(recipe.note === undefined ? [] : [`# ${recipe.note}`]),
    "# pip install ./python, in the folder of fieldprobe",
    "import fieldprobe",
    "",
    `ds = fieldprobe.connect(${address}${token ? ', token="YOUR-TOKEN"' : ""})[${JSON.stringify(dataset)}]`,
    ...(points === null ? [] : ["points = [", ...points.map((point) => `    (${point.replaceAll(",", ", ")}),`), "]"]),
    `answer = ds.${call}(${words.join(", ")})`,
    "print(answer)",
    "",
  ].join("\n");
}
