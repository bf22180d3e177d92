/** Codes with adaptive meshes, whose files are refused with advice. */
import { DataError } from "../../shared/errors.js";
import type { Layout } from "./layout.js";
import { isMarked, type ProducerRow } from "./producer.js";

const ADVICE =
  "its values lie in blocks, often of several levels, which are not one grid; resample them (in yt: ds.covering_grid or " +
  "ds.arbitrary_grid) and write u, v, w and x, y, z with h5py";

const ADAPTIVE_MARKS: readonly (readonly [producer: string, marks: ProducerRow["marks"]])[] = [
  ["Athena++", ["@NumMeshBlocks", "@MaxLevel"]],
  ["FLASH", ["/block size", "/node type", "/refine level"]],
  ["Enzo", [/^Grid\d{8}$/]],
  ["AMReX or Chombo", ["/Chombo_global"]],
  ["AMReX or Chombo", ["@num_levels", "/level_0"]],
];

export const ADAPTIVE: readonly Layout[] = ADAPTIVE_MARKS.map(([producer, marks]) => ({
  producer,
  recognise: (contents) => {
    if (isMarked(contents, marks)) throw new DataError(ADVICE);
    return null;
  },
}));
