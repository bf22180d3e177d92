/** Makes the levels of a dataset on POST, and reports which exist and which are being made. */
import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Dataset, fieldNames, isStaggered } from "../../../engine/contract/dataset.js";
import { nodeQuantity, type RequestedLevels } from "../../../engine/contract/query.js";
import type { Jobs } from "../../../jobs/jobs.js";
import { isLoopbackHost } from "../../../shared/config.js";
import { AuthError, type FieldprobeError, unknownDataset } from "../../../shared/errors.js";
import { reasonOf } from "../../../shared/system.js";
import { compute } from "../../http/compute.js";
import { readWhole } from "../../http/read-whole.js";
import type { Service } from "../../http/service.js";
import { wrong } from "../faults.js";
import { sendStarted } from "../jobs/start-job.js";
import { readWhat } from "../question/read-member.js";
import { joinMembers, membersOfJson, membersOfQuery } from "../question/read-question.js";
import { compileWhat, namesOf } from "../question/what.js";
import { anyObject, FAILURES, NAME, type Named } from "../schemas.js";
import { prefersJob, takeJobFlag } from "../serve.js";
import { derivedFor } from "../transforms.js";
import { levelRanges } from "./level-ranges.js";

const BODY_BYTES = 64 * 1024;

interface Run {
  fraction: number;
  readonly ended: Promise<void>;
  readonly abort: AbortController;
}

/** Runs by dataset, and the reason of the last failure. */
class LevelRuns {
  readonly #service: Service;
  readonly #runs = new Map<string, Run>();
  readonly #problems = new WeakMap<Dataset, string>();

  constructor(service: Service) {
    this.#service = service;
  }

  start(dataset: Dataset, question: readonly RequestedLevels[]): Run {
    if (this.#runs.has(dataset.name))
      throw wrong("what", `levels of ${dataset.name} are being made; ask again when they are done`);
    const abort = new AbortController();
    const progress = (fraction: number) => Object.assign(run, { fraction });
    const control = { signal: abort.signal, background: true, progress };
    this.#problems.delete(dataset);
    const made = this.#service.engine.makeLevels(dataset, question, control);
    const ended = made.then(() => undefined).finally(() => this.#runs.delete(dataset.name));
    ended.catch((error: unknown) => this.#problems.set(dataset, reasonOf(error as FieldprobeError)));
    const run: Run = { fraction: 0, ended, abort };
    this.#runs.set(dataset.name, run);
    return run;
  }

  describe(dataset: Dataset) {
    const set = this.#service.engine.levels(dataset);
    return {
      dataset: dataset.name,
      what: set?.quantities.map(({ text }) => text) ?? [],
      levels: (set?.datasets ?? []).map(({ axes }, i) => ({
        level: i + 1,
        cubes: axes.map(({ nodes }) => nodes),
        spacing: axes.map(({ spacing }) => spacing),
      })),
      making: this.#runs.get(dataset.name)?.fraction ?? null,
      problem: this.#problems.get(dataset) ?? null,
    };
  }

  stop(): void {
    for (const { abort } of this.#runs.values()) abort.abort();
  }
}

/** The expressions of a request; their derivatives are differences at nodes. Throws RequestError. */
function requestedLevels(what: unknown, dataset: Dataset): readonly RequestedLevels[] {
  if (what === undefined) return [];
  const names = namesOf({}, dataset);
  const field = fieldNames(dataset).find((name) => !isStaggered(dataset, name));
  if (field === undefined) throw wrong("what", `no field of ${dataset.name} lies on its nodes`);
  return compileWhat(readWhat(what), names).map(({ text, components, expressions }) => {
    if (components.length !== 1 && components.length !== 3)
      throw wrong("what", `${text} is a tensor: make levels of its components or of norm(${text})`);
    const keys = new Set(expressions.flatMap((one) => one.inputs));
    const isOfMean = expressions.some(({ reads }) => reads.some((key) => key.startsWith("mean:")));
    if (isOfMean || derivedFor(keys, dataset, names, null, 4) !== null)
      throw wrong("what", `${text} needs a ${isOfMean ? "mean" : "filter"}, which levels have not`);
    const quantity = nodeQuantity(components, names);
    return { text: text.replaceAll(/\s/g, ""), components: components.length, field, quantity };
  });
}

export function levelRoutes(api: FastifyInstance, service: Service, jobs: Jobs | null): void {
  const { engine, config } = service;
  const runs = new LevelRuns(service);
  api.addHook("onClose", async () => runs.stop());
  const answer = anyObject("What there is, and the part that is made.");
  const url = "/datasets/:name/levels";
  const datasetOf = ({ params: { name } }: FastifyRequest<Named>): Dataset => {
    const found = engine.find(name);
    if (found === undefined) throw unknownDataset(name, engine.datasets());
    return found;
  };
  const schema = { params: NAME, response: { 200: answer, ...FAILURES } };
  const about =
    "Levels, and the part that is being made. With what and frame also ranges of 99.9 % of the volume, and values that a fraction of it is above, from histograms.";
  const querystring = Type.Object({ what: Type.Optional(Type.String()), frame: Type.Optional(Type.String()) });
  api.get<Named & { Querystring: { what?: string; frame?: string } }>(
    url,
    { schema: { ...schema, querystring, summary: "Levels of a dataset", description: about } },
    async (request) => {
      const dataset = datasetOf(request as never);
      const { what, frame = "0" } = request.query;
      const described = runs.describe(dataset);
      if (what === undefined) return described;
      const ranges = await levelRanges(engine, dataset, engine.levels(dataset), what, Number(frame));
      return { ...described, frame: Number(frame), ranges };
    },
  );
  const makes =
    "Means over cubes of 2^k nodes, extrema and histograms of all fields, and of the expressions of what. Answers at once; a job ends with them.";
  const response = { 200: answer, 202: answer, ...FAILURES };
  const post = { ...schema, summary: "Make levels", description: makes, response };
  api.post<Named>(url, { schema: post }, (request, reply: FastifyReply) =>
    compute(service, { name: "levels" }, request, reply, async (life) => {
      if (config.anonymous === true && !isLoopbackHost(config.host))
        throw new AuthError(
          "This service serves everyone: its operator makes levels (fieldprobe levels NAME --data FOLDER).",
        );
      const dataset = life.dataset(request.params.name);
      const body = request.headers["content-type"] === undefined ? Buffer.alloc(0) : await readWhole(life, BODY_BYTES);
      const given = joinMembers(
        membersOfQuery(request.query),
        body.length === 0 ? new Map() : membersOfJson(await life.readJson(body)),
      );
      const isJob = takeJobFlag(given);
      const other = [...given.keys()].find((name) => name !== "what");
      if (other !== undefined) throw wrong(other, "levels take what alone");
      const what = given.get("what");
      const question = requestedLevels(what, dataset);
      if (life.task === null && jobs !== null && (isJob || prefersJob(request))) {
        await jobs.admit(life.owner);
        const own = `/api/datasets/${encodeURIComponent(dataset.name)}/levels`;
        const question = what === undefined ? {} : { what };
        const job = await jobs.start(life.owner, { method: "POST", url: own, form: "json" }, null, question);
        return sendStarted(reply, service, job);
      }
      const run = runs.start(dataset, question);
      run.ended.catch(() => undefined);
      if (life.task === null) return reply.code(202).send(runs.describe(dataset));
      life.onEnd(() => run.abort.abort());
      await run.ended;
      return reply.send(runs.describe(dataset));
    }),
  );
}
