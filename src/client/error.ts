/**
 * `ClientError` is the one error of the client: a fault of the service, a refusal at HTTP level, or a failed
 * connection.
 */
import { CALLER_CODES, type ErrorCode, type Fault, SERVER_CODES } from "../shared/errors.js";

/**
 * `Fault` is a fault that names no code of ours (another service), `Http` a plain status without an envelope, `Network`
 * a connection that failed, `Protocol` an answer that is not what was asked for.
 */
export type ClientErrorCode = ErrorCode | "Fault" | "Http" | "Network" | "Protocol";

export interface ClientErrorDetail {
  /** The request member at fault, e.g. `time` or `points[12].x`; points are counted within the caller's whole array. */
  readonly member?: string;
  /** The name of the limit that was exceeded, e.g. `query.points`. */
  readonly limit?: string;
  /** The service's id of the request in its log. */
  readonly requestId?: string;
  /** HTTP status, if there was an answer. */
  readonly status?: number;
  /** Seconds after which the service expects a retry to make sense. */
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

/** The members of the soap package's errors that are used here; it documents none of them. */
interface SoapFailure {
  readonly message?: string;
  readonly code?: string;
  readonly root?: { readonly Envelope?: { readonly Body?: { readonly Fault?: SoapFault } } };
  readonly response?: { readonly status?: number; readonly headers?: Readonly<Record<string, unknown>> };
}

/**
 * A fault as the soap package decodes it: 1.1 members in lower case, 1.2 members capitalised, text bare or in `$value`.
 */
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

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && CODES.has(code);
}

/** Leaves out the members that are undefined. */
export function present(detail: { readonly [K in keyof ClientErrorDetail]: ClientErrorDetail[K] | undefined }) {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined)) as ClientErrorDetail;
}

/** Turns what the soap package reports as an error into a ClientError. */
export function clientError(thrown: unknown): ClientError {
  const failure = (thrown ?? {}) as SoapFailure;
  const status = failure.response?.status;
  const seconds = Number(text(failure.response?.headers?.["retry-after"]) ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  const fault = failure.root?.Envelope?.Body?.Fault;
  if (fault) {
    const detail = (fault.detail ?? fault.Detail)?.FaultDetail ?? {};
    const message = text(fault.faultstring) ?? text(fault.Reason?.Text) ?? "The service answered with a fault.";
    const code = text(detail.code);
    const context = { member: text(detail.member), limit: text(detail.limit), requestId: text(detail.requestId) };
    return new ClientError(isErrorCode(code) ? code : "Fault", message, present({ ...context, status, retryAfter }));
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
