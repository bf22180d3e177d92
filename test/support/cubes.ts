/** Small HDF5 files for tests, written value by value in any order, and what a correct reader must find in them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, type Group } from "h5wasm/node";
import { DataError } from "../../src/shared/errors.js";
import { DESCRIPTOR_ATTRIBUTE, STORE_ITSELF } from "../../src/storage/recognise/converted-store.js";
import { type Recognised, recognise } from "../../src/storage/recognise/recognise.js";
import "./hdf5-library.js";

/** Nodes along x, y, z: all different, so that no mix-up of axes goes unseen, and enough for every stencil. */
export const NODES = { x: 12, y: 10, z: 11 } as const;
export const FRAMES = 3;

export type Dimension = "t" | "z" | "y" | "x" | "c" | "n";
export type Index = Readonly<Record<Dimension, number>>;

/** The value of a node: a whole number below 2^24, different for every index, hence exact in float32 and float64. */
export function nodeValue({ t, z, y, x, c }: Omit<Index, "n">): number {
  return 1 + c + 4 * (x + 16 * (y + 16 * (z + 16 * t)));
}

/** Values in the stored order `dimensions`, the last one fastest. */
export function fill(
  dimensions: readonly Dimension[],
  shape: readonly number[],
  value: (index: Index) => number,
): Float64Array {
  const out = new Float64Array(shape.reduce((product, length) => product * length, 1));
  const at: Record<Dimension, number> = { t: 0, z: 0, y: 0, x: 0, c: 0, n: 0 };
  for (let i = 0; i < out.length; i++) {
    let rest = i;
    for (let d = shape.length - 1; d >= 0; d--) {
      const length = shape[d] as number;
      at[dimensions[d] as Dimension] = rest % length;
      rest = Math.floor(rest / length);
    }
    out[i] = value(at);
  }
  return out;
}

export interface StoredSpec {
  readonly dimensions: readonly Dimension[];
  /** Lengths that differ from NODES, FRAMES and 3, e.g. with ghost layers. */
  readonly lengths?: Partial<Record<Dimension, number>>;
  readonly type?: "<f" | "<d";
  readonly chunks?: number[];
  readonly filter?: "gzip" | "fletcher32";
  readonly value?: (index: Index) => number;
}

const FILTERS = { gzip: 1, fletcher32: 3 } as const;

/** Writes one field dataset at `path`, groups on the way included. */
export function writeField(file: File, path: string, spec: StoredSpec): void {
  const lengths: Record<Dimension, number> = { ...NODES, t: FRAMES, c: 3, n: 1, ...spec.lengths };
  const shape = spec.dimensions.map((dimension) => lengths[dimension]);
  const values = fill(spec.dimensions, shape, spec.value ?? nodeValue);
  const { group, name } = parentOf(file, path);
  group.create_dataset({
    name,
    data: spec.type === "<d" ? values : Float32Array.from(values),
    shape,
    dtype: spec.type ?? "<f",
    ...(spec.chunks === undefined ? {} : { chunks: spec.chunks }),
    ...(spec.filter === undefined
      ? {}
      : { compression: FILTERS[spec.filter], compression_opts: spec.filter === "gzip" ? [4] : [] }),
  });
}

/** The group that holds the last name of a path, made if need be. */
export function parentOf(file: File, path: string): { group: Group; name: string } {
  const parts = path.split("/").filter((part) => part !== "");
  const name = parts.pop() as string;
  let group: Group = file;
  for (const part of parts) {
    group = group.keys().includes(part) ? (group.get(part) as Group) : group.create_group(part);
  }
  return { group, name };
}

/** Writes an HDF5 file; `earliest` takes the oldest format, whose object headers have no checksum. */
export async function writeHdf5(path: string, write: (file: File) => void, earliest = false): Promise<string> {
  const file = new File(path, "w", earliest ? { libver: ["earliest", "latest"] } : {});
  try {
    write(file);
  } finally {
    file.close();
  }
  if (stated.has(file)) embed(path);
  return path;
}

/** Files whose grid is stated, which are then made known by a descriptor in them. */
const stated = new WeakSet<File>();

/** Writes the description of a bare file into it, as if a person had confirmed it: the file is known wherever it is. */
function embed(path: string): void {
  const text = embeddedDescriptor(path);
  if (text === null) return;
  const file = new File(path, "a");
  file.create_attribute(DESCRIPTOR_ATTRIBUTE, text);
  file.close();
}

/** The descriptor that makes a bare file or store known; null if it leaves anything open, or is known already. */
export function embeddedDescriptor(path: string): string | null {
  let found: Recognised | null;
  try {
    found = recognise(path, {}, "known");
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
  // Of what nothing states, only the ends of axes are taken as they are proposed.
  const isOpen = ({ about }: { readonly about: string }) => !["periodicity", "faces", "snapshot"].includes(about);
  if (found === null || found.isKnown || found.descriptor.questions.some(isOpen)) return null;
  const { questions: _, name: __, ...written } = found.written;
  return JSON.stringify(written, (key, value) => (key === "file" ? STORE_ITSELF : value));
}

/**
 * States the grid of a bare file in attributes: z y x, unit spacing from 0. Without it the file is refused with
 * questions.
 */
export function stateGrid(file: File): void {
  stated.add(file);
  file.create_attribute("axes", "zyx");
  file.create_attribute("spacing", [1, 1, 1], [3], "<d");
  file.create_attribute("origin", [0, 0, 0], [3], "<d");
}

/** A descriptor of the test grid, periodic with unit spacing, fields and other members as given. */
export function descriptor(name: string, members: Record<string, unknown>): Record<string, unknown> {
  const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: true });
  return {
    schemaVersion: 1,
    name,
    axes: { x: axis(NODES.x), y: axis(NODES.y), z: axis(NODES.z) },
    time: { origin: 0, step: 1, count: FRAMES },
    ...members,
  };
}

export function writeDescriptor(folder: string, content: unknown): void {
  writeFileSync(join(folder, "dataset.json"), JSON.stringify(content));
}
