/** Small datasets that a picture may mistake: axes without symmetry, walls, a plane, holes, pressure alone, others. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { descriptor, type Index, writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";

type Field = "velocity" | "pressure" | "magnetic" | "potential" | "density" | "temperature" | NamedField;
/** Fields under names of their own; the second has that of a quantity of the page. */
type NamedField = "heatflux" | "sgsenergy" | "soiltemperature";
type Lengths = Partial<Record<"x" | "y" | "z" | "t", number>>;

const STATED: Readonly<Partial<Record<Field, object>>> = {
  soiltemperature: { unit: "K", long_name: "Temperature of the ground" },
};

/** A field that bends differently along every axis. */
function bend({ t, z, y, x, c }: Index): number {
  return Math.sin(0.5 * x + 0.3 * c) + 0.2 * y - 0.05 * z * z + 0.1 * t * (c + 1);
}

/** Writes one dataset into a folder of its own. */
async function write(
  name: string,
  members: Record<string, unknown>,
  lengths: Lengths,
  value: (index: Index) => number,
  fields: readonly Field[] = ["velocity", "pressure"],
): Promise<string> {
  const folder = join(scratchFolder(), name);
  mkdirSync(folder, { recursive: true });
  const vector = ["t", "z", "y", "x", "c"] as const;
  const scalar = ["t", "z", "y", "x"] as const;
  const dimensions = {
    ...{ velocity: vector, magnetic: vector, potential: vector },
    ...{ pressure: scalar, density: scalar, temperature: scalar },
    ...{ heatflux: vector, sgsenergy: scalar, soiltemperature: scalar },
  };
  await writeHdf5(join(folder, "field.h5"), (file) => {
    for (const field of fields) writeField(file, `/${field}`, { dimensions: dimensions[field], value, lengths });
  });
  const entries = fields.map((field) => [
    field,
    { file: "field.h5", path: `/${field}`, dimensions: dimensions[field], ...STATED[field] },
  ]);
  writeDescriptor(folder, descriptor(name, { fields: Object.fromEntries(entries), ...members }));
  return folder;
}

const SI = { length: "m", time: "s", velocity: "m/s", pressure: "Pa" };
const WALL = { length: "h", time: "h/U_b", velocity: "U_b", pressure: "U_b^2" };
/** Nodes of the channel across its walls, denser near them. */
const ACROSS = Array.from({ length: 17 }, (_, j) => -Math.cos((Math.PI * j) / 16));
const periodic = (nodes: number, spacing: number) => ({ nodes, origin: 0, spacing, periodic: true });

/** The nodes without values of the dataset `perforated`: a corner of every frame. */
export const isHole = ({ x, y }: Pick<Index, "x" | "y">): boolean => x >= 8 && y < 3;

/** Origins and spacings of axes of equal fields. */
export const PLACED = { near: [0, 1], remote: [5_800_000, 0.5], tiny: [0, 1e-7] } as const;

export function writeDatasets(): Promise<string[]> {
  return Promise.all([
    write("lopsided", { units: SI }, {}, bend),
    write(
      "walled",
      {
        axes: { x: periodic(48, (8 * Math.PI) / 48), y: { coordinates: ACROSS }, z: periodic(12, Math.PI / 4) },
        units: WALL,
      },
      { x: 48, y: 17, z: 12 },
      ({ t, z, y, x, c }) => {
        const wall = 1 - (ACROSS[y] as number) ** 2;
        return c === 0
          ? 1.5 * wall + 0.2 * wall * Math.sin((Math.PI * x) / 6 + z + t)
          : 0.3 * wall * Math.cos((Math.PI * (x + 2 * z)) / 6 + c);
      },
    ),
    write(
      "walls",
      {
        axes: { x: periodic(12, 0.5), y: { coordinates: ACROSS, faces: "wall" }, z: periodic(12, 0.5) },
        viscosity: 0.01,
        units: WALL,
      },
      { x: 12, y: 17, z: 12 },
      ({ y, c }) => (c === 0 ? 1.5 * (1 - (ACROSS[y] as number) ** 2) : 0),
    ),
    write(
      "planar",
      { axes: { x: periodic(24, 0.5), y: periodic(16, 0.5), z: { nodes: 1, origin: 0, spacing: 0.5 } }, units: SI },
      { x: 24, y: 16, z: 1 },
      ({ t, y, x, c }) => Math.sin((2 * Math.PI * x) / 24 + c) * Math.cos((2 * Math.PI * y) / 16 + 0.3 * t),
    ),
    write(
      "finer",
      { axes: { x: periodic(24, 0.5), y: { nodes: 13, origin: 1, spacing: 0.25 }, z: periodic(11, 1) }, units: SI },
      { x: 24, y: 13, z: 11 },
      ({ y, ...at }) => bend({ ...at, y: 1.3 * y }),
    ),
    ...Object.entries(PLACED).map(([name, [origin, spacing]]) => {
      const axis = (nodes: number) => ({ nodes, origin, spacing });
      return write(name, { axes: { x: axis(12), y: axis(10), z: axis(11) } }, {}, bend, ["pressure"]);
    }),
    write("perforated", { units: SI }, {}, (index) => (isHole(index) ? Number.NaN : bend(index))),
    write("pressed", { units: SI }, {}, bend, ["pressure"]),
    write("layer", {}, {}, bend, ["velocity", "heatflux", "sgsenergy", "soiltemperature"]),
    write("ground", {}, {}, bend, ["soiltemperature"]),
    write("magnetised", {}, {}, bend, ["velocity", "magnetic", "potential", "density", "temperature"]),
  ]);
}
