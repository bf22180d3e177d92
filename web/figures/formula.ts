/** This file sets formulas in the names of components as mathematics: duxdy as a derivative, ux with its index. */
import { html, mathml, type TemplateResult } from "lit-html";

/** What a part of a formula is set as. */
type FormulaPart = TemplateResult<3> | string;

const SYMBOLS: Readonly<Record<string, string>> = { w: "ω", b: "B", a: "A" };
/** Operators and brackets that have their own spacing. */
const OPERATORS = /^[-+−=·*/|,()∇]$/;

/** Operators after which a line may break. */
const BREAKS: readonly string[] = ["=", ",", "+", "−"];

/** A name with its index: ux, wz, tauxy; words stay upright. */
function nameOf(text: string): FormulaPart {
  const [, stem = "", index = ""] = /^(u|w|b|a|f|τ|S)([xyzij]{1,2})$/.exec(text) ?? [];
  if (stem !== "") return mathml`<msub><mi>${SYMBOLS[stem] ?? stem}</mi><mi>${index}</mi></msub>`;
  return text.length > 1 && text !== "det" ? mathml`<mtext>${text}\u00a0</mtext>` : mathml`<mi>${text}</mi>`;
}

/** A derivative: duxdy, duidxj, dpdx, d2pdxdy, d2uxdxdx. */
function derivativeOf(text: string): FormulaPart | null {
  const [, order = "", of = "", first = "", index = "", second = ""] =
    /^d(2?)(.+?)d([xyz])([ij]?)(?:d([xyz]))?$/.exec(text) ?? [];
  if (of === "") return null;
  if (index !== "") {
    const below = mathml`<mi>∂</mi><msub><mi>${first}</mi><mi>${index}</mi></msub>`;
    return mathml`<mfrac><mrow><mi>∂</mi>${nameOf(of)}</mrow><mrow>${below}</mrow></mfrac>`;
  }
  const over = second === "" ? [first] : [first, second];
  const below =
    over.length === 2 && first === second
      ? mathml`<mi>∂</mi><msup><mi>${first}</mi><mn>2</mn></msup>`
      : over.map((axis) => mathml`<mi>∂</mi><mi>${axis}</mi>`);
  const sign = order === "" ? mathml`<mi>∂</mi>` : mathml`<msup><mi>∂</mi><mn>2</mn></msup>`;
  return mathml`<mfrac><mrow>${sign}${nameOf(of)}</mrow><mrow>${below}</mrow></mfrac>`;
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
  return derivativeOf(part) ?? nameOf(part);
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
