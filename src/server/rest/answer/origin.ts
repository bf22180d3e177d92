/** Says where the numbers of an answer come from, and spares whoever holds them a second computation. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { framesUsed } from "../../../engine/contract/query-frames.js";
import { version } from "../../../shared/build.js";
import { addVary } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { canonical, isHeld } from "../../http/validators.js";
import { assumedOf } from "../describe.js";

/** Characters of a header; a longer one is left out, because clients refuse it. */
const MOST_CHARACTERS = 4096;

/** Where numbers come from. */
interface Origin {
  readonly version: string;
  readonly operation: string;
  readonly dataset: string;
  readonly manifest: string;
  /** Accepted guesses about the data; absent: none. */
  readonly assumed?: readonly string[];
  readonly options: object;
}

/** Where numbers come from, as members of an answer. */
export function originOf(dataset: Dataset, operation: string, options: object): Origin {
  const assumed = dataset.assumed.length === 0 ? {} : { assumed: assumedOf(dataset) };
  return { version, operation, dataset: dataset.name, manifest: dataset.digest, ...assumed, options };
}

/** Where numbers come from, as texts for a file; `times` as in `tellOrigin`. */
export function originTexts(
  dataset: Dataset,
  operation: string,
  options: object,
  times: readonly number[] = [],
): Readonly<Record<string, string>> {
  const frames = framesBehind(dataset, options, times);
  const told = Object.entries(originOf(dataset, operation, options)).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return { ...Object.fromEntries(told), ...(frames === null ? {} : { frames }) };
}

/** The same texts as attributes of a NetCDF file. */
export function originAttributes(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [`fieldprobe_${name}`, text]));
}

/** The numbers of the frames that values at some times rest on; null if there is none. */
function framesBehind(dataset: Dataset, options: object, times: readonly number[]): string | null {
  const { temporalInterpolation: method = "None" } = options as { readonly temporalInterpolation?: unknown };
  if (times.length === 0 || (method !== "None" && method !== "PCHIP")) return null;
  return framesUsed(dataset.time, times, method).join(",");
}

/** Names version, data and options of an answer in its headers, and the frames that values at some times rest on. */
export function tellOrigin(
  reply: FastifyReply,
  dataset: Dataset,
  options: Readonly<Record<string, unknown>>,
  times: readonly number[] = [],
): void {
  reply.header("fieldprobe-version", version).header("fieldprobe-manifest", dataset.digest);
  const tell = (name: string, text: string): void => {
    if (text !== "" && text.length <= MOST_CHARACTERS && /^[\x20-\x7e]*$/.test(text)) reply.header(name, text);
  };
  tell("fieldprobe-options", JSON.stringify(options));
  tell("fieldprobe-frames", framesBehind(dataset, options, times) ?? "");
}

/** Tags the answer to a GET; true if the caller holds it, who is then told so by 304. */
export function isUnchanged(
  { config, tags }: Pick<Service, "config" | "tags">,
  request: FastifyRequest,
  reply: FastifyReply,
  dataset: Dataset,
  form: string,
): boolean {
  addVary(reply, "Accept");
  const route = request.routeOptions.url;
  return isHeld(request, reply, config, tags.of(dataset, [route, form, canonical(request.query)]));
}
