/** SOAP route: serves requests from the media type to the last byte of the answer. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { excerpt, RequestError } from "../../shared/errors.js";
import { DIALECTS, type OperationRow, operationsOnWire } from "../../shared/operations.js";
import { type Steps, walk } from "../../text/steps.js";
import { isLarge } from "../../text/written-records.js";
import { HttpRefusal, refuseOtherRequests } from "../http/refusal.js";
import { RequestLife } from "../http/request-life.js";
import { sendChunks, sendStream, sendText } from "../http/send-answer.js";
import { type Plugin, type Service, SOAP_PATH } from "../http/service.js";
import { type DecodedOperation, decode, requestedOperations } from "./decode.js";
import { ResponseEncoder } from "./encode.js";
import { closeEnvelope, openEnvelope } from "./envelope.js";
import { CONTENT_TYPES, faultFor } from "./fault.js";
import { type MediaType, MediaTypes, readSoapAction } from "./media-type.js";
import { Utf8Body } from "./transcode.js";
import { writeWsdl } from "./wsdl.js";
import { NameCache, XmlReader } from "./xml/reader.js";

interface RouteContext {
  readonly service: Service;
  readonly mediaTypes: MediaTypes;
  readonly nameCache: NameCache;
  readonly encoder: ResponseEncoder;
}

/** SOAP interface: calls by POST, the WSDL by GET. */
export const soapPlugin: Plugin = async (app, service) => {
  const shared: RouteContext = {
    service,
    mediaTypes: new MediaTypes(),
    nameCache: new NameCache(),
    encoder: new ResponseEncoder(service.config.namespace),
  };
  await app.register(async (soap) => postRoute(soap, shared));
  const wsdls = new Map<string, string>();
  app.get(SOAP_PATH, (request, reply) => sendWsdl(request, reply, service, wsdls));
  await refuseOtherRequests(app, SOAP_PATH, (path) =>
    path === SOAP_PATH ? onlyPost() : new HttpRefusal(404, "There is nothing at this address."),
  );
};

/**
 * Adds the POST route. Its `onRequest` hook serves calls before fastify checks length and type of the body: `serve`
 * does that, and reads the body as it arrives.
 */
function postRoute(soap: FastifyInstance, shared: RouteContext): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
    serve(request, reply, shared).catch((error: unknown) => reply.send(error));
  };
  soap.post(SOAP_PATH, { onRequest }, () => undefined);
}

function onlyPost(): HttpRefusal {
  return new HttpRefusal(405, "Send a SOAP request by POST.", { allow: "POST" });
}

function servicePage(): string {
  const name = SOAP_PATH.split("/").at(-1);
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>SOAP service of fieldprobe</title></head><body><main>' +
    "<h1>SOAP service of fieldprobe</h1><p>Toolkits send requests to this address by POST, in SOAP 1.1 or 1.2.</p><ul>" +
    `<li><a href="${name}?wsdl=older">WSDL of the older interface</a></li>` +
    `<li><a href="${name}?wsdl=later">WSDL of the later interface, with more fields, searches and cutouts</a></li></ul>` +
    "</main></body></html>\n"
  );
}

/** Sends a WSDL. `cache`: WSDLs by dialect and address. */
function sendWsdl(
  request: FastifyRequest,
  reply: FastifyReply,
  service: Service,
  cache: Map<string, string>,
): FastifyReply {
  const parameters = new Map(
    Object.entries(request.query as Record<string, string>).map(([key, value]) => [key.toLowerCase(), value]),
  );
  if (parameters.size === 0 && /text\/html/i.test(request.headers.accept ?? ""))
    return reply.code(405).header("allow", "POST").type("text/html; charset=utf-8").send(servicePage());
  if (!parameters.has("wsdl")) throw onlyPost();
  // Toolkits that insist on a bare `?WSDL` may add `dialect=later`.
  const dialect =
    DIALECTS.find((name) => parameters.get("wsdl") === name || parameters.get("dialect") === name) ??
    service.config.wsdl;
  const address = `${service.baseUrl()}${SOAP_PATH}`;
  const key = `${dialect} ${address}`;
  const wsdl = cache.get(key) ?? writeWsdl(service.config.namespace, address, dialect);
  cache.set(key, wsdl);
  return reply.type("text/xml; charset=utf-8").send(wsdl);
}

/**
 * Serves one request. Worker threads evaluate batches while the body is still being read; a small query whose bricks are
 * cached is evaluated on this thread, in `finish`.
 */
async function serve(request: FastifyRequest, reply: FastifyReply, shared: RouteContext): Promise<void> {
  const media = shared.mediaTypes.read(request.headers["content-type"]);
  const life = new RequestLife(shared.service, request, reply, `soap ${media.version}`);
  try {
    const { row, evaluation } = await walk(readCall(request, life, media, shared));
    const dataset = life.find(request.facts.dataset ?? "");
    // The typed client joins answers of one data version only.
    if (dataset !== undefined) reply.header("fieldprobe-manifest", dataset.digest);
    await life.acquireSlot();
    const result = await evaluation.finish();
    try {
      const type = CONTENT_TYPES[media.version];
      await life.finishComputing([result]);
      const { textThreads } = result;
      if (textThreads !== undefined && isLarge(result)) {
        const onEncodeTime = (ms: number): void => life.reader.encoded(ms);
        const chunks = shared.encoder.encodeInThreads(row, media.version, result, textThreads, onEncodeTime);
        await sendStream(reply, type, chunks, shared.service, life.reader);
      } else if (result.stream === undefined) {
        await sendChunks(reply, type, shared.encoder.encode(row, media.version, result), shared.service, life.reader);
      } else {
        // Each part of a streamed cutout has its own deadline, in place of that of the request.
        life.clearDeadline();
        const chunks = shared.encoder.encodeBytes(row, media.version, result.stream);
        await sendStream(reply, type, chunks, shared.service, life.reader);
      }
    } finally {
      result.release();
    }
  } catch (error) {
    if (!life.abandonIfUnanswerable(error)) refuse(error, request, reply, media, shared.service);
  }
}

/** Reads the whole request; its points are evaluated as they arrive. */
function* readCall(
  request: FastifyRequest,
  life: RequestLife,
  media: MediaType,
  shared: RouteContext,
): Steps<DecodedOperation> {
  const { config, slices } = shared.service;
  const body = life.openBody();
  try {
    const reader = new XmlReader(new Utf8Body(body, media.charset), config.limits, shared.nameCache);
    yield* openEnvelope(reader, media.version, config.limits["soap.headerBlocks"]);
    const rows = requestedOperations(config.namespace, reader);
    const [row] = rows;
    if (row === undefined) throw unknownOperation(config.namespace, reader);
    request.facts.operation = row.name;
    checkAction(request, media, row, config.namespace);
    const call = yield* decode(reader, rows, {
      namespace: config.namespace,
      version: media.version,
      authorise: (token) => life.authorise(token),
      mostPoints: config.limits["query.points"],
      // Times of SOAP are float32.
      start: (query) => life.start({ ...query, singleTimes: true }),
      limit: (own) => life.limit(own),
      countPoints: (count) => {
        const wait = life.countPoints(count);
        // Only this thread reads unusual forms: with a long body it pauses for other requests.
        return wait ?? (body.isLong ? slices.pause() : null);
      },
      remaining: () => body.remaining,
    });
    yield* closeEnvelope(reader);
    request.facts.operation = call.row.name; // May be an overload.
    return call;
  } finally {
    body.release();
  }
}

/** The error of an unknown operation; names the right namespace if only that is wrong. */
function unknownOperation(namespace: string, { local, namespace: given }: XmlReader): RequestError {
  const text = `There is no operation ${excerpt(local)}`;
  const isKnown = operationsOnWire(local).length > 0;
  const where = given === "" ? "without a namespace" : `in the namespace ${excerpt(given)}`;
  return new RequestError("UnknownOperation", isKnown ? `${text} ${where}: it is in ${namespace}` : `${text}.`);
}

/** Checks the SOAP action: a client may omit it, but may not name another operation. */
function checkAction(request: FastifyRequest, media: MediaType, row: OperationRow, namespace: string): void {
  const header = request.headers.soapaction as string | undefined;
  const action = media.version === "1.1" ? readSoapAction(header) : media.action;
  // WCF sends `*` from clients that name no action.
  if (action === null || action === "*") return;
  if (!action.startsWith(namespace) || action.slice(namespace.length) !== row.wire) {
    throw new RequestError("ActionMismatch", `The action ${excerpt(action)} is not that of ${row.wire}.`);
  }
}

/** Sends a SOAP fault; an `HttpRefusal` is rethrown and answered in plain HTTP. */
function refuse(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { version }: MediaType,
  { config }: Service,
): void {
  if (error instanceof HttpRefusal) throw error;
  const { status, headers, body } = faultFor(error, request, version, config.namespace);
  sendText(reply, request.raw, status, headers, body);
}
