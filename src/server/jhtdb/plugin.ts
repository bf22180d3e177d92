/** REST interface for today's clients of the public turbulence database, under each of its public prefixes. */
import type { FastifyInstance } from "fastify";
import { NotFoundError } from "../../shared/errors.js";
import { missingFor, spatialOf } from "../../shared/operations.js";
import { UNDOCUMENTED } from "../http/api-docs.js";
import { problemHandler } from "../http/describe-problem.js";
import { guardReads } from "../http/origins.js";
import type { Plugin, Service } from "../http/service.js";
import { serveCutout } from "./serve-cutout.js";
import { JSON_TYPE, serveValues } from "./serve-values.js";
import { describeForClients } from "./served-metadata.js";

/** Prefixes of the public versions, and none. */
const PREFIXES = ["/turbulence-svc", "/turbulence-svc-test", "/turbsvc-testing", ""] as const;

/** Clients print a title and a list of lines. */
const answerError = problemHandler({
  name: "values",
  contentType: JSON_TYPE,
  body: ({ detail }) => ({ title: "Error", description: [detail] }),
});

function routes(scope: FastifyInstance, service: Service): void {
  const hidden = { schema: UNDOCUMENTED };
  scope.post("/values", hidden, (request, reply) => serveValues(service, request, reply));
  scope.get("/cutout/api/local", hidden, (request, reply) => serveCutout(service, request, reply));
  scope.get("/jhtdb_config.json", hidden, () =>
    describeForClients(
      service.engine.datasets(),
      (dataset, operation) => (missingFor(operation, dataset) === null ? spatialOf(operation, dataset) : []),
      service.config.limits,
    ),
  );
  for (const path of ["/turbine", "/blade"]) {
    scope.post(path, hidden, () => {
      throw new NotFoundError("This service has no wind farms, so it has no turbines or blades.");
    });
  }
}

export const jhtdbPlugin: Plugin = async (app, service) => {
  await app.register(async (scope) => {
    guardReads(scope, service.config);
    scope.removeAllContentTypeParsers();
    // Clients send any Content-Type or none.
    scope.addHook("onRequest", async ({ raw }) => {
      delete raw.headers["content-type"];
    });
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    scope.setErrorHandler(answerError);
    for (const prefix of PREFIXES) await scope.register(async (inner) => routes(inner, service), { prefix });
  });
};
