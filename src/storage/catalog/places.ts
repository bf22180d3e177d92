/** The files that the fields of a descriptor name. */
import { type Descriptor, frameCount, partsIn } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";

/** The files of each time: one, or one for each variable. */
export function fileSets(descriptor: Descriptor): string[][] {
  const sets = new Map<string, string[]>();
  for (let frame = 0; frame < frameCount(descriptor); frame++) {
    const files = new Set<string>();
    for (const field of Object.values(descriptor.fields))
      for (const { file } of partsIn(field)) files.add(placeOf(file, field ?? {}, frame));
    sets.set([...files].join("\n"), [...files]);
  }
  return [...sets.values()];
}
