/** Writes a box of a dataset as a JHTDB cutout of 2019: an HDF5 file, and an `.xmf` for ParaView. */
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { version } from "../../shared/build.js";
import { DataError } from "../../shared/errors.js";
import { openDataset, type StoredBricks } from "../bricks/brick-reader.js";
import type { NodeBox } from "../bricks/stored-box.js";
import type { Axes, Dataset, FieldName } from "../dataset/dataset.js";
import { AXIS_NAMES, axesOfField, claimText, nodeAt } from "../dataset/dataset.js";
import { Hdf5Writer } from "../hdf5/writer.js";
import { namesIn, type Selection } from "./selection.js";

/** Most bytes of a field of one frame, which is written in one contiguous range as by the public service. */
const MAX_BYTES = 1024 * 1024 * 1024;
const labelOf = (name: string, frame: number) => `${name}_${String(frame + 1).padStart(4, "0")}`;

/** The name by which NetCDF knows a dimension without coordinates. */
const NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.";
const widthOf = (dataset: Dataset, field: FieldName) => dataset.fields[field]?.components as number;
/** The dimension of the components, named as in cutouts of the public service by xarray. */
const componentScale = (components: number) => (components === 3 ? "values" : `values${components}`);

export async function writeCutout(dataset: Dataset, selection: Selection, path: string): Promise<void> {
  const { fields, frames, box } = selection;
  const [first, names] = [shiftedFirst(selection), namesIn(selection)];
  await Hdf5Writer.write(path, async (writer) => {
    writeAttributes(writer, dataset, selection);
    const axes = axesOfField(dataset, fields[0] ?? "");
    for (const [index, axis] of AXIS_NAMES.entries()) {
      const at = (_: unknown, i: number) => nodeAt(axes[index], (first[index] as number) + i);
      const values = Float64Array.from({ length: box.count[index] }, at);
      writer.whole(`/${axis}coor`, "float64", [values.length], values);
      writer.scale(`${axis}coor`);
      writer.describe(`${axis}coor`, { units: dataset.units.length });
    }
    const times = Float64Array.from(frames, (frame) => timeOf(dataset, frame));
    writer.whole("/time", "float64", [frames.length], times);
    writer.scale("time");
    writer.describe("time", { units: dataset.units.time });
    for (const components of new Set(fields.map((field) => widthOf(dataset, field)))) {
      writer.whole(componentScale(components), "float32", [components], new Float32Array(components));
      writer.scale(componentScale(components), `${NO_VARIABLE}${String(components).padStart(10)}`);
    }
    const source = openDataset(dataset);
    try {
      for (const frame of frames)
        for (const [f, field] of fields.entries()) {
          writeField(writer, dataset, source, field, labelOf(names[f], frame), frame, box);
          await setImmediate();
        }
    } finally {
      source.close();
    }
  });
  writeFileSync(`${path.replace(/\.[^./]*$/, "")}.xmf`, describeXdmf(dataset, selection, basename(path)));
}

/** First nodes of a cutout along each axis, where a moving frame lies ahead. */
function shiftedFirst({ box, ahead = [0, 0, 0] }: Selection): number[] {
  return box.first.map((node, a) => node + (ahead[a] as number));
}

function writeAttributes(writer: Hdf5Writer, dataset: Dataset, selection: Selection): void {
  const { frames, box } = selection;
  writer.attribute("dataset", dataset.name);
  const step = frames.length === 1 ? 1 : frames[1] - frames[0];
  writer.attribute("t_start", frames[0] + 1);
  writer.attribute("t_end", (frames.at(-1) as number) + 1);
  if (frames.every((frame, i) => frame === frames[0] + i * step)) writer.attribute("t_step", step);
  for (const [index, axis] of AXIS_NAMES.entries()) {
    const [first, count] = [shiftedFirst(selection)[index] as number, box.count[index]];
    writer.attribute(`${axis}_start`, first + 1);
    writer.attribute(`${axis}_end`, first + count);
    writer.attribute(`${axis}_step`, 1);
  }
  writer.attribute("filterWidth", 1);
  writer.attribute("fieldprobe_version", version);
  writer.attribute("fieldprobe_manifest", dataset.digest);
  if (dataset.assumed.length > 0) writer.attribute("fieldprobe_assumed", dataset.assumed.map(claimText).join("; "));
}

function writeField(
  writer: Hdf5Writer,
  dataset: Dataset,
  source: StoredBricks,
  field: FieldName,
  label: string,
  frame: number,
  box: NodeBox,
): void {
  const components = widthOf(dataset, field);
  const shape = [...box.count.toReversed(), components];
  const values = shape.reduce((product, length) => product * length, 1);
  if (4 * values > MAX_BYTES)
    throw new DataError(`a cutout of ${4 * values} bytes a field is above ${MAX_BYTES}; cut less`);
  const nodes = new Float32Array(values);
  readOverSeams(axesOfField(dataset, field), source, field, frame + dataset.time.guardBefore, box, components, nodes);
  writer.whole(label, "float32", shape, nodes);
  for (const [d, scale] of ["zcoor", "ycoor", "xcoor", componentScale(components)].entries())
    writer.attach(label, d, scale);
  writer.describe(label, { units: dataset.units[field] });
}

function readOverSeams(
  axes: Axes,
  source: StoredBricks,
  field: FieldName,
  frame: number,
  { first, count }: NodeBox,
  components: number,
  out: Float32Array,
): void {
  const [xs, ys, zs] = axes.map(({ nodes }, a) => {
    const before = Math.min(count[a] as number, nodes - (first[a] as number));
    const runs = [{ first: first[a] as number, count: before, at: 0 }];
    return before === count[a] ? runs : [...runs, { first: 0, count: (count[a] as number) - before, at: before }];
  });
  if (xs.length * ys.length * zs.length === 1) {
    source.readNodes(field, frame, { first, count }, out);
    return;
  }
  for (const z of zs)
    for (const y of ys)
      for (const x of xs) {
        const part = new Float32Array(components * x.count * y.count * z.count);
        const box = { first: [x.first, y.first, z.first], count: [x.count, y.count, z.count] } as const;
        source.readNodes(field, frame, box, part);
        const run = components * x.count;
        for (let row = 0; row * run < part.length; row++) {
          const to = ((z.at + Math.floor(row / y.count)) * count[1] + y.at + (row % y.count)) * count[0] + x.at;
          out.set(part.subarray(row * run, (row + 1) * run), components * to);
        }
      }
}

function timeOf({ time }: Dataset, frame: number): number {
  const stored = frame + time.guardBefore;
  return time.values?.[stored] ?? time.origin + stored * time.step;
}

/** XDMF 2: a temporal collection of rectilinear grids, with relative file names. */
function describeXdmf(dataset: Dataset, selection: Selection, file: string): string {
  const [{ fields, frames, box }, names] = [selection, namesIn(selection)];
  const escaped = file.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  const size = box.count.toReversed().join(" ");
  const item = (path: string, dimensions: string, bytes: number) =>
    `<DataItem Format="HDF" NumberType="Float" Precision="${bytes}" Dimensions="${dimensions}">${escaped}:${path}</DataItem>`;
  const grids = frames.map((frame) => {
    const attributes = fields.map((field, f) => {
      const components = widthOf(dataset, field);
      const type = components === 3 ? "Vector" : "Scalar";
      return `        <Attribute Name="${names[f]}" AttributeType="${type}" Center="Node">${item(`/${labelOf(names[f] as string, frame)}`, `${size} ${components}`, 4)}</Attribute>`;
    });
    return [
      `      <Grid Name="frame ${frame + 1}" GridType="Uniform">`,
      `        <Time Value="${timeOf(dataset, frame)}"/>`,
      `        <Topology TopologyType="3DRectMesh" Dimensions="${size}"/>`,
      `        <Geometry GeometryType="VXVYVZ">`,
      ...AXIS_NAMES.map((axis, at) => `          ${item(`/${axis}coor`, String(box.count[at]), 8)}`),
      "        </Geometry>",
      ...attributes,
      "      </Grid>",
    ].join("\n");
  });
  const head = `<?xml version="1.0"?>\n<Xdmf Version="2.0">\n  <Domain>\n`;
  const open = `    <Grid Name="${dataset.name}" GridType="Collection" CollectionType="Temporal">\n`;
  return `${head}${open}${grids.join("\n")}\n    </Grid>\n  </Domain>\n</Xdmf>\n`;
}
