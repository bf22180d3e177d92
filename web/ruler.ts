/** The ruler: a distance in a plane in length units, in nodes and in scales of the flow. */
import { effect } from "@preact/signals-core";
import { html, nothing, svg, type TemplateResult } from "lit-html";
import { profile } from "./cards/profile.js";
import { pixelsAt } from "./draw/layout.js";
import { paneOf, stroke, tool } from "./stage-state.js";
import { keyOf, wantedAnswer } from "./state/answers.js";
import type { Question } from "./state/ask.js";
import { type Dataset, frameOf, hasVelocity, nodeOf, wallAxis } from "./state/dataset.js";
import { plainNumber, shortNumber } from "./state/format.js";
import { PLANE_AXES, pixel } from "./state/picture-plan.js";
import { store } from "./state/shown.js";
import { selectionOf, view } from "./state/view.js";
import { setWants } from "./state/wants.js";

export interface Scaled {
  readonly scales?: Readonly<Record<string, number>>;
  readonly wall_units?: { readonly u_tau: number; readonly nu: number };
}

const shown = () => (stroke.value?.tool === "ruler" ? stroke.value : null);

export function scalesQuestion(set: Dataset, shown: number | null): Question | null {
  const time = set.times[frameOf(shown, set)];
  if (!hasVelocity(set) || set.viscosity === null) return null;
  if (set.axes.every(({ periodic, nodes }) => periodic && nodes > 1))
    return { dataset: set.name, call: "spectrum", time };
  return wallAxis(set) === null ? null : profile.question(set, "u.x", time);
}

effect(() => {
  const of = shown() === null ? null : selectionOf(view.value, shown()?.second);
  const question = of === null ? null : scalesQuestion(of.dataset, of.time);
  const isWanted = of !== null && question !== null;
  setWants("ruler", isWanted ? [wantedAnswer<Scaled>(of.dataset, "Scales of the ruler", question, 14)] : []);
});

export function lengthsOf(
  set: Dataset,
  from: readonly number[],
  to: readonly number[],
  scaled: Scaled | null,
): string[] {
  const parts = to.map((one, a) => one - from[a]);
  const length = Math.hypot(...parts);
  const nodes = Math.hypot(
    ...parts.map((part, a) => {
      const axis = set.axes[a];
      // Along stretched axes nodes are counted between the ends, since their spacings differ.
      return axis.coordinates === undefined ? part / axis.spacing : nodeOf(axis, to[a]) - nodeOf(axis, from[a]);
    }),
  );
  const texts = [`${shortNumber(length)}`, `${plainNumber(nodes, 3)} Δ`];
  const { kolmogorov, taylor } = scaled?.scales ?? {};
  if (kolmogorov !== undefined) texts.push(`${plainNumber(length / kolmogorov, 3)} η`);
  if (taylor !== undefined) texts.push(`${plainNumber(length / taylor, 3)} λ`);
  const wall = scaled?.wall_units;
  if (wall !== undefined) texts.push(`${plainNumber((length * wall.u_tau) / wall.nu, 3)} in wall units`);
  return texts;
}

export function rulerView(): TemplateResult | typeof nothing {
  const line = shown();
  const of = selectionOf(view.value, line?.second);
  const { centre } = view.value;
  const pane = line === null ? undefined : paneOf(line);
  if (of === null || line === null || centre === null || pane === undefined) return nothing;
  const { dataset: set, time } = of;
  const question = scalesQuestion(set, time);
  const scaled = question === null ? null : store.entry<Scaled>(keyOf(set, question)).answer;
  const { across, up } = pixelsAt(pane, centre, pixel.value);
  const [h, v] = PLANE_AXES[pane.plane];
  const [[x1, y1], [x2, y2]] = line.places.slice(0, 2).map((place) => [across(place[h]), up(place[v])]);
  const text = lengthsOf(set, line.places[0], line.places[1], scaled).join(" · ");
  const { rect } = pane;
  return html`<svg class="ruler" role="img" aria-label=${`Ruler: ${text}`}>
    ${svg`<line x1=${x1} y1=${y1} x2=${x2} y2=${y2} class="halo" /><line x1=${x1} y1=${y1} x2=${x2} y2=${y2} />
    <circle cx=${x1} cy=${y1} r="4" /><circle cx=${x2} cy=${y2} r="4" />
    <text x=${Math.min(rect.x + rect.width - 12, Math.max(rect.x + 12, (x1 + x2) / 2))} y=${Math.max(rect.y + 24, Math.min(y1, y2) - 12)} text-anchor="middle">${text}</text>`}
  </svg>`;
}

export function toggleRuler(): void {
  tool.value = tool.peek() === "ruler" ? "cross" : "ruler";
  if (stroke.peek()?.tool === "ruler") stroke.value = null;
}
