/** Formulas of quantities as MathML: ux with its index, uᵀ with its exponent. */
import { html, mathml, type TemplateResult } from "lit-html";

/** What a part of a formula is set as. */
type FormulaPart = TemplateResult<3> | string;

const SYMBOLS: Readonly<Record<string, string>> = { b: "B", a: "A" };
/** Operators and brackets that have their own spacing. */
const OPERATORS = /^[-+−=·×:*/|,()∇]$/;

/** Operators after which a line may break. */
const BREAKS: readonly string[] = ["=", ",", "+", "−"];

/** A name with its index: ux, ωz, τxy; words stay upright. */
function nameOf(text: string): FormulaPart {
  const [, stem = "", index = ""] = /^(u|ω|b|a|f|τ)([xyzij]{1,2})$/.exec(text) ?? [];
  if (stem !== "") return mathml`<msub><mi>${SYMBOLS[stem] ?? stem}</mi><mi>${index}</mi></msub>`;
  if (text.endsWith("ᵀ")) return mathml`<msup><mi>${text.slice(0, -1)}</mi><mo>T</mo></msup>`;
  return text.length > 1 && text !== "det" && text !== "tr"
    ? mathml`<mtext>${text}\u00a0</mtext>`
    : mathml`<mi>${text}</mi>`;
}

/** A formula as MathML, in runs between which lines may break. */
export function formulaOf(formula: string): TemplateResult {
  const parts = formula.match(/[\p{L}_][\p{L}\d_]*|[\d.]+|[^\s]/gu) ?? [];
  const runs: string[][] = [[]];
  for (const part of parts) {
    runs.at(-1)?.push(part);
    if (BREAKS.includes(part)) runs.push([]);
  }
  return html`${runs.map((run) => html`<math>${run.map(partOf)}</math> `)}`;
}

function partOf(part: string): FormulaPart {
  if (/^[²³⁴]$/.test(part)) return mathml`<mo lspace="0" rspace="0">${part}</mo>`;
  if (/^[\d.]/.test(part)) return mathml`<mn>${part}</mn>`;
  if (OPERATORS.test(part)) return mathml`<mo>${part}</mo>`;
  return nameOf(part);
}

/** A title with signs in place of letters and digits: ² for ^2. */
export function titleWithSigns(title: string): string {
  return title
    .replaceAll(/\^2\b/g, "²")
    .replaceAll(/\^3\b/g, "³")
    .replaceAll(/(?<=\d) x (?=\d)/g, " × ")
    .replaceAll("Re_tau", "Reτ")
    .replaceAll("Re_lambda", "Reλ");
}
