/** Each dataset as a Zarr store under `/zarr/NAME/`, made as it is read; `/zarr/NAME@zstd/` has compressed chunks. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { unknownDataset } from "../../shared/errors.js";
import type { TextWorkers } from "../../text/text-task.js";
import { UNDOCUMENTED } from "../http/api-docs.js";
import { compute } from "../http/compute.js";
import { problemHandler } from "../http/describe-problem.js";
import { guardReads } from "../http/origins.js";
import { PROBLEM_TYPE } from "../http/problem.js";
import { HttpRefusal } from "../http/refusal.js";
import { requestedRange } from "../http/requested-range.js";
import { sendBytes } from "../http/send-answer.js";
import type { Plugin, Service } from "../http/service.js";
import { isFresh } from "../http/validators.js";
import { chunkAt, chunkElements, computeChunk } from "./chunks.js";
import { viewOf } from "./view.js";
import { CODECS, compresses, documentAt, elementBytes, ZSTD_LEVEL } from "./view-documents.js";

const PREFIX = "/zarr";
const OCTETS = "application/octet-stream";

type ZarrRequest = FastifyRequest<{ Params: { name: string; "*": string } }>;

/** Answers by entity tag, or to HEAD; null if the answer has to be computed. */
function answerEarly(
  { config }: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  { type, tag, bytes }: { readonly type: string; readonly tag: string; readonly bytes: number | null },
): FastifyReply | null {
  reply.header("accept-ranges", "bytes");
  if (isFresh(request, reply, config, tag)) return reply.code(304).send();
  if (request.method !== "HEAD") return null;
  if (bytes !== null) reply.header("content-length", bytes);
  return reply.type(type).send();
}

/** JSON text in ASCII, as zarr-python 2 requires. */
function ascii(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function sendKnown(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  tag: string,
  body: Buffer,
) {
  const early = answerEarly(service, request, reply, { type, tag, bytes: body.length });
  if (early !== null) return early;
  const [first, last] = requestedRange(request, reply, tag, body.length);
  return reply.type(type).send(body.subarray(first, last + 1));
}

async function serveView(service: Service, request: ZarrRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { engine, tags } = service;
  const text = request.params.name;
  const codec = CODECS.find((one) => text.endsWith(`@${one}`)) ?? "none";
  const name = text.endsWith(`@${codec}`) ? text.slice(0, -codec.length - 1) : text;
  const dataset = engine.find(name);
  if (dataset === undefined) throw unknownDataset(name, engine.datasets());
  const { "fieldprobe-manifest": opened = dataset.digest } = request.headers;
  if (opened !== dataset.digest)
    throw new HttpRefusal(412, `"${dataset.name}" was replaced since the store was opened: open it again.`);
  const path = request.params["*"];
  const levels = engine.levels(dataset);
  const view = viewOf(dataset, levels);
  const tag = tags.of(dataset, ["zarr", codec, path, levels?.datasets[0]?.digest]);
  // The time of the newest source file, by which readers of stores notice changes.
  const newest = Math.max(0, ...dataset.files.map(({ modifiedMs, newestMs }) => newestMs ?? modifiedMs));
  if (newest > 0) reply.header("last-modified", new Date(newest).toUTCString());
  const document = documentAt(view, path, codec);
  if (document !== null) {
    const body = Buffer.from(`${ascii(JSON.stringify(document))}\n`);
    return sendKnown(service, request, reply, "application/json", tag, body);
  }
  const chunk = chunkAt(view, path);
  if (chunk === null) throw new HttpRefusal(404, "There is nothing at this address of the store.");
  const { array } = chunk;
  if (array.content.kind === "coordinates")
    return sendKnown(service, request, reply, OCTETS, tag, bytesOf(array.content.values));
  const compressed = compresses(array, codec);
  const bytes = compressed ? null : elementBytes(array) * chunkElements(chunk);
  return compute(service, { name: "zarr" }, request as FastifyRequest, reply, async (life) => {
    const early = answerEarly(service, request, reply, { type: OCTETS, tag, bytes });
    if (early !== null) return early;
    // The life of the request keeps this version of the dataset, and so the tag valid, until its end.
    const level = array.content.kind === "field" ? array.content.of?.level : undefined;
    const version = life.dataset(level ? `${name}@${level}` : name);
    const { values, result } = await computeChunk(life, version, chunk);
    const plain = bytesOf(values);
    const body = compressed
      ? Buffer.from(await (result.textThreads as TextWorkers).compress(plain, ZSTD_LEVEL))
      : plain;
    await life.finishComputing([{ values: [], heldBytes: body.length }]);
    const [first, last] = requestedRange(request, reply, tag, body.length);
    reply.type(OCTETS);
    await sendBytes(reply, Readable.from([body.subarray(first, last + 1)]), service, life.reader);
    return reply;
  });
}

function routes(scope: FastifyInstance, service: Service): void {
  guardReads(scope, service.config);
  const contentType = `${PROBLEM_TYPE}; charset=utf-8`;
  scope.setErrorHandler(problemHandler({ name: "zarr", contentType, body: (problem) => problem }));
  scope.route({
    method: ["GET", "HEAD"],
    url: "/:name/*",
    schema: UNDOCUMENTED,
    handler: (request, reply) => serveView(service, request as ZarrRequest, reply),
  });
}

export const zarrPlugin: Plugin = async (app, service) => {
  await app.register(async (scope) => routes(scope, service), { prefix: PREFIX });
};
