/** Reads callback, key and preferences of a request. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { EventsError } from "./events-error.js";
import { type EventsSettings, isKey } from "./events-settings.js";
import { isCallback } from "./jsonp.js";
import { QueryString } from "./query-string.js";
import { checkVersion, refuseUnknown, UNLINKED } from "./read-query.js";

declare module "fastify" {
  interface FastifyRequest {
    /** A checked name of JSONP; null: the answer is not wrapped. */
    eventsCallback: string | null;
  }
}

export interface EventsRequest {
  readonly parameters: QueryString;
  /** `Prefer: handling=strict` */
  readonly strict: boolean;
}

export function splitTarget(request: FastifyRequest): { path: string; query: string } {
  const [path = "", ...query] = (request.raw.url ?? "").split("?");
  return { path, query: query.join("?") };
}

export function pathId(request: FastifyRequest): number {
  return Number((request.params as { readonly id: string }).id);
}

/** Redirects `/events?id=12`, an address of old clients, to the item; false unless `id` is one whole number. */
export function redirectLoose(path: string, parameters: QueryString, request: FastifyRequest, reply: FastifyReply) {
  const [id, ...more] = parameters.raw("id");
  if (id === undefined || more.length > 0 || !/^[0-9]{1,15}$/.test(id)) return false;
  parameters.check();
  const callback = request.eventsCallback === null ? "" : `?callback=${encodeURIComponent(request.eventsCallback)}`;
  void reply
    .code(308)
    .header("location", `${path}/${Number(id)}${callback}`)
    .send();
  return true;
}

/** Reads what every route takes. `known`: names besides those. Throws EventsError 401 without a configured key. */
export function openRequest(
  request: FastifyRequest,
  settings: EventsSettings,
  known: readonly string[],
): EventsRequest {
  const parameters = new QueryString(splitTarget(request).query);
  const callbacks = parameters.raw("callback").filter((name) => name !== "");
  const callback = callbacks.length === 1 ? (callbacks[0] ?? null) : null;
  request.eventsCallback = callback !== null && isCallback(callback) ? callback : null;
  checkKey(request, parameters, settings.keys);
  const name = parameters.text("callback");
  if (name !== null && !isCallback(name)) {
    parameters.fault("callback", "must be the name of a function", undefined, "invalid_callback");
  }
  checkVersion(parameters);
  parameters.text("key");
  const strict = /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(String(request.headers.prefer ?? ""));
  if (strict) refuseUnknown(parameters, [...known, ...UNLINKED, "id"]);
  return { parameters, strict };
}

function checkKey(request: FastifyRequest, parameters: QueryString, keys: readonly string[]): void {
  if (keys.length === 0) return;
  const header = request.headers["x-api-key"];
  const given = header === undefined ? parameters.raw("key") : [header].flat();
  if (given.length === 1 && isKey(keys, given[0] ?? "")) return;
  throw new EventsError(401, "unauthorized", "A valid API key is needed.", [], { "www-authenticate": "ApiKey" });
}

/** For the rate limit: the key if there is one, else the address. */
export function callerOf(request: FastifyRequest, settings: EventsSettings): string {
  const header = [request.headers["x-api-key"]].flat()[0];
  const key = header ?? new URLSearchParams(splitTarget(request).query).get("key");
  return key && isKey(settings.keys, key) ? `key ${key}` : `address ${request.ip}`;
}
