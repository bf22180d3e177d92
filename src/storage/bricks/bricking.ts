/** Chooses the bricks of a field, the unit of reading and caching, by its storage. */
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type Bricking, type FieldPart, MAX_BRICKS, type Triple } from "../dataset/dataset.js";
import type { Stored } from "../dataset/stored.js";

const MIB = 1024 * 1024;
/** Least edge of a brick: with bricks thinner than a stencil, every point would touch many. */
const MIN_EDGE = 16;
/** Largest edge: the kernels find the brick of a node in 31 bits, which hold the product of an edge and MAX_NODES. */
const MAX_EDGE = 16_384;
const LARGE_BYTES = 8 * MIB;
const FREE_EDGE = 32;
const FREE_RUN = 64;
/** Least planes of a brick of whole planes, at least the longest stencil. */
const MIN_PLANES = 8;

type Edges = [number, number, number];

/**
 * Chooses bricks: whole chunks, so that each is decoded once; tiny or thin ones are grouped to 16 nodes per axis.
 * Contiguous storage, and unfiltered chunks above 8 MiB, is cut evenly into at most 32 nodes per axis, 64 on the axis
 * stored fastest; a file at an address into up to 8 MiB, in whole planes if possible, so that a brick is one range of
 * bytes. Bricks are doubled if there are too many.
 * @param chunkBytes upper bound of a brick in bytes of float32
 * @throws DataError for a field that has too many bricks even so
 */
export function chooseBricking(
  nodes: Triple,
  components: number,
  part: FieldPart,
  stored: Stored,
  chunkBytes: number,
): Bricking {
  const { chunks, filters, size } = stored;
  const wholeChunks =
    chunks !== null && (filters.length > 0 || chunks.reduce((bytes, edge) => bytes * edge, size) <= LARGE_BYTES);
  const edge = wholeChunks
    ? groupedChunks(nodes, components, part, chunks, chunkBytes)
    : isAddress(part.file)
      ? farCut(nodes, components, part.dimensions, chunks === null)
      : evenCut(nodes, part.dimensions, FREE_RUN);
  while (4 * components * edge[0] * edge[1] * edge[2] > chunkBytes || Math.max(...edge) > MAX_EDGE) {
    const longest = edge.indexOf(Math.max(...edge));
    edge[longest] = Math.ceil(edge[longest] / 2);
  }
  const countOf = (edges: Edges): Edges => nodes.map((n, axis) => Math.ceil(n / edges[axis])) as Edges;
  for (let count = countOf(edge); product(count) > MAX_BRICKS; count = countOf(edge)) {
    const [least] = [0, 1, 2].filter((axis) => count[axis] > 1).toSorted((a, b) => edge[a] - edge[b]) as [number];
    const bytes = 8 * components * product(edge);
    if (bytes > chunkBytes || 2 * edge[least] > MAX_EDGE) throw tooMany(edge, count, bytes, chunkBytes);
    edge[least] *= 2;
  }
  return { edge, count: countOf(edge) };
}

const product = ([x, y, z]: Triple): number => x * y * z;

function tooMany(edge: Edges, count: Edges, bytes: number, chunkBytes: number): DataError {
  return new DataError(
    `a frame is cut into ${product(count)} bricks of ${edge.join(" x ")} nodes, of which ${MAX_BRICKS} are served; ` +
      `larger ones would have ${bytes} bytes, and ${chunkBytes} are allowed (FIELDPROBE_ENGINE_CHUNK_BYTES)`,
  );
}

/** Cuts a remote file into bricks of up to 8 MiB: whole planes of the slowest axis, or rows if planes are too large. */
function farCut(nodes: Triple, components: number, dimensions: readonly string[], isContiguous: boolean): Edges {
  const slowest = (AXIS_NAMES as readonly string[]).indexOf(
    dimensions.find((dimension) => (AXIS_NAMES as readonly string[]).includes(dimension)) as string,
  );
  const plane = nodes.reduce((product, n, axis) => (axis === slowest ? product : product * n), 4 * components);
  const planes = Math.floor(LARGE_BYTES / plane);
  if (!isContiguous || planes < Math.min(MIN_PLANES, nodes[slowest]))
    return evenCut(nodes, dimensions, Math.floor(LARGE_BYTES / (4 * components * FREE_EDGE ** 2)));
  return nodes.map((n, axis) => (axis === slowest ? Math.ceil(n / Math.ceil(n / planes)) : n)) as Edges;
}

function evenCut(nodes: Triple, dimensions: readonly string[], run: number): Edges {
  const fastest = dimensions.findLast((dimension) => dimension === "x" || dimension === "y" || dimension === "z");
  return nodes.map((n, axis) => {
    const most = AXIS_NAMES[axis] === fastest ? run : FREE_EDGE;
    return Math.ceil(n / Math.ceil(n / most));
  }) as Edges;
}

function groupedChunks(
  nodes: Triple,
  components: number,
  part: FieldPart,
  chunks: readonly number[],
  chunkBytes: number,
): Edges {
  const chunk = AXIS_NAMES.map((axis) => chunks[part.dimensions.indexOf(axis)]) as Edges;
  const edge = chunk.map((length, axis) => Math.min(length, nodes[axis])) as Edges;
  const most = Math.min(LARGE_BYTES, chunkBytes);
  for (const [axis, step] of chunk.entries()) {
    const n = nodes[axis];
    const others = (4 * components * edge[0] * edge[1] * edge[2]) / edge[axis];
    let length = step;
    while (length < Math.min(MIN_EDGE, n) && others * (length + step) <= most) length += step;
    edge[axis] = Math.min(length, n);
  }
  return edge;
}
