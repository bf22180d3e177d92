/** Choosing the form of an answer by the Accept header (RFC 9110, 12.5.1). */
import { RequestError } from "../../errors.js";

/** Refusal of a request whose Accept header leaves nothing that is offered. */
export class NotAcceptableError extends RequestError {}

interface Range {
  readonly type: string;
  readonly quality: number;
}

function parse(header: string): Range[] {
  return header.split(",").map((part) => {
    const [type = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const given = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    return { type, quality: Number.isFinite(quality) ? quality : 0 };
  });
}

/** Quality that a header gives a type: the most specific range that matches decides. */
function qualityOf(ranges: readonly Range[], type: string): number {
  const family = `${type.split("/")[0]}/*`;
  for (const wanted of [type, family, "*/*"]) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/**
 * The offered type that the caller likes best; the first offered where the header is absent or likes several alike.
 *
 * @throws NotAcceptableError when the header excludes all of them
 */
export function negotiate<T extends string>(header: string | undefined, offered: readonly T[]): T {
  if (header === undefined || header.trim() === "") return offered[0] as T;
  const ranges = parse(header);
  let best: T | undefined;
  let bestQuality = 0;
  for (const type of offered) {
    const quality = qualityOf(ranges, type);
    if (quality > bestQuality) {
      best = type;
      bestQuality = quality;
    }
  }
  if (best === undefined) throw new NotAcceptableError("InvalidRequest", `This is answered as ${offered.join(", ")}.`);
  return best;
}
