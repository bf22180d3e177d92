/** Refuses staggered fields where values at the nodes of the dataset are needed. */
import { compileExpression } from "../../analysis/expression.js";
import { type Names, partsOfInput } from "../../analysis/names.js";
import { RequestError } from "../../shared/errors.js";
import { type Dataset, type FieldName, isStaggered } from "../../storage/dataset/dataset.js";

/** @throws RequestError (Unsupported) that names the first field on nodes of its own */
export function requireNodes(dataset: Dataset, fields: readonly FieldName[], what: string): void {
  const field = fields.find((name) => isStaggered(dataset, name));
  if (field === undefined) return;
  const text = `${what} needs values at the nodes of "${dataset.name}", and ${field} has its own nodes: ask for values at points.`;
  throw new RequestError("Unsupported", text, { member: "field" });
}

/** As `requireNodes`, for the fields of expressions. */
export function requireNodesOf(dataset: Dataset, texts: readonly string[], names: Names, what: string): void {
  if (!Object.keys(dataset.fields).some((name) => isStaggered(dataset, name))) return;
  requireNodes(dataset, fieldsOf(texts, names), what);
}

/** The fields that expressions read, each once. */
export function fieldsOf(texts: readonly string[], names: Names): readonly FieldName[] {
  const parts = texts.flatMap((text) => compileExpression(text, names, "of").reads.map(partsOfInput));
  return [...new Set(parts.flatMap((one) => (one?.expression === null ? [one.field] : [])))];
}
