/** Reads the forcing of a descriptor; compares a table of modes with the stored frames. */
import { DataError } from "../../shared/errors.js";
import type { Forcing } from "../dataset/dataset.js";
import { type Descriptor, frameCount } from "../dataset/descriptor.js";
import type { Verification } from "./verification.js";

/** @throws DataError when the table is missing or its shapes disagree */
export function readForcing(descriptor: Descriptor, verification: Verification): Forcing {
  const { forcing } = descriptor;
  if (forcing.kind !== "modes") return forcing;
  const file = verification.open(forcing.file);
  const table = (member: string, element: "float" | "integer", rank: number) => {
    const path = `${forcing.path}/${member}`;
    const resolved = file.resolve(path);
    if (resolved === null || file.kind(resolved) !== "dataset")
      throw new DataError(`${file.path} has no dataset ${path}`);
    const stored = file.describe(resolved);
    if (stored.element !== element || stored.shape.length !== rank)
      throw new DataError(`${file.path}: ${path} must be of ${element} type and ${rank} dimensions`);
    return { shape: stored.shape, values: file.numbers(resolved) };
  };
  const wavenumber = table("wavenumber", "integer", 2);
  const coefficient = table("coefficient", "float", 4);
  const [modes, three] = wavenumber.shape;
  const [frames, ...rest] = coefficient.shape as [number, ...number[]];
  if (three !== 3 || rest.join() !== [modes, 3, 2].join())
    throw new DataError(
      `${file.path}: ${forcing.path} has wavenumber ${wavenumber.shape.join(" x ")} and coefficient ${coefficient.shape.join(" x ")}, not modes x 3 and frames x modes x 3 x 2`,
    );
  if (frames !== 1 && frames !== frameCount(descriptor))
    throw new DataError(`${file.path}: ${forcing.path} has ${frames} frames, the fields ${frameCount(descriptor)}`);
  for (let mode = 0; mode < wavenumber.values.length; mode += 3)
    if (wavenumber.values[mode] < 0) throw new DataError(`${file.path}: mode ${mode / 3} has kx < 0`);
  return { kind: "modes", wavenumber: Int32Array.from(wavenumber.values), coefficient: coefficient.values, frames };
}
