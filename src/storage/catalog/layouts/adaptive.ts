/** Recognises files of adaptive-mesh codes, whose blocks of several levels are not one grid, and says what to do. */
import { DataError } from "../../../errors.js";
import type { Contents, Layout } from "./layout.js";

const ADVICE =
  "its values lie in blocks, often of several levels, which are not one grid; resample them (in yt: ds.covering_grid or " +
  "ds.arbitrary_grid) and write u, v, w and x, y, z with h5py";

function adaptive(producer: string, isOne: (contents: Contents) => boolean): Layout {
  return {
    producer,
    recognise(contents) {
      if (isOne(contents)) throw new DataError(ADVICE);
      return null;
    },
  };
}

const hasAll = (names: readonly string[], wanted: readonly string[]) => wanted.every((name) => names.includes(name));

export const ADAPTIVE: readonly Layout[] = [
  adaptive("Athena++", (contents) => hasAll([...contents.attributes("/").keys()], ["NumMeshBlocks", "MaxLevel"])),
  adaptive("FLASH", (contents) => hasAll(contents.datasets("/"), ["block size", "node type", "refine level"])),
  adaptive("Enzo", (contents) => (contents.group("/") ?? []).some((name) => /^Grid\d{8}$/.test(name))),
  adaptive(
    "AMReX or Chombo",
    (contents) =>
      contents.group("/Chombo_global") !== null ||
      (contents.attributes("/").has("num_levels") && contents.group("/level_0") !== null),
  ),
];
