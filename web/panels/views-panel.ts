/** The views panel keeps views by name in the browser, and writes notes on the picture. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortText } from "../../src/float32/format.js";
import { MOST_PLACES } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";

/** A view that is kept in this browser. */
interface KeptView {
  readonly name: string;
  readonly query: string;
}

const KEPT = "fieldprobe-views";
const MOST_KEPT = 100;

/** The views that this browser keeps; none if it keeps nothing. */
function keptViews(): readonly KeptView[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(list)
      ? list.filter(({ name, query }) => typeof name === "string" && typeof query === "string")
      : [];
  } catch {
    return [];
  }
}

/** Shows the view of a query string, as the back button does. */
export function goTo(query: string): void {
  history.pushState(null, "", `?${query}`);
  dispatchEvent(new PopStateEvent("popstate"));
}

export class ViewsPanel {
  readonly #store: ViewStore;
  readonly #render: () => void;
  #problem = "";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
  }

  view(): TemplateResult {
    const views = keptViews();
    const { notes, probe } = this.#store.state;
    return html`
      <section class="panel views" aria-labelledby="views-title">
        <h2 id="views-title">Views and notes</h2>
        <form class="row" @submit=${(event: Event) => this.#keep(event)}>
          <label for="view-name">Name of this view<input id="view-name" name="name" required autocomplete="off" maxlength="80" /></label>
          <button type="submit" id="keep-view">Save the view</button>
        </form>
        ${this.#problem === "" ? nothing : html`<p class="error" role="alert">${this.#problem}</p>`}
        <ul class="list" id="kept-views">
          ${views.map(
            ({ name, query }) => html`<li>
              <button type="button" class="link" @click=${() => goTo(query)}>${name}</button>
              <button type="button" aria-label="Forget the view ${name}" @click=${() => this.#forget(name)}>×</button>
            </li>`,
          )}
        </ul>
        ${views.length === 0 ? html`<p class="note">Saved views stay in this browser; their names are in their links too.</p>` : nothing}
        <h3>Notes on the picture</h3>
        <form class="row" @submit=${(event: Event) => this.#note(event)}>
          <label for="note-text">Note at the probe (${probe.map(shortText).join(", ")})<input id="note-text" name="text" required autocomplete="off" maxlength="120" /></label>
          <button type="submit" id="add-note" ?disabled=${notes.length >= MOST_PLACES}>Add</button>
        </form>
        <ul class="list" id="notes">
          ${notes.map(
            ({ at, text }, index) => html`<li>
              <button type="button" class="link" @click=${() => this.#store.set({ probe: at })}>${text}</button>
              <button type="button" aria-label="Remove the note ${text}" @click=${() => this.#store.set({ notes: notes.filter((_, i) => i !== index) })}>×</button>
            </li>`,
          )}
        </ul>
      </section>
    `;
  }

  /** The text of a field of a form, which is emptied. */
  #take(event: Event, name: string): string {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const text = String(new FormData(form).get(name) ?? "").trim();
    form.reset();
    return text;
  }

  #note(event: Event): void {
    const text = this.#take(event, "text");
    const { notes, probe } = this.#store.state;
    if (text !== "") this.#store.set({ notes: [...notes, { at: probe, text }] });
  }

  #keep(event: Event): void {
    const name = this.#take(event, "name");
    if (name === "") return;
    this.#store.set({ named: name });
    this.#write([{ name, query: this.#store.query }, ...keptViews().filter((view) => view.name !== name)]);
  }

  #forget(name: string): void {
    this.#write(keptViews().filter((view) => view.name !== name));
  }

  #write(views: readonly KeptView[]): void {
    try {
      localStorage.setItem(KEPT, JSON.stringify(views.slice(0, MOST_KEPT)));
      this.#problem = "";
    } catch {
      this.#problem = "This browser keeps nothing; copy the link instead.";
    }
    this.#render();
  }
}
