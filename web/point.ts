/** The panel Point: values of quantities at the crosshair, and of the quantity shown by each method. */
import { html, nothing, type TemplateResult } from "lit-html";
import { pointCard } from "./cards.js";
import { copy } from "./notify.js";
import { toggleRuler } from "./ruler.js";
import { tool } from "./stage-state.js";
import { askJson, type Question, type Rows, type Wanted } from "./state/ask.js";
import { type Dataset, hasVelocity, type Vec3, wrapped } from "./state/dataset.js";
import { exactNumber, shortNumber } from "./state/format.js";
import { change, cross, rested, setWants, store, view } from "./state/model.js";
import { hasDerivatives, quantityOf } from "./state/quantities.js";
import { structurePart } from "./structure.js";

type Answer = Rows | { readonly problem: { readonly detail: string } };

/** The questions of the panel at a position: its quantities, and the one shown by each method. */
function questionsOf(set: Dataset, at: Vec3): Question[] {
  const { what, time, method } = rested.value;
  const points = [at.map((one) => Number(one.toPrecision(9)))];
  const common = { dataset: set.name, call: "values", points, time };
  const several = hasVelocity(set)
    ? [
        "u",
        "norm(u)",
        ...(hasDerivatives(set) ? ["norm(omega)", "Q", "R", "2*ddot(S,S)"] : []),
        ...(set.fields.some(({ name }) => name === "pressure") ? ["p"] : []),
      ]
    : set.fields.map(({ name }) => name);
  const methods = ["nearest", "Lag4", "Lag6", "Lag8", "M2Q8"].filter((one) => set.methods.includes(one));
  return [{ ...common, what: several, method }, ...methods.map((one) => ({ ...common, what: [what], method: one }))];
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

/** Sets the questions of the panel as wanted, while it is shown. */
export function wantPoint(set: Dataset | null): void {
  setWants("point", set === null ? [] : [wantedRows(set, questionsOf(set, rested.value.cross ?? cross.value))]);
}

const rowsOf = (answer: Answer | undefined): Rows | null =>
  answer === undefined || "problem" in answer ? null : answer;

export function pointPanel(set: Dataset): TemplateResult {
  const at = cross.value;
  // Values of the previous position are grey until the values at the crosshair have arrived.
  const old = rested.value === view.value ? "" : "stale";
  const questions = questionsOf(set, rested.value.cross ?? at);
  const entry = store.entry<readonly Answer[]>(wantedRows(set, questions).key);
  const [several, ...methods] = entry.answer ?? [];
  const table = rowsOf(several);
  const what = rested.value.what ?? "";
  const values = methods.map((one) => rowsOf(one)?.rows[0]?.[3] ?? Number.NaN);
  const known = values.filter((value, i) => Number.isFinite(value) && questions[i + 1].method !== "nearest");
  const spread = known.length > 1 ? (Math.max(...known) - Math.min(...known)) / 2 : Number.NaN;
  return html`<section><h2>Crosshair</h2><div class="rows">${set.axes.map(
    (
      axis,
      a,
    ) => html`<span>${axis.name}</span><input class="number" inputmode="decimal" aria-label=${`Crosshair ${axis.name}`} .value=${exactNumber(Number(at[a].toPrecision(6)))}
      @change=${(event: Event) => {
        const next = Number((event.target as HTMLInputElement).value.replace("−", "-"));
        if (!Number.isFinite(next)) return;
        const place = [...cross.peek()];
        place[a] = wrapped(axis, next);
        change({ cross: place as unknown as Vec3 });
      }} />`,
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
                html`<tr><td>${quantityOf(name).symbol}</td><td title=${String(table.rows[0][i + 3])}>${shortNumber(table.rows[0][i + 3] ?? Number.NaN)} ${unit ?? ""}</td></tr>`,
            )
    }</table></section>
  <section><h2>${quantityOf(what).symbol} by method</h2><table class=${old}>${values.map(
    (value, i) => html`<tr><td>${questions[i + 1].method}</td><td>${shortNumber(value)}</td></tr>`,
  )}</table>
    ${Number.isFinite(spread) ? html`<p class="quiet">± ${shortNumber(spread, 2)}: half of the range of the methods except nearest</p>` : nothing}</section>
  ${structurePart(set)}
  ${pointCard(set)}
  <div class="chips">
    <button aria-pressed=${tool.value === "ruler" ? "true" : "false"} aria-keyshortcuts="m" @click=${toggleRuler}>Ruler</button>
    <button @click=${() => void copy(at.map(exactNumber).join(", "), "Place")}>Copy place</button>
    <button @click=${() => table !== null && void copy(table.columns.map(({ name }, i) => `${name} = ${table.rows[0][i]}`).join("\n"), "Values")}>Copy values</button>
    <button @click=${() => change({ pins: [...view.peek().pins, at] })}>Pin</button>
    ${view.value.pins.map((pin, i) => html`<button @click=${() => change({ cross: pin })} aria-label=${`Go to pin ${i + 1}`}>${i + 1}: ${pin.map((one) => shortNumber(one, 3)).join(", ")}</button>`)}
  </div>`;
}
