/** Converts a dataset to the fast form: one float32 file per field and frame, in chunks. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { DataError } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import { openDataset, type StoredBricks } from "../bricks/brick-reader.js";
import type { NodeBox } from "../bricks/stored-box.js";
import { completeFolder } from "../catalog/manifest.js";
import { type Dataset, type FieldName, fieldNames, type Triple } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";
import { CONVERSION_NAME, DESCRIPTOR_NAME } from "../dataset/folder-names.js";
import { type Filter, Hdf5Writer } from "../hdf5/writer.js";
import { indicesIn } from "./convert-zarr.js";
import { portableDescriptor, readingDigest, requireConvertible } from "./portable.js";

export interface ConvertOptions {
  /** Folder of the new dataset; created if necessary. */
  readonly folder: string;
  readonly name: string;
  /** Nodes of a chunk along every axis, at most the nodes of the axis. */
  readonly chunk: number;
  readonly filter: Filter;
}

/** Bytes of float32 read and written at a time; the HDF5 library holds twice as much in addition. */
const BOX_BYTES = 8 * 1024 * 1024;
const FORCING = { file: "forcing.h5", path: "/forcing" };
const filePattern = (field: FieldName) => `${field}_{step:05d}.h5`;

/**
 * Interrupted at any point, it resumes with the same arguments: complete files are kept.
 * @param progress receives the fraction done after each box
 * @returns values read from the source, in bytes
 * @throws DataError when the folder holds a dataset, or the start of another conversion
 */
export async function convert(
  dataset: Dataset,
  options: ConvertOptions,
  progress: (fraction: number) => void,
): Promise<{ bytesRead: number; files: number; kept: number }> {
  requireConvertible(dataset);
  claimFolder(dataset, options);
  const { folder } = options;
  const fields = fieldNames(dataset);
  const source = openDataset(dataset);
  const total = fields.length * dataset.time.count;
  const files: string[] = [];
  let kept = 0;
  try {
    for (let frame = 0; frame < dataset.time.count; frame++) {
      for (const field of fields) {
        const file = placeOf(filePattern(field), { firstStep: 0, stepIncrement: 1, steps: null }, frame);
        const done = files.push(file) - 1;
        if (existsSync(join(folder, file))) kept++;
        else
          await writeFrame(dataset, source, field, frame, join(folder, file), options, (f) =>
            progress((done + f) / total),
          );
      }
    }
    if (dataset.forcing.kind === "modes") files.push(await writeForcing(dataset.forcing, folder));
    const { bytesRead } = source;
    await completeFolder(folder, describeResult(dataset, options, fields), files);
    rmSync(join(folder, CONVERSION_NAME));
    progress(1);
    return { bytesRead, files: files.length, kept };
  } finally {
    source.close();
  }
}

function claimFolder(dataset: Dataset, { folder, name, chunk, filter }: ConvertOptions): void {
  makeFolder(folder);
  if (existsSync(join(folder, DESCRIPTOR_NAME))) throw new DataError(`${folder} holds a dataset already`);
  const plan = JSON.stringify({ name, chunk, filter, source: dataset.files, reading: readingDigest(dataset) }, null, 2);
  const path = join(folder, CONVERSION_NAME);
  if (existsSync(path)) {
    if (readFileSync(path, "utf8") !== plan)
      throw new DataError(
        `${folder} holds the start of a conversion of other files, or with other answers or options; remove it first`,
      );
    return;
  }
  if (readdirSync(folder).length > 0) throw new DataError(`${folder} is not empty`);
  writeFileSync(path, plan);
}

async function writeFrame(
  dataset: Dataset,
  source: StoredBricks,
  field: FieldName,
  frame: number,
  path: string,
  { chunk, filter }: ConvertOptions,
  progress: (fraction: number) => void,
): Promise<void> {
  const nodes = dataset.axes.map((axis) => axis.nodes) as unknown as Triple;
  const components = dataset.fields[field]?.components === 3 ? [3] : [];
  const width = components[0] ?? 1;
  const edge = nodes.map((n) => Math.min(n, chunk)) as unknown as Triple;
  const shape = [...nodes.toReversed(), ...components];
  const chunks = [...edge.toReversed(), ...components];
  await Hdf5Writer.write(path, async (writer) => {
    const write = writer.dataset({ path: `/${field}`, type: "float32", shape, chunks, filter });
    const boxes = planBoxes(nodes, edge, width);
    const lengths = boxes.map(({ count }) => width * count[0] * count[1] * count[2]);
    const room = new Float32Array(Math.max(...lengths));
    for (const [index, box] of boxes.entries()) {
      const values = room.subarray(0, lengths[index]);
      source.readNodes(field, frame, box, values);
      const start = [...box.first.toReversed(), ...components.map(() => 0)];
      write(start, [...box.count.toReversed(), ...components], values);
      progress((index + 1) / boxes.length);
      await setImmediate();
    }
  });
}

/** Boxes of whole chunks that cover the grid, x growing first, each within BOX_BYTES if a chunk is. */
export function planBoxes(nodes: Triple, edge: Triple, components: number): NodeBox[] {
  const size = [...edge] as [number, number, number];
  for (let axis = 0; axis < 3; axis++) {
    const rest = (4 * components * size[0] * size[1] * size[2]) / size[axis];
    const chunks = Math.max(1, Math.floor(BOX_BYTES / rest / edge[axis]));
    size[axis] = Math.min(nodes[axis], chunks * edge[axis]);
  }
  return indicesIn(nodes.map((n, axis) => Math.ceil(n / size[axis])) as unknown as Triple).map((at) => {
    const first = at.map((index, axis) => index * size[axis]) as unknown as Triple;
    return { first, count: first.map((from, axis) => Math.min(size[axis], nodes[axis] - from)) as unknown as Triple };
  });
}

async function writeForcing(forcing: Extract<Dataset["forcing"], { kind: "modes" }>, folder: string): Promise<string> {
  await Hdf5Writer.write(join(folder, FORCING.file), (writer) => {
    const modes = forcing.wavenumber.length / 3;
    writer.whole(`${FORCING.path}/wavenumber`, "int32", [modes, 3], forcing.wavenumber);
    writer.whole(`${FORCING.path}/coefficient`, "float64", [forcing.frames, modes, 3, 2], forcing.coefficient);
  });
  return FORCING.file;
}

function describeResult(dataset: Dataset, { name }: ConvertOptions, fields: readonly FieldName[]): DescriptorInput {
  const places = fields.map((field) => [
    field,
    {
      file: filePattern(field),
      path: `/${field}`,
      dimensions: ["z", "y", "x", ...(dataset.fields[field]?.components === 3 ? ["c"] : [])],
    },
  ]);
  return portableDescriptor(dataset, name, Object.fromEntries(places) as DescriptorInput["fields"], FORCING);
}
