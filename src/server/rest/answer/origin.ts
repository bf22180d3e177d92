/** Says in headers where the numbers of an answer come from, and spares whoever holds them a second computation. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { framesUsed } from "../../../engine/contract/query-frames.js";
import { version } from "../../../version.js";
import { addVary } from "../../http/send-answer.js";
import type { Service } from "../../life/service.js";
import { canonical, isHeld } from "../../life/validators.js";

/** Characters of a header; a longer one is left out, because clients refuse it. */
const MOST_CHARACTERS = 4096;

/** Names version, data and options of an answer, and the frames that its values rest on. */
export function tellOrigin(
  reply: FastifyReply,
  dataset: Dataset,
  options: Readonly<Record<string, unknown>>,
  times: readonly number[] = [],
): void {
  reply.header("fieldprobe-version", version).header("fieldprobe-manifest", dataset.digest);
  const tell = (name: string, text: string): void => {
    if (text.length <= MOST_CHARACTERS && /^[\x20-\x7e]*$/.test(text)) reply.header(name, text);
  };
  tell("fieldprobe-options", JSON.stringify(options));
  const { temporalInterpolation: method = "None" } = options;
  if (times.length === 0 || (method !== "None" && method !== "PCHIP")) return;
  tell("fieldprobe-frames", framesUsed(dataset.time, times, method).join(","));
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
