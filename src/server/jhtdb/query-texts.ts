/** Parameters of a query string as texts. */
import { excerpt } from "../../shared/errors.js";
import { refuse } from "../http/refusal.js";

/** @throws RequestError naming a parameter that is unknown or repeated */
export function readTexts<T extends string>(query: unknown, names: readonly T[]): ReadonlyMap<T, string> {
  const texts = new Map<T, string>();
  for (const [given, value] of Object.entries((query ?? {}) as Record<string, string | string[]>)) {
    const name = names.find((known) => known === given);
    if (name === undefined)
      throw refuse(
        excerpt(given),
        `There is no parameter "${excerpt(given)}"; the parameters are ${names.join(", ")}.`,
      );
    if (typeof value !== "string") throw refuse(name, `${name} is given more than once.`);
    texts.set(name, value);
  }
  return texts;
}
