/** Turns questions into jobs, and sends the calls of their tasks. */
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Job, JobCut } from "../../../jobs/job.js";
import { newId } from "../../../jobs/job-files.js";
import type { TaskCall } from "../../../jobs/job-runner.js";
import type { TaskAnswer } from "../../../jobs/task-outputs.js";
import { type CallName, callOf, type Format } from "../../../shared/calls.js";
import { CancelledError, LimitError, tooManyPoints } from "../../../shared/errors.js";
import { TASK_HEADER } from "../../http/request-life.js";
import type { Service } from "../../http/service.js";
import { type Context, DryRun, type Work } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { namesOfOthers } from "../question/other-datasets.js";
import { openPoints, plainRows, pointsText, REPEATED_POINTS, statedRows } from "../question/points.js";
import type { GivenMembers } from "../question/read-question.js";
import { describeJob } from "./describe-job.js";

/** Calls whose answers are computed in parts. */
const CUT: readonly CallName[] = ["values", "grid", "nodes", "paths", "flow_map", "dispersion"];
/** The file of trajectories is written at once. */
const isCut = (call: CallName, format: Format): boolean =>
  CUT.includes(call) && format !== "png" && !(call === "paths" && ["nc", "h5"].includes(format));
const MAX_POINTS = 1 << 20;
/** The part of a call's most elements that a task has: seconds of work. Fewer particles cost more each. */
const TASK_PART = 1 / 2;
/** Approximate bytes of a number in text, with its share of the coordinates. */
const TEXT_BYTES = 12;
/** Bytes that a ZIP archive of NumPy can hold. */
const NPZ_BYTES = 2 ** 32;

interface Started {
  readonly call: CallName;
  readonly question: MemberValues;
  readonly given: GivenMembers;
  readonly format: Format;
  /** Plans the question, which refuses faults. */
  readonly plan: (context: Context) => Promise<unknown>;
}

/**
 * Starts a job for a question unless the question is wrong, and answers with the job. @throws what refuses the
 * question, LimitError
 */
export async function startJob(context: Context, started: Started, reply: FastifyReply): Promise<FastifyReply> {
  const { life, service, dataset, jobs } = context;
  const { call, question, given, format } = started;
  if (jobs === null) throw wrong("job", "this service has no jobs");
  const { owner, tokenPoints: limit } = life;
  await jobs.admit(owner);
  const isTimed = typeof question.time === "object" && "each" in question.time;
  const { points } = question;
  const rows = points !== undefined && "rows" in points && points.together === undefined ? points : null;
  const body: Record<string, unknown> = { ...Object.fromEntries(given), format };
  const part = new DryRun();
  // An analysis is planned until its first pass over the data.
  if (isCut(call, format)) await started.plan({ ...context, part });
  else await life.rehearse(() => started.plan({ ...context, part: callOf(call).kind === "table" ? part : null }));
  const cut = part.work === null ? null : cutOf(part.work, context, format);
  if (cut !== null && !cut.inPasses && limit > 0 && cut.points * cut.times > limit)
    throw tooManyPoints("token.points", cut.points * cut.times, limit);
  let own: string | null = null;
  if (rows !== null) await openPoints(context, question, isTimed);
  if (rows !== null) body.points = pointsText(rows);
  else if (points !== undefined && "rows" in points) body.points = statedRows(points);
  const asSent = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (rows !== null && rows.rows.length / rows.width > REPEATED_POINTS) {
    const plain = plainRows(rows, isTimed);
    own = newId();
    await jobs.inputs.addRows({ id: own, owner }, plain.rows, plain.width, body.points);
    body.points = { input: own };
  }
  const named = points !== undefined && "input" in points ? { id: points.input, own: false } : undefined;
  const input = own === null ? named : { id: own, own: true };
  const url = `/api/datasets/${encodeURIComponent(dataset.name)}/${call}`;
  const others = namesOfOthers(question);
  const made = { method: "POST", url, form: format, ...(others.length > 0 && { others }), ...(limit > 0 && { limit }) };
  const name = reply.request.headers["idempotency-key"];
  const digest = createHash("sha256")
    .update(JSON.stringify([url, asSent]))
    .digest("hex");
  const key = name === undefined ? {} : { key: { name: String(name), digest } };
  try {
    const job = await jobs.start(owner, made, cut, body, { ...(input === undefined ? {} : { input }), ...key });
    if (own !== null && job.input?.id !== own) await jobs.inputs.remove(own);
    return await sendStarted(reply, service, job);
  } catch (error) {
    if (own !== null) await jobs.inputs.remove(own);
    throw error;
  }
}

export function sendStarted(reply: FastifyReply, { basePath }: Pick<Service, "basePath">, job: Job): FastifyReply {
  return reply
    .code(202)
    .header("location", `${basePath}/api/jobs/${job.id}`)
    .header("preference-applied", "respond-async")
    .send(describeJob(job, Date.now(), basePath));
}

function cutOf({ count, times, widths, granularity = 1, inPasses }: Work, { life }: Context, format: Format): JobCut {
  if (inPasses) return { points: count, times, perTask: 1, inPasses };
  const size = Math.min(MAX_POINTS, Math.floor(life.taskPoints * TASK_PART));
  const perTask = granularity * Math.max(1, Math.floor(size / granularity));
  const numbers = count * times * widths.reduce((sum, width) => sum + width, 0);
  if (format === "npz" && 8 * numbers > NPZ_BYTES)
    throw new LimitError("jobs.points", "format: npz holds 4 GiB; take zarr, nc or h5 for so many numbers.");
  const bytes = numbers * (format === "csv" || format === "json" ? TEXT_BYTES : 4);
  return { points: count, times, perTask, bytes };
}

/** Sends a call of a task: a request of the service to itself, which uses idle time. */
export async function sendTask(
  api: FastifyInstance,
  { tasks }: Service,
  { method, url, limit = 0, owner, body, part }: TaskCall,
  signal: AbortSignal,
): Promise<TaskAnswer> {
  const key = randomUUID();
  const headers = {
    ...{ [TASK_HEADER]: key, "accept-encoding": "identity" },
    ...{ "content-type": "application/json", "content-length": String(body.bytes) },
  };
  const payload = Readable.from(body.steps, { autoDestroy: false });
  // Aborting by the library's own signal would also break an answer that has not been handed over yet.
  const abort = (): void => void payload.emit("error", new CancelledError());
  if (signal.aborted) throw new CancelledError();
  signal.addEventListener("abort", abort, { once: true });
  tasks.set(key, { owner, limit, part });
  try {
    const request = { method: method as "POST", url, headers, payload, payloadAsStream: true } as const;
    const answer = await api.inject(request);
    return { status: answer.statusCode, headers: answer.headers, body: answer.stream() };
  } finally {
    tasks.delete(key);
  }
}
