/** The pipeline of a SOAP request: media type, envelope, operation, request, execution, reply. */
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Evaluation, Result } from "../../engine/query.js";
import { CancelledError, excerpt, RequestError } from "../../errors.js";
import type { OperationRow } from "../../operations.js";
import type { PointsHold } from "../http/admission.js";
import { sendBlocks, sendBytes, sendText } from "../http/answer.js";
import type { Grant } from "../http/auth.js";
import { HttpRefusal } from "../http/refusal.js";
import type { Service } from "../http/service.js";
import { Body } from "./body.js";
import { type DecodeContext, decode, operationAsked } from "./decode.js";
import { ResponseEncoder } from "./encode.js";
import { closeEnvelope, openEnvelope } from "./envelope.js";
import { CONTENT_TYPES, faultAnswer } from "./fault.js";
import { PlainScanners } from "./items.js";
import { type MediaType, readMediaType, readSoapAction } from "./media-type.js";
import { type Steps, walk } from "./steps.js";
import { writeWsdl } from "./wsdl.js";
import { Spellings, XmlReader } from "./xml/reader.js";

export const SOAP_PATH = "/service/turbulence.asmx";

/** Registers the one address of the service; parsers and error handling stay inside this plugin. */
export function soapRoutes(app: FastifyInstance, service: Service): void {
  const encoder = new ResponseEncoder(service.config.namespace, service.turns);
  const shared: Shared = { encoder, spellings: new Spellings(), scanners: new PlainScanners() };
  app.route({
    method: "POST",
    url: SOAP_PATH,
    // The body is read by the exchange as it arrives; parsers of the library, which come after this hook, are not asked.
    onRequest: (request, reply) => {
      const media = refuseEarly(request.headers, service);
      new Exchange(request, reply, media, service, shared).run().catch((error: unknown) => {
        request.log.error({ reqId: request.id, err: error }, "a request could not be answered");
        reply.raw.destroy();
      });
    },
    handler: () => undefined,
  });
  app.route({ method: "GET", url: SOAP_PATH, handler: (request, reply) => describe(request, reply, service) });
}

/** Judges what can be judged before the body is read. */
function refuseEarly(headers: IncomingHttpHeaders, service: Service): MediaType {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    throw new HttpRefusal(415, "Compressed requests are not taken.", { "accept-encoding": "identity" });
  }
  if (Number(headers["content-length"] ?? 0) > service.config.limits["http.bodyBytes"]) {
    throw new HttpRefusal(413, "The body is too large.", { connection: "close" });
  }
  const media = readMediaType(headers["content-type"]);
  service.admission.arrive();
  return media;
}

function describe(request: FastifyRequest, reply: FastifyReply, service: Service): FastifyReply {
  const wanted = Object.keys(request.query as object).some((key) => key.toLowerCase() === "wsdl");
  if (!wanted) throw new HttpRefusal(405, "Send a SOAP request by POST.", { allow: "POST" });
  const wsdl = writeWsdl(service.config.namespace, `${service.baseUrl()}${SOAP_PATH}`);
  return reply.type("text/xml; charset=utf-8").send(wsdl);
}

/** What the requests of a service share. */
interface Shared {
  readonly encoder: ResponseEncoder;
  readonly spellings: Spellings;
  readonly scanners: PlainScanners;
}

/** One request and its answer. */
class Exchange {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #service: Service;
  readonly #shared: Shared;
  readonly #media: MediaType;
  /** Set while the request waits for a slot. */
  #waiting: AbortController | undefined;
  #gone = false;
  readonly #points: PointsHold;
  #body: Body | undefined;
  #evaluation: Evaluation | undefined;
  #grant: Grant | undefined;
  #releaseSlot: (() => void) | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, media: MediaType, service: Service, shared: Shared) {
    this.#request = request;
    this.#reply = reply;
    this.#service = service;
    this.#shared = shared;
    this.#media = media;
    this.#points = service.admission.hold();
    request.facts.interface = `soap ${this.#media.version}`;
    reply.raw.on("close", () => this.#end());
  }

  /** Serves the request to its end. */
  async run(): Promise<void> {
    try {
      const row = await walk(this.#read());
      if (this.#gone) throw new CancelledError();
      const { limits } = this.#service.config;
      this.#releaseSlot = this.#service.admission.trySlot() ?? (await this.#waitForSlot(limits["query.deadlineMs"]));
      const result = await (this.#evaluation as Evaluation).finish();
      await this.#answer(row, result);
    } catch (error) {
      this.#evaluation?.abort();
      this.#refuse(error);
    } finally {
      if (this.#gone) this.#release();
    }
  }

  async #waitForSlot(waitMs: number): Promise<() => void> {
    this.#waiting = new AbortController();
    return this.#service.admission.slot(waitMs, this.#waiting.signal);
  }

  /** Reads the whole request; its evaluation is under way afterwards. */
  *#read(): Steps<OperationRow> {
    const { config, turns, round } = this.#service;
    const { limits } = config;
    const { version, charset } = this.#media;
    const body = new Body(this.#request.raw, charset, limits["http.bodyBytes"], turns, round);
    this.#body = body;
    turns.begin();
    try {
      const reader = new XmlReader(body, limits, this.#shared.spellings);
      yield* openEnvelope(reader, version, limits["soap.headerBlocks"]);
      const row = operationAsked(config.namespace, reader);
      if (row === undefined) {
        throw new RequestError("UnknownOperation", `There is no operation ${excerpt(reader.local)}.`);
      }
      this.#request.facts.operation = row.name;
      this.#checkAction(row);
      yield* decode(reader, row, this.#decodeContext());
      yield* closeEnvelope(reader);
      return row;
    } finally {
      turns.end();
      body.release();
    }
  }

  /** A client may leave the action out, but not name one operation in it and send another. */
  #checkAction(row: OperationRow): void {
    const header = this.#request.headers.soapaction as string | undefined;
    const action = this.#media.version === "1.1" ? readSoapAction(header) : this.#media.action;
    if (action === undefined) return;
    const { namespace } = this.#service.config;
    if (!action.startsWith(namespace) || action.slice(namespace.length) !== row.name) {
      throw new RequestError("ActionMismatch", `The action ${excerpt(action)} is not that of ${row.name}.`);
    }
  }

  #decodeContext(): DecodeContext {
    const { config, auth, engine, turns } = this.#service;
    const { facts } = this.#request;
    return {
      namespace: config.namespace,
      version: this.#media.version,
      scanners: this.#shared.scanners,
      authorise: (token) => {
        this.#grant = auth.authorise(token);
        facts.token = this.#grant.id;
        return this.#grant.points;
      },
      start: (query) => {
        this.#evaluation = engine.start(query, { deadlineMs: config.limits["query.deadlineMs"] });
        return this.#evaluation;
      },
      admit: (count) => {
        facts.points += count;
        const wait = count > 0 ? this.#points.add(count) : undefined;
        // Thousands of items in an unusual form fit into what a turn may read.
        return wait ? turns.outside(wait) : turns.pause();
      },
    };
  }

  async #answer(row: OperationRow, result: Result): Promise<void> {
    try {
      const { version } = this.#media;
      const short = this.#shared.encoder.encodeShort(row, version, result);
      if (short !== undefined) {
        sendBytes(this.#reply, CONTENT_TYPES[version], short);
        return;
      }
      const blocks = this.#shared.encoder.encode(row, version, result);
      await sendBlocks(this.#reply, CONTENT_TYPES[version], blocks, this.#service.config.gzip);
    } finally {
      result.release();
    }
  }

  #refuse(error: unknown): void {
    const { facts, raw, id, log } = this.#request;
    const left = this.#gone || error instanceof CancelledError;
    if (left || this.#reply.raw.headersSent) {
      facts.outcome = left ? "cancelled" : "Internal";
      if (!left) log.error({ reqId: id, err: error }, "an answer could not be completed");
      this.#reply.hijack();
      this.#reply.raw.destroy();
      return;
    }
    if (error instanceof HttpRefusal) {
      this.#reply.send(error);
      return;
    }
    const answer = faultAnswer(error, this.#media.version, this.#service.config.namespace, id);
    facts.outcome = answer.code;
    if (answer.code === "Internal" || answer.code === "DataError")
      log.error({ reqId: id, err: error }, "a request failed");
    sendText(this.#reply, raw, answer.status, answer.headers, answer.body);
  }

  /** The answer is out, or the caller has left. */
  #end(): void {
    if (!this.#reply.raw.writableFinished) {
      this.#gone = true;
      this.#body?.close();
      this.#waiting?.abort(new CancelledError());
      this.#evaluation?.abort();
    }
    this.#release();
  }

  /** Gives back what is held; a caller may leave before all of it has been taken. */
  #release(): void {
    this.#points.release();
    this.#grant?.release();
    this.#grant = undefined;
    this.#releaseSlot?.();
  }
}
