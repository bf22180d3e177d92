/** `ClientError`: the only error that the client throws. */
import { CALLER_CODES, type ErrorCode, type Fault, SERVER_CODES } from "../shared/errors.js";

/**
 * `DatasetReplaced`: parts of an answer are of two versions of the data. `Fault`: a fault without a code of ours. `Http`:
 * a status without an envelope. `Network`: a failed connection. `Protocol`: an answer of the wrong form.
 */
export type ClientErrorCode = ErrorCode | "DatasetReplaced" | "Fault" | "Http" | "Network" | "Protocol";

export interface ClientErrorDetail {
  /** The wrong member of the request, e.g. `points[12].x`; points count within the caller's whole array. */
  readonly member?: string;
  /** Name of the exceeded limit, e.g. `query.points`. */
  readonly limit?: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly retryAfter?: number;
  /** Of `/api`: everything that is wrong with a question. */
  readonly faults?: readonly Fault[];
}

export class ClientError extends Error {
  readonly code: ClientErrorCode;
  readonly detail: ClientErrorDetail;

  constructor(code: ClientErrorCode, message: string, detail: ClientErrorDetail = {}) {
    super(message);
    this.name = "ClientError";
    this.code = code;
    this.detail = detail;
  }

  get member(): string | undefined {
    return this.detail.member;
  }

  get limit(): string | undefined {
    return this.detail.limit;
  }
}

/** Undocumented members of the soap package's errors. */
interface SoapFailure {
  readonly message?: string;
  readonly code?: string;
  readonly root?: { readonly Envelope?: { readonly Body?: { readonly Fault?: SoapFault } } };
  readonly response?: { readonly status?: number; readonly headers?: Readonly<Record<string, unknown>> };
}

interface SoapFault {
  readonly faultstring?: unknown;
  readonly detail?: FaultDetail;
  readonly Reason?: { readonly Text?: unknown };
  readonly Detail?: FaultDetail;
}

type FaultDetail = { readonly FaultDetail?: Readonly<Record<string, unknown>> } | null;

const CODES: ReadonlySet<string> = new Set([...CALLER_CODES, ...SERVER_CODES]);

function text(value: unknown): string | undefined {
  const bare = typeof value === "object" && value !== null && "$value" in value ? value.$value : value;
  return bare === undefined || bare === null || typeof bare === "object" ? undefined : String(bare);
}

/** Seconds of a header; undefined if it states none. */
export function secondsOf(header: unknown): number | undefined {
  const seconds = Number.parseFloat(String(header));
  return Number.isFinite(seconds) ? seconds : undefined;
}

export function present(detail: { readonly [K in keyof ClientErrorDetail]: ClientErrorDetail[K] | undefined }) {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined)) as ClientErrorDetail;
}

export function clientError(thrown: unknown): ClientError {
  const failure = (thrown ?? {}) as SoapFailure;
  const status = failure.response?.status;
  const retryAfter = secondsOf(failure.response?.headers?.["retry-after"]);
  const fault = failure.root?.Envelope?.Body?.Fault;
  if (fault) {
    const detail = (fault.detail ?? fault.Detail)?.FaultDetail ?? {};
    const message = text(fault.faultstring) ?? text(fault.Reason?.Text) ?? "The service answered with a fault.";
    const stated = text(detail.code) ?? "";
    const code = CODES.has(stated) ? (stated as ErrorCode) : "Fault";
    const context = { member: text(detail.member), limit: text(detail.limit), requestId: text(detail.requestId) };
    return new ClientError(code, message, present({ ...context, status, retryAfter }));
  }
  if (status === 413) {
    const detail = present({ limit: "http.bodyBytes", status });
    return new ClientError("LimitExceeded", "The service refused the request as too large.", detail);
  }
  if (status === 503) return new ClientError("Busy", "The service is busy.", present({ status, retryAfter }));
  const isCut = status === 200 && /aborted|ECONNRESET/.test(`${failure.code} ${failure.message}`);
  if (status !== undefined && !isCut)
    return new ClientError("Http", `The service answered with status ${status}.`, { status });
  // The soap package breaks the text of some failures into lines.
  const message = (failure.message ?? "").replace(/\s+/g, " ").trim();
  return new ClientError("Network", message || failure.code || "The connection failed.");
}
