/** Names what the servers know of a dataset, which they learn from the engine and not from the storage. */
export {
  AXIS_NAMES,
  type Axis,
  type AxisName,
  claimText,
  componentsOf,
  type Dataset,
  type FieldName,
  fieldNames,
  fieldOf,
  KNOWN_FIELDS,
  type KnownField,
  OPEN_FACES,
  type OpenFaces,
  type TimeAxis,
  type Walls,
} from "../../storage/file/dataset.js";
