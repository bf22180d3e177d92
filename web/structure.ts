/** The structure under a click in the 3D pane: the connected set inside the surface, shown alone, with its measures. */
import { effect } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";
import { setting } from "./controls.js";
import { type Scaled, scalesQuestion } from "./ruler.js";
import { isolated, picked } from "./stage-state.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question } from "./state/ask.js";
import { type Dataset, frameOf, isMoving, nodeOf, type Vec3, volumeOfCells } from "./state/dataset.js";
import { plainNumber, shortNumber } from "./state/format.js";
import { operand } from "./state/link.js";
import { quantityOf } from "./state/quantities.js";
import { enclosesLowValues, valueText } from "./state/ranges.js";
import { shows3d, store } from "./state/shown.js";
import { dataset, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

interface Structure {
  readonly nodes: number;
  readonly volume: number;
  readonly box: readonly [Vec3, Vec3];
  readonly wraps: readonly boolean[];
  readonly properties: Readonly<Record<string, { readonly min: number; readonly max: number }>>;
}
interface Answer {
  readonly structures: readonly Structure[];
  readonly labels: readonly (readonly (readonly number[])[])[];
}

const MAX_NODES = 2 ** 21;

/** The question with the structure that was clicked; null without a click, of large frames, and if the nodes move. */
function questionOf(set: Dataset): Question | null {
  const { surface, time } = view.value;
  const nodes = set.axes.reduce((product, axis) => product * axis.nodes, 1);
  if (picked.value === null || surface.value === null || !shows3d(view.value)) return null;
  if (nodes > MAX_NODES || isMoving(set)) return null;
  const where = `${operand(surface.what)} ${enclosesLowValues(surface.what) ? "<" : ">"} ${surface.value}`;
  const at = set.times[frameOf(time, set)];
  return { dataset: set.name, call: "structures", what: [surface.what], where, time: at, labels: true };
}

/** The label at the node nearest to a position, or of a neighbour where that node is outside; 0 if there is none. */
function labelAt(set: Dataset, labels: Answer["labels"], place: Vec3): number {
  const [i, j, k] = set.axes.map((axis, a) => Math.round(nodeOf(axis, place[a])));
  const turned = (a: number, at: number) => {
    const { nodes, periodic } = set.axes[a];
    return periodic ? (at + nodes) % nodes : Math.min(nodes - 1, Math.max(0, at));
  };
  let [best, near] = [0, Number.POSITIVE_INFINITY];
  for (let c = -1; c <= 1; c++)
    for (let b = -1; b <= 1; b++)
      for (let a = -1; a <= 1; a++) {
        const label = labels[turned(2, k + c)]?.[turned(1, j + b)]?.[turned(0, i + a)] ?? 0;
        const far = a * a + b * b + c * c;
        if (label > 0 && far < near) [best, near] = [label, far];
      }
  return best;
}

effect(() => {
  const set = dataset.value;
  const question = set === null ? null : questionOf(set);
  const scales = set === null || question === null ? null : scalesQuestion(set, view.value.time);
  setWants("structure", [
    ...(set === null || question === null ? [] : [wantedAnswer<Answer>(set, "Structures", question, 9)]),
    ...(set === null || scales === null ? [] : [wantedAnswer(set, "Scales", scales, 14)]),
  ]);
});

function found(set: Dataset): { structure: Structure; label: number; answer: Answer } | null {
  const question = questionOf(set);
  if (question === null || picked.value === null) return null;
  const { answer } = store.entry<Answer>(keyOf(set, question));
  if (answer === null) return null;
  const label = labelAt(set, answer.labels, picked.value);
  const structure = answer.structures[label - 1];
  return structure === undefined ? null : { structure, label, answer };
}

effect(() => {
  const set = dataset.value;
  const one = set === null ? null : found(set);
  const key = set === null || one === null ? null : `${keyOf(set, questionOf(set) as Question)} ${one.label}`;
  if ((isolated.peek()?.key ?? null) === key) return;
  if (one === null || key === null) isolated.value = null;
  else {
    const { label, answer } = one;
    const name = `structure ${label} of ${answer.structures.length}`;
    isolated.value = { key, name, label, labels: Int32Array.from(answer.labels.flat(2)) };
  }
});

export function structurePart(set: Dataset): TemplateResult | typeof nothing {
  const question = questionOf(set);
  if (question === null) return nothing;
  const entry = store.entry<Answer>(keyOf(set, question));
  const one = found(set);
  const close = html`<button @click=${setting(picked, null)}>Show all</button>`;
  if (one === null)
    return html`<section><h2>Structure</h2><p class=${entry.error === null ? "quiet" : "error"} role="status">${entry.error?.message ?? (entry.isPending ? "Loading" : "None here")}</p><div class="chips">${close}</div></section>`;
  const { structure, label, answer } = one;
  const { what } = view.value.surface;
  const [values] = Object.values(structure.properties);
  const peak = enclosesLowValues(what) ? values?.min : values?.max;
  const sizes = structure.box[1].map((high, a) => high - structure.box[0][a]);
  const scales = scalesQuestion(set, view.value.time);
  const eta = scales === null ? undefined : store.entry<Scaled>(keyOf(set, scales)).answer?.scales?.kolmogorov;
  const longest = Math.max(...sizes);
  return html`<section><h2>Structure ${label} of ${answer.structures.length}, by volume</h2><div class="rows">
      <span class="quiet">Volume</span><span>${shortNumber(structure.volume)}, ${plainNumber((100 * structure.volume) / volumeOfCells(set), 2)} % of the box</span>
      <span class="quiet">Peak of ${quantityOf(what).symbol}</span><span>${valueText({ dataset: set, what, time: view.value.time ?? 0, method: "" }, peak ?? Number.NaN)}</span>
      <span class="quiet">Extent</span><span>${sizes.map((one2) => plainNumber(one2, 3)).join(" × ")}</span>
      ${eta === undefined ? nothing : html`<span class="quiet">Longest side</span><span>${plainNumber(longest / eta, 3)} η</span>`}
      ${structure.wraps.some(Boolean) ? html`<span class="quiet">Passes the seam</span><span>${structure.wraps.flatMap((is, a) => (is ? ["xyz"[a]] : [])).join(", ")}</span>` : nothing}
    </div><div class="chips">${close}</div></section>`;
}
