/** `documentApi` makes the OpenAPI document of an interface and its human page from the schemas of its routes. */
import type { FastifyInstance, FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import { version } from "../../version.js";

/** Content policy of the human page: everything from this service; its own style attributes are the exception. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join("; ");

/** The head of a document, and one way to be authorised, which is optional on every route. */
export interface ApiHead {
  readonly title: string;
  readonly description: string;
  /** Path of the human page below the scope. */
  readonly page: string;
  readonly scheme: { readonly name: string; readonly definition: SecurityScheme };
}

type SecurityScheme = { type: "http"; scheme: string } | { type: "apiKey"; in: "header"; name: string };

/** The schema of a route that documents leave out. */
export const UNDOCUMENTED: FastifySchema = { hide: true };

/** The documents of an interface. */
export interface ApiDocs {
  /** The OpenAPI document. */
  document(): Promise<object>;
}

/**
 * Documents the routes that are added to `scope` from now on; `page` of the head is the path of the human page.
 * Shared schemas keep their `$id` as the name in the document.
 *
 * The libraries for document and page are loaded on the first request for them, so that the service is ready earlier.
 */
export function documentApi(scope: FastifyInstance, head: ApiHead): ApiDocs {
  const routes: RouteOptions[] = [];
  let pages: Promise<FastifyInstance> | null = null;
  const made = (): Promise<FastifyInstance> => {
    pages ??= makePages(routes, scope.getSchemas(), `${scope.prefix}${head.page}`, head);
    return pages;
  };
  scope.addHook("onRoute", (route) => {
    if (route.method !== "HEAD" && route.schema?.hide !== true) routes.push(route);
  });
  for (const url of [head.page, `${head.page}/*`]) {
    scope.get(url, { schema: UNDOCUMENTED }, async (request, reply) => {
      const page = await (await made()).inject({ method: "GET", url: request.url, headers: conditionsOf(request) });
      if (page.statusCode === 404) return reply.callNotFound();
      const { connection, date, ...headers } = page.headers;
      return reply.code(page.statusCode).headers(headers).send(page.rawPayload);
    });
  }
  return { document: async () => (await made()).swagger() };
}

/** Headers of a request that decide whether a page is sent. */
function conditionsOf({ headers }: FastifyRequest): Record<string, string> {
  const kept = ["if-none-match", "if-modified-since"] as const;
  return Object.fromEntries(kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/**
 * An instance that listens nowhere and has the same routes without handlers, with the document made of them and its
 * page.
 */
async function makePages(
  routes: readonly RouteOptions[],
  schemas: Readonly<Record<string, unknown>>,
  routePrefix: string,
  { title, description, scheme }: ApiHead,
): Promise<FastifyInstance> {
  const libraries = [import("fastify"), import("@fastify/swagger"), import("@fastify/swagger-ui")] as const;
  const [{ default: Fastify }, { default: swagger }, { default: swaggerUi }] = await Promise.all(libraries);
  const pages = Fastify();
  pages.setValidatorCompiler(() => () => true);
  pages.setSerializerCompiler(() => (data) => JSON.stringify(data));
  await pages.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: { title, version, description },
      components: { securitySchemes: { [scheme.name]: scheme.definition } },
      security: [{}, { [scheme.name]: [] }],
    },
    refResolver: { buildLocalReference: nameOf },
  });
  for (const schema of Object.values(schemas)) pages.addSchema(schema);
  await pages.register(swaggerUi, { routePrefix, staticCSP: DOCS_POLICY });
  for (const { method, url, schema = {} } of routes) {
    pages.route({ method, url, schema, handler: () => undefined });
  }
  await pages.ready();
  return pages;
}

/** The name of a shared schema in the document. */
function nameOf({ $id }: { readonly $id?: unknown }, _baseUri: unknown, _fragment: unknown, position: number): string {
  return String($id ?? `schema-${position}`);
}
