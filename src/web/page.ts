/** The page: head, controls, slice, probe, curves, particles, calls and facts, kept in step with the state. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { CurveFigure } from "./figures/curve-figure.js";
import { ParticlesFigure } from "./figures/particles-figure.js";
import { SliceFigure } from "./figures/slice-figure.js";
import { shortText } from "./float-text.js";
import { choose, controls } from "./panels/controls.js";
import { copyText } from "./panels/copy-text.js";
import { factsPanel } from "./panels/facts-panel.js";
import { ProbePanel } from "./panels/probe-panel.js";
import { type Figures, RequestPanel } from "./panels/request-panel.js";
import { fetchFacts, setToken } from "./state/api.js";
import { axisOf, type Catalogue, type DatasetFacts } from "./state/facts.js";
import { Store } from "./state/page-store.js";
import { profileCall, seriesCall } from "./state/queries.js";
import { AXES, initialState, type ParsedState, THEMES, type ViewState } from "./state/view-state.js";

export class Page {
  readonly #root: HTMLElement;
  readonly #catalogue: Catalogue;
  readonly #store: Store;
  readonly #figures: Figures;
  readonly #requests: RequestPanel;
  #notice: string;
  #tokenText = "";
  #entering = "";
  #due = false;

  constructor(root: HTMLElement, catalogue: Catalogue, facts: DatasetFacts, { state }: ParsedState, notice: string) {
    this.#root = root;
    this.#catalogue = catalogue;
    this.#notice = notice;
    this.#store = new Store(state, facts);
    const update = () => this.#schedule();
    const slice = new SliceFigure(this.#store, update);
    this.#figures = {
      slice,
      probe: new ProbePanel(this.#store, update),
      profile: this.#profile(update),
      series: this.#series(update),
      particles: new ParticlesFigure(this.#store, () => slice.picture, update),
    };
    this.#requests = new RequestPanel(this.#store, this.#figures, catalogue, update);
    this.#store.onChange(() => this.#refresh());
    window.addEventListener("resize", update);
    root.addEventListener("table", update);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
    this.#refresh();
  }

  #profile(update: () => void): CurveFigure {
    return new CurveFigure(
      {
        id: "profile",
        title: (state) => `Line profile of ${state.field} along ${state.line}`,
        xName: (state) => state.line,
        call: (state) => profileCall(state, this.#store.facts),
        places: (state, call) => {
          const axis = AXES.indexOf(state.line);
          return Array.from({ length: call.points.length / 3 }, (_, i) => call.points[3 * i + axis] as number);
        },
        mark: (state) => state.probe[AXES.indexOf(state.line)] as number,
      },
      this.#store,
      update,
    );
  }

  #series(update: () => void): CurveFigure {
    return new CurveFigure(
      {
        id: "series",
        title: (state) => `Time series of ${state.field} at the probe`,
        xName: () => "t",
        call: (state) => seriesCall(state, this.#store.facts),
        places: (_state, call) => [...(call.parameters.time as readonly number[])],
        mark: (state) => state.time,
      },
      this.#store,
      update,
    );
  }

  /** Asks for what the state needs, then draws. */
  #refresh(): void {
    const { slice, probe, profile, series } = this.#figures;
    for (const figure of [slice, probe, profile, series]) figure.refresh();
    this.#schedule();
  }

  /** Draws once before the next frame, however much has changed. */
  #schedule(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      document.documentElement.dataset.theme = this.#store.state.theme;
      render(this.#view(), this.#root);
      const { slice, profile, series, particles } = this.#figures;
      for (const figure of [slice, profile, series, particles]) figure.paint();
    });
  }

  /** Shows another dataset, unless yet another was chosen before this one is known. */
  async #enter(name: string): Promise<void> {
    this.#entering = name;
    try {
      const facts = await fetchFacts(name);
      if (this.#entering !== name) return;
      const { theme } = this.#store.state;
      const { slice, probe, profile, series, particles } = this.#figures;
      particles.close();
      for (const figure of [slice, probe, profile, series]) {
        figure.latest.clear();
        figure.invalidate();
      }
      this.#notice = "";
      this.#store.enter(facts, { ...initialState(facts), theme });
    } catch (error) {
      if (this.#entering !== name) return;
      this.#notice = error instanceof Error ? error.message : String(error);
      this.#schedule();
    }
  }

  #useToken(token: string): void {
    setToken(token);
    const { slice, probe, profile, series } = this.#figures;
    for (const figure of [slice, probe, profile, series]) figure.invalidate();
    this.#refresh();
  }

  async #copyLink(): Promise<void> {
    this.#notice = (await copyText(this.#store.link))
      ? "The link is copied."
      : `Copy it from here: ${this.#store.link}`;
    this.#schedule();
  }

  #view(): TemplateResult {
    const { facts, state } = this.#store;
    const { slice, probe, profile, series, particles } = this.#figures;
    const axis = axisOf(facts, state.line);
    return html`
      <header>
        <h1>fieldprobe</h1>
        <div class="row">
          <button type="button" id="copy-link" @click=${() => this.#copyLink()}>Copy link</button>
          ${choose("theme", "Colours of the page", state.theme, THEMES, (theme) => this.#store.set({ theme: theme as ViewState["theme"] }))}
          ${this.#token()}
          <a href="api/docs/">HTTP interface</a>
        </div>
      </header>
      <p role="status" id="notice" class=${this.#notice === "" ? "empty-notice" : "notice"}>${this.#notice}</p>
      <main>
        ${controls(this.#store, this.#catalogue, (name) => void this.#enter(name))}
        ${slice.view()}
        ${profile.view(html`
          <div class="row">
            ${choose("line", "Along", state.line, AXES, (line) => this.#store.set({ line: line as ViewState["line"] }))}
            <span class="note">through the probe, ${shortText(axis.first)} to ${shortText(axis.first + axis.length)}</span>
          </div>
        `)}
        ${facts.times.count > 1 ? series.view(html`<p class="note">By <b>${state.temporal}</b> between stored times.</p>`) : nothing}
        ${probe.view()}
        ${particles.view()}
        ${this.#requests.view()}
        ${factsPanel(facts)}
      </main>
    `;
  }

  #token(): TemplateResult {
    return html`
      <label for="token">
        Token
        <input
          type="password"
          id="token"
          autocomplete="off"
          placeholder="kept in memory only"
          .value=${live(this.#tokenText)}
          @change=${(event: Event) => {
            this.#tokenText = (event.target as HTMLInputElement).value;
            this.#useToken(this.#tokenText);
          }}
        />
      </label>
    `;
  }
}
