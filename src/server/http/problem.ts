/** Problem details (RFC 9457), the errors of every interface but SOAP. */
import { STATUS_CODES } from "node:http";

export const PROBLEM_TYPE = "application/problem+json";

export interface ProblemDetails {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/**
 * @param title null: the standard phrase of the status
 * @param members members of the interface; undefined ones are omitted
 */
export function problemDetails<T extends object>(
  status: number,
  title: string | null,
  detail: string,
  members: T,
): ProblemDetails & T {
  return { type: "about:blank", title: title ?? STATUS_CODES[status] ?? "Error", status, detail, ...members };
}
