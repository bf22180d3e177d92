/** Finds the fields that a text in a request names, by the rules of the public service. */
import { RequestError } from "../../shared/errors.js";
import { FIELDS, type FieldName, type KnownField, type Operation } from "../../shared/operations.js";
import { componentsOf, type Dataset, fieldNames, fieldOf } from "../../storage/dataset/dataset.js";

/** Letters and words of known fields, in the order in which they are tried. A text must begin with the word. */
const WORDS: readonly { readonly field: KnownField; readonly letter: string; readonly words: RegExp }[] = [
  { field: "velocity", letter: "u", words: /^[vV]el/ },
  { field: "magnetic", letter: "b", words: /^[mM]ag/ },
  { field: "potential", letter: "a", words: /^(?:[vV]ec|[pP]ot)/ },
  { field: "pressure", letter: "p", words: /^[pP]r/ },
  { field: "density", letter: "d", words: /^[dD]ensity/ },
  { field: "temperature", letter: "t", words: /^(?:[tT]h|[tT]em|[pP]hi)/ },
];

/** Quantities of searches only. The public service silently answers other operations with the velocity instead. */
const SEARCHED = /[vV]orticity|^[qQ]$/;

function invalidField(text: string | undefined, dataset: Pick<Dataset, "fields">): RequestError {
  const others = fieldNames(dataset).filter((name) => !Object.hasOwn(FIELDS, name));
  const own = others.length === 0 ? "" : ` (it has ${others.join(", ")} too)`;
  const names = `u, b, a, p, d, t or a name such as velocity, of a field that the dataset has${own}`;
  const given = text === undefined ? "none is given" : `not "${text.slice(0, 64)}"`;
  const searched = SEARCHED.test(text ?? "") ? " Only GetThreshold computes vorticity and q." : "";
  return new RequestError("InvalidRequest", `Invalid field specified! It must be ${names}, ${given}.${searched}`, {
    member: "field",
  });
}

/**
 * Finds a field by its name, by its letter in either case, or by a word of it; the first match that the dataset has.
 * @throws RequestError (InvalidRequest) when there is none
 */
export function fieldNamed(text: string | undefined, dataset: Pick<Dataset, "fields">): FieldName {
  const field = text === undefined ? undefined : fieldIn(text, dataset);
  if (field === undefined) throw invalidField(text, dataset);
  return field;
}

/** The field of a SOAP cutout, by its first letter: the Fortran client appends bytes that follow it in memory. */
export function cutoutText(text: string, dataset: Pick<Dataset, "fields">): string {
  return isFieldName(text, dataset) || !/^[ubapdt]/.test(text) ? text : text.charAt(0);
}

export function isFieldName(text: string, dataset: Pick<Dataset, "fields">): boolean {
  return fieldIn(text, dataset) !== undefined;
}

function fieldIn(text: string, dataset: Pick<Dataset, "fields">): FieldName | undefined {
  if (fieldOf(dataset, text) !== undefined) return text;
  const lower = text.toLowerCase();
  if (fieldOf(dataset, lower) !== undefined) return lower;
  const names = ({ letter, words }: (typeof WORDS)[number]): boolean =>
    text.toLowerCase() === letter || words.test(text);
  return WORDS.find((row) => names(row) && dataset.fields[row.field] !== undefined)?.field;
}

/** Fields as a text that `filterFields` reads: letters of the later interface, or names. */
export function fieldText(fields: readonly FieldName[]): string {
  const letters = fields.map((field) => WORDS.find((row) => row.field === field)?.letter ?? field);
  return letters.join(letters.every((letter) => letter.length === 1) ? "" : ",");
}

/** The row of an operation for its fields: scalars may have another kernel. Throws RequestError if it takes none. */
export function rowFor<T extends Operation>(row: T, [field]: readonly FieldName[], dataset: Dataset): T {
  if (row.scalar === undefined || field === undefined || componentsOf(dataset, field) === 3) return row;
  if (row.scalar !== null) return { ...row, ...row.scalar };
  const text = `${row.name} takes vectors, and ${field} is a scalar; GetFieldHessian takes both.`;
  throw new RequestError("InvalidRequest", text, { member: "field" });
}

/** Fields that the filters of two fields take, in the words of the public service. */
const PAIRS: Readonly<Record<string, { readonly sizes: readonly [number, number]; readonly refusal: string }>> = {
  GetBoxFilterSGStensor: { sizes: [3, 3], refusal: 'two distinct vector fields (e.g. "ub" or "ba")' },
  GetBoxFilterSGSvector: { sizes: [3, 1], refusal: 'a vector and a scalar (e.g. "up" or "bp")' },
  GetBoxFilterSGSscalar: { sizes: [1, 1], refusal: 'two scalar fields (e.g. "pp" or "pd")' },
};
const SYMMETRIC = 'either with a single field or with two identical vector fields (e.g. "velocity", "uu" or "bb")';

/**
 * Finds the fields that a filter reads. A text of two letters, or of two names with a comma between them, names two
 * fields, any other text one field for both.
 *
 * @throws RequestError (InvalidRequest) for fields that the filter does not take
 */
export function filterFields(
  { name, kernel, scalar }: Operation,
  text: string | undefined,
  dataset: Dataset,
): readonly FieldName[] {
  if (scalar !== undefined || kernel === "mean" || kernel === "gradient") return [fieldNamed(text, dataset)];
  const isPair = text?.length === 2 && fieldOf(dataset, text.toLowerCase()) === undefined;
  const letters = isPair ? [...text] : text?.split(",").length === 2 ? text.split(",") : [text, text];
  const [first, second] = letters.map((letter) => fieldNamed(letter, dataset)) as [FieldName, FieldName];
  const refuse = (takes: string): RequestError => {
    const text = `The ${name} method should be called with ${takes}`.replace("with either", "either");
    return new RequestError("InvalidRequest", text, { member: "field" });
  };
  const pair = PAIRS[name];
  if (pair === undefined) {
    if (first !== second || componentsOf(dataset, first) !== 3) throw refuse(SYMMETRIC);
    return [first];
  }
  const size = (field: FieldName): number => componentsOf(dataset, field);
  const ordered: readonly [FieldName, FieldName] = size(first) < size(second) ? [second, first] : [first, second];
  const fits = pair.sizes.every((components, i) => size(ordered[i] as FieldName) === components);
  if (!fits || (name === "GetBoxFilterSGStensor" && first === second)) throw refuse(pair.refusal);
  return ordered;
}
