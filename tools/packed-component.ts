/** Writes a component of a field as 16-bit integers with a scale, in a quarter of the bytes of float64. */
import type { Hdf5Writer } from "#src/storage/hdf5/writer.js";

const LARGEST = 32767;

/** The components of packed frames, each a dataset of its name; the last one is the pressure. */
export const COMPONENTS = ["u", "v", "w", "p"] as const;

/** Velocity and pressure of a packed file, as a descriptor states them. */
export function packedFields(file: string) {
  const dimensions = ["t", "z", "y", "x"];
  return {
    velocity: { components: COMPONENTS.slice(0, 3).map((c) => ({ file, path: `/${c}` })), dimensions },
    pressure: { file, path: "/p", dimensions },
  };
}

/**
 * Writes all frames of a component; its scale maps the range over all frames to that of 16 bits, so an error is at most
 * half a scale: 2^-16 of the range.
 *
 * @param frames   one array of values for each frame, in the order of `shape`
 * @param shape    nodes along z, y, x
 * @param chunks   nodes of a chunk along the same
 * @param centred  whether the middle of the range becomes an offset, a whole number of scales, so that zero stays zero
 */
export function writePacked(
  writer: Hdf5Writer,
  path: string,
  frames: readonly Float64Array[],
  shape: readonly number[],
  chunks: readonly number[],
  centred: boolean,
): void {
  const least = Math.min(...frames.map((values) => values.reduce((a, b) => Math.min(a, b))));
  const most = Math.max(...frames.map((values) => values.reduce((a, b) => Math.max(a, b))));
  const scale = (centred ? (most - least) / 2 : Math.max(most, -least)) / (LARGEST - 1);
  const offset = centred ? scale * Math.round((least + most) / 2 / scale) : 0;
  const write = writer.dataset({
    path,
    type: "int16",
    shape: [frames.length, ...shape],
    chunks: [1, ...chunks],
    filter: "gzip",
  });
  for (const [frame, values] of frames.entries()) {
    const integers = Int16Array.from(values, (value) => Math.round((value - offset) / scale));
    write([frame, ...shape.map(() => 0)], [1, ...shape], integers);
  }
  writer.describe(path, { scale_factor: scale, ...(offset === 0 ? {} : { add_offset: offset }) });
}
