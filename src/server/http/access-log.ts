/** The access log writes a line for every answered request and counts it, many requests at a time. */
import { type DestinationStream, type Logger, symbols } from "pino";
import type { Metrics } from "../life/metrics.js";
import type { EndedRequest } from "../life/request-facts.js";

/**
 * How long, and how many, requests are gathered: together they cost a third of what they cost one by one, but they
 * block the event loop meanwhile.
 */
const GATHER_MS = 20;
const MOST = 16;
/** The level of an access line. */
const INFO = 30;

/**
 * Writes the requests that end within a moment together. The lines are those of the log's `info`, but made here: the
 * library takes ten kilobytes of short-lived memory for each.
 */
export class AccessLog {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #lines: DestinationStream;
  #ended: EndedRequest[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(metrics: Metrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
    this.#lines = (log as unknown as Readonly<Record<symbol, DestinationStream>>)[
      symbols.streamSym
    ] as DestinationStream;
  }

  add(request: EndedRequest): void {
    this.#ended.push(request);
    this.#timer ??= setTimeout(() => this.write(), GATHER_MS).unref();
    if (this.#ended.length >= MOST) this.write();
  }

  /** Writes all that have ended. */
  write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const ended = this.#ended;
    this.#ended = [];
    const told = this.#log.isLevelEnabled("info");
    for (const request of ended) {
      const { facts, outcome, ms } = request;
      const { interface: by, operation, points, token } = facts;
      this.#metrics.observe({ interface: by, operation, outcome, points, token, seconds: ms / 1000 });
      if (told) this.#lines.write(lineOf(request));
    }
  }
}

/**
 * The line of a request. Its members are joined here: `JSON.stringify` takes three times as long for an object of this
 * form.
 */
function lineOf({ facts, outcome, id, client, bytes, method, path, status, ms, at }: EndedRequest): string {
  const { interface: by, operation, dataset, points, token, queueMs, computeMs, encodeMs } = facts;
  return (
    `{"level":${INFO},"time":"${new Date(at).toISOString()}","reqId":${quoted(id)},"client":${quoted(client)}` +
    `,"method":${quoted(method)},"path":${quoted(path)},"status":${status},"interface":${quoted(by)}` +
    `,"operation":${quoted(operation)},"dataset":${quoted(dataset)},"outcome":${quoted(outcome)},"points":${points}` +
    `,"token":${quoted(token)},"bytes":${bytes},"queueMs":${hundredths(queueMs)},"computeMs":${hundredths(computeMs)}` +
    `,"encodeMs":${hundredths(encodeMs)},"ms":${hundredths(ms)}}\n`
  );
}

/** Text that JSON writes as it is. */
const PLAIN = /^[\w .:/-]*$/;

function quoted(text: string | null): string {
  if (text === null) return "null";
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
