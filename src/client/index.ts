/** Typed client: a method for every operation of SOAP, with any number of points in parts, and for every call. */
import { ALL_OPERATIONS, dialectOf, RECORDS, type WireMember } from "../shared/operations.js";
import { ClientError } from "./error.js";
import { jobsOf } from "./jobs.js";
import { questionsOf } from "./questions.js";
import type { Answer, CallOptions, FieldClient, Points, TableRow } from "./request-types.js";
import { inParts } from "./split.js";
import { openTransport, type SoapCall, type SoapVersion } from "./transport.js";
import { flatten, floatLists, isList, readRecords, readWhole, triples } from "./wire-records.js";

export { ClientError, type ClientErrorCode, type ClientErrorDetail } from "./error.js";
export type { JobDescription, JobMethods, JobOptions } from "./jobs.js";
export type { Question, QuestionAnswer, QuestionMethods, QuestionOptions } from "./questions.js";
export type { Answer, CallOptions, FieldClient, Points, RequestOf } from "./request-types.js";
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
  readonly member: WireMember;
  readonly flat: Float32Array;
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
  const methods = ALL_OPERATIONS.filter(({ name }) => dialectOf(name) !== null).map((operation) => [
    operation.name,
    (request: Request, control: CallOptions = {}) => run(soap, operation, request, control, options),
  ]);
  const own = { ...questionsOf(url, options.token), ...jobsOf(url, options.token) };
  return { ...Object.fromEntries(methods), ...own } as FieldClient;
}

/** Throws ClientError for a member that the operation does not have. */
function checkMembers({ name, request: members }: TableRow, request: Request): void {
  const names = members.map((member): string => member.name);
  const member = Object.keys(request).find((given) => request[given] !== undefined && !names.includes(given));
  if (member === undefined) return;
  throw new ClientError("InvalidRequest", `${name} has no member ${member}, but ${names.join(", ")}.`, { member });
}

/** Sends a call in parts of its points, all answered from one version of the data; a call without points is sent whole. */
async function run(
  soap: SoapCall,
  operation: TableRow,
  request: Request,
  control: CallOptions,
  options: ConnectOptions,
): Promise<Answer> {
  checkMembers(operation, request);
  const { token, pointsPerRequest = 20_000, concurrency = 3 } = options;
  const scalars = Object.fromEntries(
    operation.request
      .filter((member) => !isList(member))
      .map(({ name, type }) => {
        const given = request[name] ?? (name === "authToken" ? token : undefined);
        const isLists = type === "ArrayOfArrayOfFloat" && Array.isArray(given);
        if (!isLists && (typeof given === "symbol" || Object(given) === given))
          throw new ClientError("InvalidRequest", `${name} is no text and no number.`, { member: name });
        return [name, isLists ? floatLists(name, given) : given];
      }),
  );
  const perPoint = recordsPerPoint(operation, request);
  const components = RECORDS[operation.result];
  const about = { record: operation.result, components, recordsPerPoint: perPoint };
  if (!operation.request.some(isList)) {
    const signal = control.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const { response } = await soap(operation.name, scalars, signal);
    return { ...about, values: readWhole(operation, response) };
  }
  const { lists, total } = readLists(operation, request);
  const width = components.length * perPoint;
  // Allocated with the first answer: before that, the service may still refuse a result of this size.
  let values: Float32Array | undefined;
  let version: string | undefined;
  const part = async (first: number, count: number, signal: AbortSignal): Promise<void> => {
    const own = lists.map(({ member, flat }) => [member.name, triples(member, flat, first, count)]);
    const members = { ...scalars, ...Object.fromEntries(own) };
    const { response, manifest } = await soap(operation.name, members, signal).catch((error: unknown) => {
      throw inWholeArray(error, first);
    });
    if (values === undefined) version = manifest;
    if (manifest !== version)
      throw new ClientError("DatasetReplaced", `${request.dataset} was replaced while it was asked: ask again.`);
    const some = readRecords(operation, response, count * perPoint);
    values ??= new Float32Array(width * total);
    values.set(some, width * first);
  };
  await inParts(total, pointsPerRequest, concurrency, part, control.signal, control.onProgress);
  return { ...about, values: values ?? new Float32Array() };
}

/** Records per point: 1, or (8^nlayers - 1) / 7 for box filters, which answer each box of an octree. */
function recordsPerPoint(operation: TableRow, request: Request): number {
  const layered = operation.request.some(({ name }) => name === "nlayers");
  return layered ? (8 ** Number(request.nlayers) - 1) / 7 : 1;
}

/** Flattens list members of a request, and counts its points. Throws ClientError unless there is one item a point. */
function readLists(operation: TableRow, request: Request): { readonly lists: readonly List[]; readonly total: number } {
  const lists = operation.request
    .filter(isList)
    .filter((member) => member.name in request)
    .map((member) => ({ member, flat: flatten(member.name, request[member.name] as Points) }));
  const total = (lists.find(({ member }) => member.name === "points")?.flat.length ?? 0) / 3;
  const odd = lists.find(({ flat }) => flat.length !== 3 * total);
  if (odd === undefined) return { lists, total };
  const { name: member } = odd.member;
  throw new ClientError("InvalidRequest", `${member} has ${odd.flat.length / 3} items for ${total} points.`, {
    member,
  });
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
