/** Answers questions: reads their members, runs the call, and sends the answer in the requested form. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../engine/contract/dataset.js";
import { SMALL_WORK } from "../../engine/contract/query.js";
import { type CallName, callOf, FORMS, type FormName } from "../../shared/calls.js";
import { CancelledError, excerpt, FieldprobeError } from "../../shared/errors.js";
import { compute } from "../http/compute.js";
import { describeProblem } from "../http/describe-problem.js";
import { negotiate } from "../http/negotiate.js";
import { readWhole } from "../http/read-whole.js";
import { HttpRefusal } from "../http/refusal.js";
import type { RequestLife } from "../http/request-life.js";
import { addVary, sendChunks } from "../http/send-answer.js";
import { isHeld } from "../http/validators.js";
import { around } from "./analysis/around.js";
import { dispersion } from "./analysis/dispersion.js";
import { correlation } from "./analysis/spectra/line-spectra.js";
import { spectrum } from "./analysis/spectra/spectrum.js";
import { statistics } from "./analysis/statistics.js";
import { structure_functions } from "./analysis/structure-functions.js";
import { structures } from "./analysis/structures.js";
import { type Answered, bytesOf, type CallAnswer, type CompleteQuestion, type Understood } from "./answer.js";
import { find } from "./calls/find.js";
import { flow_map } from "./calls/flow-map.js";
import { grid } from "./calls/grid.js";
import { nodes } from "./calls/nodes.js";
import { paths } from "./calls/paths.js";
import { values } from "./calls/values.js";
import type { Context, Part, Plan } from "./context.js";
import { checkAlone, ORDER, withFaults, wrong } from "./faults.js";
import { jsonOf } from "./forms/text-forms.js";
import { checkForm, sendAnswer, sendNumbers } from "./forms/write-answer.js";
import { startJob } from "./jobs/start-job.js";
import { requireLevel } from "./levels/grid-levels.js";
import type { MemberValues } from "./question/member-values.js";
import { JSON_BYTES, JSON_TOO_LARGE, readBodyMembers } from "./question/read-body.js";
import {
  callNamed,
  type GivenMembers,
  joined,
  membersOfJson,
  membersOfQuery,
  readQuestion,
} from "./question/read-question.js";
import { restate } from "./restate.js";

/** Most questions of a list, and of a list that is a small request. */
export const MOST_QUESTIONS = 64;
const FEW_QUESTIONS = 8;

type Run = (context: Context, question: MemberValues) => Promise<CallAnswer>;

export type Doors = Pick<Context, "service" | "thread" | "jobs">;

const RUNS: Readonly<Record<CallName, Run>> = {
  values,
  grid,
  nodes,
  find,
  paths,
  flow_map,
  dispersion,
  statistics,
  spectrum,
  correlation,
  around,
  structure_functions,
  structures,
};

/** The form of an answer; `format` overrides `Accept`. @throws NotAcceptableError that lists the forms */
function formFor(call: CallName, { format }: MemberValues, accept: string | undefined): FormName {
  if (format !== undefined) return format;
  const { forms } = callOf(call);
  const types = forms.map((form) => FORMS[form].type) as unknown as [string, ...string[]];
  const type = negotiate(accept, types);
  return forms.find((form) => FORMS[form].type === type) ?? "json";
}

async function answerTo(context: Context, call: CallName, question: MemberValues, format: FormName): Promise<Answered> {
  const { dataset, service, life } = context;
  const { level = 0 } = question;
  // In every call but grid, a level is a separate dataset.
  const isOwn = call !== "grid" && typeof level === "number" && level > 0;
  const coarse = isOwn ? life.dataset(requireLevel(service.engine.levels(dataset), dataset, level).name) : dataset;
  const own = { ...question, format };
  if (callOf(call).kind !== "table") checkAlone(question.what?.length ?? 1, format);
  const { answer, found } = await RUNS[call]({ ...context, dataset: coarse }, own);
  const understood = { ...restate(call, own, found), ...(await statedPoints(context, question)), format };
  const members = Object.entries(understood).toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const complete: CompleteQuestion = { dataset: dataset.name, call, ...Object.fromEntries(members) };
  return { answer, question: complete, dataset };
}

/** The points of a job's own input, as the question that started the job stated them. */
async function statedPoints({ jobs, life }: Context, { points }: MemberValues): Promise<Understood> {
  if (life.task === null || points === undefined || !("input" in points)) return {};
  const source = (await jobs?.input(life.owner, points.input))?.source;
  return source?.kind === "rows" ? { points: source.stated } : {};
}

async function answerAndSend(
  context: Context,
  call: CallName,
  question: MemberValues,
  reply: FastifyReply,
  request: FastifyRequest,
  given: GivenMembers,
): Promise<FastifyReply> {
  const { service, life, dataset, thread } = context;
  const form = formFor(call, question, request.headers.accept);
  addVary(reply, "Accept");
  if (request.method !== "POST") {
    const members = [...given].toSorted(([a], [b]) => (a < b ? -1 : 1));
    // Levels may have been made meanwhile.
    if (question.level !== undefined) members.push(["level", service.engine.levels(dataset)?.datasets[0]?.digest]);
    const tag = service.tags.of(dataset, [call, form, members]);
    if (isHeld(request, reply, service.config, tag)) return reply.code(304).send();
  }
  const answered = await answerTo(context, call, question, form);
  if (life.task !== null) reply.header("fieldprobe-manifest", dataset.digest);
  if (context.part !== null && "range" in context.part) return sendNumbers(answered, { service, life, reply });
  checkForm(answered, form);
  await life.computed([{ values: [], heldBytes: bytesOf(answered.answer) }]);
  return sendAnswer(answered, form, { service, life, reply, thread, question });
}

async function withFaultList<T>(steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    throw withFaults(error);
  }
}

/** Removes `job` from the members. @returns whether it was set */
function takeJob(given: GivenMembers): boolean {
  const job = given.get("job");
  given.delete("job");
  return job === true || job === "true" || job === "";
}

/** Whether a caller prefers a job to an answer. Source: RFC 7240. */
export function prefersJob({ headers: { prefer }, method }: FastifyRequest): boolean {
  return method === "POST" && /(^|,)\s*respond-async\s*($|[,;])/i.test(String(prefer ?? ""));
}

export function serveCall(
  { service, thread, jobs }: Doors,
  call: CallName,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return compute(service, { name: call }, request, reply, (life) =>
    withFaultList(async () => {
      const dataset = life.dataset(name);
      const query = membersOfQuery(request.query);
      const body = await readBodyMembers(life, request, call, query, service.config.limits["http.bodyBytes"]);
      const given = joined(query, body);
      const isMember = takeJob(given);
      if (isMember && request.method !== "POST") throw wrong("job", "jobs are started by POST");
      const question = readQuestion(call, given, dataset);
      const part = (life.task?.part ?? null) as Part | null;
      const context: Context = { life, service, thread, jobs, dataset, part };
      if (life.task === null && (isMember || prefersJob(request))) {
        const format = formFor(call, question, request.headers.accept);
        const plan = async (planned: Context): Promise<void> => {
          const answered = await answerTo(planned, call, question, format);
          if ((planned.part as Plan | null)?.work != null) checkForm(answered, format);
        };
        return startJob(context, { call, question, given, format, plan }, reply);
      }
      return answerAndSend(context, call, question, reply, request, given);
    }),
  );
}

/** The dataset, the call and the members of a whole question. */
function wholeQuestion(
  life: RequestLife,
  given: unknown,
): { readonly dataset: Dataset; readonly call: CallName; readonly members: GivenMembers } {
  const members = membersOfJson(given);
  const [dataset, call] = [members.get("dataset"), members.get("call")];
  if (typeof dataset !== "string") throw wrong("dataset", "the name of a dataset is missing");
  const known = callNamed(call);
  members.delete("dataset");
  members.delete("call");
  if (takeJob(members)) throw wrong("job", `jobs are started by POST /api/datasets/${excerpt(dataset)}/${known}`);
  return { dataset: life.dataset(dataset), call: known, members };
}

/** Answers `POST /ask`: a whole question in any form, or a list of them, whose answers are a list of JSON. */
export function serveAsk(doors: Doors, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return compute(doors.service, { name: "ask" }, request, reply, (life) =>
    withFaultList(async () => {
      if (request.headers["content-type"] === undefined) throw new HttpRefusal(415, "A question is application/json.");
      const body = await life.readJson(await readWhole(life, JSON_BYTES, JSON_TOO_LARGE));
      if (Array.isArray(body)) return answerList(doors, life, body, request, reply);
      const { dataset, call, members } = wholeQuestion(life, body);
      return answerAndSend(
        { ...doors, life, dataset, part: null },
        call,
        readQuestion(call, members, dataset),
        reply,
        request,
        members,
      );
    }),
  );
}

/** Answers questions one after another: each with its own answer or problem. */
async function answerList(
  doors: Doors,
  life: RequestLife,
  questions: readonly unknown[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (questions.length === 0 || questions.length > MOST_QUESTIONS)
    throw wrong("questions", `a list has 1 to ${MOST_QUESTIONS} questions, not ${questions.length}`);
  negotiate(request.headers.accept, [FORMS.json.type]);
  if (questions.length > FEW_QUESTIONS) life.foresee(SMALL_WORK + 1);
  const answers: (Answered | { readonly problem: object })[] = [];
  for (const one of questions) {
    try {
      if (answers.length > 0) {
        await life.slices.pause();
        life.another();
      }
      const { dataset, call, members } = wholeQuestion(life, one);
      const question = readQuestion(call, members, dataset);
      if (question.format !== undefined && question.format !== "json")
        throw wrong("format", `answers of a list are json, not ${excerpt(question.format)}`);
      answers.push(await answerTo({ ...doors, life, dataset, part: null }, call, question, "json"));
      life.settle();
    } catch (error) {
      // A failure of the service fails the whole list; faults of a question are reported beside the other answers.
      if (!(error instanceof FieldprobeError) || error instanceof CancelledError) throw error;
      life.abort();
      answers.push({ problem: describeProblem(withFaults(error), request.id).problem });
    }
  }
  const bytes = answers.reduce((sum, one) => sum + ("problem" in one ? 0 : bytesOf(one.answer)), 0);
  await life.computed([{ values: [], heldBytes: bytes }]);
  await sendChunks(reply, "application/json; charset=utf-8", listOf(answers), doors.service, life.reader);
  return reply;
}

async function* listOf(
  answers: readonly (Answered | { readonly problem: object })[],
): AsyncGenerator<Buffer, undefined> {
  for (const [i, one] of answers.entries()) {
    yield Buffer.from(i === 0 ? "[" : ",");
    if ("problem" in one) yield Buffer.from(JSON.stringify(one));
    else yield* jsonOf(one);
  }
  yield Buffer.from("]\n");
}
