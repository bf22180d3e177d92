/** Data as files: the plane shown, a box of stored nodes, a whole frame. */
import { html, type TemplateResult } from "lit-html";
import { choice, into, textField } from "../controls.js";
import { addressOf, type Question, rootOf } from "../state/ask.js";
import { AXIS_NAMES, type AxisName, type Dataset, frameOf, nodeOf } from "../state/dataset.js";
import { nodesNote } from "../state/shown.js";
import { cross, dataset, view } from "../state/view.js";

const NODE_FORMS = { CSV: "csv", NumPy: "npy", NetCDF: "nc", HDF5: "h5", Zarr: "zarr", XDMF: "xmf" };
const { XDMF: _, ...ofPlanes } = NODE_FORMS;
const PLANE_FORMS = { ...ofPlanes, JSON: "json" };

const what = choice<string | null>(null);
/** Typed nodes of the box by axis; by default half of the axis about the crosshair. */
const typed = choice<Readonly<Partial<Record<AxisName, string>>>>({});
const INDICES = { x: "i", y: "j", z: "k" } as const;

/** The default of nodes: half of an axis about a position, as `first:end`; all of a short axis. */
function usualNodes(axis: Dataset["axes"][0], place: number): string {
  const half = Math.floor(axis.nodes / 4);
  if (half < 4) return `0:${axis.nodes}`;
  const middle = Math.round(nodeOf(axis, place));
  const first = axis.periodic
    ? (middle - half + axis.nodes) % axis.nodes
    : Math.min(axis.nodes - 2 * half, Math.max(0, middle - half));
  return `${first}:${first + 2 * half}`;
}

const nodesText = (set: Dataset, a: number) =>
  typed.value[AXIS_NAMES[a]] ?? usualNodes(set.axes[a], (view.value.cross ?? cross.value)[a]);

export function boxQuestion(set: Dataset): Question {
  const box = AXIS_NAMES.map((name, a) => [INDICES[name], nodesText(set, a)] as const);
  // Not the number of the time, which is another one's once the dataset has more times.
  const time = set.times[frameOf(view.value.time, set)];
  const members = { dataset: set.name, call: "nodes", what: what.value ?? view.value.what ?? "", time };
  return { ...members, ...Object.fromEntries(box) };
}

function countIn(text: string): number | null {
  const found = /^(\d+)(?::(\d+)(?::(\d+))?)?$/.exec(text.trim());
  if (found === null) return null;
  const [, first, end, stride = "1"] = found;
  return end === undefined ? 1 : Math.ceil((Number(end) - Number(first)) / Number(stride));
}

function links(forms: Readonly<Record<string, string>>, question: Question): TemplateResult {
  return html`<div class="chips">${Object.entries(forms).map(
    ([name, format]) => html`<a href=${rootOf() + addressOf({ ...question, format })} download>${name}</a>`,
  )}</div>`;
}

/** @param planes questions of the planes shown, with what tells A from B */
export function dataPart(planes: readonly (readonly [string, Question])[]): TemplateResult {
  const set = dataset.value as Dataset;
  const box = boxQuestion(set);
  const all: Question = { dataset: set.name, call: "nodes", what: box.what, time: box.time };
  const counts = AXIS_NAMES.map((_, a) => countIn(nodesText(set, a)));
  const note = nodesNote({ dataset: set, time: view.value.time ?? 0 });
  const total = counts.every((n) => n !== null && n > 0)
    ? `${counts.join(" × ")} nodes`
    : "A node, or first:end:stride";
  return html`${planes.map(([name, plane]) => html`<section><h3>Plane shown${name}</h3>${links(PLANE_FORMS, plane)}</section>`)}
    <section><h3>Box of ${note || "stored nodes"}</h3><div class="rows">
      <span>Quantities</span>${textField("Quantities of the box", String(box.what), into(what))}
      ${AXIS_NAMES.map(
        (name, a) =>
          html`<span>${name}, first:end of ${set.axes[a].nodes}</span>${textField(
            `Nodes along ${name}`,
            nodesText(set, a),
            (text) => into(typed)({ ...typed.peek(), [name]: text ?? undefined }),
          )}`,
      )}</div>
      <p class="quiet">${total}</p>${links(NODE_FORMS, box)}</section>
    <section><h3>All ${note || "nodes at this time"}</h3>${links(NODE_FORMS, all)}</section>`;
}
