/** What a template of the page says, and what its buttons do, without a document. */
import type { TemplateResult } from "lit-html";

const isTemplate = (one: unknown): one is TemplateResult => typeof one === "object" && one !== null && "strings" in one;

/** The markup of a template, with its values in their places. */
export function markupOf(one: unknown): string {
  if (Array.isArray(one)) return one.map(markupOf).join("");
  if (!isTemplate(one)) return typeof one === "string" || typeof one === "number" ? String(one) : "";
  return one.strings.map((text, i) => text + markupOf(one.values[i])).join("");
}

export const textOf = (one: unknown): string =>
  markupOf(one)
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** The handlers of clicks on the buttons of a template, by their texts. */
export function buttonsOf(one: unknown): Map<string, () => void> {
  if (Array.isArray(one)) return new Map(one.flatMap((part) => [...buttonsOf(part)]));
  if (!isTemplate(one)) return new Map();
  const own = one.strings.flatMap((text, i): [string, () => void][] => {
    const press = one.values[i];
    if (!text.endsWith("@click=") || typeof press !== "function") return [];
    const after = one.strings.slice(i + 1).map((more, j) => more + markupOf(one.values[i + 1 + j]));
    return [[textOf({ strings: [`<a${after.join("").split("</button>")[0]}`], values: [] }), press as () => void]];
  });
  return new Map([...own, ...one.values.flatMap((value) => [...buttonsOf(value)])]);
}
