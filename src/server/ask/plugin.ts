/** `apiPlugin` adds `/api`: the calls of the table of questions, beside the operations, jobs and documents. */

import { Type } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { CutoutThread } from "../../engine/cutouts/cutout-thread.js";
import { CALL_NAMES, type CallName, callOf } from "../../shared/calls.js";
import type { Plugin, Service } from "../http/service.js";
import { apiRoutes } from "../rest/plugin.js";
import { FAILURES } from "../rest/schemas.js";
import { ASK_EXAMPLE, ASK_GROUP, answerSchema, exampleOf, membersSchema } from "./document.js";
import { draftRoutes } from "./drafts.js";
import { levelRoutes } from "./levels.js";
import { POINT_TYPES } from "./read-body.js";
import { MOST_QUESTIONS, serveAsk, serveCall } from "./serve.js";

const NAME = Type.Object({ name: Type.String({ description: "Name or alias of a dataset, any letter case." }) });

/** These schemas only document: the reader of questions names every member that is wrong. */
const documentOnly = () => () => true;

interface Named {
  Params: { name: string };
}

function callRoutes(api: FastifyInstance, service: Service, thread: CutoutThread, call: CallName): void {
  const { summary, about } = callOf(call);
  const members = membersSchema(call);
  const common = { summary, description: about, params: NAME, response: { 200: answerSchema(call), ...FAILURES } };
  const validatorCompiler = documentOnly;
  const url = `/datasets/:name/${call}`;
  api.get<Named>(url, { schema: { ...common, querystring: members }, validatorCompiler }, (request, reply) =>
    serveCall(service, thread, call, request.params.name, request as never, reply as never),
  );
  api.post<Named>(url, { schema: { ...common, body: members }, validatorCompiler }, (request, reply) =>
    serveCall(service, thread, call, request.params.name, request as never, reply as never),
  );
}

/** Adds the calls. */
function askRoutes(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  api.addContentTypeParser([...POINT_TYPES], (_request, payload, done) => done(null, payload));
  for (const call of CALL_NAMES) callRoutes(api, service, thread, call);
  levelRoutes(api, service);
  draftRoutes(api, service);
  api.post(
    "/ask",
    {
      schema: {
        summary: "A whole question, or a list of them",
        description: `The members of a call with dataset and call; at most ${MOST_QUESTIONS} in a list, which answers a list of answers and problems.`,
        body: Type.Object(
          { dataset: Type.String(), call: Type.Unsafe({ type: "string", enum: [...CALL_NAMES] }) },
          { additionalProperties: true, examples: [ASK_EXAMPLE] },
        ),
        response: { 200: Type.Object({}, { additionalProperties: true, description: "The answer." }), ...FAILURES },
      },
      validatorCompiler: documentOnly,
      serializerCompiler: () => (answer) => JSON.stringify(answer),
    },
    (request, reply) => serveAsk(service, thread, request as never, reply as never),
  );
}

/** Adds `/api` to the service. */
export const apiPlugin: Plugin = async (app, service) => {
  const calls = { routes: askRoutes, group: ASK_GROUP, example: exampleOf };
  await app.register(async (api) => apiRoutes(api, service, calls), { prefix: "/api" });
};
