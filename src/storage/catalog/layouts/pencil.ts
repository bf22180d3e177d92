/**
 * Recognises the Pencil Code: `data/ux, uy, uz` in z y x with ghost layers, `grid` with coordinates and lengths, a
 * scalar `time`.
 */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES, type AxisName } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { facesOf, timesOf } from "./grid.js";
import { type Contents, Findings, type Layout } from "./layout.js";

const COMPONENTS = ["ux", "uy", "uz"];

export const pencil: Layout = {
  producer: "Pencil Code",
  recognise(contents) {
    const names = contents.datasets("/data");
    const grid = contents.datasets("/grid");
    if (!COMPONENTS.every((name) => names.includes(name))) return null;
    if (!AXIS_NAMES.every((axis) => grid.includes(axis) && grid.includes(`L${axis}`))) return null;
    const findings = new Findings();
    findings.addReason("dimensions: z y x, the order of the code.");
    const found = AXIS_NAMES.map((axis) => ghostedAxis(contents, axis, findings));
    const ghost = found.map(({ ghost }) => ghost).reverse() as [number, number, number];
    const time = contents.dataset("/time") === null ? null : [contents.numbers("/time")[0]];
    const stated = time === null ? null : { value: time, where: "the scalar /time; one file holds one time" };
    const storage = { dimensions: ["z", "y", "x"] as ("z" | "y" | "x")[], ghost };
    const place = (name: string) => ({ file: contents.name, path: `/data/${name}` });
    const vectorOf = (field: "magnetic" | "potential", parts: readonly [string, string, string]) =>
      parts.every((part) => names.includes(part)) ? { [field]: { components: parts.map(place), ...storage } } : {};
    return {
      plan: {
        title: contents.name,
        axes: Object.fromEntries(found.map(({ axis }, index) => [AXIS_NAMES[index], axis])) as DescriptorInput["axes"],
        time: timesOf(1, stated, null, contents.answers, findings),
        fields: {
          velocity: { components: [place("ux"), place("uy"), place("uz")], ...storage },
          ...(names.includes("pp") ? { pressure: { ...place("pp"), ...storage } } : {}),
          ...(names.includes("rho") ? { density: { ...place("rho"), ...storage } } : {}),
          ...(names.includes("TT") ? { temperature: { ...place("TT"), ...storage } } : {}),
          ...vectorOf("potential", ["ax", "ay", "az"]),
          ...vectorOf("magnetic", ["bx", "by", "bz"]),
        },
      },
      findings,
    };
  },
};

/**
 * Ghost layers from the length: n nodes span n spacings where the axis is periodic and n - 1 where it is not, so what
 * the table has beyond the length is even in the first case and odd in the second.
 */
function ghostedAxis(contents: Contents, name: AxisName, findings: Findings) {
  const table = contents.numbers(`/grid/${name}`);
  const length = contents.numbers(`/grid/L${name}`)[0];
  const middle = Math.floor(table.length / 2);
  const local = table[middle] - table[middle - 1];
  const even = table.every((value, i) => Math.abs(value - table[0] - i * local) <= 1e-3 * local);
  const settings = contents.dataset("/settings/nghost");
  const intervals = Math.round(length / local);
  const surplus = table.length - intervals;
  const ghost = settings === null ? Math.floor(surplus / 2) : contents.numbers("/settings/nghost")[0];
  if (!even && settings === null)
    throw new DataError(`/grid/${name} is stretched and nothing says how many of its nodes are ghost layers`);
  const nodes = table.length - 2 * ghost;
  if (nodes < 1 || ghost < 0) throw new DataError(`/grid/${name} has ${table.length} nodes but length ${length}`);
  const periodic = even && nodes === intervals;
  findings.addReason(
    `${name}: ${ghost} ghost layers on either side, from ${settings === null ? `/grid/L${name}` : "/settings/nghost"}; ` +
      `${periodic ? "periodic, its nodes span the length" : "not periodic, its nodes do not span the length"}.`,
  );
  const coordinates = table.subarray(ghost, ghost + nodes);
  const axis = periodic
    ? { nodes, origin: coordinates[0], spacing: length / nodes, periodic }
    : { coordinates: [...coordinates], ...facesOf(name, null, contents.answers, findings) };
  return { axis, ghost };
}
