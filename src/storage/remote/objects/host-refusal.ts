/** Reads the reason of a refusal by a host, in the form of S3. */
import { membersOf } from "./xml.js";

/** Known codes, with remedies. Source: Amazon S3 API reference, Error responses. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["AccessDenied", "the credentials do not allow it, or there are none"],
  ["AllAccessDisabled", "the bucket is closed"],
  ["ExpiredToken", "the session token has expired"],
  ["InvalidAccessKeyId", "the host does not know the access key"],
  ["NoSuchBucket", "there is no such bucket"],
  ["PermanentRedirect", "the bucket is in another region: set AWS_REGION"],
  ["AuthorizationHeaderMalformed", "the bucket is in another region: set AWS_REGION"],
  ["RequestTimeTooSkewed", "the clock of this machine is wrong"],
  ["SignatureDoesNotMatch", "the secret key is wrong"],
]);

/** Codes after which the same request may succeed, whatever the status. Source: as above. */
const TRANSIENT: ReadonlySet<string> = new Set([
  ...["BadDigest", "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown"],
]);

export interface HostRefusal {
  readonly code: string | null;
  readonly isTransient: boolean;
  /** The code, its meaning and the id of the request; empty if the host gives no reason. */
  readonly reason: string;
}

export function refusalIn(body: Uint8Array, requestId: string | undefined): HostRefusal {
  const members = membersOf(new TextDecoder().decode(body), "Error");
  const code = members.get("Code") ?? null;
  const id = members.get("RequestId") ?? requestId;
  const advice = code === null ? undefined : ADVICE.get(code);
  const parts = [
    code === null ? null : plain(code),
    advice === undefined ? null : `(${advice})`,
    id === undefined ? null : `request ${plain(id)}`,
  ].filter((part) => part !== null);
  return { code, isTransient: code !== null && TRANSIENT.has(code), reason: parts.join(" ") };
}

const plain = (text: string): string => text.replace(/[^\w.:+/=-]/g, "").slice(0, 80);
