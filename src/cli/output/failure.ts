/** The text of an error with the reasons behind it, which only those may read who may read the files. */
import { DataError } from "../../shared/errors.js";
import { describeError } from "../../shared/system.js";

export function failureText(error: unknown): string {
  const text = describeError(error);
  if (!(error instanceof DataError) || !(error.cause instanceof Error)) return text;
  const isKnown = error.cause instanceof DataError || "code" in error.cause;
  const reason = failureText(error.cause);
  // A text with a colon says why already.
  return isKnown && !text.includes(": ") && !text.includes(reason) ? `${text} ${reason}` : text;
}
