/** Lists the files that a descriptor names. */

import { type Descriptor, frameCount } from "../dataset/descriptor.js";
import { placeOf } from "../dataset/files.js";

/** The files of each time together: one, or one for each variable. */
export function fileSets(descriptor: Descriptor): string[][] {
  const sets = new Map<string, string[]>();
  for (let frame = 0; frame < frameCount(descriptor); frame++) {
    const files = new Set<string>();
    for (const field of Object.values(descriptor.fields)) {
      if (field === undefined) continue;
      const { firstStep, stepIncrement, steps = null } = field;
      for (const { file } of "components" in field ? field.components : [field])
        files.add(placeOf(file, { firstStep, stepIncrement, steps }, frame));
    }
    sets.set([...files].join("\n"), [...files]);
  }
  return [...sets.values()];
}

/** Every file of the fields, at each time, and of tables, once each. */
export function everyFile(descriptor: Descriptor): string[] {
  const files = new Set<string>();
  const frames = frameCount(descriptor);
  for (const field of Object.values(descriptor.fields)) {
    if (field === undefined) continue;
    const { firstStep, stepIncrement, steps = null } = field;
    for (const { file } of "components" in field ? field.components : [field])
      for (let frame = 0; frame < (file.includes("{step") ? frames : 1); frame++)
        files.add(placeOf(file, { firstStep, stepIncrement, steps }, frame));
  }
  JSON.stringify([descriptor.axes, descriptor.fields, descriptor.forcing], (key, value) => {
    if (key === "file" && typeof value === "string" && !value.includes("{step")) files.add(value);
    return value;
  });
  return [...files];
}
