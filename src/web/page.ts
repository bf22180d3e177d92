/** The page renders head, controls, figures and panels, and keeps them in step with the view store. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { shortText } from "../float32/format.js";
import { CurveFigure } from "./figures/curve-figure.js";
import { choose } from "./figures/inputs.js";
import { ParticlesFigure } from "./figures/particles-figure.js";
import { SliceFigure } from "./figures/slice-figure.js";
import { copyText } from "./panels/clipboard.js";
import { controls } from "./panels/controls.js";
import { ExportPanel, type Figures } from "./panels/export-panel.js";
import { factsPanel } from "./panels/facts-panel.js";
import { ProbePanel } from "./panels/probe-panel.js";
import { axisOf, type Catalogue } from "./state/facts.js";
import { profileQuery, seriesQuery } from "./state/queries.js";
import { AXES, initialState, THEMES } from "./state/view-state.js";
import type { ViewStore } from "./state/view-store.js";

export class Page {
  readonly #root: HTMLElement;
  readonly #catalogue: Catalogue;
  readonly #store: ViewStore;
  readonly #figures: Figures;
  readonly #requests: ExportPanel;
  #notice: string;
  #tokenText = "";
  #entering = "";
  #due = false;

  constructor(root: HTMLElement, catalogue: Catalogue, store: ViewStore, notice: string) {
    this.#root = root;
    this.#catalogue = catalogue;
    this.#notice = notice;
    this.#store = store;
    const update = () => this.#schedule();
    const slice = new SliceFigure(this.#store, update);
    this.#figures = {
      slice,
      probe: new ProbePanel(this.#store, update),
      profile: this.#profile(update),
      series: this.#series(update),
      particles: new ParticlesFigure(this.#store, () => slice.picture, update),
    };
    this.#requests = new ExportPanel(this.#store, this.#figures, catalogue, update);
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
        query: (state) => profileQuery(state, this.#store.facts),
        places: (state, query) => {
          const axis = AXES.indexOf(state.line);
          return Array.from({ length: query.points.length / 3 }, (_, i) => query.points[3 * i + axis]);
        },
        mark: (state) => state.probe[AXES.indexOf(state.line)],
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
        query: (state) => seriesQuery(state, this.#store.facts),
        places: (_state, query) => [...(query.parameters.time as readonly number[])],
        mark: (state) => state.time,
      },
      this.#store,
      update,
    );
  }

  /** Requests what the view needs, then draws. */
  #refresh(): void {
    const { slice, probe, profile, series } = this.#figures;
    for (const figure of [slice, probe, profile, series]) figure.refresh();
    this.#schedule();
  }

  /** Draws once after this task, however much has changed. */
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

  /** Shows another dataset, unless yet another is chosen before its facts arrive. */
  async #enter(name: string): Promise<void> {
    this.#entering = name;
    try {
      const facts = await this.#store.api.facts(name);
      if (this.#entering !== name) return;
      const { theme } = this.#store.state;
      const { slice, probe, profile, series, particles } = this.#figures;
      particles.close();
      for (const figure of [slice, probe, profile, series]) {
        figure.request.clear();
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
    this.#store.api.useToken(token);
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
          ${choose("theme", "Colours of the page", state.theme, THEMES, (theme) => this.#store.set({ theme }))}
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
            ${choose("line", "Along", state.line, AXES, (line) => this.#store.set({ line }))}
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
