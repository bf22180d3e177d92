/** Describes the calls from their table: parameters and formats for OpenAPI, and examples. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { CallName, MemberName } from "../../shared/calls.js";
import { CALL_NAMES, callOf, choicesOf, describeMember, FORMATS, memberOf } from "../../shared/calls.js";
import type { ApiExample, ApiGroup } from "../http/reference-page.js";

const DATASET = "isotropic32";

function parameterOf(name: MemberName, call: CallName): TSchema {
  const choices = memberOf(name).type === "choice" ? choicesOf(name, call) : [];
  const { example } = callOf(call);
  const schema = Type.Unsafe<string>({
    type: "string",
    description: describeMember(name, call),
    ...(choices.length === 0 ? {} : { enum: [...choices] }),
    ...(example[name] === undefined ? {} : { example: example[name] }),
  });
  return Type.Optional(schema);
}

/** The members of a call as a schema of texts; a body may hold them as JSON too. */
export function membersSchema(call: CallName) {
  return Type.Object(Object.fromEntries(callOf(call).members.map((name) => [name, parameterOf(name, call)])));
}

export function answerSchema(call: CallName) {
  const content = Object.fromEntries(
    callOf(call).formats.map((format) => [
      FORMATS[format].type,
      {
        schema: format === "json" ? Type.Object({}, { additionalProperties: true }) : Type.String({ format: "binary" }),
      },
    ]),
  );
  return { description: "The answer; its question reproduces it through /api/ask.", content };
}

export function addressOf(call: CallName, dataset = DATASET): string {
  return `/api/datasets/${dataset}/${call}?${new URLSearchParams(callOf(call).example as Record<string, string>)}`;
}

export const ASK_EXAMPLE = { dataset: DATASET, call: "values", ...callOf("values").example };

/** The example of an operation of the interface; undefined for jobs, which answer by steps that docs/jobs.md shows. */
export function exampleOf(base: string, method: string, path: string): ApiExample | undefined {
  if (path === "/api/datasets") return { address: base + path };
  if (path === "/api/datasets/{name}") return { address: `${base}/api/datasets/${DATASET}` };
  if (path === "/api/ask") return { address: base + path, body: ASK_EXAMPLE };
  const call = CALL_NAMES.find((name) => path === `/api/datasets/{name}/${name}`);
  if (call === undefined) return undefined;
  if (method === "get") return { address: base + addressOf(call) };
  return { address: `${base}/api/datasets/${DATASET}/${call}`, body: callOf(call).example };
}

export const API_GROUPS: readonly ApiGroup[] = [
  {
    name: "Questions",
    has: (address) =>
      address === "/api/ask" || [...CALL_NAMES, "levels"].some((name) => address === `/api/datasets/{name}/${name}`),
  },
  { name: "Datasets", has: (address) => /^\/api\/(datasets(\/\{name\})?\/?$|drafts)/.test(address) },
  { name: "Jobs and inputs", has: (address) => /^\/api\/(jobs|inputs)/.test(address) },
];
