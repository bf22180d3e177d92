/** Errors as plain data, for other threads and processes: structured cloning drops their class and members. */
import {
  AuthError,
  BusyError,
  CancelledError,
  DataError,
  DeadlineError,
  type FieldprobeError,
  LimitError,
  NotFoundError,
  RequestError,
  WorkerError,
} from "../../shared/errors.js";
import type { Failure } from "./task.js";

export function failureOf(error: FieldprobeError): Failure {
  const { code, message, context, cause } = error;
  const detail = cause instanceof Error ? `${error.name}: ${cause.message}` : error.name;
  return { code, message, context, detail };
}

/** Rebuilds the cause of an error from its text, for the log, with the stack of the worker. */
function causeIn(detail: string): Error | undefined {
  const reason = /^\w+: (.*)$/s.exec(detail)?.[1];
  return reason === undefined ? undefined : Object.assign(new Error(reason), { stack: "" });
}

export function reviveError({ code, message, context, detail }: Failure): FieldprobeError {
  switch (code) {
    case "DataError":
      return new DataError(message, causeIn(detail), context);
    case "LimitExceeded":
      return new LimitError(context.limit ?? "", message);
    case "UnknownDataset":
      return new NotFoundError(message);
    case "Busy":
      return new BusyError(message, context.retryAfter, causeIn(detail));
    case "Deadline":
      return new DeadlineError(message);
    case "AuthenticationFailed":
    case "RateLimited":
      return new AuthError(message, code, context.retryAfter);
    case "Internal":
      return detail === CancelledError.name ? new CancelledError(message) : new WorkerError(message, causeIn(detail));
    default:
      return new RequestError(code, message, context);
  }
}
