/**
 * Typed client: a method for every operation, which sends any number of points in parts and returns one typed array.
 */
import {
  ALL_OPERATIONS,
  dialectOf,
  type Member,
  type OperationName,
  operationOf,
  RECORDS,
  type RecordName,
} from "../shared/operations.js";
import { ClientError } from "./error.js";
import { jobsOf } from "./jobs.js";
import { questionsOf } from "./questions.js";
import type { Answer, CallOptions, FieldClient, Points, TableRow, TrackingName } from "./request-types.js";
import { inParts } from "./split.js";
import { askTracks } from "./tracks.js";
import { openTransport, type SoapCall, type SoapVersion } from "./transport.js";
import { flatten, floatText, isList, readRecords, readWhole, triples } from "./wire-records.js";

export { ClientError, type ClientErrorCode, type ClientErrorDetail } from "./error.js";
export type { JobDescription, JobMethods, JobOptions } from "./jobs.js";
export type { Question, QuestionAnswer, QuestionMethods, QuestionOptions } from "./questions.js";
export type {
  Answer,
  CallOptions,
  ExitAnswer,
  FieldClient,
  Points,
  RequestOf,
  TrackAnswer,
  TrackingName,
  TrackingOptions,
} from "./request-types.js";
export type { SoapVersion } from "./transport.js";

export interface ConnectOptions {
  /** SOAP version of the requests; 1.1 by default. */
  readonly version?: SoapVersion;
  /** Token of requests that have none themselves. */
  readonly token?: string;
  /** Largest number of points in a request, 20 000 by default; smaller once the service has refused as many. */
  readonly pointsPerRequest?: number;
  /** Largest number of requests of one call that are under way at once; 3 by default. */
  readonly concurrency?: number;
}

type Request = Readonly<Record<string, unknown>>;

interface List {
  readonly member: Member;
  readonly flat: Float32Array;
}

interface RecordsOf {
  readonly record: RecordName;
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
}

/**
 * Connects to a service. @param url base address, e.g. `http://127.0.0.1:8080`, or endpoint @throws ClientError when it
 * cannot be reached, RangeError unless the numbers among the options are whole and positive
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<FieldClient> {
  for (const name of ["pointsPerRequest", "concurrency"] as const) {
    const value = options[name] ?? 1;
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a whole number above 0`);
  }
  const soap = await openTransport(url, options.version ?? "1.1");
  const methods = ALL_OPERATIONS.map((operation) => [
    operation.name,
    (request: Request, control: CallOptions = {}) => {
      const call = { operation, request, control, options };
      if (dialectOf(operation.name) === null) return runTracks(url, call);
      return run(soap, call).catch((error: unknown) => {
        if (!isCloseTime(error, operation)) throw error;
        return runTracks(url, call);
      });
    },
  ]);
  const track = (name: OperationName, request: Request, control: CallOptions = {}) =>
    runTracks(url, { operation: operationOf(name) as TableRow, request, control, options });
  const own = {
    track,
    stopAtOpenFaces: (name: TrackingName, request: Request, control?: CallOptions) =>
      track(name, { ...request, openFaces: "stop" }, control),
    atTimes: track,
    ...questionsOf(url, options.token),
    ...jobsOf(url, options.token),
  };
  return { ...Object.fromEntries(methods), ...own } as FieldClient;
}

/** Whether SOAP cannot say the time of a request: its float32 number may mean several frames. */
function isCloseTime(error: unknown, { request }: TableRow): boolean {
  if (!(error instanceof ClientError) || error.code !== "Unsupported" || !request.some(isList)) return false;
  return ["time", "StartTime", "EndTime"].includes(error.member ?? "");
}

/** A request of an operation, with its options. */
interface Call {
  readonly operation: TableRow;
  readonly request: Request;
  readonly control: CallOptions;
  readonly options: ConnectOptions;
}

type SendPart = (
  members: Request,
  records: number,
  signal: AbortSignal,
) => Promise<{ readonly record: RecordName; readonly values: Float32Array }>;

/** Sends a call in parts of its points. @param membersOf lists of the points `first .. first + count - 1` */
async function runParts(
  { operation, request, control, options }: Call,
  membersOf: (lists: readonly List[], first: number, count: number) => Request,
  send: SendPart,
): Promise<RecordsOf & { readonly values: Float32Array }> {
  const { token, pointsPerRequest = 20_000, concurrency = 3 } = options;
  const { lists, total } = readLists(operation, request);
  const scalars = Object.fromEntries(
    operation.request
      .filter((member) => !isList(member))
      .map(({ name }) => [name, request[name] ?? (name === "authToken" ? token : undefined)]),
  );
  const perPoint = recordsPerPoint(operation, request);
  const { openFaces } = request;
  let record: RecordName = operation.family === "track" && openFaces === "stop" ? "Exit" : operation.result;
  // Allocated with the first answer: before that, the service may still refuse a result of this size.
  let values: Float32Array | undefined;
  const part = async (first: number, count: number, signal: AbortSignal): Promise<void> => {
    const members = { ...scalars, ...membersOf(lists, first, count) };
    const answer = await send(members, count * perPoint, signal).catch((error: unknown) => {
      throw inWholeArray(error, first);
    });
    record = answer.record;
    const width = RECORDS[record].length * perPoint;
    values ??= new Float32Array(width * total);
    values.set(answer.values, width * first);
  };
  await inParts(total, pointsPerRequest, concurrency, part, control.signal, control.onProgress);
  return { record, components: RECORDS[record], recordsPerPoint: perPoint, values: values ?? new Float32Array() };
}

/** Sends a call by SOAP; one that takes no list of points runs whole. */
async function run(soap: SoapCall, call: Call): Promise<Answer> {
  const { operation } = call;
  if (!operation.request.some(isList)) return runWhole(soap, call);
  const membersOf = (lists: readonly List[], first: number, count: number) =>
    Object.fromEntries(lists.map(({ member, flat }) => [member.name, triples(member, flat, first, count)]));
  const send: SendPart = async (members, records, signal) => {
    const response = await soap(operation.name, members, signal);
    const values = new Float32Array(records * RECORDS[operation.result].length);
    readRecords(operation, response, records, values, 0);
    return { record: operation.result, values };
  };
  return (await runParts(call, membersOf, send)) as Answer;
}

/** Sends a call over plain HTTP, with options that SOAP does not have. */
function runTracks(url: string, call: Call): Promise<RecordsOf & { readonly values: Float32Array }> {
  const { operation, request } = call;
  const { openFaces, integrator, tolerance } = request;
  const own = (["times", "startTimes"] as const).filter((name) => request[name] !== undefined);
  const membersOf = (lists: readonly List[], first: number, count: number) => {
    const rows = lists.map(({ member, flat }) => [
      member.name,
      Array.from({ length: count }, (_, i) => [...flat.subarray(3 * (first + i), 3 * (first + i + 1))]),
    ]);
    const times = own.map((name) => [name, (request[name] as readonly number[]).slice(first, first + count)]);
    const pairing = own.length === 0 ? {} : { pairing: "each" };
    return { points: [], ...Object.fromEntries([...rows, ...times]), ...pairing, openFaces, integrator, tolerance };
  };
  return runParts(call, membersOf, (members, records, signal) => askTracks(url, operation, members, records, signal));
}

/** Records per point: 1, or (8^nlayers - 1) / 7 for box filters, which answer each box of an octree. */
function recordsPerPoint(operation: TableRow, request: Request): number {
  const layered = operation.request.some(({ name }) => name === "nlayers");
  return layered ? (8 ** Number(request.nlayers) - 1) / 7 : 1;
}

/**
 * Flattens the list members of a request, and counts its points. @throws ClientError unless there is one item per point
 */
function readLists(operation: TableRow, request: Request): { readonly lists: readonly List[]; readonly total: number } {
  const lists = operation.request
    .filter(isList)
    .filter((member) => request[member.name] !== undefined)
    .map((member) => ({ member, flat: flatten(member.name, request[member.name] as Points) }))
    .filter(({ flat }) => flat.length > 0);
  const total = (lists.find(({ member }) => member.name === "points")?.flat.length ?? 0) / 3;
  for (const { member, flat } of lists) {
    if (flat.length === 3 * total) continue;
    const message = `${member.name} has ${flat.length / 3} items for ${total} points.`;
    throw new ClientError("InvalidRequest", message, { member: member.name });
  }
  return { lists, total };
}

async function runWhole(soap: SoapCall, { operation, request, control, options: { token } }: Call): Promise<Answer> {
  const members = operation.request.map(({ name, type }) => {
    const given = request[name] ?? (name === "authToken" ? token : undefined);
    const lists = type === "ArrayOfArrayOfFloat" && Array.isArray(given);
    return [
      name,
      lists
        ? { ArrayOfFloat: given.map((list: ArrayLike<number>) => ({ float: Array.from(list, floatText) })) }
        : given,
    ];
  });
  const signal = control.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const response = await soap(operation.name, Object.fromEntries(members), signal);
  const components = RECORDS[operation.result];
  return { record: operation.result, components, recordsPerPoint: 1, values: readWhole(operation, response) };
}

/** Rewrites the index of a point in an error: the service counts within a part, the caller within the whole array. */
function inWholeArray(error: unknown, first: number): unknown {
  if (!(error instanceof ClientError)) return error;
  const indexed = /^(points|InitialV)\[(\d+)\](.*)$/.exec(error.member ?? "");
  if (!indexed || first === 0) return error;
  const member = `${indexed[1]}[${Number(indexed[2]) + first}]${indexed[3]}`;
  return new ClientError(error.code, error.message.replace(error.member as string, member), {
    ...error.detail,
    member,
  });
}
