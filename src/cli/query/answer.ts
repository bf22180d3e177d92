/** Describes the answer to a query of the command line, which a service or this process has evaluated. */

/** A query as the flags state it. */
export interface FlagQuery {
  readonly operation: string;
  /** Members of the request without token and points, by their names on the wire. */
  readonly members: Readonly<Record<string, string | number>>;
  /** x, y, z, x, y, z, ... */
  readonly points: Float32Array;
  /** Initial velocities; null: those of the flow. */
  readonly velocities: Float32Array | null;
  /** The times of the points, or the starts of paths, if each has its own. */
  readonly times?: Float64Array;
  readonly startTimes?: Float64Array;
}

/** Labels of the dataset of a query. */
export interface DatasetLabels {
  /** Digest of the dataset; null if the service does not state it. */
  readonly manifest: string | null;
  /** Accepted guesses about the data. */
  readonly assumed: readonly string[];
}

export const NO_LABELS: DatasetLabels = { manifest: null, assumed: [] };

export interface QueryAnswer extends DatasetLabels {
  readonly record: string;
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  readonly values: Float32Array;
}

export type OnProgress = (done: number, total: number) => void;

/** The message of a failed query, with a hint at the remedy. */
export function explain(error: {
  readonly code: string;
  readonly message: string;
  readonly limit?: string | undefined;
}): string {
  const { code, message, limit } = error;
  if (limit !== undefined) return `${message} (limit ${limit})`;
  if (code === "AuthenticationFailed") return `${message} (--token gives one)`;
  return message;
}

/** The message of a service that cannot be reached: what failed, and what helps if it is known. */
export function explainNetwork(base: string, message: string): string {
  // From Node 24 on separate advice follows the reason.
  const [reason] = message.split(";");
  if (/certificate/i.test(message))
    return `${base}: ${reason}; NODE_EXTRA_CA_CERTS=FILE names the certificate to trust`;
  if (/wrong version number|packet length too long/.test(message)) return `${base} does not speak TLS: try http://`;
  if (message.includes(base)) return message;
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(message) && !/ after \d+ of /.test(message))
    return `there is no service at ${base}: ${message}`;
  return `the connection to ${base} broke: ${message}`;
}
