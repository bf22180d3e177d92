/** Checks arguments of the command line: whole numbers within bounds, and combinations that make no sense. */
import { InvalidArgumentError } from "commander";
import { foreignAddress, withoutFileScheme } from "../../shared/addresses.js";

/** A mistake on the command line, reported in one line with exit code 2. */
export class MisuseError extends Error {}

/** A decimal number. */
export const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Makes a parser of whole numbers from `min` to `max`; it throws InvalidArgumentError for any other text. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`a whole number ${range} is needed.`);
  };
}

/**
 * Parses the path of a file or folder. An empty path, as from an empty variable, is refused: it would mean the current
 * folder.
 */
export function pathArgument(text: string): string {
  const foreign = foreignAddress(text);
  if (foreign !== null) throw new InvalidArgumentError(`${foreign}.`);
  if (text.trim() !== "") return withoutFileScheme(text);
  throw new InvalidArgumentError("a path is needed.");
}
