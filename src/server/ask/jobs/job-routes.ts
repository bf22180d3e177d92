/** Routes of jobs and of their inputs. */
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { AxisPlaces, JobInput, PointSource } from "../../../jobs/inputs.js";
import { type Job, UNFINISHED } from "../../../jobs/job.js";
import type { JobHost } from "../../../jobs/job-runner.js";
import { isShared, Jobs } from "../../../jobs/jobs.js";
import { type MemberName, memberOf } from "../../../shared/calls.js";
import { ConfigError } from "../../../shared/config.js";
import { BusyError, RequestError, unknownDataset } from "../../../shared/errors.js";
import { describeError } from "../../../shared/system.js";
import { tokenOf } from "../../http/compute.js";
import { ReaderPace } from "../../http/policies/reader-pace.js";
import { bodyTooLarge, HttpRefusal, refuse, refuseEncoded } from "../../http/refusal.js";
import { requestedRange } from "../../http/requested-range.js";
import { sendBytes } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { isHeld } from "../../http/validators.js";
import { readAnalysis } from "../check-schema.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { readQuestion } from "../question/read-question.js";
import { runsIn, samplesIn } from "../question/where.js";
import { CLOSED, FAILURES } from "../schemas.js";
import { describeInput, describeJob, INPUT, JOB } from "./describe-job.js";
import { Generations } from "./generations.js";
import { sendTask } from "./start-job.js";

const ID = Type.Object({ id: Type.String({ description: "Id of a job or an input, as it was answered." }) });
const TAGS = { tags: ["jobs"] };
const anyOf = (name: MemberName) => Type.Optional(Type.Unknown({ description: memberOf(name).description }));
const BOX = { x: anyOf("x"), y: anyOf("y"), z: anyOf("z"), i: anyOf("i"), j: anyOf("j"), k: anyOf("k") };

/** Longest wait for a bucket at start-up. */
const CHECK_MS = 5_000;
const DESCRIPTION_BYTES = 16 * 1024;

const form = Type.Union([Type.Literal("octets"), Type.Literal("npy"), Type.Literal("csv")]);
const bytes = Type.Integer({ minimum: 1 });
const maybe = <T extends TProperties>(members: T, description: string) =>
  Type.Optional(Type.Object(members, { ...CLOSED, description }));

const INPUT_BODY = Type.Object(
  {
    upload: maybe({ form, bytes }, "Send the bytes by PUT afterwards."),
    nodes: maybe({ dataset: Type.String(), ...BOX }, "The places of `nodes`, x fastest."),
    grid: maybe({ dataset: Type.String(), ...BOX, samples: anyOf("samples") }, "The places of `grid`, x fastest."),
  },
  { ...CLOSED, examples: [{ grid: { dataset: "isotropic32", z: 3.14, samples: 256 } }] },
);

interface WithId {
  Params: { id: string };
}

const unknownId = (what: string): RequestError =>
  new RequestError("UnknownOperation", `There is no ${what} of that id.`, { member: "id" });

/** Adds the routes. Returns the jobs; null if the service has none. */
export async function jobRoutes(api: FastifyInstance, service: Service): Promise<Jobs | null> {
  if (!service.jobs) return null;
  const shared = isShared(service.config) ? await import("../../../jobs/jetstream-queue.js") : null;
  const generations = new Generations(service.engine, service.config.fd8Legacy, isShared(service.config));
  const host: JobHost = {
    generationOf: (call) => generations.of(call),
    send: (call, signal) => sendTask(api, service, call, signal),
    log: api.log,
  };
  const jobs = await openJobs(api, service, () => new Jobs(service.config, host, shared?.openSharedQueue));
  service.metrics.addJobs(() => jobs.counts());
  api.addHook("onListen", async () => jobs.resume());
  api.addHook("preClose", () => jobs.close());
  statusRoutes(api, service, jobs);
  partRoute(api, service, jobs);
  inputRoutes(api, service, jobs);
  return jobs;
}

/**
 * Opens the jobs. A host of results that does not answer is reported in the log.
 * @throws ConfigError if the host refuses, or variables of its credentials are wrong
 */
async function openJobs(api: FastifyInstance, { config }: Service, make: () => Jobs): Promise<Jobs> {
  try {
    const jobs = make();
    let isStarted = false;
    const checked = jobs.results.check().catch((error: unknown) => {
      if (error instanceof BusyError)
        api.log.warn({ reason: error.message }, "the bucket of results does not answer; jobs wait for it");
      else if (isStarted) api.log.error({ reason: describeError(error) }, "the bucket takes no results of jobs");
      else throw error;
    });
    await Promise.race([checked, wait(CHECK_MS, undefined, { ref: false })]);
    isStarted = true;
    return jobs;
  } catch (error) {
    throw new ConfigError([`FIELDPROBE_RESULTS=${config.results}: ${describeError(error)}`]);
  }
}

/** The owner of jobs and inputs made by a request: the name of its token. Throws AuthError. */
function ownerOf({ auth, connections }: Service, request: FastifyRequest): string | null {
  const grant = auth.authorise(tokenOf(request), (id) => {
    request.facts.token = id;
  });
  grant.release();
  connections.know(request.raw.socket);
  return grant.id;
}

/** The job that a request names. Throws RequestError if there is none, or it belongs to another owner. */
async function jobOf(service: Service, jobs: Jobs, request: FastifyRequest<WithId>): Promise<Job> {
  const job = await jobs.find(ownerOf(service, request as FastifyRequest), request.params.id);
  if (job === null) throw unknownId("job");
  return job;
}

function statusRoutes(api: FastifyInstance, service: Service, jobs: Jobs): void {
  const list = Type.Object({ jobs: Type.Array(JOB) });
  const told = (job: Job) => describeJob(job, Date.now(), service.basePath);
  const response = { 200: list, ...FAILURES };
  const schema = { ...TAGS, summary: "Your jobs", description: "Latest first.", response };
  api.get("/jobs", { schema }, async (request) => ({ jobs: (await jobs.list(ownerOf(service, request))).map(told) }));
  const about = { ...TAGS, params: ID, response: { 200: JOB, ...FAILURES } };
  api.get<WithId>("/jobs/:id", { schema: { ...about, summary: "State and progress of a job" } }, async (request) =>
    told(await jobOf(service, jobs, request)),
  );
  const summary = "Cancel a job";
  const description = "A job that has ended is forgotten, with its result.";
  api.delete<WithId>("/jobs/:id", { schema: { ...about, summary, description } }, async (request) =>
    told(await jobs.cancel(await jobOf(service, jobs, request))),
  );
}

/** The parts of a job that are answered as they are: its result, and its events. */
function partRoute(api: FastifyInstance, service: Service, jobs: Jobs): void {
  api.addHook("preClose", async () => service.connections.streams.endAll());
  const summary = "The result of a job, or its events";
  const description =
    "result: the file; it takes Range and If-Range, and Repr-Digest has the SHA-256 of all of it. events: server-sent events `job`, with the job at the beginning and after each change, until it has ended; a busy service may end them before: then ask again.";
  const binary = Type.String({ format: "binary" });
  const content = { "*/*": { schema: binary }, "text/event-stream": { schema: Type.String() } };
  const response = { 200: { description: "The file, or the events.", content }, ...FAILURES };
  const part = Type.Unsafe<"result" | "events">({ type: "string", enum: ["result", "events"] });
  const params = Type.Object({ id: Type.String({ description: "Id of a job." }), part });
  api.get<WithId & { Params: Static<typeof params> }>(
    "/jobs/:id/:part",
    { schema: { ...TAGS, summary, description, params, response } },
    (request, reply) => {
      if (request.params.part === "result") return answerResult(api, service, jobs, request, reply);
      if (request.params.part === "events") return answerEvents(service, jobs, request, reply);
      return reply.callNotFound();
    },
  );
}

async function answerResult(
  api: FastifyInstance,
  service: Service,
  jobs: Jobs,
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { result, state } = await jobOf(service, jobs, request);
  if (result === null) throw new HttpRefusal(409, `The job has no result: it is ${state}.`);
  const { bytes: size } = result;
  if (!(await jobs.results.holds(result)))
    throw new HttpRefusal(410, "The file of the result is gone, or is not what was written.");
  const etag = `"${result.sha256}"`;
  const digest = Buffer.from(result.sha256, "hex").toString("base64");
  reply
    .headers({ etag, "repr-digest": `sha-256=:${digest}:`, "content-type": result.type })
    .header("content-disposition", `attachment; filename="${result.name}"`);
  if (isHeld(request, etag)) return reply.code(304).send();
  const [first, last] = requestedRange(request, reply, etag, size);
  if (request.method === "HEAD" || size === 0) {
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack().raw.writeHead(reply.statusCode, headers).end();
    return reply;
  }
  const path = jobs.results.fileOf(result.name);
  const parts = path === null ? jobs.results.read(result.name, first, last) : api.fileParts.read(path, first, last);
  return sendResult(service, reply, parts);
}

/** Sends a result at the pace of its reader, who is cut off below the least rate. */
async function sendResult(service: Service, reply: FastifyReply, parts: AsyncIterable<Buffer>): Promise<FastifyReply> {
  const { raw } = reply;
  const reader = new ReaderPace(service.outgoing, service.config.limits, reply.request.facts, () => raw.destroy());
  raw.once("close", () => reader.end());
  try {
    await sendBytes(reply, parts, service, reader);
  } catch (error) {
    if (!raw.headersSent) throw error;
    reply.log.error({ err: error }, "a result could not be sent to its end");
    raw.destroy();
  }
  return reply;
}

async function answerEvents(
  service: Service,
  jobs: Jobs,
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owner = ownerOf(service, request as FastifyRequest);
  const job = await jobOf(service, jobs, request);
  const own = reply.getHeaders() as Record<string, string>;
  const headers = { ...own, "cache-control": "no-store", connection: "close" };
  const { raw } = reply.hijack();
  // A single task may take longer than a connection may be idle.
  raw.setTimeout(0);
  raw.writeHead(200, { ...headers, "content-type": "text/event-stream; charset=utf-8" });
  const end = (): void => {
    leave();
    forget();
    raw.end();
  };
  const notify = (now: Job): void => {
    // A reader that lags misses states in between.
    if (raw.writableNeedDrain && UNFINISHED.includes(now.state)) return;
    raw.write(`event: job\ndata: ${JSON.stringify(describeJob(now, Date.now(), service.basePath))}\n\n`);
    if (!UNFINISHED.includes(now.state)) end();
  };
  const look = async (): Promise<void> => {
    const now = await jobs.find(owner, job.id).catch(() => null);
    if (raw.writableEnded) return;
    if (now === null) end();
    else notify(now);
  };
  const forget = jobs.watch(job.id, () => void look());
  const leave = service.connections.streams.add(owner ?? request.ip, end);
  raw.on("close", end);
  await look();
  return reply;
}

async function readDescription({ engine }: Service, request: FastifyRequest): Promise<PointSource> {
  refuseEncoded(request.headers["content-encoding"]);
  // Leaving the loop would destroy the request, and its sender could not read the answer.
  if (Number(request.headers["content-length"] ?? 0) > DESCRIPTION_BYTES) throw bodyTooLarge();
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of (request.body ?? []) as Readable) {
    bytes += part.length;
    if (bytes > DESCRIPTION_BYTES) throw bodyTooLarge();
    parts.push(part);
  }
  const { upload, nodes, grid }: Static<typeof INPUT_BODY> = readAnalysis(INPUT_BODY, Buffer.concat(parts));
  if ([upload, nodes, grid].filter((one) => one !== undefined).length !== 1)
    throw refuse("upload", "An input is one of upload, nodes and grid.");
  if (upload !== undefined) return { kind: "upload", ...upload };
  const call = grid === undefined ? "nodes" : "grid";
  const { dataset: name, ...members } = (grid ?? nodes) as NonNullable<typeof grid>;
  const dataset = engine.find(name);
  if (dataset === undefined) throw unknownDataset(name, engine.datasets());
  return placesOf(call, readQuestion(call, new Map(Object.entries(members)), dataset), dataset);
}

/** The places of the nodes or the samples of a question. Throws RequestError if they do not lie in its dataset. */
function placesOf(call: "nodes" | "grid", question: MemberValues, dataset: Dataset): PointSource {
  if (call === "grid") {
    const along = samplesIn(question, dataset).grid.toReversed();
    const axes = along.map(({ origin, spacing }) => ({ first: 0, step: 1, origin, spacing }));
    return { kind: "places", counts: along.map(({ count }) => count), axes };
  }
  if (dataset.frameVelocity.some((speed) => speed !== 0))
    throw wrong("nodes", `the nodes of "${dataset.name}" move; take grid at their places at your time`);
  const runs = runsIn(question, dataset, dataset.axes);
  const axes = runs.map(({ first, from, count, step }, a): AxisPlaces => {
    const { coordinates, origin, spacing } = dataset.axes[a as 0 | 1 | 2];
    if (coordinates === null) return { first: from, step, origin, spacing };
    return { coordinates: Array.from({ length: count }, (_, i) => coordinates[first + i * step]) };
  });
  return { kind: "places", counts: runs.map(({ count }) => count), axes };
}

function inputRoutes(api: FastifyInstance, service: Service, jobs: Jobs): void {
  const about = { ...TAGS, params: ID, response: { 200: INPUT, ...FAILURES } };
  const describe = async (input: JobInput) => describeInput(input, await jobs.inputs.received(input));
  const inputOf = async (request: FastifyRequest<WithId>): Promise<JobInput> => {
    const input = await jobs.input(ownerOf(service, request as FastifyRequest), request.params.id);
    if (input === null) throw unknownId("input");
    return input;
  };
  const announcing = {
    ...{ ...TAGS, summary: "Points for jobs: uploaded, or places of a dataset" },
    description:
      'A call takes them as `"points": {"input": ID}`. Bytes are uploaded by PUT as application/octet-stream.',
    ...{ consumes: ["application/json"], body: INPUT_BODY, response: { 201: INPUT, ...FAILURES } },
  };
  api.post("/inputs", { schema: announcing }, async (request, reply) => {
    const owner = ownerOf(service, request);
    const input = await jobs.addInput(owner, await readDescription(service, request));
    const location = `${service.basePath}/api/inputs/${input.id}`;
    return reply
      .code(201)
      .header("location", location)
      .send(await describe(input));
  });
  api.get<WithId>(
    "/inputs/:id",
    { schema: { ...about, summary: "What has been received of an input" } },
    async (request) => describe(await inputOf(request)),
  );
  const sending = {
    ...{ ...about, summary: "Send a part of an upload" },
    description: "Content-Range says which bytes; the first is the number of bytes received so far.",
    ...{ consumes: ["application/octet-stream"], body: Type.String({ format: "binary" }) },
  };
  api.put<WithId>("/inputs/:id", { schema: sending }, async (request) => {
    refuseEncoded(request.headers["content-encoding"]);
    const input = await inputOf(request);
    const bytes = input.source.kind === "upload" ? input.source.bytes : 0;
    const [from, end] = partOf(request.headers, bytes);
    const parts = (request.body ?? []) as Readable;
    return describe(await jobs.inputs.receive(input, from, end, parts, () => service.slices.pause()));
  });
  api.delete<WithId>("/inputs/:id", { schema: { ...about, summary: "Delete an input" } }, async (request) => {
    const input = await inputOf(request);
    const described = await describe(input);
    await jobs.inputs.remove(input.id);
    return described;
  });
}

/**
 * The range of a part by its Content-Range, from its first byte to that after its last; all bytes without one.
 * @throws RequestError if it does not fit the input or the length of the body
 */
function partOf(headers: FastifyRequest["headers"], bytes: number): readonly [from: number, end: number] {
  const { "content-range": header, "content-length": announced } = headers;
  if (header === undefined) return [0, bytes];
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(header);
  if (match === null) throw refuse("content-range", "Content-Range has the form `bytes FIRST-LAST/LENGTH`.");
  const [, first, last, length] = match;
  if (length !== "*" && Number(length) !== bytes)
    throw refuse("content-range", `The input was announced with ${bytes} bytes, not ${length}.`);
  if (Number(last) < Number(first) || Number(last) >= bytes)
    throw refuse("content-range", `Content-Range ends outside of the ${bytes} bytes of the input.`);
  const stated = Number(last) - Number(first) + 1;
  if (announced !== undefined && Number(announced) !== stated)
    throw refuse("content-range", `Content-Range has ${stated} bytes, the body ${announced}.`);
  return [Number(first), Number(last) + 1];
}
