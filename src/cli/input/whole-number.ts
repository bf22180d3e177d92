/** Arguments that are whole numbers within bounds. */
import { InvalidArgumentError } from "commander";

/** What reads such an argument. @throws InvalidArgumentError for another text, which the command line reports */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`a whole number from ${min} to ${max} is needed.`);
  };
}
