/** Reads the parameters of a query string as texts, and makes the errors for wrong ones. */
import { excerpt, RequestError } from "../../errors.js";

/** The error for a parameter that is missing or wrong. */
export function refuse(member: string, message: string): RequestError {
  return new RequestError("InvalidRequest", message, { member });
}

/** The parameters of a request, each given at most once. @throws RequestError naming one that is unknown or repeated */
export function readTexts<T extends string>(query: unknown, names: readonly T[]): ReadonlyMap<T, string> {
  const texts = new Map<T, string>();
  for (const [given, value] of Object.entries((query ?? {}) as Record<string, string | string[]>)) {
    const name = names.find((known) => known === given);
    if (name === undefined)
      throw refuse(excerpt(given), `There is no parameter "${excerpt(given)}"; there are ${names.join(", ")}.`);
    if (typeof value !== "string") throw refuse(name, `${name} is given more than once.`);
    texts.set(name, value);
  }
  return texts;
}
