/**
 * CF: fields by their standard names, on coordinates that name their axes. netCDF-4 and the Zarr stores of xarray.
 * Source: CF conventions 1.11, appendix A (attributes), sections 4 and 5 (coordinates); CF standard name table 86.
 */
import { groupBy } from "../../shared/group-by.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { parentOf } from "./evidence.js";
import { answeredOthers, datasetGroupsIn, type FoundFields, fieldDatasets, withNamed } from "./fields.js";
import { describeFields } from "./generic.js";
import { type Contents, Findings, type Layout } from "./layout.js";
import { axisStatedAt } from "./stated-names.js";

/** Numbers at fields, coordinates and times beside those by which values are packed. */
const ATTRIBUTES = ["actual_range"];
/** Components along x, y and z. Those towards the east and the north are along the axes of no projection. */
const VELOCITIES: readonly (readonly string[])[] = [
  ["x_wind", "y_wind", "upward_air_velocity"],
  ["sea_water_x_velocity", "sea_water_y_velocity", "upward_sea_water_velocity"],
  ["eastward_wind", "northward_wind", "upward_air_velocity"],
  ["eastward_sea_water_velocity", "northward_sea_water_velocity", "upward_sea_water_velocity"],
];
const PRESSURES = ["air_pressure", "sea_water_pressure"];

export const CF: Layout = {
  producer: "CF",
  recognise(contents) {
    const { velocity: said, pressure } = contents.answers;
    if (!/\bCF-1/.test(contents.words("/", "Conventions")) || said !== undefined || pressure !== undefined) return null;
    const fields = fieldsIn(contents);
    if (fields === null) return null;
    const findings = new Findings();
    const names = fields.velocity.map((path) => `${path} (${contents.attribute(path, "standard_name")})`);
    findings.addReason(`velocity: ${names.join(", ")}; pressure: ${fields.pressure ?? "none"}.`);
    contents.use("/", "Conventions");
    const described = describeFields(contents, fields, findings, { attributes: ATTRIBUTES });
    const { axes } = described.plan;
    return AXIS_NAMES.every((axis) => isNamed(contents, axes[axis], axis)) ? described : null;
  },
};

function fieldsIn(contents: Contents): FoundFields | null {
  const pathsByName = groupBy(fieldDatasets(contents), (path) => contents.words(path, "standard_name"));
  const only = (name: string) => {
    const paths = pathsByName.get(name) ?? [];
    return paths.length === 1 ? paths : [];
  };
  const isProjected = (path: string) => contents.attributes(path).has("grid_mapping");
  const velocity = VELOCITIES.map((names) => names.flatMap(only)).find(({ length }) => length === 3);
  const [first] = velocity ?? [];
  if (velocity === undefined || first === undefined) return null;
  if (/eastward/.test(contents.words(first, "standard_name")) && velocity.some(isProjected)) return null;
  const [pressure = null] = PRESSURES.flatMap(only);
  const [holder] = datasetGroupsIn(contents, parentOf(first));
  return withNamed(contents, holder, { velocity, pressure, others: answeredOthers(contents) });
}

function isNamed(contents: Contents, axis: object, name: AxisName): boolean {
  const { coordinates } = axis as { coordinates?: { path?: string } };
  const path = coordinates?.path;
  if (path === undefined || axisStatedAt(contents, path) !== name) return false;
  for (const attribute of ["axis", "standard_name", "positive"]) contents.use(path, attribute);
  return true;
}
