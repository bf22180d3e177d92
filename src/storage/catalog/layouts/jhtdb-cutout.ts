/**
 * Recognises JHTDB cutouts from 2019 on: `Velocity_0001` and `Pressure_0001` in the root, z y x c, indices counted from
 * 1.
 */

import { AXIS_NAMES, type AxisName, FIELD_NAMES, type FieldName } from "../../file/dataset.js";
import { type CutoutExtent, cutoutAxes, cutoutTimes, databaseNamed } from "./jhtdb-databases.js";
import { type Contents, evenLabels, Findings, type Layout, type Recognition } from "./layout.js";

/** Fields by the names of cutouts, in lower case and without blanks. */
const NAMES: ReadonlyMap<string, FieldName> = new Map([
  ["velocity", "velocity"],
  ["pressure", "pressure"],
  ["magneticfield", "magnetic"],
  ["magnetic", "magnetic"],
  ["vectorpotential", "potential"],
  ["potential", "potential"],
  ["density", "density"],
  ["temperature", "temperature"],
] as const);
const NAME = /^([a-z ]+)_(\d{4})$/i;
const DIMENSIONS = ["z", "y", "x", "c"] as const;

interface Series {
  readonly name: string;
  readonly labels: number[];
}

/** Datasets of the root by field. */
function findSeries(contents: Contents): Map<FieldName, Series> {
  const found = new Map<FieldName, Series>();
  for (const name of contents.datasets("/").sort()) {
    const match = NAME.exec(name);
    if (match === null) continue;
    const field = NAMES.get(match[1].toLowerCase().replaceAll(" ", ""));
    if (field === undefined) continue;
    const series = found.get(field) ?? { name: match[1], labels: [] };
    series.labels.push(Number(match[2]));
    found.set(field, series);
  }
  return found;
}

/** Both recent forms of a cutout: they differ in what names the dimensions. */
function recogniseCutout(contents: Contents, scaled: boolean): Recognition | null {
  const series = findSeries(contents);
  const [first] = FIELD_NAMES.flatMap((field) => series.get(field) ?? []);
  if (first === undefined) return null;
  const path = `/${first.name}_${String(first.labels[0]).padStart(4, "0")}`;
  if ((contents.scaleNames(path)[0] === "zcoor") !== scaled) return null;
  const shape = contents.dataset(path)?.shape ?? [];
  if (shape.length !== 4) return null;
  const title = contents.texts("/", "dataset")?.[0] ?? "";
  const database = databaseNamed(title);
  const findings = new Findings();
  findings.addReason(
    scaled
      ? "dimensions: z y x c, named by the dimension scales zcoor, ycoor, xcoor, values."
      : "dimensions: z y x c, the order of every cutout of this service.",
  );
  findings.addReason(
    database === null
      ? `database: the attribute dataset is ${title === "" ? "missing" : `"${title}", which is not a known set`}.`
      : `database: the attribute dataset says ${database.name}.`,
  );
  const extents = Object.fromEntries(
    AXIS_NAMES.map((axis, index) => [axis, extentOf(contents, axis, shape[2 - index])]),
  ) as Record<AxisName, CutoutExtent>;
  const width = contents.number("/", "filterWidth") ?? 1;
  if (width > 1) findings.addWarning(`The values are box-filtered: filterWidth is ${width}.`);
  const fields = [...series].filter(([field, { labels }]) => {
    const same = labels.join() === first.labels.join();
    if (!same) findings.addWarning(`${field} is left out: it has indices ${labels.join(", ")}.`);
    return same;
  });
  const labels = evenLabels(first.labels, first.name);
  return {
    plan: {
      title: title === "" ? contents.name : `Cutout of ${title}`,
      axes: cutoutAxes(contents, database, extents, findings),
      ...cutoutTimes(
        first.labels.map((label) => label - 1),
        database,
        contents,
        findings,
      ),
      fields: Object.fromEntries(
        fields.map(([field, { name }]) => [
          field,
          { file: contents.name, path: `/${name}_{step:04d}`, dimensions: [...DIMENSIONS], ...labels },
        ]),
      ),
    },
    findings,
  };
}

/** Node numbers of an axis: the attributes count from 1. */
function extentOf(contents: Contents, axis: AxisName, nodes: number): CutoutExtent {
  return {
    nodes,
    first: (contents.number("/", `${axis}_start`) ?? 1) - 1,
    stride: contents.number("/", `${axis}_step`) ?? 1,
  };
}

export const jhtdbCutout: Layout = {
  producer: "JHTDB cutout (2019 on)",
  recognise: (contents) => recogniseCutout(contents, false),
};

export const jhtdbXarray: Layout = {
  producer: "JHTDB cutout (written by xarray)",
  recognise: (contents) => recogniseCutout(contents, true),
};
