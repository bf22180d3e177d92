/** `apiPlugin` adds the plain HTTP interface under `/api`, its routes drawn from the operation table. */

import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CutoutThread } from "../../engine/cutouts/cutout-thread.js";
import { version } from "../../shared/build.js";
import { AuthError, excerpt, RequestError, unknownDataset } from "../../shared/errors.js";
import { type Operation, operationOf, purposeOf } from "../../shared/operations.js";
import { watchRoutes } from "../http/allowed-methods.js";
import { documentApi, UNDOCUMENTED } from "../http/api-docs.js";
import { guardReads } from "../http/origins.js";
import { PROBLEM_TYPE } from "../http/problem.js";
import type { ApiExample, ApiGroup } from "../http/reference-page.js";
import { HttpRefusal } from "../http/refusal.js";
import { type Service, SOAP_PATH } from "../http/service.js";
import { API_GROUPS, withAnswer } from "./api-examples.js";
import { REQUEST_TYPES } from "./body/read-body.js";
import { DATASET_OPERATIONS, describe, summarize } from "./describe.js";
import { problemHandler } from "./describe-problem.js";
import { answerCutout, CUTOUT_FORMS, CUTOUT_QUERY } from "./grids/answer-cutout.js";
import { CUTOUT_FILE_QUERY, CUTOUT_FILES, type CutoutFileQuery, serveCutoutFile } from "./grids/cutout-file.js";
import {
  SLICE_FORMS,
  SLICE_QUERY,
  type SliceQuery,
  serveSlice,
  serveVolume,
  sliceSources,
  VOLUME_FORMS,
  VOLUME_QUERY,
  type VolumeQuery,
} from "./grids/slice.js";
import { jobRoutes } from "./jobs/job-routes.js";
import { OWN_TIMES_QUERY, ownTimesOf } from "./own-times.js";
import { refuse, refuseUnknown } from "./parameters.js";
import { BATCH_ANSWER, BATCH_BODY, MOST_QUERIES, serveBatch } from "./query-batch.js";
import { answerSchema, bodySchema, CATALOGUE, DESCRIPTION, FAILURES, querySchema } from "./schemas.js";
import { serveOperation, tokenOf } from "./serve-operation.js";
import { TRACKING_QUERY, trackingOf } from "./tracking-query.js";
import { ALONG_QUERY } from "./values-along.js";

const NAME = Type.Object({ name: Type.String({ description: "Name or alias of a dataset, any letter case." }) });

/** Operations whose records are places of particles: the ones that have positions on the way. */
const TRACKERS: readonly Operation[] = DATASET_OPERATIONS.filter((operation) => operation.family === "track");

/**
 * These schemas only document: bodies are checked as they are read, and parameters by the operation table, so that
 * errors name members.
 */
const documentOnly = () => () => true;

interface Named {
  Params: { name: string };
}

/** Points allowed in one request of a caller: the limit of the service, or that of the token if it is lower. */
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
  api.get<Named>(
    "/datasets/:name",
    {
      schema: {
        summary: "Grid, times, fields and operations of a dataset",
        params: NAME,
        response: { 200: DESCRIPTION, ...FAILURES },
      },
    },
    (request) => {
      const dataset = engine.find(request.params.name);
      if (dataset === undefined) throw unknownDataset(request.params.name, engine.datasets());
      return describe(dataset);
    },
  );
}

function operationRoutes(api: FastifyInstance, service: Service): void {
  for (const operation of [...DATASET_OPERATIONS, operationOf("NullOp")]) {
    const asksDataset = DATASET_OPERATIONS.includes(operation);
    api.post<Named>(
      asksDataset ? `/datasets/:name/${operation.name}` : `/${operation.name}`,
      {
        schema: {
          summary: operation.name,
          description: purposeOf(operation.name),
          consumes: [...REQUEST_TYPES],
          ...(asksDataset ? { params: NAME } : {}),
          querystring: querySchema(operation, ownOf(operation)),
          body: bodySchema(operation),
          response: { 200: answerSchema(), ...FAILURES },
        },
        validatorCompiler: documentOnly,
      },
      (request, reply) => {
        const dataset = asksDataset ? request.params.name : null;
        const tracking = trackingOf(operation, request.query as Readonly<Record<string, unknown>>);
        const own = Object.keys(ownOf(operation));
        return serveOperation(service, { operation, dataset, recordEvery: null, ...tracking, own }, request, reply);
      },
    );
  }
}

/** Parameters of a query string besides those of the operation table. */
function ownOf(operation: Operation): Readonly<Record<string, TSchema>> {
  return {
    ...(operation.family === "track" ? TRACKING_QUERY : {}),
    ...(ownTimesOf(operation) === null ? {} : OWN_TIMES_QUERY),
  };
}

function trajectoryRoute(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  const own = {
    operation: Type.Unsafe({
      type: "string",
      enum: TRACKERS.map((operation) => operation.name),
      default: "GetPosition",
      description: "The operation that moves the particles; add its parameters and points.",
    }),
    ...TRACKING_QUERY,
    ...OWN_TIMES_QUERY,
    ...ALONG_QUERY,
    every: Type.Integer({ minimum: 1, default: 1, description: "Steps from one recorded position to the next." }),
  };
  const all = TRACKERS.map((operation) => querySchema(operation, own));
  api.post<Named & { Querystring: Record<string, unknown> }>(
    "/datasets/:name/trajectories",
    {
      schema: {
        summary: "Positions of particles on the way",
        description:
          "The answer has a dimension of records between particles and components; JSON gives their times. NetCDF has the " +
          "layout of trajectories of the CF conventions.",
        consumes: [...REQUEST_TYPES],
        params: NAME,
        querystring: Type.Object(Object.assign({}, ...all.map((schema) => schema.properties))),
        body: bodySchema(...(TRACKERS as [Operation, ...Operation[]])),
        response: { 200: answerSchema("application/netcdf"), ...FAILURES },
      },
      validatorCompiler: documentOnly,
    },
    (request, reply) => {
      const { operation: name = own.operation.default, every = "1" } = request.query;
      const operation = TRACKERS.find((row) => row.name === name);
      if (operation === undefined) {
        throw refuse("operation", `operation must be one of ${own.operation.enum.join(", ")}.`);
      }
      const recordEvery = Number(every);
      if (!/^\d+$/.test(String(every)) || recordEvery < 1) {
        throw refuse("every", "every must be a whole number of at least 1.");
      }
      return serveOperation(
        service,
        {
          ...{ operation, dataset: request.params.name, recordEvery, own: Object.keys(own), thread },
          ...trackingOf(operation, request.query),
        },
        request,
        reply,
      );
    },
  );
}

/** Refuses members of a query string that a route does not have. */
function checkNames(what: string, schema: TObject): (request: FastifyRequest) => Promise<void> {
  const known = Object.keys(schema.properties);
  return async (request) => {
    const unknown = Object.keys(request.query as object).find((name) => !known.includes(name));
    if (unknown !== undefined) throw refuseUnknown(what, "parameter", unknown, known);
  };
}

function cutoutRoute(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  api.get<Named>(
    "/datasets/:name/cutout",
    {
      schema: {
        summary: "Stored numbers of a box of nodes",
        description:
          "Little-endian float32 in the order z, y, x, component, x fastest among the nodes; Fieldprobe-Shape gives the dimensions.",
        params: NAME,
        querystring: CUTOUT_QUERY,
        response: binary(CUTOUT_FORMS, "The numbers."),
      },
      validatorCompiler: documentOnly,
    },
    (request, reply) => answerCutout(service, request.params.name, request, reply, thread),
  );
}

/** Responses of a route that sends bytes in one of several forms. */
function binary(forms: readonly string[], description: string) {
  const content = Object.fromEntries(forms.map((form) => [form, { schema: Type.String({ format: "binary" }) }]));
  return { 200: { description, content }, ...FAILURES };
}

function cutoutFileRoutes(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  const about = {
    h5: { summary: "The stored nodes of a box as HDF5 in the JHTDB format", description: "The file." },
    xmf: { summary: "The XDMF by which ParaView opens the HDF5 of the same box", description: "The description." },
  } as const;
  for (const ending of ["h5", "xmf"] as const) {
    const { summary, description } = about[ending];
    api.get<Named & { Querystring: CutoutFileQuery }>(
      `/datasets/:name/cutout.${ending}`,
      {
        schema: {
          summary,
          description: "Nodes times fields times frames count against the limit on points.",
          params: NAME,
          querystring: CUTOUT_FILE_QUERY,
          response: binary([CUTOUT_FILES[ending]], description),
        },
        preValidation: checkNames("A cutout", CUTOUT_FILE_QUERY),
      },
      (request, reply) => serveCutoutFile(service, thread, request.params.name, ending, request, reply),
    );
  }
}

function sampleRoutes(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  api.get<Named & { Querystring: SliceQuery }>(
    "/datasets/:name/slice",
    {
      schema: {
        summary: "A plane of values",
        description:
          "Float32 row by row, or a picture with the smallest coordinates at the lower left. Headers give shape, axes, " +
          "origin and spacing of rows and columns, and the range. Without a window the samples begin at the first node " +
          `and span the axis. ${sliceSources()}.`,
        params: NAME,
        querystring: SLICE_QUERY,
        response: binary(SLICE_FORMS, "The plane."),
      },
      preValidation: checkNames("A slice", SLICE_QUERY),
    },
    (request, reply) => serveSlice(service, thread, request.params.name, request, reply),
  );
  api.get<Named & { Querystring: VolumeQuery }>(
    "/datasets/:name/volume",
    {
      schema: {
        summary: "A box of values",
        description: "Float32, x fastest and z slowest. Headers give shape, axes, origin and spacing, and the range.",
        params: NAME,
        querystring: VOLUME_QUERY,
        response: binary(VOLUME_FORMS, "The box."),
      },
      preValidation: checkNames("A volume", VOLUME_QUERY),
    },
    (request, reply) => serveVolume(service, thread, request.params.name, request, reply),
  );
}

function batchRoute(api: FastifyInstance, service: Service): void {
  api.post(
    "/batch",
    {
      schema: {
        summary: "Several queries in one request",
        description:
          `At most ${MOST_QUERIES} queries, each with its own result or problem, in their order. Each takes the members of ` +
          "its operation, and `operation` and `dataset` with them; `slice` and `volume` take those of their query strings. " +
          "Limits of points hold for all of them together. As octets, the " +
          "answer is one line of JSON like the other form, without values but with `numbers`, how many are those of a " +
          "result; the float32 of all results follow it. The line is a multiple of four bytes long.",
        consumes: ["application/json"],
        body: BATCH_BODY,
        response: { 200: BATCH_ANSWER, ...FAILURES },
      },
      validatorCompiler: documentOnly,
    },
    (request, reply) => serveBatch(service, request, reply),
  );
}

/** Calls that another room adds, with their documents. */
interface MoreCalls {
  readonly routes: (api: FastifyInstance, service: Service, thread: CutoutThread) => void;
  readonly group: ApiGroup;
  readonly example: (method: string, address: string) => ApiExample | undefined;
}

/** The interface; its parsers, error form and documentation stay inside. */
export async function apiRoutes(api: FastifyInstance, service: Service, more: MoreCalls): Promise<void> {
  guardReads(api, service.config);
  api.removeAllContentTypeParsers();
  api.addContentTypeParser([...REQUEST_TYPES], (_request, payload, done) => done(null, payload));
  api.addContentTypeParser("*", (_request, _payload, done) => {
    done(new HttpRefusal(415, `The Content-Type of a body is ${REQUEST_TYPES.join(" or ")}.`));
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
    groups: [more.group, ...API_GROUPS],
    example: (method, address) => more.example(method, address) ?? withAnswer(method, address),
  });
  api.get("/openapi.json", { schema: UNDOCUMENTED }, () => docs.document());
  // On a terminal, the prompt starts on a new line after an answer.
  api.addHook("onSend", async (_request, _reply, payload) =>
    typeof payload === "string" && !payload.endsWith("\n") ? `${payload}\n` : payload,
  );
  catalogueRoutes(api, service);
  operationRoutes(api, service);
  const thread = new CutoutThread((connection) => service.engine.connectStores?.(connection));
  api.addHook("onClose", () => thread.close());
  trajectoryRoute(api, service, thread);
  sampleRoutes(api, service, thread);
  cutoutRoute(api, service, thread);
  cutoutFileRoutes(api, service, thread);
  batchRoute(api, service);
  more.routes(api, service, thread);
  await jobRoutes(api, service);
}
