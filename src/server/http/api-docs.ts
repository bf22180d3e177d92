/** `documentApi` makes the OpenAPI document of an interface and its human page from the schemas of its routes. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
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
  readonly scheme: { readonly name: string; readonly definition: SecurityScheme };
}

type SecurityScheme = { type: "http"; scheme: string } | { type: "apiKey"; in: "header"; name: string };

/**
 * Documents the routes that are added to `scope` from now on: `scope.swagger()` is the document, `/docs` its page.
 * Shared schemas keep their `$id` as the name in the document.
 */
export async function documentApi(scope: FastifyInstance, { title, description, scheme }: ApiHead): Promise<void> {
  await scope.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: { title, version, description },
      components: { securitySchemes: { [scheme.name]: scheme.definition } },
      security: [{}, { [scheme.name]: [] }],
    },
    refResolver: { buildLocalReference: nameOf },
  });
  await scope.register(swaggerUi, { routePrefix: "/docs", staticCSP: DOCS_POLICY });
}

/** The name of a shared schema in the document. */
function nameOf({ $id }: { readonly $id?: unknown }, _baseUri: unknown, _fragment: unknown, position: number): string {
  return String($id ?? `schema-${position}`);
}
