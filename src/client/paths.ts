/** Asks for places on the way of particles, with quantities there, over plain HTTP. */
import { ClientError } from "./error.js";
import { baseOf, postTo } from "./plain-http.js";
import type { CallOptions, ParticlePaths, TrajectoriesRequest } from "./request-types.js";
import { inParts } from "./split.js";
import { flatten } from "./wire-records.js";

/** How a call is cut into parts. */
interface PartSizes {
  readonly token?: string;
  readonly pointsPerRequest?: number;
  readonly concurrency?: number;
}

/** Options that belong into the query string. */
const OPTIONS = ["operation", "every", "integrator", "tolerance", "openFaces", "derivatives"] as const;

/** Asks for trajectories in parts of the particles. @throws ClientError */
export async function askTrajectories(
  url: string,
  dataset: string,
  request: TrajectoriesRequest,
  { signal, onProgress }: CallOptions,
  { token, pointsPerRequest = 20_000, concurrency = 3 }: PartSizes,
): Promise<ParticlePaths> {
  const { points, InitialV, startTimes, with: quantities = [], ...members } = request;
  const given = members as Readonly<Record<string, unknown>>;
  const query = new URLSearchParams(quantities.map((text): [string, string] => ["with", text]));
  for (const name of OPTIONS) if (given[name] !== undefined) query.set(name, String(given[name]));
  const scalars = Object.entries(given).filter(([name]) => !(OPTIONS as readonly string[]).includes(name));
  const lists = Object.entries({ points, InitialV }).flatMap(([name, list]) =>
    list === undefined ? [] : [[name, flatten(name, list)] as const],
  );
  const total = flatten("points", points).length / 3;
  let found: Omit<ParticlePaths, "particles"> | null = null;
  const part = async (first: number, count: number, stop: AbortSignal): Promise<void> => {
    const triplesOf = (flat: Float32Array) =>
      Array.from({ length: count }, (_, i) => [...flat.subarray(3 * (first + i), 3 * (first + i) + 3)]);
    const body = {
      ...Object.fromEntries([...scalars, ...lists.map(([name, flat]) => [name, triplesOf(flat)])]),
      ...(startTimes === undefined ? {} : { startTimes: startTimes.slice(first, first + count), pairing: "each" }),
    };
    const path = `${encodeURIComponent(dataset)}/trajectories?${query}`;
    const { bytes, headers } = await postTo(url, path, body, "application/octet-stream", token, stop);
    const answer = recordsOf(headers, bytes, count);
    if (answer === null) throw new ClientError("Protocol", `${baseOf(url)}: not the trajectories of ${count} points`);
    const { values, columns, records } = answer;
    found ??= { ...answer, values: new Float32Array(total * records * columns.length) };
    found.values.set(values, first * records * columns.length);
  };
  await inParts(total, pointsPerRequest, concurrency, part, signal, onProgress);
  return { particles: total, ...(found as unknown as Omit<ParticlePaths, "particles">) };
}

/** What the headers say of an answer; null if its bytes are not that. */
function recordsOf(headers: Headers, bytes: ArrayBuffer, count: number): Omit<ParticlePaths, "particles"> | null {
  const numbers = (name: string) => (headers.get(name) ?? "").split(",").map(Number);
  const columns = JSON.parse(headers.get("fieldprobe-columns") ?? "[]") as string[];
  const shape = numbers("fieldprobe-shape");
  const records = shape.length < 3 ? 1 : (shape[1] as number);
  const [start = 0, step = 0, end = start] = numbers("fieldprobe-times");
  const times = Array.from({ length: records }, (_, r) => (r === records - 1 ? end : start + r * step));
  const values = new Float32Array(bytes);
  return values.length === count * records * columns.length ? { records, times, columns, values } : null;
}
