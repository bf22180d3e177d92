/** The panel Point: values of quantities at the crosshair, and of the quantity shown by each method. */
import { html, nothing, type TemplateResult } from "lit-html";
import { pointCard } from "./cards.js";
import { numberField } from "./controls.js";
import { copy } from "./notify.js";
import { toggleRuler } from "./ruler.js";
import { goTo } from "./stage-input.js";
import { tool } from "./stage-state.js";
import { askJson, type Question, type Rows, type Wanted } from "./state/ask.js";
import { type Dataset, hasVelocity, placeText, type Vec3 } from "./state/dataset.js";
import { exactNumber, shortNumber } from "./state/format.js";
import { hasDerivatives, quantityOf } from "./state/quantities.js";
import { valueText } from "./state/ranges.js";
import { store, type Value, valueIn, valueQuestion } from "./state/shown.js";
import { change, cross, rested, view } from "./state/view.js";
import { setWants } from "./state/wants.js";
import { structurePart } from "./structure.js";

type Answer = Value & { readonly problem?: { readonly detail: string } };

function questionsOf(set: Dataset, at: Vec3): Question[] {
  const { what, time, method } = rested.value;
  const fields = set.fields.map(({ name }) => name);
  const derived = hasDerivatives(set) ? ["norm(omega)", "Q", "R", "2*ddot(S,S)"] : [];
  const pressure = fields.includes("pressure") ? ["p"] : [];
  const several = hasVelocity(set) ? ["u", "norm(u)", ...derived, ...pressure] : fields;
  const methods = ["nearest", "Lag4", "Lag6", "Lag8", "M2Q8"].filter((one) => set.methods.includes(one));
  const shown = { dataset: set, what: what ?? "", time: time ?? 0, method };
  return [
    { ...valueQuestion({ ...shown, what: "" }, at), what: several },
    ...methods.map((one) => valueQuestion({ ...shown, method: one }, at)),
  ];
}

function wantedRows(set: Dataset, questions: readonly Question[]): Wanted<readonly Answer[]> {
  return {
    key: JSON.stringify(["point", set.digest, questions]),
    priority: 18,
    load: (signal) => askJson<readonly Answer[]>(questions, signal),
    shared: questions.map((question, i) => ({
      title: i === 0 ? "Values at the crosshair" : `By ${String(question.method)}`,
      question,
    })),
  };
}

export function wantPoint(set: Dataset | null): void {
  setWants("point", set === null ? [] : [wantedRows(set, questionsOf(set, rested.value.cross ?? cross.value))]);
}

const isRefused = ({ problem, rows }: Answer): boolean => problem !== undefined || (rows?.[0]?.length ?? 0) > 4;

export function pointPanel(set: Dataset): TemplateResult {
  const at = cross.value;
  // Values of the previous position are grey until the values at the crosshair have arrived.
  const old = rested.value === view.value ? "" : "stale";
  const questions = questionsOf(set, rested.value.cross ?? at);
  const entry = store.entry<readonly Answer[]>(wantedRows(set, questions).key);
  const [several, ...methods] = entry.answer ?? [];
  const table = several?.rows === undefined ? null : (several as Rows);
  const { what: asked, time, method } = rested.value;
  const shown = { dataset: set, what: asked ?? "", time: time ?? 0, method };
  const { what } = shown;
  const values = methods.map((one) => (isRefused(one) ? Number.NaN : valueIn(one)));
  const known = values.filter((value, i) => Number.isFinite(value) && questions[i + 1].method !== "nearest");
  const spread = known.length > 1 ? (Math.max(...known) - Math.min(...known)) / 2 : Number.NaN;
  return html`<section><h2>Crosshair</h2><div class="rows">${set.axes.map(
    (axis, a) =>
      html`<span>${axis.name}</span>${numberField(`Crosshair ${axis.name}`, at[a], (next) => goTo(set, cross.peek().with(a, next)))}`,
  )}</div></section>
  <section><h2>Values by ${rested.value.method}</h2>
    ${entry.error === null ? nothing : html`<p class="error">${entry.error.message}</p>`}
    <table class=${old}>${
      table === null
        ? html`<tr><td>${entry.error === null ? "Loading" : ""}</td></tr>`
        : table.columns
            .slice(3)
            .map(
              ({ name, unit }, i) =>
                html`<tr><td>${quantityOf(name).symbol}</td><td title=${String(table.rows[0][i + 3])}>${valueText({ ...shown, what: name }, table.rows[0][i + 3] ?? Number.NaN)} ${unit ?? ""}</td></tr>`,
            )
    }</table></section>
  <section><h2>${quantityOf(what).symbol} by method</h2><table class=${old}>${values.map(
    (value, i) =>
      html`<tr><td>${questions[i + 1].method}</td><td>${isRefused(methods[i]) ? "refused" : valueText(shown, value)}</td></tr>`,
  )}</table>
    ${[...new Set([several, ...methods].flatMap((one) => one?.problem?.detail ?? []))].map((text) => html`<p class="error">${text}</p>`)}
    ${Number.isFinite(spread) ? html`<p class="quiet">± ${shortNumber(spread, 2)}: half of the range of the methods except nearest</p>` : nothing}</section>
  ${structurePart(set)}
  ${pointCard(set)}
  <div class="chips">
    <button aria-pressed=${tool.value === "ruler" ? "true" : "false"} aria-keyshortcuts="m" @click=${toggleRuler}>Ruler</button>
    <button @click=${() => void copy(at.map(exactNumber).join(", "), "Place")}>Copy place</button>
    <button @click=${() => table !== null && void copy(table.columns.map(({ name }, i) => `${name} = ${table.rows[0][i]}`).join("\n"), "Values")}>Copy values</button>
    <button @click=${() => change({ pins: [...view.peek().pins, at] })}>Pin</button>
    ${view.value.pins.map((pin, i) => html`<button @click=${() => goTo(set, pin)} aria-label=${`Go to pin ${i + 1}`}>${i + 1}: ${pin.map((one, a) => placeText(set.axes[a], one)).join(", ")}</button>`)}
  </div>`;
}
