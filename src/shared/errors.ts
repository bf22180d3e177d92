/** The errors of fieldprobe, and the closed list of codes that callers may see. */

/** Codes of errors that the caller can correct. */
export const CALLER_CODES = [
  "MalformedXml",
  "InvalidEnvelope",
  "UnknownOperation",
  "ActionMismatch",
  "InvalidRequest",
  "LimitExceeded",
  "UnknownDataset",
  "OutOfRange",
  "Unsupported",
  "AuthenticationFailed",
  "RateLimited",
] as const;

/** Codes of errors of the service or its data. */
export const SERVER_CODES = ["Busy", "Deadline", "DataError", "Internal"] as const;

export type CallerCode = (typeof CALLER_CODES)[number];
export type ServerCode = (typeof SERVER_CODES)[number];
export type ErrorCode = CallerCode | ServerCode;
export type Blame = "caller" | "server";

/** Members of an error besides its message, each safe to show to the caller. */
export interface ErrorContext {
  /** The wrong member of the request, e.g. `time` or `points[12].x`. */
  readonly member?: string;
  /** The name of the limit that was exceeded, e.g. `query.points`. */
  readonly limit?: string;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number;
  /** The name or value that the caller may have meant. */
  readonly nearest?: string;
  /** All faults of a question, this error first. */
  readonly faults?: readonly Fault[];
}

/** A fault of a member of a question. */
export interface Fault {
  readonly code: ErrorCode;
  readonly member: string;
  readonly detail: string;
  readonly nearest?: string;
  /** For points, the index of the row. */
  readonly row?: number;
}

/** An error with a stable code and a one-line message for the caller; `cause` is for the log only. */
export class FieldprobeError extends Error {
  readonly code: ErrorCode;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.context = context;
  }

  get blame(): Blame {
    return (SERVER_CODES as readonly string[]).includes(this.code) ? "server" : "caller";
  }
}

/** The request is malformed, or a member has a value that its operation does not accept. */
export class RequestError extends FieldprobeError {}

/** A size, count or amount of work is above its limit. */
export class LimitError extends FieldprobeError {
  constructor(limit: string, message: string) {
    super("LimitExceeded", message, { limit });
  }
}

/** The limit of particle steps, and the steps that a query asked for. */
export interface StepLimit {
  readonly most: number;
  /** Steps of each particle, and particle steps that a step counts as. */
  readonly steps: number;
  readonly weight: number;
}

/**
 * More points than a limit admits; `most` is 0 if the work of a single point exceeds it. @param tracking the limit of
 * particle steps, if that is the limit and `count` is the number of all particles
 */
export function tooManyPoints(limit: string, count: number, most: number, tracking?: StepLimit): LimitError {
  const fits = limit === "query.particleSteps" ? `: ${most} particles fit with as many steps` : "";
  const why = most === 0 ? `: a single point exceeds ${limit}` : fits;
  const steps = tracking === undefined ? "" : `${why === "" ? ": " : ""}${stepsThatFit(count, tracking, most > 0)}`;
  // Jobs divide calls with points; other calls would meet the limit again.
  const job = fits === "" || tracking !== undefined ? "" : "; a job may take more (Prefer: respond-async)";
  return new LimitError(limit, `Request size too large (${count} > ${most})${why}${steps}${job}`);
}

/** Particles with adaptive steps tried more of them than a query may; this is known only while they move. */
export function tooManyAdaptiveSteps(most: number): LimitError {
  const text = `The particles need more than ${most} steps to keep the tolerance: ask for a larger tolerance, a shorter time or fewer particles.`;
  return new LimitError("query.particleSteps", text);
}

/** The end of the message: the steps that fit for the number of particles. */
function stepsThatFit(count: number, { most, steps, weight }: StepLimit, several: boolean): string {
  const fit = Math.floor(most / (count * weight));
  const others = fit === 0 ? "" : `${several ? ", or" : ";"} ${fit} steps of ${count} particles`;
  const each = weight === 1 ? "" : `, of which a step here counts ${weight}`;
  return `${others} (${count * steps * weight} particle steps${each}, were asked, the limit is ${most})`;
}

/** The token is missing, unknown or disabled, or its rate is used up. */
export class AuthError extends FieldprobeError {
  constructor(
    message: string,
    code: "AuthenticationFailed" | "RateLimited" = "AuthenticationFailed",
    retryAfter?: number,
  ) {
    super(code, message, retryAfter === undefined ? {} : { retryAfter });
  }
}

/** No dataset has that name. */
export class NotFoundError extends FieldprobeError {
  constructor(message: string) {
    super("UnknownDataset", message, { member: "dataset" });
  }
}

/** Most datasets that a message lists. */
const MAX_NAMES = 10;

/** A list of the first datasets: `available: isotropic32, channel`. */
export function namesOf(served: readonly { readonly name: string }[]): string {
  const names = served.slice(0, MAX_NAMES).map((dataset) => dataset.name);
  if (served.length > MAX_NAMES) names.push("...");
  return names.length === 0 ? "there is no dataset in the data folders" : `available: ${names.join(", ")}`;
}

/** The error for an unknown dataset, with the names of known ones. */
export function unknownDataset(name: string, served: readonly { readonly name: string }[]): NotFoundError {
  return new NotFoundError(`Invalid set name: ${excerpt(name)} (${namesOf(served)})`);
}

/** The queue is full or no slot came free in time. */
export class BusyError extends FieldprobeError {
  constructor(message: string, retryAfter = 1, cause?: unknown) {
    super("Busy", message, { retryAfter }, cause);
  }
}

/** The disk was full; it may have room after a minute. */
export function fullDisk(cause: unknown): BusyError {
  return new BusyError("The service has no room left on its disk.", 60, cause);
}

/**
 * Seconds after which a query of a slow store may be retried; as many more are added at random, since those who were
 * refused together would otherwise return together.
 */
const STORE_RETRY_S = 5;

/** Too many requests wait for one store. */
export function busyStore(): BusyError {
  const seconds = STORE_RETRY_S + Math.floor(STORE_RETRY_S * Math.random());
  return new BusyError("Too many queries wait for the store of this dataset.", seconds);
}

/** The request's deadline passed before its result was complete. */
export class DeadlineError extends FieldprobeError {
  constructor(message = "The deadline of the request passed.") {
    super("Deadline", message);
  }
}

/** The caller went away; this error is never sent. */
export class CancelledError extends FieldprobeError {
  constructor(message = "The request was cancelled.") {
    super("Internal", message);
  }
}

/** Stored data are unreadable, corrupt or not as described. */
export class DataError extends FieldprobeError {
  /** @param context `retryAfter` if the data may soon be repaired */
  constructor(message: string, cause?: unknown, context: Pick<ErrorContext, "retryAfter"> = {}) {
    super("DataError", message, context, cause);
  }
}

/** Content that is not of the version of the last scan: the next scan begins at once. */
export function changedSinceScan(place: string): DataError {
  return new DataError(`${place} has changed since the catalogue was read`, undefined, { retryAfter: 1 });
}

/** What `read` returns, or what `instead` makes of its DataError. */
export function readOr<T, D>(read: () => T, instead: (error: DataError) => D): T | D {
  try {
    return read();
  } catch (error) {
    if (error instanceof DataError) return instead(error);
    throw error;
  }
}

/** What `run` returns, or `instead` whatever it throws. */
export function orElse<T, D>(run: () => T, instead: D): T | D {
  try {
    return run();
  } catch {
    return instead;
  }
}

/** A worker thread failed in a way after which it cannot be trusted. */
export class WorkerError extends FieldprobeError {
  constructor(message = "A worker failed while it computed this request.", cause?: unknown) {
    super("Internal", message, {}, cause);
  }
}

/** Text of a caller in a form safe for messages: cut to 64 characters, control characters shown as `?`. */
export function excerpt(text: string): string {
  if (text.length <= 64 && /^[ -~]*$/.test(text)) return text;
  const characters = Array.from(text.slice(0, 130));
  const cut = characters.length > 64 ? `${characters.slice(0, 63).join("")}\u2026` : characters.join("");
  return cut.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, "?");
}
