/** Lists the databases behind JHTDB cutouts: grid, spacing, period and time step of each. */

import { AXIS_NAMES, type AxisName } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { axisOf, NO_CLUES, timesOf } from "./grid.js";
import { type Contents, type Findings, tableAxis } from "./layout.js";

interface Database {
  readonly name: string;
  /** Nodes of the whole grid along x, y, z. */
  readonly nodes: readonly [number, number, number];
  /** Spacing along x, y, z; null where the axis is tabulated (and bounded by walls). */
  readonly spacing: readonly [number, number | null, number];
  /** Time between consecutive indices. */
  readonly step: number;
  readonly dnsStep: number;
  readonly frameVelocity?: [number, number, number];
}

const CUBE = { nodes: [1024, 1024, 1024], spacing: [Math.PI / 512, Math.PI / 512, Math.PI / 512] } as const;

/** Source: the database's own documentation of its sets. */
const DATABASES: readonly Database[] = [
  { name: "isotropic1024coarse", ...CUBE, step: 0.002, dnsStep: 0.0002 },
  { name: "isotropic1024fine", ...CUBE, step: 0.0002, dnsStep: 0.0002 },
  { name: "mhd1024", ...CUBE, step: 0.0025, dnsStep: 0.00025 },
  { name: "mixing", ...CUBE, step: 0.04, dnsStep: 0.04 },
  {
    name: "channel",
    nodes: [2048, 512, 1536],
    spacing: [(8 * Math.PI) / 2048, null, (3 * Math.PI) / 1536],
    step: 0.0065,
    dnsStep: 0.0013,
    frameVelocity: [0.45, 0, 0],
  },
];

/** The meaning of `_dataset` before 2019. */
const NUMBERS = new Map([
  [3, "mhd1024"],
  [4, "isotropic1024coarse"],
  [5, "isotropic1024fine"],
  [6, "channel"],
  [7, "mixing"],
  [8, "mixing"],
]);

/** The database of that name in any letter case, or null. */
export function databaseNamed(name: string): Database | null {
  return DATABASES.find((database) => database.name === name.trim().toLowerCase()) ?? null;
}

/** The database behind a number of `_dataset`, or null. */
export function databaseNumbered(number: number): Database | null {
  return databaseNamed(NUMBERS.get(number) ?? "");
}

/** The place of a cutout on one axis: nodes of the cutout, 0-based first node of the database, its stride. */
export interface CutoutExtent {
  readonly nodes: number;
  readonly first: number;
  readonly stride: number;
}

/**
 * Axes of a cutout. Origin and spacing are those of the database in float64, held against the stored coordinates to
 * 1e-3 of a spacing; an axis is periodic only where the cutout covers the whole period.
 */
export function cutoutAxes(
  contents: Contents,
  database: Database | null,
  extents: Readonly<Record<AxisName, CutoutExtent>>,
  findings: Findings,
): DescriptorInput["axes"] {
  const axes = AXIS_NAMES.map((name, index) => {
    const { nodes, first, stride } = extents[name];
    const table = contents.dataset(`/${name}coor`) === null ? null : `/${name}coor`;
    const spacing = database?.spacing[index] ?? null;
    if (database === null) return [name, tabulated(contents, name, nodes, table, null, findings)];
    if (spacing === null) {
      // The axis between the walls of the channel: a cutout that reaches its first or last node has the wall there.
      const last = first + (nodes - 1) * stride === database.nodes[index] - 1;
      return [name, tabulated(contents, name, nodes, table, [first === 0, last], findings)];
    }
    const origin = first * spacing;
    const step = stride * spacing;
    if (table !== null && !agrees(contents.numbers(table), origin, step)) {
      findings.addWarning(`${name}: ${table} disagrees with the node numbers of the cutout and is believed.`);
      return [name, tableAxis(contents, table)];
    }
    const whole = nodes * stride === database.nodes[index];
    findings.addReason(
      `${name}: origin ${origin} and spacing ${step} from ${database.name} and the first node (${first + 1}); ` +
        `${whole ? "periodic, the cutout covers the period" : "not periodic and open, the cutout is smaller than the period"}.`,
    );
    return [name, { nodes, origin, spacing: step, periodic: whole, ...(whole ? {} : { faces: "open" as const }) }];
  });
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}

function agrees(table: Float64Array, origin: number, spacing: number): boolean {
  return table.every((value, index) => Math.abs(value - origin - index * spacing) <= 1e-3 * spacing);
}

/** An axis that no database describes: its table, else what the user says. */
function tabulated(
  contents: Contents,
  name: AxisName,
  nodes: number,
  table: string | null,
  walls: [boolean, boolean] | null,
  findings: Findings,
) {
  const [shared, own] = [`/${name}coor_uv`, `/${name}coor_w`];
  const path = table ?? (contents.dataset(shared) === null ? null : shared);
  const value = path === null ? null : { value: { file: contents.name, path }, where: path };
  if (path === shared && contents.dataset(own) !== null)
    findings.ask(
      "spacing",
      `w stands on the nodes of ${own}, the other components on those of ${shared}; ${shared} for all is a guess.`,
      `axes.${name} in a descriptor, of w interpolated to ${shared}`,
    );
  const known =
    walls === null
      ? {}
      : {
          periodic: { value: false, where: "the database" },
          walls: { value: walls, where: "the nodes of the database, which has walls at its first and last" },
        };
  return axisOf(name, nodes, { ...NO_CLUES, coordinates: value, ...known }, contents.answers, findings);
}

/** Times from the step of the database; else from `/time`, which cutouts of this project have. */
function timeOf(indices: readonly number[], database: Database | null, contents: Contents, findings: Findings) {
  const { answers } = contents;
  const [first, second] = indices as [number, number | undefined];
  if (database === null || answers.times !== undefined) {
    const stated =
      contents.dataset("/time") === null ? null : { value: [...contents.numbers("/time")], where: "/time" };
    return timesOf(indices.length, stated, null, answers, findings);
  }
  const { step, name } = database;
  findings.addReason(`time: index times ${step}, the step of ${name}.`);
  return second === undefined
    ? { count: 1 as const, origin: first * step }
    : { origin: first * step, step: (second - first) * step, count: indices.length };
}

/** Time of the frames, `index` counted from 0, and what of the database holds for any of its cutouts. */
export function cutoutTimes(
  indices: readonly number[],
  database: Database | null,
  contents: Contents,
  findings: Findings,
) {
  const time = timeOf(indices, database, contents, findings);
  const known =
    database === null
      ? {}
      : {
          dnsStep: database.dnsStep,
          ...(database.frameVelocity === undefined ? {} : { frameVelocity: database.frameVelocity }),
          source: `Cutout of ${database.name}, Johns Hopkins Turbulence Databases.`,
        };
  return { time, ...known };
}
