/** Downloads a cutout from a running service: an HDF5 file with its XDMF, a NumPy file, or bare float32. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { explain, explainNetwork } from "./answer.js";

/** A range of numbers from 1, inclusive at both ends. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** The part to download; absent members mean everything. */
export interface CutoutSelection {
  readonly x?: NumberRange;
  readonly y?: NumberRange;
  readonly z?: NumberRange;
  /** Stored frames. */
  readonly frames?: NumberRange;
  readonly field?: readonly string[];
  /** Strides in nodes along x, y, z; not in HDF5. */
  readonly step?: readonly number[];
  /** Nodes per axis over which each value is averaged; not in HDF5. */
  readonly filterNodes?: number;
}

/** The members of a dataset's description that are used. */
interface Described {
  readonly axes: readonly { readonly nodes: number }[];
  /** Fields, and the nodes of their parts if they are not those of the dataset. */
  readonly fields: readonly {
    readonly name: string;
    readonly nodes?: readonly { readonly axes: Described["axes"] }[];
  }[];
  readonly times: { readonly count: number; readonly guardBefore: number; readonly guardAfter: number };
}

/** The media type of each form that holds one field of one frame. */
const BARE = { ".npy": "application/x-npy", ".raw": "application/octet-stream" } as const;
const AXES = ["x", "y", "z"] as const;

/** A service to download from. */
export interface CutoutService {
  readonly url: string;
  readonly token: string | undefined;
  readonly dataset: string;
}

/**
 * Downloads a cutout; a file appears under its name when it is complete.
 *
 * @param path of the file; its ending names the form
 * @returns the shape of the numbers, outermost first; null for HDF5
 * @throws Error in one line for what the service refuses, and for a selection that the form cannot hold
 */
export async function downloadCutout(
  source: CutoutService,
  wanted: CutoutSelection,
  path: string,
): Promise<readonly number[] | null> {
  const described = (await (await ask(source, "", "application/json")).json()) as Described;
  const form = /\.[^.]*$/.exec(path)?.[0] as ".h5" | keyof typeof BARE;
  if (form !== ".h5") {
    const response = await ask(source, `/cutout?${bareQuery(described, wanted, path)}`, BARE[form]);
    const shape = response.headers.get("fieldprobe-shape")?.split(",").map(Number) ?? [];
    await save(response, path, form === ".raw" ? 4 * shape.reduce((product, length) => product * length, 1) : null);
    return shape;
  }
  const query = fileQuery(described, wanted);
  await save(await ask(source, `/cutout.h5?${query}`, "application/x-hdf5"), path, null);
  const xdmf = await ask(source, `/cutout.xmf?${query}`, "application/xml");
  // The service names the file as it would itself.
  const served = /filename="(.*)\.xmf"/.exec(xdmf.headers.get("content-disposition") ?? "")?.[1] ?? "";
  const text = (await xdmf.text()).replaceAll(`>${served}.h5:`, `>${escaped(basename(path))}:`);
  await save(new Response(text), path.replace(/\.h5$/, ".xmf"), null);
  return null;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** First and last of each axis, by default of the nodes of the first field; null for all nodes. */
function corners({ axes, fields }: Described, wanted: CutoutSelection): readonly NumberRange[] | null {
  if (AXES.every((axis) => wanted[axis] === undefined)) return null;
  const [first = fields[0]?.name] = wanted.field ?? [];
  const own = fields.find(({ name }) => name === first)?.nodes?.[0]?.axes ?? axes;
  return AXES.map((axis, a) => wanted[axis] ?? { first: 1, last: own[a]?.nodes ?? 1 });
}

/** The query of an HDF5 file. */
function fileQuery(described: Described, wanted: CutoutSelection): URLSearchParams {
  if (wanted.step !== undefined || wanted.filterNodes !== undefined)
    throw new Error("--step and --filter-nodes are for .npy and .raw");
  const { count, guardBefore, guardAfter } = described.times;
  const { first, last } = wanted.frames ?? { first: 1, last: guardBefore + count + guardAfter };
  const box = corners(described, wanted);
  return new URLSearchParams({
    fields: (wanted.field ?? described.fields.map(({ name }) => name)).join(","),
    ...(box === null
      ? {}
      : { start: box.map((range) => range.first).join(","), end: box.map((range) => range.last).join(",") }),
    frames: `${first},${last}`,
  });
}

/** The query of one field of one frame. */
function bareQuery(described: Described, wanted: CutoutSelection, path: string): URLSearchParams {
  const known = described.fields.map(({ name }) => name);
  const [field, ...others] = wanted.field ?? known;
  if (field === undefined || others.length > 0)
    throw new Error(`${path} holds one field: --field names it, one of ${known.join(", ")}`);
  const { count, guardBefore } = described.times;
  const { first, last } = wanted.frames ?? { first: guardBefore + 1, last: guardBefore + count };
  if (first !== last) throw new Error(`${path} holds one frame: --frames names it`);
  if (first <= guardBefore || first > guardBefore + count)
    throw new Error(`--frames ${first}: ${path} takes frames ${guardBefore + 1} to ${guardBefore + count}`);
  const box = corners(described, wanted);
  const query = new URLSearchParams({ field, T: String(first - guardBefore) });
  if (box !== null) {
    query.set("region.start", box.map((range) => range.first - 1).join(","));
    query.set("region.end", box.map((range) => range.last).join(","));
  }
  if (wanted.step !== undefined) query.set("region.step", wanted.step.join(","));
  query.set("filter_width", String(wanted.filterNodes ?? 1));
  return query;
}

/** Requests a resource of the dataset. @throws Error with the detail of a refusal */
async function ask({ url, token, dataset }: CutoutService, path: string, accept: string): Promise<Response> {
  const base = url.replace(/\/service\/turbulence\.asmx$|\/+$/, "");
  const headers = { accept, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const address = `${base}/api/datasets/${encodeURIComponent(dataset)}${path}`;
  const response = await fetch(address, { headers }).catch((error: unknown) => {
    const { cause } = error as { readonly cause?: { readonly message?: string } };
    throw new Error(explainNetwork(base, cause?.message ?? (error as Error).message));
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; code?: string; limit?: string };
  const { detail = `the service at ${base} answered with status ${response.status}`, code = "", limit } = problem;
  throw new Error(explain({ code, message: detail, limit }));
}

/** Writes a body next to its place and then moves it there. @param bytes the expected length; null: unknown */
async function save(response: Response, path: string, bytes: number | null): Promise<void> {
  // Two downloads of the same file at a time do not write into each other.
  const part = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const file = createWriteStream(part);
    await pipeline(Readable.fromWeb(response.body as never), file);
    if (bytes !== null && file.bytesWritten !== bytes)
      throw new Error(`${path}: the service sent ${file.bytesWritten} bytes instead of ${bytes}`);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
