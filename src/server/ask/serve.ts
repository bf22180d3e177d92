/** Answers questions: reads their members, runs the call, and sends the answer in the requested format. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { SMALL_WORK } from "../../engine/contract/query.js";
import { ANOTHER_PASS_STATUS } from "../../jobs/job-runner.js";
import { type CallName, callOf, FORMATS, type Format } from "../../shared/calls.js";
import { CancelledError, excerpt, FieldprobeError } from "../../shared/errors.js";
import { compute } from "../http/compute.js";
import { describeProblem } from "../http/describe-problem.js";
import { negotiate } from "../http/negotiate.js";
import { readWhole } from "../http/read-whole.js";
import { HttpRefusal } from "../http/refusal.js";
import type { RequestLife } from "../http/request-life.js";
import { addVary, sendChunks } from "../http/send-answer.js";
import { isFresh } from "../http/validators.js";
import { around } from "./analysis/around.js";
import { dispersion } from "./analysis/dispersion.js";
import { withGivenNames } from "./analysis/given-names.js";
import { correlation } from "./analysis/spectra/line-spectra.js";
import { spectrum } from "./analysis/spectra/spectrum.js";
import { statistics } from "./analysis/statistics.js";
import { structureFunctions } from "./analysis/structure-functions.js";
import { structures } from "./analysis/structures.js";
import { bytesOf, type CallAnswer, type CompleteQuestion, levelNumber, type Outcome, type Restated } from "./answer.js";
import { find } from "./calls/find.js";
import { flowMap } from "./calls/flow-map.js";
import { grid } from "./calls/grid.js";
import { nodes } from "./calls/nodes.js";
import { paths } from "./calls/paths.js";
import { values } from "./calls/values.js";
import { type Context, type DryRun, EndOfTask, type Part } from "./context.js";
import { checkAlone, ORDER, withFaults, wrong } from "./faults.js";
import { jsonOf } from "./formats/text-forms.js";
import { checkFormat, sendAnswer, sendNumbers } from "./formats/write-answer.js";
import { startJob } from "./jobs/start-job.js";
import { describeLevel, requireLevel } from "./levels/grid-levels.js";
import type { MemberValues } from "./question/member-values.js";
import { namesOfOthers, othersOf } from "./question/other-datasets.js";
import { JSON_BYTES, JSON_TOO_LARGE, readBodyMembers } from "./question/read-body.js";
import { readBoolean } from "./question/read-member.js";
import type { GivenMembers } from "./question/read-question.js";
import { callNamed, joinMembers, membersOfJson, membersOfQuery, readQuestion } from "./question/read-question.js";
import { checkFilterUsed } from "./question/what.js";
import { restate } from "./restate.js";

/** Most questions of a list; lists of more than FEW_QUESTIONS are large requests. */
export const MAX_QUESTIONS = 64;
const FEW_QUESTIONS = 8;

type CallHandler = (context: Context, question: MemberValues) => Promise<CallAnswer>;

/** What the calls need from the plug-in. */
export type CallServices = Pick<Context, "service" | "thread" | "jobs">;

const HANDLERS: Readonly<Record<CallName, CallHandler>> = {
  values,
  grid,
  nodes,
  find,
  paths,
  flow_map: flowMap,
  dispersion,
  statistics,
  spectrum,
  correlation,
  around,
  structure_functions: structureFunctions,
  structures,
};

/** The format of an answer; `format` overrides `Accept`. Throws NotAcceptableError that lists the formats. */
function formatFor(call: CallName, { format }: MemberValues, accept: string | undefined): Format {
  if (format !== undefined) return format;
  const { formats } = callOf(call);
  const types = formats.map((format) => FORMATS[format].type) as unknown as [string, ...string[]];
  const type = negotiate(accept, types);
  return formats.find((name) => FORMATS[name].type === type) ?? "json";
}

/** Runs a call on the dataset, or on the level that the question names, and restates the question. */
async function runCall(context: Context, call: CallName, question: MemberValues, format: Format): Promise<Outcome> {
  const { dataset, service, life } = context;
  const { level = 0 } = question;
  // In every call but grid, a level is a dataset of its own.
  const datasetOf = (k: number) => life.dataset(requireLevel(service.engine.levels(dataset), dataset, k).name);
  const asked = call !== "grid" && typeof level === "number" && level > 0 ? datasetOf(level) : dataset;
  const others = othersOf(question, asked, (name) => life.dataset(name));
  const withFormat = { ...question, format, others };
  if (callOf(call).kind !== "table") checkAlone(question.what?.length ?? 1, format);
  checkFilterUsed(withFormat, asked);
  const { answer: found, restatements } = await HANDLERS[call]({ ...context, dataset: asked }, withFormat);
  const answer = found.kind === "table" ? { ...found, body: withGivenNames(found.body, withFormat, asked) } : found;
  const complete = await restatedQuestion(context, call, withFormat, restatements);
  const answering = call === "grid" && Number(complete.level) > 0 ? datasetOf(Number(complete.level)) : asked;
  // `what` of a flow map lists columns, not expressions.
  const expressions = call === "flow_map" ? [] : ((complete.what ?? []) as string[]);
  const formulas = answer.kind === "table" ? Object.keys((answer.body.formulas ?? {}) as object) : [];
  const isLevelStated = levelNumber(answering) > 0 || level !== 0;
  const levelNote = isLevelStated ? describeLevel(answering, withFormat, expressions, formulas) : {};
  return { answer, question: complete, dataset, levelNote, others };
}

/** The question with its defaults filled in, as the answer repeats it. */
async function restatedQuestion(
  context: Context,
  call: CallName,
  question: MemberValues,
  restatements: Restated,
): Promise<CompleteQuestion> {
  const { format } = question;
  const restated = { ...restate(call, question, restatements), ...(await statedPoints(context, question)), format };
  const members = Object.entries(restated).toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return { dataset: context.dataset.name, call, ...Object.fromEntries(members) };
}

/** A job keeps the points of its question as an input; this restates them as the question did. */
async function statedPoints({ jobs, life }: Context, { points }: MemberValues): Promise<Restated> {
  if (life.task === null || points === undefined || !("input" in points)) return {};
  const source = (await jobs?.input(life.owner, points.input))?.source;
  return source?.kind === "rows" ? { points: source.stated } : {};
}

async function runAndSend(
  context: Context,
  call: CallName,
  question: MemberValues,
  reply: FastifyReply,
  request: FastifyRequest,
  asGiven: GivenMembers,
): Promise<FastifyReply> {
  const { service, life, dataset, thread } = context;
  const format = formatFor(call, question, request.headers.accept);
  const others = namesOfOthers(question).map((name) => [name, life.dataset(name).digest] as [string, string]);
  addVary(reply, "Accept");
  if (request.method !== "POST") {
    const members = [...asGiven].toSorted(([a], [b]) => (a < b ? -1 : 1));
    // Levels may be added later: the digest of the first makes the tag change.
    if (question.level !== undefined) members.push(["level", service.engine.levels(dataset)?.datasets[0]?.digest]);
    members.push(...others);
    const tag = service.tags.of(dataset, [call, format, members]);
    if (isFresh(request, reply, service.config, tag)) return reply.code(304).send();
  }
  reply.header("fieldprobe-manifest", dataset.digest);
  if (others.length > 0) reply.header("fieldprobe-manifests", others.map(([, digest]) => digest).join(" "));
  // A task of a job ends by EndOfTask, with its numbers or with null if another pass is needed.
  const answered = await runCall(context, call, question, format).catch((error: unknown) => {
    if (error instanceof EndOfTask) return error;
    throw error;
  });
  if (answered instanceof EndOfTask) {
    if (answered.numbers === null) return reply.code(ANOTHER_PASS_STATUS).send();
    return sendNumbers(answered.numbers, { service, life, reply });
  }
  checkFormat(answered, format);
  await life.finishComputing([{ values: [], heldBytes: bytesOf(answered.answer) }]);
  return sendAnswer(answered, format, { service, life, reply, thread, question });
}

async function withFaultList<T>(steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    throw withFaults(error);
  }
}

/** Removes `job` from the members and returns whether it was set. */
export function takeJobFlag(given: GivenMembers): boolean {
  const job = given.get("job");
  return given.delete("job") && readBoolean(job, "job");
}

/** Whether a caller prefers a job to an answer. Source: RFC 7240. */
export function prefersJob({ headers: { prefer }, method }: FastifyRequest): boolean {
  return method === "POST" && /(^|,)\s*respond-async\s*($|[,;])/i.test(String(prefer ?? ""));
}

export function serveCall(
  { service, thread, jobs }: CallServices,
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
      const given = joinMembers(query, body);
      const isJob = takeJobFlag(given);
      if (isJob && request.method !== "POST") throw wrong("job", "jobs are started by POST");
      const question = readQuestion(call, given, dataset);
      const part = (life.task?.part ?? null) as Part | null;
      const context: Context = { life, service, thread, jobs, dataset, part };
      if (life.task === null && (isJob || prefersJob(request))) {
        const format = formatFor(call, question, request.headers.accept);
        const plan = async (dryContext: Context): Promise<void> => {
          // In a dry run the call sets `part.work` and computes nothing.
          const answered = await runCall(dryContext, call, question, format);
          if ((dryContext.part as DryRun | null)?.work != null) checkFormat(answered, format);
        };
        return startJob(context, { call, question, given, format, plan }, reply);
      }
      return runAndSend(context, call, question, reply, request, given);
    }),
  );
}

/** The dataset, the call and the members of a whole question. */
function readWholeQuestion(life: RequestLife, given: unknown) {
  const members = membersOfJson(given);
  const [dataset, call] = [members.get("dataset"), members.get("call")];
  if (typeof dataset !== "string") throw wrong("dataset", "the name of a dataset is missing");
  const callName = callNamed(call);
  members.delete("dataset");
  members.delete("call");
  if (takeJobFlag(members))
    throw wrong("job", `jobs are started by POST /api/datasets/${excerpt(dataset)}/${callName}`);
  return { dataset: life.dataset(dataset), call: callName, members };
}

/** Answers `POST /ask`: one question in any format, or a list of questions by a JSON list. */
export function serveAsk(services: CallServices, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return compute(services.service, { name: "ask" }, request, reply, (life) =>
    withFaultList(async () => {
      if (request.headers["content-type"] === undefined) throw new HttpRefusal(415, "A question is application/json.");
      const body = await life.readJson(await readWhole(life, JSON_BYTES, JSON_TOO_LARGE));
      if (Array.isArray(body)) return answerList(services, life, body, request, reply);
      const { dataset, call, members } = readWholeQuestion(life, body);
      const context = { ...services, life, dataset, part: null };
      return runAndSend(context, call, readQuestion(call, members, dataset), reply, request, members);
    }),
  );
}

/** Answers questions one after another, each with an answer or a problem. */
async function answerList(
  services: CallServices,
  life: RequestLife,
  questions: readonly unknown[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (questions.length === 0 || questions.length > MAX_QUESTIONS)
    throw wrong("questions", `a list has 1 to ${MAX_QUESTIONS} questions, not ${questions.length}`);
  negotiate(request.headers.accept, [FORMATS.json.type]);
  if (questions.length > FEW_QUESTIONS) life.declareWork(SMALL_WORK + 1);
  const answers: (Outcome | { readonly problem: object })[] = [];
  for (const one of questions) {
    try {
      if (answers.length > 0) {
        await life.slices.pause();
        life.countFurtherQuery();
      }
      const { dataset, call, members } = readWholeQuestion(life, one);
      const question = readQuestion(call, members, dataset);
      if (question.format !== undefined && question.format !== "json")
        throw wrong("format", `answers of a list are json, not ${excerpt(question.format)}`);
      answers.push(await runCall({ ...services, life, dataset, part: null }, call, question, "json"));
      life.carryOverPoints();
    } catch (error) {
      // A failure of the service fails the whole list; faults of a question are reported among the answers.
      if (!(error instanceof FieldprobeError) || error instanceof CancelledError) throw error;
      life.abort();
      answers.push({ problem: describeProblem(withFaults(error), request.id).problem });
    }
  }
  const bytes = answers.reduce((sum, one) => sum + ("problem" in one ? 0 : bytesOf(one.answer)), 0);
  await life.finishComputing([{ values: [], heldBytes: bytes }]);
  await sendChunks(reply, "application/json; charset=utf-8", writeList(answers), services.service, life.reader);
  return reply;
}

async function* writeList(
  answers: readonly (Outcome | { readonly problem: object })[],
): AsyncGenerator<Buffer, undefined> {
  for (const [i, one] of answers.entries()) {
    yield Buffer.from(i === 0 ? "[" : ",");
    if ("problem" in one) yield Buffer.from(JSON.stringify(one));
    else yield* jsonOf(one);
  }
  yield Buffer.from("]\n");
}
