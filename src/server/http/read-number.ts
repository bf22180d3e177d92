/** Numbers in the text of a request: float32 rounded once, and 32-bit integers. */
import { parseFloat32 } from "../../float32/parse.js";
import { excerpt, RequestError } from "../../shared/errors.js";

/** Clients in the field print integers with a fraction of zeros. */
const INT = /^[+-]?[0-9]+(?:\.0+)?$/;

/**
 * Reads a number, rounded once to float32; infinite and NaN values pass. @throws RequestError `InvalidRequest` naming
 * the member
 */
export function readFloat(text: string, member: string): number {
  const value = parseFloat32(text);
  if (value === undefined) throw notA("number", text, member);
  return value;
}

/** @throws RequestError `InvalidRequest` naming the member */
export function readInt(text: string, member: string): number {
  const value = Number(text);
  if (!INT.test(text) || value < -(2 ** 31) || value >= 2 ** 31) throw notA("whole number of 32 bits", text, member);
  return value;
}

function notA(what: string, text: string, member: string): RequestError {
  return new RequestError("InvalidRequest", `${member} is not a ${what}: "${excerpt(text)}".`, { member });
}
