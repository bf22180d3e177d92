/** Errors as problem details (RFC 9457): the codes of the SOAP faults, each with an HTTP status. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { CancelledError, type ErrorCode, type Fault, FieldprobeError } from "../../shared/errors.js";
import { NotAcceptableError } from "./negotiate.js";
import { type ProblemDetails, problemDetails } from "./problem.js";
import { busyIfPassing, HttpRefusal, logFailure } from "./refusal.js";
import { sendText } from "./send-answer.js";

const STATUS: Readonly<Record<ErrorCode, number>> = {
  MalformedXml: 400,
  InvalidEnvelope: 400,
  UnknownOperation: 404,
  ActionMismatch: 400,
  InvalidRequest: 400,
  LimitExceeded: 413,
  UnknownDataset: 404,
  OutOfRange: 422,
  Unsupported: 422,
  AuthenticationFailed: 401,
  RateLimited: 429,
  Busy: 503,
  Deadline: 504,
  DataError: 500,
  Internal: 500,
};

export interface Problem extends ProblemDetails {
  readonly code: ErrorCode;
  readonly member?: string;
  readonly limit?: string;
  readonly errors?: readonly Fault[];
  readonly requestId: string;
}

/** The code for an error that fastify raised itself, by its status, so that all interfaces use the same list. */
function codeOfStatus(status: number): ErrorCode {
  if (status === 413) return "LimitExceeded";
  if (status === 503) return "Busy";
  return status < 500 ? "InvalidRequest" : "Internal";
}

/**
 * HTTP status of an error. A limit on simultaneous requests is not about the size of this one; data may be mended
 * later.
 */
function statusOf(error: FieldprobeError): number {
  if (error instanceof NotAcceptableError) return 406;
  if (error.code === "DataError" && error.context.retryAfter !== undefined) return 503;
  return error.context.limit === "token.concurrent" ? 429 : STATUS[error.code];
}

/** What was thrown as a problem and its headers; hides its text unless it is ours or a refusal of the HTTP layer. */
export function describeProblem(
  error: unknown,
  requestId: string,
): { readonly problem: Problem; readonly headers: Readonly<Record<string, string>> } {
  if (error instanceof FieldprobeError) {
    const { member, limit, retryAfter, faults } = error.context;
    const status = statusOf(error);
    const headers: Record<string, string> = {};
    if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
    if (status === 401) headers["www-authenticate"] = 'Bearer realm="fieldprobe"';
    const about = {
      code: error.code,
      ...(member === undefined ? {} : { member }),
      ...(limit === undefined ? {} : { limit }),
      ...(faults === undefined ? {} : { errors: faults }),
      requestId,
    };
    return { problem: problemDetails(status, error.code, error.message, about), headers };
  }
  const refusal = error instanceof HttpRefusal ? error : null;
  // An error that fastify raised itself.
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown };
  const refused = typeof statusCode === "number" && statusCode >= 400 && statusCode < 500 ? statusCode : null;
  const status = refusal?.status ?? refused ?? 500;
  const isRefused = refusal !== null || refused !== null;
  const detail = isRefused ? String(message) : "The service failed to answer this request.";
  const problem = problemDetails(status, codeOfStatus(status), detail, { code: codeOfStatus(status), requestId });
  return { problem, headers: refusal?.headers ?? {} };
}

/** The form in which an interface reports errors to its callers. */
export interface ProblemForm {
  readonly name: string;
  readonly contentType: string;
  body(problem: Problem): unknown;
}

/** Makes the error handler of an interface: it sends a problem in its form, and nothing if the caller has left. */
export function problemHandler({ name, contentType, body }: ProblemForm) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { facts, id, raw } = request;
    if (error instanceof CancelledError || reply.raw.destroyed) {
      facts.outcome = "cancelled";
      reply.hijack();
      reply.raw.destroy();
      return reply;
    }
    const { problem, headers } = describeProblem(busyIfPassing(error, request), id);
    facts.interface = name;
    facts.outcome = problem.code;
    logFailure(error, problem.code, request);
    const text = `${JSON.stringify(body(problem))}\n`;
    return sendText(reply, raw, problem.status, { ...headers, "content-type": contentType }, text);
  };
}
