/** Checks JSON against schemas, and names the member that does not fit. */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { excerpt, RequestError } from "../../shared/errors.js";
import { wrong } from "./faults.js";

/** Reads a body of JSON. Throws RequestError in one line that names the member. */
export function readAnalysis<T extends TSchema>(schema: T, body: Buffer): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new RequestError("InvalidRequest", "The body is not JSON.");
  }
  checkSchema(schema, value, "");
  return value as Static<T>;
}

export function checkSchema(schema: TSchema, value: unknown, prefix: string): void {
  const error = Value.Errors(schema, value).First();
  if (error === undefined) return;
  const path = error.path
    .slice(1)
    .replaceAll(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  const member = excerpt([prefix, path].filter((part) => part !== "").join(".")) || "body";
  const variant = variantOf(error.schema, error.value);
  if (variant !== undefined) checkSchema(variant, error.value, member);
  const names = Object.keys(error.schema.properties ?? {}).join(", ");
  const known = error.message === "Unexpected property" ? `; it has ${names}` : "";
  const choices = choicesOf(error.schema)?.join(", ");
  if (error.value === undefined) throw wrong(member, "it is missing");
  throw wrong(member, choices === undefined ? `${error.message.toLowerCase()}${known}` : `expected one of ${choices}`);
}

/** The variant of a union that an object is meant to be: it has the first member of that variant. */
function variantOf({ anyOf = [] }: TSchema, value: unknown): TSchema | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (anyOf as TSchema[]).find(({ properties = {} }) => Object.hasOwn(value, Object.keys(properties)[0] ?? ""));
}

function choicesOf({ anyOf }: TSchema): readonly unknown[] | undefined {
  const named = (one: TSchema): unknown => {
    if (one.type === "array" && Array.isArray(one.items)) return `[${one.items.map(named).join(", ")}]`;
    if (one.type === "object") return `{${Object.keys(one.properties)[0]}: ...}`;
    return one.const ?? `${/^[aio]/.test(one.type) ? "an" : "a"} ${one.type}`;
  };
  return (anyOf as TSchema[] | undefined)?.map(named);
}
