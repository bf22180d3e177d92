/** `acceptJobs` turns calls with `Prefer: respond-async` into jobs, and gives jobs the calls that they make. */
import { closeSync, createWriteStream, openSync, writeFileSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TripleSink } from "../../../engine/contract/query.js";
import { type Job, type JobCut, pointsOf, RESULT_FORMS, type ResultForm } from "../../../jobs/job.js";
import { keptOnlyIf, newId } from "../../../jobs/job-files.js";
import type { TaskCall } from "../../../jobs/job-runner.js";
import type { Jobs } from "../../../jobs/jobs.js";
import type { TaskAnswer } from "../../../jobs/task-outputs.js";
import { CancelledError, tooManyPoints } from "../../../shared/errors.js";
import { findOperation, type Operation } from "../../../shared/operations.js";
import type { Grant } from "../../http/auth.js";
import { negotiate } from "../../http/negotiate.js";
import { bodyTooLarge, refuseEncoded } from "../../http/refusal.js";
import {
  isTask,
  TASK_HEADER,
  TASK_LIMIT_HEADER,
  TASK_OWNER_HEADER,
  TASK_POINTS_HEADER,
} from "../../http/request-life.js";
import type { Service } from "../../http/service.js";
import { giveMembers, JSON_BYTES, JSON_TOO_LARGE, REQUEST_TYPES } from "../body/read-body.js";
import { ownTimesOf } from "../own-times.js";
import { arraysOf, refuse, type TextMembers } from "../parameters.js";
import { tokenOf } from "../serve-operation.js";
import { TripleWriter } from "../triple-writer.js";
import { describeJob } from "./describe-job.js";

const [JSON_TYPE, OCTETS] = REQUEST_TYPES;
const CSV: ResultForm = "text/csv";
const PARQUET: ResultForm = "application/vnd.apache.parquet";
/** Forms whose rows or variables are values at points, not paths. */
const OF_POINTS: readonly ResultForm[] = [PARQUET, "application/netcdf"];
/** Bytes of a number in CSV, about, with its part of the point beside it. */
const CSV_BYTES = 12;
/** The most points of a task. */
const MOST_POINTS = 1 << 20;
/**
 * The part of a synchronous request's points that a task has: less if each point costs much, so that a task takes
 * seconds.
 */
const PART = { cheap: 2, costly: 16 } as const;

function asksForJob({ headers: { prefer }, query, method }: FastifyRequest): boolean {
  const { job } = query as { readonly job?: unknown };
  if (method === "POST" && (job === "true" || job === "")) return true;
  return /(^|,)\s*respond-async\s*($|[,;])/i.test(String(prefer ?? ""));
}

/** Whether a route computes something for its callers. */
function mayBeJob({ routeOptions: { url = "" }, method }: FastifyRequest): boolean {
  return ["GET", "POST"].includes(method) && /^\/api\/(datasets\/:name\/|batch$|NullOp$)/.test(url);
}

/** Whoever makes a request: the name of its token, and the points that it admits (0: any number). */
type Submitter = Pick<Grant, "id" | "points">;

function grantOf({ auth, connections }: Service, request: FastifyRequest): Submitter {
  const grant = auth.authorise(tokenOf(request), (id) => {
    request.facts.token = id;
  });
  grant.release();
  connections.know(request.raw.socket);
  return grant;
}

/** The owner of what a request makes: the name of its token. @throws AuthError */
export function ownerOf(service: Service, request: FastifyRequest): string | null {
  return grantOf(service, request).id;
}

/** Lets calls of an interface become jobs. */
export function acceptJobs(api: FastifyInstance, service: Service, jobs: Jobs): void {
  api.addHook("preHandler", async (request, reply) => {
    if (!asksForJob(request) || !mayBeJob(request) || isTask(service, request.headers)) return;
    refuseEncoded(request.headers["content-encoding"]);
    const owner = grantOf(service, request);
    await jobs.admit(owner.id);
    const started = await start(api, service, jobs, owner, request).catch((error: unknown) => {
      if (error instanceof RefusedCall) return error;
      throw error;
    });
    if (started instanceof RefusedCall) return reply.code(started.status).headers(started.headers).send(started.body);
    return reply
      .code(202)
      .header("location", `${service.basePath}/api/jobs/${started.id}`)
      .header("preference-applied", "respond-async")
      .send(describeJob(started, Date.now(), service.basePath));
  });
}

/** The operation of a route whose call can be cut by its points; null for any other. */
function operationOf(request: FastifyRequest): Operation | null {
  const { operation: asked = "GetPosition" } = request.query as { operation?: string };
  const last = request.routeOptions.url?.split("/").at(-1) ?? "";
  const operation = findOperation(last === "trajectories" ? asked : last);
  return operation === undefined || arraysOf(operation).length === 0 ? null : operation;
}

/** The answer of the service to a call that it refuses. */
class RefusedCall extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: Buffer) {
    super("a call was refused");
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** Starts a job. @throws RefusedCall, and what refuses a request */
async function start(
  api: FastifyInstance,
  service: Service,
  jobs: Jobs,
  grant: Submitter,
  request: FastifyRequest,
): Promise<Job> {
  const { id: owner, points: limit } = grant;
  const [path = "", search = ""] = request.url.split("?", 2);
  const query = new URLSearchParams(search);
  const inputId = query.get("input");
  query.delete("input");
  const operation = operationOf(request);
  // Some clients send a type with every request; a GET has no body that it could be of.
  const stated = request.method === "POST" ? request.headers["content-type"] : undefined;
  const type = stated?.toLowerCase().split(";")[0]?.trim() ?? null;
  if (operation === null || request.method !== "POST") {
    if (inputId !== null) throw refuse("input", "This call takes no points, so it takes no input.");
    return startWhole(service, jobs, grant, request, type);
  }
  let input: string | null = inputId;
  if (input === null && type === OCTETS) input = await keepBody(service, jobs, owner, request);
  if (input === null && type === JSON_TYPE) {
    const id = newId();
    const body = `${jobs.inputFile(id)}.body`;
    const points = `${body}.points`;
    const whole = await keptOnlyIf([body, points], async () => {
      await toFile(request, body, JSON_BYTES, JSON_TOO_LARGE);
      const isCut = await readPoints(service, owner, operation, body, points, query);
      if (!isCut) return jobs.start(owner, callOf(request, type, limit), null, (file) => rename(body, file));
      await rm(body, { force: true });
      input = (await jobs.inputs.adopt(id, owner, points)).id;
      return null;
    });
    if (whole !== null) return whole;
  }
  if (input === null) throw refuse("points", "The call has no points: send them, or name an input by `?input=ID`.");
  const own = inputId === null;
  try {
    const form = negotiate(request.headers.accept, Object.keys(RESULT_FORMS) as [ResultForm, ...ResultForm[]]);
    if (OF_POINTS.includes(form) && path.endsWith("/trajectories"))
      throw refuse("accept", "A job of trajectories is no NetCDF or Parquet; take application/x-npy.");
    const cut = await cutOf(jobs, owner, operation, input, query, form);
    const points = pointsOf({ cut: { ...cut, perTask: 1, ownInput: own } });
    if (limit > 0 && points > limit) throw tooManyPoints("token.points", points, limit);
    const accept = form === CSV ? CSV : OCTETS;
    const call = { method: "POST", url: `${path}?${query}`, accept, contentType: OCTETS, ...limited(limit) };
    const { most, numbers } = await tryCall(api, service, call, cut.times);
    const bytes = points * numbers * (form === CSV ? CSV_BYTES : 4);
    const usual = service.config.limits["query.points"];
    const part = Math.floor(most / (most < usual ? PART.costly : PART.cheap) / cut.times);
    const perTask = Math.max(1, Math.min(MOST_POINTS, part));
    return await jobs.start(owner, call, { ...cut, perTask, ownInput: own, bytes });
  } catch (error) {
    if (own) await jobs.inputs.remove(input);
    throw error;
  }
}

function callOf(request: FastifyRequest, contentType: string | null, limit: number): Job["call"] {
  const accept = request.headers.accept ?? "*/*";
  return { method: request.method, url: request.url, accept, contentType, ...limited(limit) };
}

/** The limit of a token as a member of a call. */
function limited(limit: number): Pick<Job["call"], "limit"> {
  return limit > 0 ? { limit } : {};
}

/** Starts a job that is a single task. */
function startWhole(
  service: Service,
  jobs: Jobs,
  { id, points }: Submitter,
  request: FastifyRequest,
  type: string | null,
): Promise<Job> {
  const most = service.config.limits["http.bodyBytes"];
  return jobs.start(id, callOf(request, type, points), null, async (file) => {
    if (type !== null) await toFile(request, file, most);
  });
}

/** What is known of a cut before the call was tried. */
async function cutOf(
  jobs: Jobs,
  owner: string | null,
  operation: Operation,
  id: string,
  query: URLSearchParams,
  form: ResultForm,
): Promise<Omit<JobCut, "perTask" | "ownInput" | "bytes">> {
  const input = await jobs.input(owner, id);
  if (input === null) throw refuse("input", "There is no input of that id.");
  const arrays = arraysOf(operation).filter(({ name }) => query.get(name) !== "false").length;
  const timed = ownTimesOf(operation) !== null && query.get("columns") === "xyzt";
  const bytesPerPoint = 12 * arrays + (timed ? 4 : 0);
  const points = await jobs.inputs.count(input, bytesPerPoint);
  if (points === 0) throw refuse("points", "The input has no points.");
  const times = Math.max(1, query.getAll("time").flatMap((text) => text.split(",")).length);
  if (times > 1 && (form === CSV || form === PARQUET))
    throw refuse("time", "A job with several times has no CSV or Parquet; take application/x-npy.");
  return { input: id, bytesPerPoint, points, form, times };
}

/**
 * Makes a call without points, which shows whether it is refused: then the caller gets that answer.
 *
 * @returns the points that a synchronous request could have, and the numbers of the answer at a point and time
 * @throws RefusedCall
 */
async function tryCall(
  api: FastifyInstance,
  service: Service,
  call: Job["call"],
  times: number,
): Promise<{ readonly most: number; readonly numbers: number }> {
  const answer = await sendTask(
    api,
    service,
    { ...call, owner: null, body: { bytes: 0, steps: [] } },
    new AbortController().signal,
  );
  const parts: Buffer[] = [];
  for await (const part of answer.body) parts.push(part);
  if (answer.status === 200) {
    const shape = String(answer.headers["fieldprobe-shape"]).split(",").map(Number);
    const numbers = shape.slice(times > 1 ? 2 : 1).reduce((product, length) => product * length, 1);
    return { most: Number(answer.headers[TASK_POINTS_HEADER] ?? service.config.limits["query.points"]), numbers };
  }
  const headers = ["content-type", "retry-after"].flatMap((name) =>
    answer.headers[name] === undefined ? [] : [[name, String(answer.headers[name])] as const],
  );
  throw new RefusedCall(answer.status, Object.fromEntries(headers), Buffer.concat(parts));
}

/** Makes a call of a task: a request of the service to itself, which uses idle time. */
export async function sendTask(
  api: FastifyInstance,
  { taskKey }: Service,
  { method, url, accept, contentType, limit, owner, body }: TaskCall,
  signal: AbortSignal,
): Promise<TaskAnswer> {
  const content = contentType === null ? {} : { "content-type": contentType };
  const length = body === null ? {} : { "content-length": String(body.bytes) };
  const points = limit === undefined ? {} : { [TASK_LIMIT_HEADER]: String(limit) };
  const whose = owner === null ? {} : { [TASK_OWNER_HEADER]: owner };
  const headers = {
    ...points,
    ...whose,
    [TASK_HEADER]: taskKey,
    accept,
    "accept-encoding": "identity",
    ...content,
    ...length,
  };
  const payload = Readable.from(body?.steps ?? [], { autoDestroy: false });
  // The library's own signal would also fail the stream of an answer that has not been handed over yet.
  const abort = (): void => void payload.emit("error", new CancelledError());
  if (signal.aborted) throw new CancelledError();
  signal.addEventListener("abort", abort, { once: true });
  const request = { method: method as "GET" | "POST", url, headers, payload, payloadAsStream: true } as const;
  const answer = await api.inject(request);
  return { status: answer.statusCode, headers: answer.headers, body: answer.stream() };
}

/** Writes the body of a request to a file. @throws HttpRefusal of a longer one */
async function toFile({ body, headers }: FastifyRequest, path: string, most: number, instead?: string): Promise<void> {
  if (Number(headers["content-length"] ?? 0) > most) throw bodyTooLarge(instead);
  await pipeline(body as Readable, counted(most, instead), createWriteStream(path));
}

/** Passes bytes on, up to a number. */
function counted(most: number, instead?: string): Transform {
  let bytes = 0;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      done(bytes > most ? bodyTooLarge(instead) : null, part);
    },
  });
}

/** Keeps a body of octets as an input. @returns its id */
async function keepBody(service: Service, jobs: Jobs, owner: string | null, request: FastifyRequest): Promise<string> {
  const id = newId();
  const path = `${jobs.inputFile(id)}.body`;
  await keptOnlyIf([path], () => toFile(request, path, service.config.limits["http.bodyBytes"]));
  return (await jobs.inputs.adopt(id, owner, path)).id;
}

/**
 * Turns a JSON body into octets and parameters, which are added to the query string.
 *
 * @returns false if the body has more than points and parameters: then it is a single task
 */
async function readPoints(
  { engine, slices }: Service,
  owner: string | null,
  operation: Operation,
  from: string,
  to: string,
  query: URLSearchParams,
): Promise<boolean> {
  const file = openSync(to, "w");
  const texts: TextMembers = new Map();
  const sink: TripleSink = {
    slab: new Float32Array(3 * 8192),
    commit: (count) => writeFileSync(file, new Uint8Array(sink.slab.buffer, 0, 12 * count)),
  };
  const writers: TripleWriter[] = [];
  const writer = (): TripleWriter => {
    writers.push(new TripleWriter(sink, { points: Number.POSITIVE_INFINITY, name: "jobs.points" }));
    return writers.at(-1) as TripleWriter;
  };
  const arrays = arraysOf(operation).map((member) => member.name);
  try {
    const members = await engine.readJson(await readFile(from), arrays, owner);
    await giveMembers(members, operation, { texts, writer, admit: () => null }, slices);
  } finally {
    closeSync(file);
  }
  const own = ownTimesOf(operation);
  if (writers.length !== 1 || texts.has("pairing") || (own !== null && texts.has(own.list))) {
    await rm(to);
    return false;
  }
  for (const [name, values] of texts) {
    if (query.has(name)) throw refuse(name, `${name} is in the query string already.`);
    query.set(name, values.join(","));
  }
  // Members that JSON leaves out have to be left out of octets too.
  for (const { name } of arraysOf(operation).slice(1)) query.set(name, "false");
  return true;
}
