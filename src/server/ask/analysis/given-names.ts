/** Names of quantities in the answers of analyses: those that the question gives, in place of texts. */
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { MemberValues } from "../question/member-values.js";
import { compileWhat, namesOf } from "../question/what.js";

const OF_QUANTITIES = ["of", "on"];
const BY_QUANTITY = ["formulas", "units", "properties"];

/** An answer with the names that its question gives to quantities. */
export function withGivenNames(body: GroupAnswer, question: MemberValues, dataset: Dataset): GroupAnswer {
  const { what = [] } = question;
  if (!what.some(({ isNamed }) => isNamed)) return body;
  const namedLast = what.toSorted((a, b) => Number(a.isNamed) - Number(b.isNamed));
  const names = compileWhat(namedLast, namesOf(question, dataset)).flatMap(({ name, text, components, columns }) => [
    ...[text, `${text}, ${text}`].map((one) => [one, one.replaceAll(text, name)] as const),
    ...components.map((one, c) => [one, columns[c] as string] as const),
  ]);
  return renamed(body, new Map(names)) as GroupAnswer;
}

/** Replaces the texts of quantities in an answer; formulas stay. */
export function renamed(value: unknown, names: ReadonlyMap<string, string>, isText = false): unknown {
  if (typeof value === "string") return isText ? (names.get(value) ?? value) : value;
  if (Array.isArray(value))
    return typeof value[0] === "number" ? value : value.map((one) => renamed(one, names, isText));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const members = Object.entries(value).map(([name, one]) => {
    if (!BY_QUANTITY.includes(name)) return [name, renamed(one, names, OF_QUANTITIES.includes(name))];
    return [name, Object.fromEntries(Object.entries(one).map(([text, of]) => [names.get(text) ?? text, of]))];
  });
  return Object.fromEntries(members);
}
