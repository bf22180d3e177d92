/** Files of the Pencil Code; ghost layers follow from lengths or settings. */
import { DataError } from "../../shared/errors.js";
import type { AxisName } from "../dataset/dataset.js";
import { type Contents, checkStated, type Findings } from "./layout.js";
import type { ProducerAxis, ProducerRow } from "./producer.js";

export const PENCIL: ProducerRow = {
  producer: "Pencil Code",
  marks: [..."xyz"].flatMap((axis) => [`/data/u${axis}`, `/grid/${axis}`, `/grid/L${axis}`]),
  check: requireUnsheared,
  reasons: () => ["dimensions: z y x, the order of the code."],
  order: "z y x",
  fields: [
    ["velocity", "/data/ux /data/uy /data/uz"],
    ["pressure", "/data/pp"],
    ["density", "/data/rho"],
    ["temperature", "/data/TT"],
    ["potential", "/data/ax /data/ay /data/az"],
    ["magnetic", "/data/bx /data/by /data/bz"],
  ],
  coordinates: (axis) => `/grid/${axis}`,
  axis: (contents, axis, _, findings) => ghostedAxis(contents, axis, findings),
  times: (contents) =>
    contents.dataset("/time") === null
      ? null
      : { value: [contents.numbers("/time")[0]], where: "the scalar /time; one file holds one time" },
};

/** Source: SHEAR_DELTA_Y of shear.f90, which snapshots keep as a persistent variable. @throws DataError for a shear */
function requireUnsheared(contents: Contents): void {
  const path = "/persist/shear_delta_y";
  if (contents.dataset(path) === null) return;
  const [shift] = contents.numbers(path);
  const turns = shift / contents.numbers("/grid/Ly")[0];
  if (!(Math.abs(turns - Math.round(turns)) <= 1e-6))
    throw new DataError(`${path} is ${shift}: x is periodic after a shift along y, which is not served`);
}

/**
 * An axis without its ghost layers. n nodes span n spacings on a periodic axis and n - 1 on another, so the surplus of
 * nodes over spacings is even or odd.
 */
function ghostedAxis(contents: Contents, name: AxisName, findings: Findings): ProducerAxis {
  const stored = contents.numbers(`/grid/${name}`);
  const length = contents.numbers(`/grid/L${name}`)[0];
  const middle = Math.floor(stored.length / 2);
  const middleSpacing = stored[middle] - stored[middle - 1];
  const isUniform = stored.every((value, i) => Math.abs(value - stored[0] - i * middleSpacing) <= 1e-3 * middleSpacing);
  const settings = contents.dataset("/settings/nghost");
  const intervals = Math.round(length / middleSpacing);
  const surplus = stored.length - intervals;
  const ghost = settings === null ? Math.floor(surplus / 2) : contents.numbers("/settings/nghost")[0];
  if (!isUniform && settings === null)
    throw new DataError(`/grid/${name} is stretched and nothing says how many of its nodes are ghost layers`);
  const nodes = stored.length - 2 * ghost;
  if (nodes < 1 || ghost < 0) throw new DataError(`/grid/${name} has ${stored.length} nodes but length ${length}`);
  const isPeriodic = isUniform && nodes === intervals;
  findings.addReason(
    `${name}: ${ghost} ghost layers on either side, from ${settings === null ? `/grid/L${name}` : "/settings/nghost"}.`,
  );
  const coordinates = stored.subarray(ghost, ghost + nodes);
  const stated = (path: string) => [path, contents.dataset(path) === null ? null : contents.numbers(path)[0]] as const;
  checkStated(findings, name, stated(`/settings/n${name}`), ["number of nodes", nodes, 0]);
  checkStated(findings, name, stated(`/settings/m${name}`), ["number of nodes with ghost layers", stored.length, 0]);
  checkStated(findings, name, stated(`/grid/O${name}`), ["first node", coordinates[0], 0.51 * middleSpacing]);
  if (isUniform)
    checkStated(findings, name, stated(`/grid/d${name}`), ["spacing", middleSpacing, 1e-3 * middleSpacing]);
  const [where, known] = [`/grid/${name}`, { value: isPeriodic, where: `the nodes in /grid/L${name}` }];
  return isPeriodic
    ? { spacing: { ...known, value: length / nodes }, origin: { value: coordinates[0], where }, periodic: known, ghost }
    : { coordinates: { value: [...coordinates], where }, periodic: known, ghost };
}
