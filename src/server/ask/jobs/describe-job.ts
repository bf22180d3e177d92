/** Describes jobs and inputs to their owners. */
import { type Static, Type } from "@sinclair/typebox";
import type { JobInput } from "../../../jobs/inputs.js";
import { JOB_STATES, type Job, pointsOf, progressOf, secondsLeft } from "../../../jobs/job.js";
import { oneOf } from "../schemas.js";

const nullable = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const count = (description: string) => Type.Integer({ description });

export const JOB = Type.Object({
  id: Type.String(),
  state: oneOf(JOB_STATES),
  call: Type.String({ description: "Method and address of the call." }),
  progress: Type.Number({ description: "Part that is done, from 0 to 1." }),
  secondsLeft: Type.Union([Type.Number(), Type.Null()], { description: "By the rate so far; null if unknown." }),
  cost: Type.Object({
    points: count("Points that are computed, at each of their times; 0 for analyses and single tasks."),
    tasks: count("Tasks that the job is cut into."),
    seconds: Type.Number({ description: "Time that its tasks have taken, together." }),
  }),
  created: Type.String(),
  started: nullable("When its first task began."),
  ended: nullable("When it was done, failed or was cancelled."),
  problem: nullable("Why it failed."),
  result: Type.Union([
    Type.Object({
      href: Type.String(),
      name: Type.String({ description: "Name of the file in the folder of results." }),
      type: Type.String(),
      bytes: count("Length of the file."),
      sha256: Type.String(),
    }),
    Type.Null(),
  ]),
});

const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Describes a job at a time; `base` is the path of the public address. */
export function describeJob(job: Job, now: number, base: string): Static<typeof JOB> {
  const { id, state, call, tasks, spentMs, result } = job;
  return {
    ...{ id, state, call: `${call.method} ${call.url}`, progress: Math.round(progressOf(job) * 1e4) / 1e4 },
    secondsLeft: secondsLeft(job, now),
    cost: { points: pointsOf(job), tasks, seconds: Math.round(spentMs) / 1000 },
    created: instant(job.createdAt) as string,
    started: instant(job.startedAt),
    ended: instant(job.endedAt),
    problem: job.problem,
    result: result && { href: `${base}/api/jobs/${id}/result`, ...result },
  };
}

export const INPUT = Type.Object({
  id: Type.String(),
  complete: Type.Boolean({ description: "Whether all of it has been received." }),
  received: count("Bytes of the upload so far."),
  bytes: count("Bytes of the whole upload; 0 without an upload."),
  points: Type.Union([Type.Integer(), Type.Null()], { description: "Of octets, as if each had three numbers." }),
});

/** Describes an input of which some bytes have been received. */
export function describeInput({ id, complete, source, points }: JobInput, received: number): Static<typeof INPUT> {
  const bytes = source.kind === "upload" ? source.bytes : 0;
  return { id, complete, received: complete ? bytes : received, bytes, points };
}
