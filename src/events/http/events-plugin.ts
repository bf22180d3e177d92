/** Mounts the routes of events; hooks, handlers and parsers stay inside. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { watchRoutes } from "../../server/http/allowed-methods.js";
import { type ApiDocs, documentApi, UNDOCUMENTED } from "../../server/http/api-docs.js";
import { VOCABULARIES } from "../model/entities.js";
import type { EventIndex } from "../store/event-index.js";
import type { Clock } from "../time/clock.js";
import { eventHandler, eventsHandler } from "./event-routes.js";
import { EventsError } from "./events-error.js";
import type { EventsSettings } from "./events-settings.js";
import { calendarHandler, eventCalendarHandler } from "./ics-routes.js";
import { callerOf, sendAs, sendError, splitTarget } from "./open-request.js";
import { refuseOthers } from "./other-methods.js";
import { represent } from "./representation.js";
import { OneByOne, type Resources } from "./resources.js";
import { SCHEMAS } from "./response-schemas.js";
import { calendarSchema, eventSchema, eventsSchema, termSchema, termsSchema } from "./route-schemas.js";
import { termHandler, termsHandler } from "./term-routes.js";

export interface EventsOptions {
  /** The present calendar. @throws EventsError 503 without one */
  readonly index: () => EventIndex;
  readonly clock: Clock;
  readonly config: EventsSettings;
  readonly page?: string;
}

const TARGET_BYTES = 8192;
const ID = ":id(^[0-9]{1,15}$)";

/** Routes below `config.prefix`, for any fastify instance. */
export function eventsInterface(options: EventsOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    await app.register((scope) => mount(scope, options), { prefix: options.config.prefix });
  };
}

async function mount(scope: FastifyInstance, { index, clock, config, page = "/docs" }: EventsOptions): Promise<void> {
  // Requests are checked by hand, so that all faults are reported at once.
  scope.setValidatorCompiler(() => () => true);
  scope.setSerializerCompiler(() => (data) => JSON.stringify(data));
  scope.decorateRequest("eventsCallback", null);
  scope.setErrorHandler((error: FastifyError, request, reply) =>
    sendError(request, reply, asEventsError(error, request)),
  );
  scope.addHook("onRoute", (route) => {
    // Addresses may carry keys, which no log may show.
    route.logSerializers = { req: (request) => ({ method: request.method, path: splitTarget(request).path }) };
  });
  scope.addHook("onRequest", async (request, reply) => {
    reply.headers({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag, Link, X-Total-Count, Retry-After",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    if (Buffer.byteLength(request.raw.url ?? "") > TARGET_BYTES) {
      throw new EventsError(414, "uri_too_long", `The request target is longer than ${TARGET_BYTES} bytes.`);
    }
  });
  if (config.perMinute > 0) await limitRate(scope, config);
  const methodsOf = watchRoutes(scope);
  const prefix = config.basePath + scope.prefix;
  const docs = documentApi(scope, {
    title: "Events",
    page,
    base: config.basePath,
    description: "Read-only collections of events and of the terms they are assigned to, as JSON with links (HAL).",
    scheme: { name: "apiKey", definition: { type: "apiKey", in: "header", name: "X-API-Key" } },
  });
  for (const schema of SCHEMAS) scope.addSchema(schema);
  const render = { prefix, categoryUrl: config.categoryUrl };
  addRoutes(scope, { index, clock, settings: config, render, longBodies: new OneByOne() }, docs);
  refuseOthers(scope, page, (path) => methodsOf(path.replace(/\/$/, "")).includes("GET"));
}

async function limitRate(scope: FastifyInstance, config: EventsSettings): Promise<void> {
  await scope.register(import("@fastify/rate-limit"), {
    max: config.perMinute,
    timeWindow: 60_000,
    keyGenerator: (request) => callerOf(request, config),
    errorResponseBuilder: () => new EventsError(429, "rate_limited", "Too many requests; see Retry-After."),
  });
}

function addRoutes(scope: FastifyInstance, shared: Resources, docs: ApiDocs): void {
  const { routerOptions } = scope.initialConfig as { routerOptions?: { ignoreTrailingSlash?: boolean } };
  const slashes = routerOptions?.ignoreTrailingSlash ? [""] : ["", "/"];
  const get = (path: string, schema: object, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) => {
    for (const slash of slashes) scope.get(path + slash, { schema: slash ? UNDOCUMENTED : schema }, handler);
  };
  get("/events", eventsSchema("Events, one object per instance by default."), eventsHandler(shared, null));
  get(`/events/${ID}`, eventSchema(), eventHandler(shared));
  get("/events.ics", calendarSchema(), calendarHandler(shared));
  get(`/events/${ID}.ics`, UNDOCUMENTED, eventCalendarHandler(shared));
  for (const row of VOCABULARIES) {
    get(`/events/${ID}/${row.name}`, termsSchema(row, true), termsHandler(shared, row, true));
    get(`/${row.name}`, termsSchema(row), termsHandler(shared, row, false));
    get(`/${row.name}/${ID}`, termSchema(row), termHandler(shared, row));
    get(`/${row.name}/${ID}/events`, eventsSchema("Events of a term.", true), eventsHandler(shared, row.name));
  }
  let document: string | null = null;
  get("/openapi.json", UNDOCUMENTED, async (request, reply) => {
    document ??= JSON.stringify(await docs.document());
    return sendAs("application/json", request, reply, represent(document), shared.settings);
  });
}

function asEventsError(error: FastifyError | EventsError, request: FastifyRequest): EventsError {
  if (error instanceof EventsError) return error;
  const { status, headers } = error as { status?: number; headers?: Record<string, string> };
  const refused = status ?? error.statusCode ?? 500;
  if (refused >= 400 && refused < 500) {
    return new EventsError(refused, "invalid_parameter", "The request is not valid.", [], headers);
  }
  request.log.error({ reqId: request.id, err: error }, "events request failed");
  return new EventsError(500, "internal", "Something went wrong here.");
}
