/** Mounts the routes of events; their hooks, handlers and parsers apply to no other routes. */
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
import { callerOf, splitTarget } from "./open-request.js";
import { refuseOthers } from "./other-methods.js";
import { OneByOne, type Resources } from "./resources.js";
import { SCHEMAS } from "./response-schemas.js";
import {
  calendarSchema,
  EVENT,
  EVENT_PAGE,
  EVENT_QUERY,
  EVERYWHERE,
  routeSchema,
  TERM_QUERY,
  term,
  termPage,
} from "./route-schemas.js";
import { sendAnswer, sendError } from "./send.js";
import { termHandler, termsHandler } from "./term-routes.js";

export interface EventsOptions {
  /** The present calendar. Throws EventsError 503 without one. */
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
  const events = routeSchema("Events, one object per instance by default.", "events", EVENT_QUERY, EVENT_PAGE);
  get("/events", events, eventsHandler(shared, null));
  const event = routeSchema("One event with all its instances.", "events", EVERYWHERE, EVENT, true);
  get(`/events/${ID}`, event, eventHandler(shared));
  get("/events.ics", calendarSchema(), calendarHandler(shared));
  get(`/events/${ID}.ics`, UNDOCUMENTED, eventCalendarHandler(shared));
  for (const row of VOCABULARIES) {
    const { name } = row;
    const [plural, singular] = [name.replace("_", " "), row.type.replace("_", " ")];
    const ofEvent = routeSchema(`The ${plural} of an event.`, name, TERM_QUERY, termPage(row), true);
    get(`/events/${ID}/${name}`, ofEvent, termsHandler(shared, row, true));
    get(`/${name}`, routeSchema(`All ${plural}.`, name, TERM_QUERY, termPage(row)), termsHandler(shared, row, false));
    get(`/${name}/${ID}`, routeSchema(`One ${singular}.`, name, EVERYWHERE, term(row), true), termHandler(shared, row));
    const ofTerm = routeSchema("Events of a term.", "events", EVENT_QUERY, EVENT_PAGE, true);
    get(`/${name}/${ID}/events`, ofTerm, eventsHandler(shared, name));
  }
  let document: string | null = null;
  get("/openapi.json", UNDOCUMENTED, async (request, reply) => {
    document ??= JSON.stringify(await docs.document());
    return sendAnswer(request, reply, shared, { type: "application/json", parts: [document] });
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
