/** Finds the fields that a request names by a text, as the public service reads it. */
import { RequestError } from "../../errors.js";
import { FIELDS, type FieldName, type Operation } from "../../operations.js";
import type { Dataset } from "../../storage/file/dataset.js";

/** Letters and words of each field, in the order in which they are tried. */
const WORDS: readonly { readonly field: FieldName; readonly letter: string; readonly words: RegExp }[] = [
  { field: "velocity", letter: "u", words: /[vV]el/ },
  { field: "magnetic", letter: "b", words: /[mM]ag/ },
  { field: "potential", letter: "a", words: /[vV]ec|[pP]ot/ },
  { field: "pressure", letter: "p", words: /[pP]r/ },
  { field: "density", letter: "d", words: /[dD]ensity/ },
  { field: "temperature", letter: "t", words: /[tT]h|[tT]em|[pP]hi/ },
];

/**
 * Quantities that only searches compute. In other operations the public service answers with the velocity instead,
 * which nobody would notice.
 */
const SEARCHED = /[vV]orticity|^[qQ]$/;

function invalidField(text: string | undefined): RequestError {
  const names = `u, b, a, p, d, t or a name such as velocity, of a field that the dataset has`;
  const given = text === undefined ? "none is given" : `not "${text.slice(0, 64)}"`;
  const searched = SEARCHED.test(text ?? "") ? " Only GetThreshold computes vorticity and q." : "";
  return new RequestError("InvalidRequest", `Invalid field specified! It must be ${names}, ${given}.${searched}`, {
    member: "field",
  });
}

/**
 * Finds the field that a text names: its letter, in either case, or a word of it; of several the first that the dataset
 * has.
 *
 * @throws RequestError (InvalidRequest) when there is none
 */
export function fieldNamed(text: string | undefined, dataset: Pick<Dataset, "fields">): FieldName {
  const found = text === undefined ? undefined : fieldIn(text, dataset);
  if (found === undefined) throw invalidField(text);
  return found;
}

/** Whether a text names a field. */
export function isFieldName(text: string, dataset: Pick<Dataset, "fields">): boolean {
  return fieldIn(text, dataset) !== undefined;
}

function fieldIn(text: string, { fields }: Pick<Dataset, "fields">): FieldName | undefined {
  const names = ({ letter, words }: (typeof WORDS)[number]): boolean =>
    text.toLowerCase() === letter || words.test(text);
  return WORDS.find((row) => names(row) && fields[row.field] !== undefined)?.field;
}

/** The letter of a field. */
export function letterOf(field: FieldName): string {
  return WORDS.find((row) => row.field === field)?.letter ?? "";
}

/** Fields that the filters of two fields take, in the words of the public service. */
const PAIRS: Readonly<Record<string, { readonly sizes: readonly [number, number]; readonly refusal: string }>> = {
  GetBoxFilterSGStensor: { sizes: [3, 3], refusal: 'two distinct vector fields (e.g. "ub" or "ba")' },
  GetBoxFilterSGSvector: { sizes: [3, 1], refusal: 'a vector and a scalar (e.g. "up" or "bp")' },
  GetBoxFilterSGSscalar: { sizes: [1, 1], refusal: 'two scalar fields (e.g. "pp" or "pd")' },
};
const SYMMETRIC = 'either with a single field or with two identical vector fields (e.g. "velocity", "uu" or "bb")';

/**
 * Finds the fields that a filter reads. A text of two letters names two fields, any other text one field for both.
 *
 * @throws RequestError (InvalidRequest) for fields that the filter does not take
 */
export function filterFields(
  { name, kernel }: Operation,
  text: string | undefined,
  dataset: Dataset,
): readonly FieldName[] {
  if (kernel === "mean" || kernel === "gradient") return [fieldNamed(text, dataset)];
  const letters = text?.length === 2 ? [...text] : [text, text];
  const [first, second] = letters.map((letter) => fieldNamed(letter, dataset)) as [FieldName, FieldName];
  const refuse = (takes: string): RequestError =>
    new RequestError(
      "InvalidRequest",
      `The ${name} method should be called with ${takes}`.replace("with either", "either"),
      {
        member: "field",
      },
    );
  const pair = PAIRS[name];
  if (pair === undefined) {
    if (first !== second || FIELDS[first] !== 3) throw refuse(SYMMETRIC);
    return [first];
  }
  const ordered: readonly [FieldName, FieldName] = FIELDS[first] < FIELDS[second] ? [second, first] : [first, second];
  const fits = pair.sizes.every((size, i) => FIELDS[ordered[i]] === size);
  if (!fits || (name === "GetBoxFilterSGStensor" && first === second)) throw refuse(pair.refusal);
  return ordered;
}
