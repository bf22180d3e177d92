/** Adds the calls of `/api` that reduce the values of a dataset, to statistics, structures and spectra for example. */
import { join } from "node:path";
import { type TObject, Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Merged } from "../../../analysis/plan.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { SpectrumSums } from "../../../analysis/spectrum.js";
import { analysisTable } from "../../../analysis/table.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import type { CutoutThread } from "../../../engine/cutouts/cutout-thread.js";
import { negotiate } from "../../http/negotiate.js";
import type { RequestLife } from "../../http/request-life.js";
import { addVary, sendPassages } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { originAttributes, originOf, originTexts, tellOrigin } from "../answer/origin.js";
import { sendWritten } from "../answer/send-written.js";
import { ANALYSIS_TYPES, numberTable, tableArchive, tablePassages } from "../answer/write-table.js";
import type { BatchAnswer } from "../batch-answer.js";
import { readWhole } from "../body/read-body.js";
import { jsonPassages } from "../json-passages.js";
import { FAILURES } from "../schemas.js";
import { compute } from "../serve-operation.js";
import { pathsFor } from "../values-along.js";
import { bytesOfReduction } from "./analysis-memory.js";
import { type AnalysedNodes, checkSchema, readAnalysis, STATISTICS, type Statistics } from "./analysis-request.js";
import { DISPERSION, DISPERSION_EXAMPLE, dispersion } from "./dispersion.js";
import { DRAWN_RECORDS, evaluatorFor } from "./point-columns.js";
import { SPECTRUM, spectrum } from "./spectrum.js";
import { type Means, statistics } from "./statistics.js";
import { STRUCTURE_FUNCTIONS, structureFunctions } from "./structure-functions.js";
import { type ArrayAnswer, STRUCTURES, structures } from "./structures.js";

const JSON_TYPE = "application/json; charset=utf-8";

/** Most bytes of a body. */
const BODY_BYTES = 256 * 1024;

const PARAMETERS = Type.Object({
  name: Type.String({ description: "Name or alias of a dataset, any letter case." }),
});

/** An analysis: its address, its body, and what computes it. */
interface Analysis {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly body: TObject;
  readonly example: Readonly<Record<string, unknown>>;
  /** Computes the answer besides what all have. */
  readonly run: (body: never, dataset: Dataset, means: Means) => Promise<GroupAnswer | ArrayAnswer>;
}

/** All analyses. Their examples are of the shipped dataset isotropic32, and are run by a test. */
export const ANALYSES: readonly Analysis[] = [
  {
    name: "statistics",
    summary: "Moments, histograms and other reductions of quantities",
    description: "Quantities are names or expressions. One pass over the nodes gives all reductions, in their order.",
    body: STATISTICS,
    example: {
      time: 0.6,
      reduce: [{ moments: "2*ddot(S,S)" }, { histogram: "ux", bins: 20, range: [-2, 2] }],
    },
    run: statistics,
  },
  {
    name: "structure-functions",
    summary: "Moments of increments between nodes along axes",
    description:
      "Exact means over all pairs of nodes: longitudinal, transverse and mixed increments and correlations of a velocity, " +
      "or increments of a scalar.",
    body: STRUCTURE_FUNCTIONS,
    example: { time: 0.6, of: "u", orders: [2, 3], separations: { nodes: [1, 2, 4, 8] } },
    run: structureFunctions,
  },
  {
    name: "spectrum",
    summary: "Spectra of whole frames over shells, lines or planes",
    description:
      "Exact sums of modes: energy of a velocity or variance of any quantity, with transfer, flux, dissipation, helicity and " +
      "cross spectra, and the scales of a velocity. Transformed axes are periodic, of 2^a 3^b 5^c nodes.",
    body: SPECTRUM,
    example: { time: 0.6, of: "u", with: ["transfer", "flux"] },
    run: spectrum,
  },
  {
    name: "structures",
    summary: "Connected sets of nodes above or below a threshold",
    description:
      "Structures go on across the seams of periodic axes. Each has nodes, volume, centre, box and the integrals, means and " +
      "extremes of properties; the largest come first. With `labels`, the answer is a NumPy array.",
    body: STRUCTURES,
    example: { time: 0.6, of: "norm(w)", above: { rms: 2 }, connectivity: 26, properties: ["epsilon"] },
    run: structures,
  },
  {
    name: "dispersion",
    summary: "Statistics of paths: displacement, autocorrelation, pairs and tetrads",
    description: "Particles are tracked from their seeds, and averaged at each recorded time. The paths are not sent.",
    body: DISPERSION,
    example: DISPERSION_EXAMPLE,
    run: dispersion,
  },
];

/** Adds the routes. */
export function analysisRoutes(api: FastifyInstance, service: Service, thread: CutoutThread): void {
  for (const analysis of ANALYSES) {
    const { name, summary, description, body, example } = analysis;
    api.post<{ Params: { name: string } }>(
      `/datasets/:name/${name}`,
      {
        schema: {
          tags: ["Analysis"],
          summary,
          description,
          consumes: ["application/json"],
          produces: [...ANALYSIS_TYPES],
          params: PARAMETERS,
          body: { ...body, examples: [example] },
          response: { 200: Type.Object({}, { additionalProperties: true, description: "The answer." }), ...FAILURES },
        },
        validatorCompiler: () => () => true,
        serializerCompiler: () => (answer) => JSON.stringify(answer),
      },
      (request, reply) => serveAnalysis(service, thread, analysis, request.params.name, request, reply),
    );
  }
}

function serveAnalysis(
  service: Service,
  thread: CutoutThread,
  { name: operation, body: schema, run }: Analysis,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return compute(service, { name: operation }, request, reply, async (life) => {
    const type = negotiate(request.headers.accept, ANALYSIS_TYPES);
    addVary(reply, "Accept");
    const options = readAnalysis(schema, await readWhole(life, BODY_BYTES));
    const dataset = life.dataset(name);
    const answer = await run(options as never, dataset, meansFor(life, service, dataset));
    if (isArray(answer)) {
      await life.computed([{ values: [], heldBytes: answer.bytes }]);
      reply.header("fieldprobe-shape", answer.shape.join(","));
      await sendPassages(reply, "application/x-npy", answer.npy, service, life.reader);
      return reply;
    }
    await life.computed([]);
    if (type !== "application/json") {
      tellOrigin(reply, dataset, options as Readonly<Record<string, unknown>>);
      const origin = originTexts(dataset, operation, options);
      const table = analysisTable(answer);
      if (type === "application/netcdf") {
        const numbers = numberTable(table, { title: `${operation} of ${dataset.name}`, ...originAttributes(origin) });
        reply.type(type);
        return sendWritten(life, reply, "table.nc", (folder) => thread.writeTable(numbers, join(folder, "table.nc")));
      }
      const passages = type === "application/x-npz" ? tableArchive(table, origin) : tablePassages(table, type);
      await sendPassages(reply, type, passages, service, life.reader);
      return reply;
    }
    const passages = jsonPassages({ ...originOf(dataset, operation, options), ...answer });
    await sendPassages(reply, JSON_TYPE, passages, service, life.reader);
    return reply;
  });
}

/** What the analyses of a dataset answer with, within the life of a request. */
export function meansFor(life: RequestLife, service: Service, dataset: Dataset): Means {
  const finish = async (query: Pick<Query, "reduction" | "spectrum">, places: AnalysedNodes): Promise<Result> => {
    const { first, stride, frames, base, field } = places;
    const [nx, ny, nz] = base.extent;
    const nodes = { field, frame: frames[0] as number, first, count: [nx, ny, nz], stride } as const;
    if (query.reduction) await life.admitMemory(bytesOfReduction(query.reduction));
    const evaluation = life.start({ operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, ...query });
    await life.enter();
    const result = await evaluation.finish();
    life.forget(evaluation);
    result.release();
    return result;
  };
  return {
    reduce: async (reduction, places) => (await finish({ reduction }, places)).reduced as Merged,
    sum: async (query, places) => (await finish({ spectrum: query }, places)).sums as SpectrumSums,
    evaluate: evaluatorFor(life, dataset),
    admit: (points) => life.reserve(points, DRAWN_RECORDS),
    paths: pathsFor(life, dataset),
    slices: life.slices,
    most: service.config.limits["analysis.numbers"],
  };
}

/** Answers statistics as a query of a batch: its answer is all in its members. */
export async function statisticsInBatch(
  service: Service,
  life: RequestLife,
  dataset: Dataset,
  members: object,
): Promise<BatchAnswer> {
  checkSchema(STATISTICS, members, "");
  const options = members as Statistics;
  const answer = await statistics(options, dataset, meansFor(life, service, dataset));
  const head = { ...originOf(dataset, "statistics", options), ...answer };
  return { head, values: [], json: () => jsonPassages(head) };
}

function isArray(answer: GroupAnswer | ArrayAnswer): answer is ArrayAnswer {
  return "npy" in answer;
}
