/** Errors of the events interface: status, code, and details that are reported together. */
import { problemDetails } from "../../server/http/problem.js";

export const EVENTS_ERROR_CODES = [
  "invalid_parameter",
  "duplicate_parameter",
  "too_many_values",
  "unsupported_version",
  "invalid_callback",
  "unauthorized",
  "not_found",
  "method_not_allowed",
  "uri_too_long",
  "rate_limited",
  "internal",
  "unavailable",
] as const;

export type EventsErrorCode = (typeof EVENTS_ERROR_CODES)[number];

/** Never repeats the value that was sent. */
export interface EventsErrorDetail {
  readonly parameter?: string;
  readonly reason: string;
  readonly allowed?: readonly string[];
}

export class EventsError extends Error {
  readonly status: number;
  readonly code: EventsErrorCode;
  readonly details: readonly EventsErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: EventsErrorCode,
    message: string,
    details: readonly EventsErrorDetail[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "EventsError";
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

export function notFound(details: readonly EventsErrorDetail[] = []): EventsError {
  return new EventsError(404, "not_found", "Not found.", details);
}

export function unavailable(retrySeconds: number): EventsError {
  const headers = { "retry-after": String(retrySeconds) };
  return new EventsError(503, "unavailable", "The events cannot be read at the moment.", [], headers);
}

export function errorBody(error: EventsError): object {
  const { message, status, code, details } = error;
  return { error: true, message, statusCode: status, code, details };
}

/** Body for `application/problem+json` (RFC 9457). */
export function problemBody(error: EventsError, instance: string): object {
  const { message, status, code, details } = error;
  return problemDetails(status, null, message, { instance, code, errors: details });
}
