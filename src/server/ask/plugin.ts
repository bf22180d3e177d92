/** `/api`: calls by the table of calls, datasets, jobs, inputs and documents. */
import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CutoutThread } from "../../engine/cutouts/cutout-thread.js";
import { version } from "../../shared/build.js";
import { CALL_NAMES, type CallName, callOf } from "../../shared/calls.js";
import { AuthError, excerpt, RequestError, unknownDataset } from "../../shared/errors.js";
import { watchRoutes } from "../http/allowed-methods.js";
import { documentApi, UNDOCUMENTED } from "../http/api-docs.js";
import { tokenOf } from "../http/compute.js";
import { summarize } from "../http/describe.js";
import { problemHandler } from "../http/describe-problem.js";
import { guardReads } from "../http/origins.js";
import { PROBLEM_TYPE } from "../http/problem.js";
import { HttpRefusal } from "../http/refusal.js";
import { type Plugin, type Service, SOAP_PATH } from "../http/service.js";
import { describeDataset } from "./describe-dataset.js";
import { API_GROUPS, ASK_EXAMPLE, answerSchema, exampleOf, membersSchema } from "./document.js";
import { draftRoutes } from "./drafts.js";
import { jobRoutes } from "./jobs/job-routes.js";
import { levelRoutes } from "./levels/levels.js";
import { BODY_TYPES } from "./question/read-body.js";
import { anyObject, CATALOGUE, DESCRIPTION, FAILURES, NAME, type Named } from "./schemas.js";
import { type CallServices, MAX_QUESTIONS, serveAsk, serveCall } from "./serve.js";

/** Points allowed in one request of a caller: the limit of the service, or the token's limit if it is lower. */
function pointsFor({ auth, config }: Service, token: string | null): number {
  const most = config.limits["query.points"];
  if (token === null) return most;
  try {
    const { points, release } = auth.authorise(token);
    release();
    return points === 0 ? most : Math.min(most, points);
  } catch (error) {
    // The catalogue needs no token and ignores an unknown one.
    if (error instanceof AuthError) return most;
    throw error;
  }
}

function catalogueRoutes(api: FastifyInstance, service: Service): void {
  const { engine, config } = service;
  api.get("/datasets", { schema: { summary: "Datasets", response: { 200: CATALOGUE, ...FAILURES } } }, (request) => ({
    version,
    namespace: config.namespace,
    service: SOAP_PATH.slice(1),
    points: pointsFor(service, tokenOf(request)),
    jobs: service.jobs,
    datasets: engine.datasets().map(summarize),
  }));
  const summary = "Grid, times, fields, quantities, methods and calls of a dataset";
  const schema = { summary, params: NAME, response: { 200: DESCRIPTION, ...FAILURES } };
  api.get<Named>("/datasets/:name", { schema }, (request) => {
    const dataset = engine.find(request.params.name);
    if (dataset === undefined) throw unknownDataset(request.params.name, engine.datasets());
    return describeDataset(dataset, config);
  });
}

function callRoutes(api: FastifyInstance, services: CallServices, call: CallName): void {
  const { summary, description } = callOf(call);
  const members = membersSchema(call);
  const common = { summary, description, params: NAME, response: { 200: answerSchema(call), ...FAILURES } };
  const url = `/datasets/:name/${call}`;
  const answer = (request: FastifyRequest<Named>, reply: FastifyReply) =>
    serveCall(services, call, request.params.name, request as never, reply);
  api.get<Named>(url, { schema: { ...common, querystring: members } }, answer);
  api.post<Named>(url, { schema: { ...common, body: members } }, answer);
}

function askRoute(api: FastifyInstance, services: CallServices): void {
  api.post(
    "/ask",
    {
      schema: {
        summary: "A whole question, or a list of them",
        description: `The members of a call with dataset and call; at most ${MAX_QUESTIONS} in a list, which answers a list of answers and problems.`,
        body: Type.Object(
          { dataset: Type.String(), call: Type.Unsafe({ type: "string", enum: [...CALL_NAMES] }) },
          { additionalProperties: true, examples: [ASK_EXAMPLE] },
        ),
        response: { 200: anyObject("The answer."), ...FAILURES },
      },
      serializerCompiler: () => (answer) => JSON.stringify(answer),
    },
    (request, reply) => serveAsk(services, request as never, reply as never),
  );
}

/** Routes of `/api`, with parsers, error handler and documentation of their own. */
async function apiRoutes(api: FastifyInstance, service: Service): Promise<void> {
  guardReads(api, service.config);
  // Schemas only document: the readers of questions and inputs report every wrong member.
  api.setValidatorCompiler(() => () => true);
  api.removeAllContentTypeParsers();
  api.addContentTypeParser([...BODY_TYPES], (_request, payload, done) => done(null, payload));
  api.addContentTypeParser("*", (_request, _payload, done) => {
    done(new HttpRefusal(415, `The Content-Type of a body is ${BODY_TYPES.join(" or ")}.`));
  });
  const contentType = `${PROBLEM_TYPE}; charset=utf-8`;
  api.setErrorHandler(problemHandler({ name: "api", contentType, body: (problem) => problem }));
  const methodsOf = watchRoutes(api);
  api.setNotFoundHandler((request) => {
    const path = request.url.split("?", 1)[0];
    const allow = methodsOf(path).join(", ");
    if (allow !== "") throw new HttpRefusal(405, `This address takes ${allow}.`, { allow });
    throw new RequestError("UnknownOperation", `There is nothing at ${excerpt(path)}; /api/docs lists all addresses.`);
  });
  const docs = documentApi(api, {
    title: "fieldprobe",
    page: "/docs",
    base: service.basePath,
    description: "Fields of a stored simulation at points.",
    scheme: { name: "token", definition: { type: "http", scheme: "bearer" } },
    groups: API_GROUPS,
    example: (method, path) => exampleOf(service.baseUrl(), method, path),
  });
  api.get("/openapi.json", { schema: UNDOCUMENTED }, () => docs.document());
  // On a terminal, the prompt then starts on a new line.
  api.addHook("onSend", async (_request, _reply, payload) =>
    typeof payload === "string" && !payload.endsWith("\n") ? `${payload}\n` : payload,
  );
  catalogueRoutes(api, service);
  const cutoutThread = new CutoutThread((connection) => service.engine.connectStores?.(connection));
  api.addHook("onClose", () => cutoutThread.close());
  const services = { service, thread: cutoutThread, jobs: await jobRoutes(api, service) };
  for (const call of CALL_NAMES) callRoutes(api, services, call);
  levelRoutes(api, service, services.jobs);
  draftRoutes(api, service);
  askRoute(api, services);
}

export const apiPlugin: Plugin = async (app, service) => {
  await app.register(async (api) => apiRoutes(api, service), { prefix: "/api" });
};
