/** Sets up the HTTP server: limits, timeouts, hooks, errors, health and metrics. Interfaces are plug-ins. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import type { Engine, EngineStatus } from "../../engine/contract/query.js";
import { type Config, pathOfBase } from "../../shared/config.js";
import { CancelledError } from "../../shared/errors.js";
import { type Auth, OPEN_AUTH, watchTokens } from "./auth.js";
import { FileParts } from "./file-parts.js";
import { createMetrics } from "./metrics.js";
import { connectionsAllowed, mostOpenFiles } from "./open-files.js";
import { guardOrigins } from "./origins.js";
import { Admission } from "./policies/admission.js";
import { Connections, createServer } from "./policies/connections.js";
import { Outgoing } from "./policies/outgoing.js";
import { mainThreadCpu, TimeSlices } from "./policies/time-slices.js";
import { HttpRefusal, plainRefusal, refuseOtherRequests } from "./refusal.js";
import { NO_FACTS, outcomeOf, type RequestFacts } from "./request-facts.js";
import { sendText } from "./send-answer.js";
import type { Plugin, Service } from "./service.js";
import { TlsFiles } from "./tls.js";
import { Tags } from "./validators.js";

const HEADER_BYTES = 16 * 1024;

export interface AppOptions {
  readonly config: Config;
  readonly engine: Engine;
  readonly logger: Logger;
  readonly auth?: Auth;
  readonly plugins?: readonly Plugin[];
  readonly jobs?: boolean;
}

/** Makes the server. Its `close` waits until all connections have ended. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, engine, logger } = options;
  const slices = new TimeSlices(mainThreadCpu());
  const connections = new Connections(slices, {
    bytesPerSecond: config.limits["http.senderBytesPerSecond"],
    graceMs: config.limits["http.senderGraceMs"],
  });
  const tls = config.tls === null ? null : new TlsFiles(config.tls);
  const maxConnections = allowedConnections(config, logger);
  const server = serverOptions(config, connections, maxConnections, tls);
  // Fastify's type depends on the kind of server; routes work with each.
  const app = Fastify({ loggerInstance: logger, ...server }) as unknown as FastifyInstance;
  app.decorate("connections", connections);
  app.decorate("slices", slices);
  const service = createService(app, options, slices);
  app.decorate("reload", () => {
    service.auth.reload();
    tls?.reload(app.server as HttpsServer, logger);
  });
  app.server.maxConnections = maxConnections;
  answerExpectations(app.server, config.limits["http.bodyBytes"]);
  observeRequests(app, service, logger);
  app.setErrorHandler(plainError);
  guardOrigins(app, config);
  await refuseOtherRequests(app, "", () => new HttpRefusal(404, "There is nothing at this address."));
  app.get("/healthz", (_request, reply) => reply.type("text/plain; charset=utf-8").send("ok\n"));
  app.get("/readyz", (_request, reply) => {
    const { ready, waiting, stores, nats, peers } = engine.status();
    // Optional parts are reported, but the service is ready without them.
    const state = ready ? "ready" : "not ready";
    const lines = [state, `fields: ${state}`];
    if (waiting > 0) lines.push(`waiting: ${waiting}`);
    for (const { store, answers } of stores) lines.push(`store ${store}: ${answers ? "answers" : "does not answer"}`);
    if (nats !== null) lines.push(`cluster: ${clusterState(nats, peers)}`);
    for (const [name, plugin] of service.optional) lines.push(`${name}: ${plugin.state()}`);
    const answer = reply.code(ready ? 200 : 503).type("text/plain; charset=utf-8");
    return answer.send(`${lines.join("\n")}\n`);
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type(service.metrics.registry.contentType).send(await service.metrics.registry.metrics()),
  );
  for (const add of options.plugins ?? []) await app.register(async (instance) => add(instance, service));
  return app;
}

function clusterState(nats: NonNullable<EngineStatus["nats"]>, peers: EngineStatus["peers"]): string {
  if (!nats.connected) return `alone: ${nats.problem}`;
  return `${peers.filter(({ usable }) => usable).length} of ${peers.length} peers usable`;
}

/** The number of connections to accept; warns if the system allows fewer than the settings. */
function allowedConnections({ limits }: Config, log: Logger): number {
  const files = mostOpenFiles();
  const wanted = limits["http.connections"];
  const allowed = connectionsAllowed(wanted, files);
  if (allowed < wanted) {
    const facts = { openFiles: files, connections: allowed, wanted };
    log.warn(facts, "the limit of open files allows fewer connections than http.connections");
  }
  return allowed;
}

function serverOptions(
  { limits, trustProxy, baseUrl }: Config,
  connections: Connections,
  maxConnections: number,
  tls: TlsFiles | null,
) {
  const headersTimeout = Math.min(limits["http.headersTimeoutMs"], limits["http.requestTimeoutMs"]);
  const http = {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout,
    requestTimeout: limits["http.requestTimeoutMs"],
    keepAliveTimeout: limits["http.keepAliveTimeoutMs"],
    connectionsCheckingInterval: Math.min(500, headersTimeout),
    // `checkFraming` refuses requests without a host, with the usual headers.
    requireHostHeader: false,
  };
  const base = pathOfBase(baseUrl);
  const keyPair = tls?.pair ?? null;
  const secure = keyPair === null ? null : { ...keyPair, handshakeTimeout: headersTimeout };
  return {
    ...(keyPair === null ? {} : { https: keyPair }),
    serverFactory: (listener: RequestListener) => {
      const server = createServer(http, secure, connections, listener, maxConnections);
      // Drops a caller on whose socket nothing has moved for longer than any request may take.
      server.setTimeout(limits["http.requestTimeoutMs"] + limits["query.deadlineMs"]);
      server.on("timeout", (socket: Socket) => endTimedOut(socket, connections, headersTimeout));
      return server;
    },
    // `X-Forwarded-For` counts only if a trusted proxy sends it.
    trustProxy: trustProxy === null ? false : [...trustProxy],
    rewriteUrl: ({ url }: IncomingMessage) => withValidEscapes(withoutBase(base, pathOf(url ?? "/"))),
    // Without this, Fastify answers 404 itself for long names.
    routerOptions: { maxParamLength: HEADER_BYTES },
    // The `onRequest` hook answers 503 while the server closes, with the headers that every answer has.
    return503OnClosing: false,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (shared: FastifyBaseLogger) => shared,
    genReqId: () => randomUUID(),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      connections.afterAnswers(socket, () => refuseUnparsed(error, socket, connections.hasBegun(socket))),
  };
}

/**
 * Ends an idle connection. While a request is pending, it does so at once; otherwise only if no further request is
 * arriving: the parser refuses that one after `headersTimeout` if it stays incomplete.
 */
function endTimedOut(socket: Socket, connections: Connections, headersTimeout: number): void {
  if (connections.hasPending(socket)) {
    socket.destroy();
    return;
  }
  // Node runs timers before it reads what has arrived: look again after the read.
  const read = socket.bytesRead;
  setImmediate(() => {
    if (socket.bytesRead !== read) return;
    if (connections.hasNext(socket)) socket.setTimeout(headersTimeout + 1_000);
    else socket.destroy();
  });
}

/** The path of a request target, which may include scheme and authority (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?]*/i, "");
  return rest.length === target.length || rest.startsWith("/") ? rest : `/${rest}`;
}

/** Removes `base`, the path of the public address (empty or `/path`), from a target, unless a proxy has done so. */
function withoutBase(base: string, target: string): string {
  if (base === "" || !target.startsWith(base)) return target;
  const rest = target.slice(base.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : target;
}

/** Escapes the percent signs of a path that cannot be decoded, so that the router takes them literally. */
function withValidEscapes(url: string): string {
  if (!url.includes("%")) return url;
  const end = url.indexOf("?");
  const path = end < 0 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll("%", "%25") + url.slice(path.length);
  }
}

function createService(
  app: FastifyInstance,
  { config, engine, logger, auth, jobs = true }: AppOptions,
  slices: TimeSlices,
): Service {
  app.decorate("fileParts", new FileParts());
  app.decorate("optional", new Map());
  const admission = new Admission(config.limits);
  const outgoing = new Outgoing(
    config.limits["http.waitingBytes"],
    config.limits["http.readerGraceMs"],
    config.limits["http.readerBytesPerSecond"],
  );
  const authenticator =
    auth ??
    (config.tokens === null ? OPEN_AUTH : watchTokens(config.tokens, config.anonymous ?? false, config.limits, logger));
  app.addHook("onClose", async () => authenticator.close());
  app.addHook("onClose", async () => app.connections.stop());
  const metrics = createMetrics(engine, admission, outgoing, slices);
  const { connections } = app;
  return {
    config,
    engine,
    auth: authenticator,
    admission,
    connections,
    outgoing,
    slices,
    optional: app.optional,
    tags: new Tags(config),
    jobs,
    tasks: new Map(),
    metrics,
    basePath: pathOfBase(config.baseUrl),
    baseUrl: () => config.baseUrl ?? listeningUrl(app, config),
  };
}

/** The address of the listening socket, without a slash at its end. */
export function listeningUrl(app: FastifyInstance, config: Config): string {
  const address = app.server.address() as AddressInfo | null;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return `${config.tls === null ? "http" : "https"}://${host}:${address?.port ?? config.port}`;
}

/** Answers `Expect: 100-continue` unless the body is too long for every interface; refuses other expectations. */
function answerExpectations(server: Server, bodyBytes: number): void {
  server.on("checkContinue", (request, response) => {
    if (Number(request.headers["content-length"] ?? 0) <= bodyBytes) response.writeContinue();
    server.emit("request", request, response);
  });
  server.on("checkExpectation", (_request, response) => {
    response.writeHead(417, { "x-content-type-options": "nosniff", "content-length": 0, connection: "close" }).end();
  });
}

/** Hooks of every request: common headers, access log, refusal of ambiguous framing and of all requests at shutdown. */
function observeRequests(app: FastifyInstance, service: Service, log: FastifyBaseLogger): void {
  let isClosing = false;
  app.addHook("preClose", (done) => {
    isClosing = true;
    done();
  });
  app.decorateRequest("facts");
  app.addHook("onRequest", (request, reply, done) => {
    const since = performance.now();
    service.slices.noteActivity();
    const facts: RequestFacts = { ...NO_FACTS };
    request.facts = facts;
    reply.header("x-content-type-options", "nosniff");
    reply.header("x-request-id", request.id);
    const { raw } = reply;
    const { socket } = request.raw;
    const sentBefore = socket.bytesWritten;
    // An injected request has no socket: its bytes do not count.
    const isInjected = sentBefore === undefined;
    const client = request.ip;
    raw.on("close", () => {
      if (isClosing && !isInjected && !app.connections.hasPending(socket)) socket.destroySoon();
      const status = raw.statusCode;
      const outcome = outcomeOf(facts, isInjected ? raw.writableEnded : raw.writableFinished, status);
      const ms = performance.now() - since;
      service.metrics.observe({ ...facts, outcome, seconds: ms / 1000 });
      log.info({
        reqId: request.id,
        client,
        method: request.method,
        path: request.routeOptions.url ?? "none",
        status,
        interface: facts.interface,
        operation: facts.operation,
        dataset: facts.dataset,
        outcome,
        points: facts.points,
        token: facts.token,
        bytes: isInjected ? 0 : socket.bytesWritten - sentBefore,
        queueMs: hundredths(facts.queueMs),
        computeMs: hundredths(facts.computeMs),
        encodeMs: hundredths(facts.encodeMs),
        ms: hundredths(ms),
      });
    });
    if (isClosing) {
      const headers = { "content-type": "text/plain; charset=utf-8", "retry-after": "1", connection: "close" };
      sendText(reply, request.raw, 503, headers, "The service is shutting down.\n");
      return;
    }
    checkFraming(request.raw);
    done();
  });
}

const PARSER_STATUSES: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", "413 Payload Too Large"],
]);

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Refuses requests whose length or host a proxy may read differently (RFC 9112, sections 3.2 and 6.1). */
function checkFraming({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  const coding = headers["transfer-encoding"];
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts === 0 && httpVersion === "1.1")
    throw new HttpRefusal(400, "The request names no host.", { connection: "close" });
  if (hosts > 1 || (coding !== undefined && coding.trim().toLowerCase() !== "chunked"))
    throw new HttpRefusal(400, "The framing of the request is not clear.", { connection: "close" });
}

/** Answers an error outside all interfaces; ends the connection of a cancelled request. */
function plainError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof CancelledError) {
    request.facts.outcome = "cancelled";
    reply.hijack().raw.destroy();
    return reply;
  }
  const { status, headers, body } = plainRefusal(error, request);
  return sendText(reply, request.raw, status, headers, body);
}

/** Refuses a request that cannot be parsed, or is late. If an answer has begun, no other can be sent. */
function refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket, hasBegun: boolean): void {
  // Without a TLS handshake no answer can be sent.
  const isUnsecured = /^ERR_(?:TLS|SSL)_/.test(error.code ?? "");
  if (isUnsecured || error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (hasBegun) {
    socket.destroySoon();
    return;
  }
  const status = PARSER_STATUSES.get(error.code ?? "") ?? "400 Bad Request";
  const headers = ["Connection: close", "X-Content-Type-Options: nosniff", "Content-Length: 0"];
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n`, () => socket.destroy());
}
