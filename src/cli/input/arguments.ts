/** Checks of command-line arguments. */
import { InvalidArgumentError } from "commander";
import { foreignAddress, withoutFileScheme } from "../../shared/addresses.js";

/** Reported in one line with exit code 2. */
export class MisuseError extends Error {}

export const NUMBER = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Parser of whole numbers. Throws InvalidArgumentError. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`a whole number ${range} is needed.`);
  };
}

/** Parses a path. An empty one, as from an empty variable, would mean the current folder. */
export function pathArgument(text: string): string {
  const foreign = foreignAddress(text);
  if (foreign !== null) throw new InvalidArgumentError(`${foreign}.`);
  if (text.trim() !== "") return withoutFileScheme(text);
  throw new InvalidArgumentError("a path is needed.");
}
