/** The quantities of spectra and correlations: one, or a pair of scalars. */
import { compileExpression } from "../../../../analysis/expression.js";
import type { Names } from "../../../../analysis/names.js";
import type { Dataset } from "../../../../engine/contract/dataset.js";
import { wrong } from "../../faults.js";
import type { MemberValues, RequestedQuantity } from "../../question/member-values.js";
import { defaultWhat, whatText } from "../../question/what.js";
import { AXES, LETTERS } from "../analysed-nodes.js";

/** The axis of a question without one: the first of several nodes, for spectra a periodic one if there is any. */
export function usualAxis(axes: Dataset["axes"], isOfSpectrum: boolean): "x" | "y" | "z" {
  const several = AXES.filter((a) => axes[a].nodes > 1);
  const periodic = several.filter((a) => isOfSpectrum && axes[a].periodic);
  return LETTERS[periodic[0] ?? several[0] ?? 0];
}

/** The quantity of a question. Throws RequestError for several. */
export function onlyWhat(question: MemberValues, dataset: Dataset): RequestedQuantity {
  const [only, ...more] = question.what ?? defaultWhat(dataset);
  if (more.length > 0) throw wrong("what", "one quantity is asked at a time");
  return only as RequestedQuantity;
}

/** The quantity or the pair of a question; with `at`, a single quantity is a pair with itself. Throws RequestError. */
export function pairOf(question: MemberValues, dataset: Dataset): readonly string[] {
  const { cross, what, at } = question;
  if (cross === undefined) {
    const { text } = onlyWhat(question, dataset);
    return at === undefined ? [text] : [text, text];
  }
  if (what !== undefined) throw wrong("what", "cross names its quantities; give one of both");
  if (cross.length !== 2) throw wrong("cross", "a pair has two quantities, such as u.x,u.y");
  return cross;
}

/** The quantity of a question without a pair, as an answer states it. */
export function pairText(question: MemberValues, dataset: Dataset): Readonly<Record<string, unknown>> {
  return question.cross === undefined ? { what: [whatText(onlyWhat(question, dataset))] } : {};
}

/** Energies below this part of the largest are rounding: where a mean was subtracted, or where a quantity is 0. */
const ROUNDING = 1e-24;
export const measured = (energies: Float64Array): ((i: number) => boolean) => {
  const least = ROUNDING * energies.reduce((one, other) => Math.max(one, other), 0);
  return (i) => energies[i] > least;
};

/**
 * The members of a pair, of its lists E_aa, E_bb, re and im by group and mode: phase and coherence are null where an
 * energy is rounding, coherence for one realisation. `scaled` and `plain` nest a list, with factors of modes and without.
 */
export function pairMembers(
  [a, b, re, im]: readonly [Float64Array, Float64Array, Float64Array, Float64Array],
  isSingle: (i: number) => boolean,
  scaled: (values: Float64Array) => unknown,
  plain: (values: Float64Array) => unknown,
): Readonly<Record<string, unknown>> {
  const [isA, isB] = [measured(a), measured(b)];
  const squares = re.map((one, i) => one ** 2 + im[i] ** 2);
  return {
    ...{ E_aa: scaled(a), E_bb: scaled(b), re: scaled(re), im: scaled(im) },
    phase: plain(re.map((one, i) => (isA(i) && isB(i) ? Math.atan2(im[i], one) : Number.NaN))),
    coherence: plain(squares.map((one, i) => (isA(i) && isB(i) && !isSingle(i) ? one / (a[i] * b[i]) : Number.NaN))),
  };
}

/** The texts of the fluctuations that remain when means are removed. */
export function fluctuationsOf(texts: readonly string[], { remove = "mean" }: MemberValues): readonly string[] {
  return remove === "none" ? texts : texts.map((text) => `fluc(${text})`);
}

/** The shapes of the quantities of a question. Throws RequestError for tensors, and for vectors in a pair. */
export function shapesOf(texts: readonly string[], names: Names, { cross }: MemberValues) {
  const member = cross === undefined ? "what" : "cross";
  const shapes = texts.map((text) => compileExpression(text, names, member).shape);
  if (shapes.includes("tensor")) throw wrong(member, "spectra are of scalars and vectors, not of tensors");
  if (texts.length === 2 && shapes.some((shape) => shape !== "scalar"))
    throw wrong(member, "a pair is of two scalars: name components");
  return shapes as readonly ("scalar" | "vector")[];
}
