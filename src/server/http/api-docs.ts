/** OpenAPI document of an interface and its reference page, from the schemas of its routes. */
import type { FastifyInstance, FastifySchema, RouteOptions } from "fastify";
import { version } from "../../shared/build.js";
import { type ApiExample, type ApiGroup, referencePage } from "./reference-page.js";

/** Content policy of the page: nothing but its own style. */
const DOCS_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join("; ");

export interface ApiHead {
  readonly title: string;
  readonly description: string;
  readonly page: string;
  /** Path of the public address; empty without one. */
  readonly base: string;
  readonly scheme: { readonly name: string; readonly definition: SecurityScheme };
  readonly groups?: readonly ApiGroup[];
  readonly example?: (method: string, address: string) => ApiExample | undefined;
}

type SecurityScheme = { type: "http"; scheme: string } | { type: "apiKey"; in: "header"; name: string };

export const UNDOCUMENTED: FastifySchema = { hide: true };

export interface ApiDocs {
  document(): Promise<object>;
}

/**
 * Documents the routes that are added to `scope` from now on. Shared schemas keep their `$id` as name. The libraries
 * are loaded on the first request, so that the service is ready earlier.
 */
export function documentApi(scope: FastifyInstance, head: ApiHead): ApiDocs {
  const routes: RouteOptions[] = [];
  let pages: Promise<FastifyInstance> | null = null;
  const made = (): Promise<FastifyInstance> => {
    pages ??= makePages(routes, scope.getSchemas(), head);
    return pages;
  };
  scope.addHook("onRoute", (route) => {
    if (route.method !== "HEAD" && route.schema?.hide !== true) routes.push(route);
  });
  let page: string | null = null;
  for (const url of [head.page, `${head.page}/`]) {
    scope.get(url, { schema: UNDOCUMENTED }, async (request, reply) => {
      const document = (await made()).swagger();
      page ??= referencePage(document, "openapi.json", head.groups ?? [], head.example ?? (() => undefined));
      // Relative, for services below a path.
      const isBelow = request.url.split("?", 1)[0]?.endsWith("/") === true;
      const shown = isBelow ? page.replace('href="openapi.json"', 'href="../openapi.json"') : page;
      return reply.type("text/html; charset=utf-8").header("content-security-policy", DOCS_POLICY).send(shown);
    });
  }
  return { document: async () => (await made()).swagger() };
}

/** An instance that does not listen, with the same routes but no handlers. */
async function makePages(
  routes: readonly RouteOptions[],
  schemas: Readonly<Record<string, unknown>>,
  { title, description, scheme, base }: ApiHead,
): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: swagger }] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
  ]);
  const pages = Fastify();
  pages.setValidatorCompiler(() => () => true);
  pages.setSerializerCompiler(() => (data) => JSON.stringify(data));
  await pages.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: { title, version, description },
      components: { securitySchemes: { [scheme.name]: scheme.definition } },
      security: [{}, { [scheme.name]: [] }],
      ...(base === "" ? {} : { servers: [{ url: base }] }),
    },
    refResolver: { buildLocalReference: ({ $id }, _baseUri, _fragment, at) => String($id ?? `schema-${at}`) },
  });
  for (const schema of Object.values(schemas)) pages.addSchema(schema);
  for (const { method, url, schema = {} } of routes) {
    pages.route({ method, url, schema, handler: () => undefined });
  }
  await pages.ready();
  return pages;
}
