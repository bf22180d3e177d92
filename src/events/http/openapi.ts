/** Head of the OpenAPI document and how shared schemas are named in it; its paths come from the routes' schemas. */
import { readFileSync } from "node:fs";
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";

function packageVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Options of the generator. */
export function openapiOptions(): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: "3.0.3",
      info: {
        title: "Events",
        version: packageVersion(),
        description: "Read-only collections of events and of the terms they are assigned to, as JSON with links (HAL).",
      },
      components: {
        securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
      },
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, position) => String(json.$id ?? `schema-${position}`),
    },
  };
}

/** Content policy of the human page: everything from this service, by plain HTTP too; its own style attributes are the exception. */
export const DOCS_POLICY = [
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
