/**
 * What is shown as numbers: values at the crosshair as the service answers them, or under the pointer as the page draws
 * them, and a table of samples for screen readers.
 */
import { html, nothing, type TemplateResult } from "lit-html";
import { type Pane, PLANE_NAMES } from "./draw/layout.js";
import { hover } from "./stage-input.js";
import { drawnLayer, previewNote, samplesOf } from "./stage-layers.js";
import { panes } from "./stage-state.js";
import { type Dataset, nearestImage, placeText, timeText, type Vec3, wrapped } from "./state/dataset.js";
import { shortNumber } from "./state/format.js";
import { PLANE_AXES } from "./state/picture-plan.js";
import { quantityOf } from "./state/quantities.js";
import { valueText } from "./state/ranges.js";
import { labelOf, nodesNote, previewOf, refusalOf, servedValue, sidesOf } from "./state/shown.js";
import { cross, dataset, isDifference, rested, type Selection, selectionOf, view } from "./state/view.js";
import { pictureAt, sampleAt } from "./state/volumes.js";

function places({ axes }: Dataset, place: Vec3): string {
  return place.map((one, a) => `${"xyz"[a]} ${placeText(axes[a], one, shortNumber)}`).join("  ");
}

function seenAt(pane: Pane | undefined, second: boolean, place: Vec3): readonly [text: string, of: string] {
  const now = view.value;
  const shown = selectionOf(now, second);
  const volume = shown === null || refusalOf(now, second) !== null ? null : previewOf(shown);
  if (shown === null || volume === null) return ["…", ""];
  const write = (value: number) => `≈ ${isDifference(now) ? shortNumber(value, 3) : valueText(shown, value, 3)}`;
  const drawn = pane?.kind === "plane" ? drawnLayer(pane, now, second) : null;
  if (typeof drawn === "string" || (drawn === null && isDifference(now))) return ["…", ""];
  const picture = drawn?.picture;
  if (pane?.kind === "plane" && picture != null) {
    const [x, y] = PLANE_AXES[pane.plane].map((a) =>
      nearestImage(shown.dataset.axes[a], place[a], now.centre?.[a] ?? place[a]),
    );
    return [write(pictureAt(picture, x, y)), previewNote(pane, now) || "picture"];
  }
  const of = [nodesNote(shown), samplesOf(volume).replace(/^ +· +/, "")].filter((one) => one !== "");
  const samples = isDifference(now) && drawn !== null ? drawn.volume : volume;
  return [write(sampleAt(samples, shown.dataset, place)), of.join(", ") || volume.of];
}

export function readout(): TemplateResult | typeof nothing {
  const set = dataset.value;
  const shown = selectionOf(view.value);
  if (set === null || shown === null) return nothing;
  const over = hover.value;
  const isCompared = view.value.show === "compare";
  const labels = isCompared ? sidesOf(view.value) : shown.method;
  const isOfBoth = isDifference(view.value);
  const under = over === null ? null : selectionOf(view.value, over.second);
  if (over !== null && under !== null) {
    const { dataset: own, what } = under;
    const place = over.place.map((one, a) => wrapped(own.axes[a], one)) as unknown as Vec3;
    const [text, note] = seenAt(over.pane, over.second, place);
    return html`<div class="readout"><b>${isOfBoth ? "A − B" : `${over.second ? "B  " : ""}${quantityOf(what).symbol}`} <span>${text}</span></b><small>${places(own, place)} · ${note}${isCompared ? ` · ${isOfBoth ? labels : labelOf(view.value, over.second)}` : ""}</small></div>`;
  }
  const { symbol } = quantityOf(shown.what);
  const at = cross.value;
  const served = servedValue();
  const [preview, of] = seenAt(isOfBoth ? undefined : panes.value[0], false, at);
  const value =
    served?.answer != null
      ? html`<span data-served>${valueText(shown, served.answer)}</span>`
      : html`<span class="stale">${served?.error ? "refused" : preview}</span>`;
  const note = served?.answer == null && !served?.error && of !== "" ? ` · ${of}` : "";
  const valueB = servedValue(true)?.answer ?? null;
  const refusedB = refusalOf(view.value, true) !== null ? "refused" : "…";
  const textB = valueB === null ? refusedB : valueText(selectionOf(view.value, true) as Selection, valueB);
  const b = isCompared ? html` <span class="stale">B</span> <span data-second>${textB}</span>` : nothing;
  const [pane] = panes.value;
  const hasOne = isOfBoth && pane.kind === "plane" && typeof drawnLayer(pane, view.value, false) !== "string";
  const difference =
    hasOne && served?.answer != null && valueB !== null
      ? html` <span class="stale">A − B</span> <span data-difference>${shortNumber(served.answer - valueB)}</span>`
      : nothing;
  return html`<div class="readout"><b>${symbol} ${value}${b}${difference}</b><small>${places(set, at)} · ${labels}${note}</small></div>`;
}

function someOf(count: number): number[] {
  const most = Math.min(16, count);
  return Array.from({ length: most }, (_, i) => Math.floor(((i + 0.5) * count) / most));
}

export function sampleTable(): TemplateResult | typeof nothing {
  const now = rested.value;
  const shown = selectionOf(now);
  const pane = panes.value.find((one) => one.kind === "plane");
  const drawn = pane === undefined || refusalOf(now) !== null ? null : drawnLayer(pane, now, false);
  if (shown === null || pane === undefined || typeof drawn === "string" || drawn?.picture == null) return nothing;
  const [{ plane }, at] = [pane, cross.value];
  const { box, tiles, data, columns, rows } = drawn.picture;
  const { axes } = shown.dataset;
  const [h, v] = PLANE_AXES[plane];
  const name = (side: 0 | 1, i: number) => {
    const place = box[side] + ((tiles[side] ? i : i + 0.5) * box[side + 2]) / [columns, rows][side];
    const axis = axes[side === 0 ? h : v];
    return placeText(axis, wrapped(axis, place));
  };
  const normal = "xyz".indexOf(plane);
  const where = `${PLANE_NAMES[plane]} plane, ${plane} = ${placeText(axes[normal], at[normal])}`;
  const isOfBoth = isDifference(now);
  const what = now.show !== "compare" ? quantityOf(shown.what).symbol : isOfBoth ? "A − B" : "A";
  const how = now.show === "compare" ? sidesOf(now) : `t = ${timeText(shown.dataset, shown.time)}, ${shown.method}`;
  const write = (value: number) => (isOfBoth ? shortNumber(value) : valueText(shown, value));
  return html`<table class="unseen"><caption>${what} in the ${where}, ${how}</caption>
    <tr><th>${"xyz"[v]} \\ ${"xyz"[h]}</th>${someOf(columns).map((i) => html`<th scope="col">${name(0, i)}</th>`)}</tr>
    ${someOf(rows).map((j) => html`<tr><th scope="row">${name(1, j)}</th>${someOf(columns).map((i) => html`<td>${write(data[j * columns + i])}</td>`)}</tr>`)}
  </table>`;
}
