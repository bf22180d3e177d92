/** Methods of the client: one for each call of the table of calls. */
import {
  CALL_NAMES,
  type CALLS,
  type CallName,
  FORMATS,
  type Format,
  type MEMBERS,
  type MemberName,
} from "../shared/calls.js";
import { bodyOf, checkType, sendWithRetries } from "./plain-http.js";

/** A range of an axis or of times as text: `0:8`, `0.4:1.4:0.1`. */
type Ranged = number | string;

/** What a member of a type may be. */
interface Inputs extends Readonly<Record<"number" | "integer", number>> {
  readonly what: string | readonly string[];
  readonly points:
    | string
    | readonly (readonly number[])[]
    | { readonly input: string }
    | { readonly random: number; readonly seed?: number }
    | { readonly pairs: number; readonly distance: number; readonly seed?: number }
    | { readonly tetrads: number; readonly distance: number; readonly seed?: number }
    | { readonly pairs: readonly (readonly number[])[] }
    | { readonly tetrads: readonly (readonly number[])[] };
  readonly along: Ranged;
  readonly nodes: Ranged;
  readonly counts: number | readonly number[];
  readonly times: Ranged | readonly number[];
  readonly frames: Ranged | readonly number[];
  readonly choice: string | number;
  readonly choices: string | readonly string[];
  readonly filter: string | { readonly kind: "gaussian" | "sharp" | "tophat" | "box"; readonly width: number };
  readonly condition: string;
  readonly texts: string | readonly string[];
  readonly integers: readonly number[];
  readonly numbers: number | readonly number[];
  readonly pair: readonly [number, number];
  readonly level: number | "auto";
  readonly scale: string;
  readonly reductions: readonly Readonly<Record<string, unknown>>[];
  readonly events: "centres" | Readonly<Record<string, unknown>>;
  readonly separations:
    | readonly number[]
    | { readonly lengths: readonly number[]; readonly pairs?: number; readonly seed?: number };
  readonly region: Readonly<Partial<Record<"x" | "y" | "z", string | readonly [number, number]>>>;
  readonly boolean: boolean;
}

export type Question<C extends CallName = CallName> = {
  readonly [M in (typeof CALLS)[C]["members"][number] & MemberName]?: Inputs[(typeof MEMBERS)[M]["type"]];
};

/** An answer as JSON: where it comes from, the complete question, and the members of its kind. */
export interface QuestionAnswer {
  readonly dataset: string;
  readonly version: string;
  readonly manifest: string;
  readonly question: Readonly<Record<string, unknown>> & { readonly dataset: string; readonly call: CallName };
  // biome-ignore lint/suspicious/noExplicitAny: rows, grids and tables have members of their own.
  readonly [member: string]: any;
}

export interface QuestionOptions {
  readonly signal?: AbortSignal;
}

export type QuestionMethods = {
  readonly [C in CallName]: (
    dataset: string,
    question: Question<C>,
    options?: QuestionOptions,
  ) => Promise<QuestionAnswer>;
} & {
  /** The bytes of an answer in a form, with its headers. */
  ask<C extends CallName>(
    call: C,
    dataset: string,
    question: Question<C>,
    format: Format,
    options?: QuestionOptions,
  ): Promise<{ readonly bytes: ArrayBuffer; readonly headers: Headers }>;
};

export function questionsOf(url: string, token: string | undefined): QuestionMethods {
  const never = new AbortController().signal;
  const ask: QuestionMethods["ask"] = async (call, dataset, question, format, { signal = never } = {}) => {
    const headers = { "content-type": "application/json", accept: FORMATS[format].type };
    const request = { method: "POST", headers, body: bodyOf({ ...question, format }) };
    const path = `/api/datasets/${encodeURIComponent(dataset)}/${call}`;
    const answer = await sendWithRetries(url, path, request, token, signal);
    checkType(answer.headers, FORMATS[format].type);
    return answer;
  };
  const methods = CALL_NAMES.map((call) => [
    call,
    async (dataset: string, question: Question, options: QuestionOptions = {}) => {
      const { bytes } = await ask(call, dataset, question, "json", options);
      return JSON.parse(new TextDecoder().decode(bytes)) as QuestionAnswer;
    },
  ]);
  return { ...Object.fromEntries(methods), ask } as QuestionMethods;
}
