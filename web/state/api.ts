/** The API client asks the service's HTTP interface, always relative to the page, so that it works below any path. */
import { RECORDS } from "../../src/shared/operations.js";
import type { AnalysisCall, ShownAnswer } from "./analyses.js";
import type { Catalogue, DatasetFacts } from "./facts.js";
import { AXES, coordinateOf, extremesOf, type SampleAxis, sidesOf } from "./plane-geometry.js";
import { operationOf, type PointQuery, type StretchingQuery, type Tracking } from "./point-query.js";
import { type PageQuestion, questionOf, stretchingQuestion, structuresShown } from "./questions.js";
import { quantityValues } from "./shown-quantity.js";

/** A refusal of the service with its public code; status 0 if there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The name of the limit that was passed, or null. */
  readonly limit: string | null;
  /** The bound that a message names, as in "(4096 > 1000)"; null if it names none. */
  readonly most: number | null;

  constructor(status: number, code: string, message: string, limit: string | null = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.limit = limit;
    const most = /\(\d+ > (\d+)\)/.exec(message)?.[1];
    this.most = limit === null || most === undefined ? null : Number(most);
  }
}

/** The records of an answer, outermost dimension first. */
export interface PointRecords {
  readonly components: readonly string[];
  readonly values: Float32Array;
}

/** The answer of one query of a batch: its numbers, or why there are none. */
export type BatchResult =
  | {
      /** The numbers in a row, missing ones as NaN. */
      readonly values: Float32Array;
      /** Of planes and boxes: their axes, the slowest first, and the smallest and the largest value. */
      readonly axes?: readonly SampleAxis[];
      readonly range?: readonly number[];
    }
  | { readonly problem: { readonly code: string; readonly detail: string; readonly limit?: string } };

/** The numbers of an answer; null if the query was refused. */
export function valuesOf(result: BatchResult): Float32Array | null {
  return "problem" in result ? null : result.values;
}

/** A query of a batch that is no operation: the call, its members, and the records that it asks for. */
interface CallQuery {
  readonly call: "slice" | "volume";
  readonly dataset: string;
  readonly members: object;
  readonly records: number;
}

type AskedInBatch = PointQuery | CallQuery;

/** Recorded positions of particles: `positions[(particle * times.length + record) * 3 + axis]`. */
export interface Trajectories {
  readonly times: readonly number[];
  readonly particles: number;
  readonly positions: Float32Array;
  /**
   * The time at which each particle has left through an open face, where its path ends; NaN for those that are inside
   * to the end.
   */
  readonly exits: Float32Array;
  /** The quantity at `values[particle * times.length + record]`; null if none was asked. */
  readonly values: Float32Array | null;
}

/** Values on equally spaced samples, the last axis fastest, with their finite extremes. */
interface Samples {
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
}

/** A plane of values, row by row from the smallest coordinates up. */
export interface Slice extends Samples {
  readonly rows: SampleAxis;
  readonly columns: SampleAxis;
}

/** A box of values, x fastest. */
export interface Volume extends Samples {
  /** The axes x, y and z. */
  readonly axes: readonly SampleAxis[];
}

/** A job of the service. */
export interface JobEntry {
  readonly id: string;
  readonly state: string;
  readonly call: string;
  /** From 0 to 1. */
  readonly progress: number;
  readonly secondsLeft: number | null;
  readonly problem: string | null;
  readonly result: { readonly name: string; readonly bytes: number } | null;
}

/** Queries that wait for the end of the tick. */
interface WaitingQueries {
  readonly queries: readonly AskedInBatch[];
  /** The address of a single plane or box. */
  readonly path: string | null;
  readonly signal: AbortSignal;
  readonly resolve: (results: readonly BatchResult[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** A plane at points that waits for the end of the tick. */
interface WaitingPlane {
  readonly plane: NodePlane;
  readonly signal: AbortSignal;
  readonly resolve: (slice: Slice) => void;
  readonly reject: (reason: unknown) => void;
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly limit?: string;
}

/** The status of a query that was refused for itself. */
const REFUSED = 400;
/** Refusals that pass by themselves: too many requests, and a service that is busy or starting. */
const PASSING: readonly number[] = [429, 503];
/** Such a request is repeated when the service says, or else a little later each time. */
const ATTEMPTS = 20;
const RETRY_MS = 50;
const LONGEST_WAIT_MS = 30_000;

const OCTETS = "application/octet-stream";
const JSON_TYPE = "application/json";

/** The address of a path of the service. */
export function addressOf(path: string): string {
  return new URL(path, new URL(".", document.baseURI)).href;
}

function datasetPath(name: string): string {
  return `api/datasets/${encodeURIComponent(name)}`;
}

/** Path and query string of a slice below the service's root. */
export function slicePath(dataset: string, query: Readonly<Record<string, string>>): string {
  return `${datasetPath(dataset)}/slice?${new URLSearchParams(query)}`;
}

/**
 * A plane that is asked for as points: at stretched nodes, which no slice has. Planes of the same query that are asked
 * for in one tick share a request.
 */
export interface NodePlane {
  readonly query: Omit<PointQuery, "points">;
  readonly field: string;
  readonly viscosity?: number | null | undefined;
  readonly axis: SampleAxis["axis"];
  readonly at: number;
  readonly columns: SampleAxis;
  readonly rows: SampleAxis;
}

/** The beginning of a name that replaces the path of a plane at points. */
const AT_NODES = "nodes:";

/** The path of a plane at points, by which it is kept. */
export function nodePath(plane: NodePlane): string {
  return AT_NODES + JSON.stringify(plane);
}

/** Whether a path is one of the service. */
export function isServicePath(path: string): boolean {
  return !path.startsWith(AT_NODES);
}

function nodePlaneOf(path: string): NodePlane {
  return JSON.parse(path.slice(AT_NODES.length)) as NodePlane;
}

/** The query that a plane at points shares with others. */
function sharedQuery(path: string): string {
  return JSON.stringify(nodePlaneOf(path).query);
}

/** A signal that aborts when all of those who wait have gone. */
function signalOfAll(waiting: readonly { readonly signal: AbortSignal }[]): AbortSignal {
  const all = new AbortController();
  const signals = new Set(waiting.map(({ signal }) => signal));
  for (const signal of signals) {
    signal.addEventListener("abort", () => {
      if ([...signals].every(({ aborted }) => aborted)) all.abort(signal.reason);
    });
  }
  return all.signal;
}

/** The points of a plane, row by row. */
export function planePoints({
  axis,
  at,
  columns,
  rows,
}: Omit<NodePlane, "query" | "field" | "viscosity">): Float32Array {
  const points = new Float32Array(3 * rows.count * columns.count);
  const [normal, across, up] = [axis, columns.axis, rows.axis].map((name) => AXES.indexOf(name));
  for (let i = 0; i < points.length / 3; i++) {
    const row = Math.floor(i / columns.count);
    points[3 * i + normal] = at;
    points[3 * i + up] = coordinateOf(rows, row);
    points[3 * i + across] = coordinateOf(columns, i - row * columns.count);
  }
  return points;
}

/** A plane out of the records at its points. */
function planeOf({ columns, rows, field, viscosity }: NodePlane, { components, values: records }: PointRecords): Slice {
  const values = Float32Array.from(quantityValues(field, records, components.length, viscosity));
  return { columns, rows, values, ...extremesOf(values) };
}

/** Path and query string of a volume below the service's root. */
export function volumePath(dataset: string, query: Readonly<Record<string, string>>): string {
  return `${datasetPath(dataset)}/volume?${new URLSearchParams(query)}`;
}

/** Path and query string of a point query below the service's root. */
function pathOf({ operation, dataset, parameters }: PointQuery): string {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  if (operationOf({ operation }).request.some((member) => member.name === "InitialV")) query.set("InitialV", "false");
  return `${datasetPath(dataset)}/${operation}?${query}`;
}

/** x, y and z of each point. */
function pointTriples(points: Float32Array): number[][] {
  return Array.from({ length: points.length / 3 }, (_, i) => [...points.subarray(3 * i, 3 * i + 3)]);
}

/** The records that a query asks for: one for each point and time, or for each sample. */
function recordsOf(query: AskedInBatch): number {
  if ("call" in query) return query.records;
  const { time } = query.parameters;
  return (query.points.length / 3) * (Array.isArray(time) ? time.length : 1);
}

/** The query of a plane or a box by its path. */
function queryOfPath(path: string): CallQuery {
  const { pathname, searchParams } = new URL(path, "http://page/");
  const [call, dataset = ""] = pathname.split("/").toReversed();
  const counts = (searchParams.get("nodes") ?? "").split(",").map(Number);
  return {
    call: call as CallQuery["call"],
    dataset: decodeURIComponent(dataset),
    members: Object.fromEntries(searchParams),
    records: counts.reduce((product, count) => product * count, 1),
  };
}

/** A query as the body of a batch has it. */
function bodyOf(query: AskedInBatch): object {
  const { dataset } = query;
  if ("call" in query) return { dataset, operation: query.call, ...query.members };
  return { dataset, operation: query.operation, ...query.parameters, points: pointTriples(query.points) };
}

/** The results of a batch: a line of JSON, and the numbers of all results behind it. */
function readResults(bytes: ArrayBuffer): readonly BatchResult[] {
  const begin = new Uint8Array(bytes).indexOf("\n".charCodeAt(0)) + 1;
  const { results } = JSON.parse(new TextDecoder().decode(bytes.slice(0, begin))) as {
    results: readonly ({ readonly numbers: number } & BatchResult)[];
  };
  let at = begin;
  return results.map((result) => {
    if ("problem" in result) return result;
    const from = at;
    at += 4 * result.numbers;
    return { ...result, values: new Float32Array(bytes.slice(from, at)) };
  });
}

/** The answer of a query of a batch. @throws ApiError if the query was refused */
function answerOf(result: BatchResult): Exclude<BatchResult, { readonly problem: object }> {
  if (!("problem" in result)) return result;
  const { code, detail, limit } = result.problem;
  throw new ApiError(REFUSED, code, detail, limit ?? null);
}

/** The samples of a plane or a box in a batch. @throws ApiError if they were refused */
function samplesOf(result: BatchResult): Samples & { readonly axes: readonly SampleAxis[] } {
  const { values, axes = [], range: [low = 0, high = 0] = [] } = answerOf(result);
  return { values, axes, low, high };
}

function sliceOf({ axes, ...samples }: ReturnType<typeof samplesOf>): Slice {
  const [rows, columns] = axes;
  return { rows, columns, ...samples };
}

/** Queries that the service takes in one batch. */
const MOST_QUERIES = 64;

/** Queries in their order, in batches of at most `most` records; a larger query is a separate part. */
export function partsWithin<T extends AskedInBatch>(queries: readonly T[], most: number): readonly (readonly T[])[] {
  const parts: T[][] = [];
  let room = 0;
  for (const query of queries) {
    const records = recordsOf(query);
    if (records > room || (parts.at(-1)?.length ?? MOST_QUERIES) === MOST_QUERIES) {
      parts.push([]);
      room = most;
    }
    parts.at(-1)?.push(query);
    room -= records;
  }
  return parts;
}

/** The positions in records of columns by name, the exits of the last records, and the quantity along the paths. */
function splitColumns(
  values: Float32Array,
  particles: number,
  columns: readonly string[],
  along: string | null,
): Pick<Trajectories, "positions" | "exits" | "values"> {
  const width = columns.length;
  const count = values.length / width;
  const column = (name: string): Float32Array | null => {
    const at = columns.indexOf(name);
    return at < 0 ? null : Float32Array.from({ length: count }, (_, i) => values[width * i + at]);
  };
  const times = column("exit");
  const exits = Float32Array.from({ length: particles }, (_, p) =>
    times === null ? Number.NaN : times[((p + 1) * count) / particles - 1],
  );
  const positions = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) positions[3 * i + c] = values[width * i + c];
  return { positions, exits, values: along === null ? null : column(along) };
}

/** x, y, z and the time of each point. */
function withTimes(points: Float32Array, times: Float32Array): Float32Array {
  return Float32Array.from({ length: 4 * times.length }, (_, i) =>
    i % 4 === 3 ? times[i >> 2] : points[3 * (i >> 2) + (i % 4)],
  );
}

function numbersOf(header: string | null): number[] {
  return (header ?? "").split(",").filter(Boolean).map(Number);
}

/** Milliseconds to wait after a refusal that passes: those that the service names, else more with each attempt. */
function waitOf({ headers }: Response, attempt: number): number {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Math.min(LONGEST_WAIT_MS, seconds > 0 ? 1000 * seconds : attempt * RETRY_MS);
}

/** Waits, or rejects with the reason of the signal as soon as it aborts. */
function pause(ms: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Collects the queries of a tick, which share a request. */
class TickQueries {
  #waiting: WaitingQueries[] = [];
  readonly #ask: (waiting: readonly WaitingQueries[]) => void;

  constructor(ask: (waiting: readonly WaitingQueries[]) => void) {
    this.#ask = ask;
  }

  add(queries: readonly AskedInBatch[], path: string | null, signal: AbortSignal): Promise<readonly BatchResult[]> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      if (this.#waiting.length === 0)
        queueMicrotask(() => this.#ask(this.#waiting.splice(0).filter((one) => !one.signal.aborted)));
      this.#waiting.push({ queries, path, signal, resolve, reject });
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }
}

export class ApiClient {
  /** Kept in memory only: it is gone when the page is closed. */
  #token = "";
  #points = Number.POSITIVE_INFINITY;
  /** Planes and points of this tick; boxes take longer, and are asked for apart. */
  readonly #tick = new TickQueries((waiting) => this.#askWaiting(waiting));
  readonly #boxes = new TickQueries((waiting) => this.#askWaiting(waiting));
  /** Planes at points of this tick, by their query. */
  readonly #planes = new Map<string, WaitingPlane[]>();

  /** Sends a token with every further request; none if the text is empty. */
  useToken(text: string): void {
    this.#token = text.trim();
  }

  get hasToken(): boolean {
    return this.#token !== "";
  }

  async catalogue(): Promise<Catalogue> {
    const catalogue = (await (await this.#send("api/datasets", {})).json()) as Catalogue;
    this.#points = catalogue.points;
    return catalogue;
  }

  /** Points that one request may hold, as the last catalogue says. */
  get points(): number {
    return this.#points;
  }

  async facts(dataset: string): Promise<DatasetFacts> {
    const response = await this.#send(datasetPath(dataset), {});
    return { ...((await response.json()) as Omit<DatasetFacts, "points">), points: this.#points };
  }

  /** One's own jobs, latest first. */
  async jobs(): Promise<readonly JobEntry[]> {
    return ((await (await this.#send("api/jobs", {})).json()) as { jobs: JobEntry[] }).jobs;
  }

  /** The file of a job that is done. */
  async jobResult(id: string): Promise<Blob> {
    return (await this.#send(`api/jobs/${id}/result`, {})).blob();
  }

  /** Cancels a job; forgets one that has ended. */
  async endJob(id: string): Promise<void> {
    await this.#send(`api/jobs/${id}`, { method: "DELETE" });
  }

  /** Asks for the records at the points of a query, as raw float32 both ways. */
  async records(query: PointQuery, signal: AbortSignal): Promise<PointRecords> {
    const response = await this.#sendPoints(pathOf(query), query, signal);
    return {
      components: RECORDS[operationOf(query).result],
      values: new Float32Array(await response.arrayBuffer()),
    };
  }

  /**
   * Asks several queries; each has its own result or problem. They share a request with all that is asked in this tick,
   * if it may hold all of their points, so that a click costs few requests however much is open.
   */
  batch(queries: readonly PointQuery[], signal: AbortSignal): Promise<readonly BatchResult[]> {
    return this.#tick.add(queries, null, signal);
  }

  /**
   * Asks what has been collected in this tick: a single plane or box by its address, which browsers keep, and else all
   * together. A request goes on as long as somebody waits for it.
   */
  #askWaiting(waiting: readonly WaitingQueries[]): void {
    const addressed = waiting.filter(({ path }) => path !== null);
    const alone = addressed.length === 1 ? addressed : [];
    for (const { path, signal, resolve, reject } of alone) {
      this.#samples(path ?? "", signal).then((result) => resolve([result]), reject);
    }
    const shared = waiting.filter((one) => !alone.includes(one));
    if (shared.length > 0) void this.#share(shared);
  }

  async #share(waiting: readonly WaitingQueries[]): Promise<void> {
    try {
      const queries = waiting.flatMap((one) => one.queries);
      const results = [...(await this.#inParts(queries, signalOfAll(waiting)))];
      for (const { queries: own, resolve } of waiting) resolve(results.splice(0, own.length));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Asks queries in as few requests as their points admit. */
  async #inParts(queries: readonly AskedInBatch[], signal: AbortSignal): Promise<readonly BatchResult[]> {
    const parts = partsWithin(queries, this.#points);
    return (await Promise.all(parts.map((part) => this.#batch(part, signal)))).flat();
  }

  async #batch(queries: readonly AskedInBatch[], signal: AbortSignal): Promise<readonly BatchResult[]> {
    const response = await this.#send("api/batch", {
      method: "POST",
      headers: { "content-type": JSON_TYPE, accept: OCTETS },
      body: JSON.stringify({ queries: queries.map(bodyOf) }),
      signal,
    });
    return readResults(await response.arrayBuffer());
  }

  /** Asks for the positions of particles after every few steps. */
  async trajectories(asked: Tracking, signal: AbortSignal): Promise<Trajectories> {
    const { query, every, stops, integrator, starts, along } = asked;
    const options = new URLSearchParams({
      operation: query.operation,
      every: String(every),
      ...(stops ? { openFaces: "stop" } : {}),
      ...(integrator === "heun" ? {} : { integrator }),
      ...(starts === null ? {} : { columns: "xyzt" }),
      ...(along === null ? {} : { with: along }),
      ...Object.fromEntries(Object.entries(query.parameters).map(([name, value]) => [name, String(value)])),
    });
    if (starts !== null) options.delete("StartTime");
    if (operationOf(query).request.some(({ name }) => name === "InitialV")) options.set("InitialV", "false");
    const path = `${datasetPath(query.dataset)}/trajectories?${options}`;
    const points = starts === null ? query.points : withTimes(query.points, starts);
    const response = await this.#sendPoints(path, { ...query, points }, signal);
    const [particles, records = 1] = numbersOf(response.headers.get("fieldprobe-shape"));
    const columns = JSON.parse(response.headers.get("fieldprobe-columns") ?? '["x","y","z"]') as string[];
    const [first = 0, interval = 0, last = first] = numbersOf(response.headers.get("fieldprobe-times"));
    const times = Array.from({ length: records }, (_, k) => (k === records - 1 ? last : first + k * interval));
    const split = splitColumns(new Float32Array(await response.arrayBuffer()), particles, columns, along);
    // The times of such records count from the start of each path.
    const exits = starts === null ? split.exits : split.exits.map((time, p) => time - starts[p]);
    return { times, particles, ...split, exits };
  }

  /** Asks for an analysis: statistics, structures or a spectrum. */
  async analysis(
    dataset: string,
    call: AnalysisCall["call"],
    body: AnalysisCall["body"],
    signal: AbortSignal,
  ): Promise<ShownAnswer> {
    const answer = (await (await this.#analysis(dataset, call, body, JSON_TYPE, signal)).json()) as ShownAnswer;
    return call === "structures" ? structuresShown(answer, body) : answer;
  }

  /** Asks for statistics of several bodies in one request. */
  async statistics(dataset: string, bodies: readonly AnalysisCall["body"][], signal: AbortSignal) {
    const questions = bodies.map((body) => ({
      dataset,
      call: "statistics",
      ...questionOf("statistics", body).members,
    }));
    const response = await this.#send("api/ask", {
      method: "POST",
      headers: { "content-type": JSON_TYPE, accept: JSON_TYPE },
      body: JSON.stringify(questions),
      signal,
    });
    const answers = (await response.json()) as readonly (ShownAnswer & { readonly problem?: Problem })[];
    const refused = answers.find(({ problem }) => problem !== undefined)?.problem;
    if (refused !== undefined)
      throw new ApiError(REFUSED, refused.code ?? "Internal", refused.detail ?? "", refused.limit ?? null);
    return answers;
  }

  /** Asks for the table of an analysis as CSV. */
  async analysisTable(dataset: string, { call, table }: AnalysisCall, signal: AbortSignal): Promise<Blob> {
    return (await this.#analysis(dataset, call, table, "text/csv", signal)).blob();
  }

  #analysis(
    dataset: string,
    call: string,
    body: AnalysisCall["body"],
    accept: string,
    signal: AbortSignal,
  ): Promise<Response> {
    return this.#question(dataset, questionOf(call, body), accept, signal);
  }

  #question(dataset: string, { call, members }: PageQuestion, accept: string, signal: AbortSignal): Promise<Response> {
    return this.#send(`${datasetPath(dataset)}/${call}`, {
      method: "POST",
      headers: { "content-type": JSON_TYPE, accept },
      body: JSON.stringify(members),
      signal,
    });
  }

  /** Asks how much the flow stretches what starts on a plane. */
  async stretching({ dataset, body }: StretchingQuery, signal: AbortSignal): Promise<Slice> {
    const { plane, region } = body;
    const response = await this.#question(dataset, stretchingQuestion(body), OCTETS, signal);
    const values = new Float32Array(await response.arrayBuffer());
    const [columns, rows] = sidesOf(plane.normal).map((axis, i) => {
      const spacing = region.extent[i] / plane.count[i];
      return { axis, count: plane.count[i], origin: region.origin[i] + spacing / 2, spacing };
    });
    return { rows, columns, values, ...extremesOf(values) };
  }

  /** Asks for a plane of values by its path, see `slicePath`. */
  slice(path: string, signal: AbortSignal): Promise<Slice> {
    return this.#sliceIn(this.#tick, path, signal);
  }

  /** Asks for planes by their paths, apart from all that is asked in this tick. */
  slices(paths: readonly string[], signal: AbortSignal): Promise<readonly Slice[]> {
    const tick = new TickQueries((waiting) => this.#askWaiting(waiting));
    return Promise.all(paths.map((path) => this.#sliceIn(tick, path, signal)));
  }

  async #sliceIn(tick: TickQueries, path: string, signal: AbortSignal): Promise<Slice> {
    if (!isServicePath(path)) return this.#atPoints(path, signal);
    const [result] = await tick.add([queryOfPath(path)], path, signal);
    return sliceOf(samplesOf(result));
  }

  /** Asks for a plane at points, together with others of the same query. */
  async #atPoints(path: string, signal: AbortSignal): Promise<Slice> {
    signal.throwIfAborted();
    const request = sharedQuery(path);
    return new Promise((resolve, reject) => {
      const waiting = this.#planes.get(request) ?? [];
      if (waiting.length === 0) queueMicrotask(() => void this.#askPlanes(request));
      waiting.push({ plane: nodePlaneOf(path), signal, resolve, reject });
      this.#planes.set(request, waiting);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }

  /** Asks for planes of one query: those at the same points have them from the same records. */
  async #askPlanes(request: string): Promise<void> {
    const waiting = (this.#planes.get(request) ?? []).filter(({ signal }) => !signal.aborted);
    this.#planes.delete(request);
    const placeOf = ({ axis, at, columns, rows }: NodePlane) => JSON.stringify([axis, at, columns, rows]);
    const places = new Map(
      waiting.map(({ plane }) => [placeOf(plane), { ...plane.query, points: planePoints(plane) }]),
    );
    const signal = signalOfAll(waiting);
    try {
      const parts = partsWithin([...places.values()], this.#points);
      const answers = (await Promise.all(parts.map((part) => this.#joined(part, signal)))).flat();
      const records = new Map([...places.keys()].map((place, i) => [place, answers[i]]));
      for (const { plane, resolve } of waiting) resolve(planeOf(plane, records.get(placeOf(plane)) as PointRecords));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Asks queries that differ only in their points in one request; their records in their order. */
  async #joined(queries: readonly PointQuery[], signal: AbortSignal): Promise<readonly PointRecords[]> {
    const points = Float32Array.from(queries.flatMap((query) => [...query.points]));
    const { components, values } = await this.records({ ...queries[0], points }, signal);
    let at = 0;
    return queries.map((query) => {
      const from = at;
      at += (query.points.length / 3) * components.length;
      return { components, values: values.subarray(from, at) };
    });
  }

  /** Asks for a box of values by its path, see `volumePath`. */
  async volume(path: string, signal: AbortSignal): Promise<Volume> {
    const [result] = await this.#boxes.add([queryOfPath(path)], path, signal);
    const { axes, ...samples } = samplesOf(result);
    return { axes: axes.toReversed(), ...samples };
  }

  /** Asks for a slice by its path as a file of another format. */
  async sliceFile(path: string, accept: string, signal: AbortSignal): Promise<Blob> {
    return (await this.#send(path, { headers: { accept }, signal })).blob();
  }

  /** Asks for the records at the points of a query as a file. */
  async recordsFile(query: PointQuery, accept: string, signal: AbortSignal): Promise<Blob> {
    const headers = { "content-type": OCTETS, accept };
    const body = query.points as Float32Array<ArrayBuffer>;
    return (await this.#send(pathOf(query), { method: "POST", headers, body, signal })).blob();
  }

  /** Asks for the stored nodes of a box as a file, or for the XDMF that describes it. */
  async cutout(
    dataset: string,
    query: Readonly<Record<string, string>>,
    ending: "h5" | "xmf",
    signal: AbortSignal,
  ): Promise<{ readonly name: string; readonly data: Blob }> {
    const path = `${datasetPath(dataset)}/cutout.${ending}?${new URLSearchParams(query)}`;
    const response = await this.#send(path, { signal });
    const [, name = "cutout.h5"] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
    return { name, data: await response.blob() };
  }

  /** Asks for a plane or a box by its path. */
  async #samples(path: string, signal: AbortSignal): Promise<BatchResult> {
    const response = await this.#send(path, { headers: { accept: OCTETS }, signal });
    const { headers } = response;
    const names = (headers.get("fieldprobe-axes") ?? "").split(",") as SampleAxis["axis"][];
    const lists = ["shape", "origin", "spacing"].map((name) => numbersOf(headers.get(`fieldprobe-${name}`)));
    const axes = names.map((axis, i) => {
      const [count, origin, spacing] = lists.map((list) => list[i]);
      return { axis, count, origin, spacing };
    });
    const range = numbersOf(headers.get("fieldprobe-range"));
    return { axes, values: new Float32Array(await response.arrayBuffer()), range };
  }

  /** Sends the points of a query as raw float32, and asks for an answer in the same form. */
  #sendPoints(path: string, { points }: PointQuery, signal: AbortSignal): Promise<Response> {
    const headers = { "content-type": OCTETS, accept: OCTETS };
    return this.#send(path, { method: "POST", headers, body: points as Float32Array<ArrayBuffer>, signal });
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== "") headers.set("authorization", `Bearer ${this.#token}`);
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(addressOf(path), { ...init, headers }).catch((error: unknown) => {
        throw init.signal?.aborted ? error : new ApiError(0, "Network", "The service cannot be reached.");
      });
      if (response.ok) return response;
      const problem = (await response.json().catch(() => ({}))) as Problem;
      if (!PASSING.includes(response.status) || attempt === ATTEMPTS) throw this.#refusal(response, problem);
      await pause(waitOf(response, attempt), init.signal ?? null);
    }
  }

  #refusal({ status, statusText }: Response, { code, detail, limit }: Problem): ApiError {
    const wanting = code === "AuthenticationFailed" && this.#token === "";
    const asking = "This service asks for a token: put yours in under Settings.";
    return new ApiError(status, code ?? "Internal", wanting ? asking : (detail ?? statusText), limit ?? null);
  }
}
