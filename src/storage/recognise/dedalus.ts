/**
 * Tasks of Dedalus 3: dimensions by their labels and scales, components in the order of the coordinates.
 * Source: DedalusProject/dedalus, dedalus/core/evaluator.py: setup_file and create_task_dataset of H5FileHandlerBase, and
 * setup_process_file of H5VirtualFileHandler.
 */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES } from "../dataset/dataset.js";
import { partsIn } from "../dataset/descriptor.js";
import { labelsOf } from "./evidence.js";
import { findFields } from "./fields.js";
import { describeFields } from "./generic.js";
import { Findings, type Layout } from "./layout.js";
import { isMarked } from "./producer.js";

const MARKS = ["/tasks", "/scales/sim_time", "/scales/iteration", "/scales/write_number", "/scales/constant"];
/** Numbers that its handlers write at tasks, those that parts of a rank have included. */
const ATTRIBUTES = [
  ...["constant", "grid_space", "scales"],
  ...["ext_mesh", "ext_coords", "global_shape", "local_start", "local_shape"],
];

const FORMAT = { attributes: ATTRIBUTES, componentsFollowAxes: true } as const;

export const DEDALUS: Layout = {
  producer: "Dedalus 3",
  recognise(contents) {
    if (!isMarked(contents, MARKS)) return null;
    const findings = new Findings();
    const fields = findFields(contents, findings);
    if (fields === null || fields.steps !== null) return null;
    const described = describeFields(contents, fields, findings, FORMAT);
    for (const { path } of Object.values(described.plan.fields).flatMap((field) => partsIn(field))) {
      const { roles } = labelsOf(contents, path);
      if (!AXIS_NAMES.every((axis) => roles.includes(axis))) return null;
      const space = contents.attribute(path, "grid_space");
      if (space instanceof Float64Array && space.includes(0))
        throw new DataError(`${path} holds coefficients (grid_space ${[...space].join(" ")}), not values at nodes`);
    }
    return described;
  },
};
