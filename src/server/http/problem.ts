/** Writes problem details (RFC 9457), the form in which every interface but SOAP reports an error. */
import { STATUS_CODES } from "node:http";

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json";

/** Members that every problem has; an interface adds its own. */
export interface ProblemDetails {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/**
 * Writes down a problem.
 *
 * @param title null: the standard phrase of the status
 * @param members further members of the interface; those that are undefined are left out of JSON
 */
export function problemDetails<T extends object>(
  status: number,
  title: string | null,
  detail: string,
  members: T,
): ProblemDetails & T {
  return { type: "about:blank", title: title ?? STATUS_CODES[status] ?? "Error", status, detail, ...members };
}
