/** The answer to a query of the command line, whoever evaluated it. */

/** A query as the flags state it. */
export interface Asked {
  readonly operation: string;
  /** Members of the request without token and points, by their names on the wire. */
  readonly members: Readonly<Record<string, string | number>>;
  /** x, y, z, x, y, z, ... */
  readonly points: Float32Array;
  /** Initial velocities; null: those of the flow. */
  readonly velocities: Float32Array | null;
}

export interface QueryAnswer {
  readonly record: string;
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  readonly values: Float32Array;
  /** Digest of the dataset; null where the service does not state it. */
  readonly manifest: string | null;
}

export type OnProgress = (done: number, total: number) => void;

/** The message of a failed query, with a hint at the remedy; `datasets` lists those that are served, null: unknown. */
export function explain(
  error: { readonly code: string; readonly message: string; readonly limit?: string | undefined },
  datasets: readonly string[] | null,
): string {
  const { code, message, limit } = error;
  if (limit !== undefined) return `${message} (limit ${limit})`;
  if (code === "AuthenticationFailed") return `${message} (--token gives one)`;
  if (code !== "UnknownDataset" || datasets === null) return message;
  if (datasets.length === 0) return `${message} (there is no dataset in the data folders)`;
  return `${message} (there is ${datasets.slice(0, 10).join(", ")}${datasets.length > 10 ? ", ..." : ""})`;
}
