/** Collects all faults of a question, so that the caller can correct them together. */
import { FORMATS, type Format, MEMBERS, type MemberName } from "../../shared/calls.js";
import { type CallerCode, excerpt, type Fault, FieldprobeError, RequestError } from "../../shared/errors.js";

export const ORDER = Object.keys(MEMBERS);

/** Members of the engine's queries, by their names in questions. */
const OF_QUESTIONS: Readonly<Record<string, MemberName>> = {
  ...{ StartTime: "time", EndTime: "time", T: "time", dt: "step", nt: "step", recordEvery: "every" },
  ...{ spatialInterpolation: "method", temporalInterpolation: "time_method", openFaces: "open_faces" },
};

export function wrong(member: string, detail: string, nearest?: string, code: CallerCode = "InvalidRequest") {
  return new RequestError(code, `${member}: ${detail}.`, { member, ...(nearest === undefined ? {} : { nearest }) });
}

/** @throws RequestError for several quantities in a format that holds one */
export function checkAlone(quantities: number, format: Format): void {
  if (FORMATS[format].singleQuantity && quantities !== 1)
    throw wrong("format", `${format} holds one quantity, not ${quantities}: npz, csv or nc hold several`);
}

export const outOfRange = (member: string, detail: string, nearest?: string) =>
  wrong(member, detail, nearest, "OutOfRange");

export class Faults {
  readonly #faults: Fault[] = [];

  /** Adds an error of the caller; any other is thrown. */
  add(error: unknown, member = "question"): void {
    if (!(error instanceof FieldprobeError) || error.blame !== "caller") throw error;
    const { context, code, message } = error;
    if (context.faults !== undefined) this.#faults.push(...context.faults);
    else
      this.#faults.push({
        ...inQuestion(code, context.member ?? member, message.length > 2000 ? excerpt(message) : message),
        ...(context.nearest === undefined ? {} : { nearest: context.nearest }),
      });
  }

  try<T>(member: MemberName | "question", step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.add(error, member);
      return undefined;
    }
  }

  /** @throws RequestError with all faults, in the order of the table of members */
  raise(): void {
    const rank = ({ member }: Fault) => {
      const at = ORDER.indexOf(member.split(/[.[]/)[0] as string);
      return at < 0 ? -1 : at;
    };
    const faults = this.#faults.toSorted((a, b) => rank(a) - rank(b));
    const [first] = faults;
    if (first === undefined) return;
    throw new RequestError(first.code, first.detail, { member: first.member, faults });
  }
}

/** The faults of an error of the caller, as a list; an error of one member is a list of one. */
export function withFaults(error: unknown): unknown {
  if (!(error instanceof FieldprobeError) || error.blame !== "caller" || error.context.faults !== undefined)
    return error;
  if (!(error instanceof RequestError) || error.constructor !== RequestError) return error;
  const faults = new Faults();
  faults.add(error);
  try {
    faults.raise();
  } catch (all) {
    return all;
  }
  return error;
}

function inQuestion(code: Fault["code"], member: string, text: string): Fault {
  const own = Object.hasOwn(OF_QUESTIONS, member) ? OF_QUESTIONS[member] : undefined;
  const detail = text.replaceAll("None_Fd", "Fd");
  return own === undefined
    ? { code, member, detail }
    : { code, member: own, detail: detail.replaceAll(new RegExp(`\\b${member}\\b`, "g"), own) };
}
