/** The page renders head, rail, picture, time line and panels, and keeps them in step with the view store. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import { shortText, withMinus, withoutNoise } from "../src/float32/format.js";
import { CurveFigure } from "./figures/curve-figure.js";
import { canvasPart, type FigureContent, saveFigure } from "./figures/figure-file.js";
import { titleWithSigns } from "./figures/formula.js";
import { CORRECTED, type Correction, choose, closeSheet, startTyping, typed } from "./figures/inputs.js";
import { ParticlesFigure } from "./figures/particles-figure.js";
import type { DrawnPaths } from "./figures/plane-figure.js";
import { SceneFigure } from "./figures/scene-figure.js";
import { isCurrent, SliceFigure } from "./figures/slice-figure.js";
import { copyText } from "./panels/clipboard.js";
import { controls } from "./panels/controls.js";
import { CutoutPanel } from "./panels/cutout-panel.js";
import { ExportPanel } from "./panels/export-panel.js";
import { factsPanel } from "./panels/facts-panel.js";
import { JobsPanel } from "./panels/jobs-panel.js";
import { type FoundControl, Palette } from "./panels/palette.js";
import { PointsPanel } from "./panels/points-panel.js";
import { ProbePanel } from "./panels/probe-panel.js";
import { StatisticsPanel } from "./panels/statistics-panel.js";
import type { Tour } from "./panels/tour.js";
import { ViewsPanel } from "./panels/views-panel.js";
import { ANALYSIS_NAMES, ANALYSIS_WORDS, analysesOf } from "./state/analyses.js";
import { axisOf, type Catalogue, endOf } from "./state/facts.js";
import { Outage } from "./state/outage.js";
import { AXES } from "./state/plane-geometry.js";
import { describePlane, profileQueries, readView, seriesQueries } from "./state/queries.js";
import { inSentence, quantityOf } from "./state/shown-quantity.js";
import { CURVES, carryState, hasScene, type PanelName, THEMES, type ViewState } from "./state/view-state.js";
import type { ViewStore } from "./state/view-store.js";

/** Panels beside the picture, with words by which the palette finds what they hold while they are closed. */
const PANELS: readonly { readonly name: PanelName; readonly text: string; readonly words: string }[] = [
  { name: "probe", text: "Probe", words: "values gradient point methods" },
  { name: "profile", text: "Profile", words: "line curve along" },
  { name: "series", text: "Series", words: "time curve" },
  {
    name: "statistics",
    text: "Statistics",
    words: "spectrum distribution PDF mean average moments profile structure functions Q R",
  },
  { name: "particles", text: "3-D, particles", words: "isosurface volume tracers paths launch" },
  { name: "export", text: "Export", words: "save CSV JSON npy NetCDF movie code Python curl MATLAB TypeScript SOAP" },
  { name: "points", text: "Points", words: "your own CSV" },
  { name: "cutout", text: "Cutout", words: "nodes HDF5 box" },
  { name: "views", text: "Views, notes", words: "bookmark share annotations" },
  { name: "jobs", text: "Jobs", words: "results progress" },
  { name: "facts", text: "Dataset", words: "axes fields units digest" },
];
/** Shipped flows that the tour can be about, the best first. */
const TOUR_FLOWS = ["isotropic64", "isotropic32"];
/** A sentence shown for so long goes with the next change of the view; a click on it removes it at once. */
const READ_MS = 6_000;
/** Windows on which controls or one panel lie over the lower part of the page; the style sheet has them as well. */
const SHEETS = "(max-width: 59.99rem) and (min-height: 30rem)";

const CURVE_NAMES: Readonly<Record<ViewState["curves"], string>> = {
  one: "one curve",
  methods: "every method",
  times: "several times",
  probes: "several probes",
};

/** The nodes of a dataset along its axes: 32³, or 48 × 17 × 12. */
function nodesText({ axes }: ViewStore["facts"]): string {
  const counts = axes.map(({ nodes }) => nodes).filter((count) => count > 1);
  const [first] = counts;
  if (counts.length > 1 && counts.every((count) => count === first))
    return `${first}${counts.length === 3 ? "³" : "²"}`;
  return counts.join(" × ");
}

/** The times of a dataset: those that can be asked for, and stored ones beyond them. */
function timesText({ times: { count, first, last, guardBefore, guardAfter } }: ViewStore["facts"]): string {
  const beyond = guardBefore + guardAfter;
  const more = beyond === 0 ? "" : ` (and ${beyond} beyond, for interpolation)`;
  return count === 1
    ? "one time"
    : `${count} times from ${withMinus(shortText(first))} to ${withMinus(shortText(last))}${more}`;
}

/** Closes the settings, and gives their focus back to what opens them. */
function closeSettings(): void {
  const settings = document.querySelector<HTMLDetailsElement>(".settings[open]");
  if (settings === null) return;
  if (settings.contains(document.activeElement)) settings.querySelector("summary")?.focus();
  settings.open = false;
}

export class Page {
  readonly #root: HTMLElement;
  readonly #catalogue: Catalogue;
  readonly #store: ViewStore;
  readonly #slice: SliceFigure;
  readonly #probe: ProbePanel;
  readonly #profile: CurveFigure;
  readonly #series: CurveFigure;
  readonly #particles: ParticlesFigure;
  readonly #scene: SceneFigure;
  readonly #statistics: StatisticsPanel;
  readonly #exports: ExportPanel;
  readonly #points: PointsPanel;
  readonly #cutout: CutoutPanel;
  readonly #jobs: JobsPanel;
  readonly #outage: Outage;
  readonly #palette: Palette;
  readonly #views: ViewsPanel;
  #tour: Tour | null = null;
  #notice: string;
  #saidAt = performance.now();
  #saidOf: number | null = null;
  #tokenText = "";
  #entering = "";
  #due = false;

  constructor(root: HTMLElement, catalogue: Catalogue, store: ViewStore, notice: string) {
    this.#root = root;
    this.#catalogue = catalogue;
    this.#notice = notice;
    this.#store = store;
    const update = () => this.#schedule();
    this.#palette = new Palette(root, () => this.#analyses());
    this.#outage = new Outage(store.api, () => this.#again(), update);
    this.#slice = new SliceFigure(
      store,
      () => this.#isCurrent(),
      {
        paths: () => this.#paths(),
        seeded: () => void this.#particles.launch(true),
      },
      (kind) => void saveFigure(kind, this.#picture(), store, catalogue.version),
      update,
    );
    this.#probe = new ProbePanel(store, update);
    this.#profile = this.#makeProfile(update);
    this.#series = this.#makeSeries(update);
    this.#particles = new ParticlesFigure(store, update);
    this.#scene = new SceneFigure(store, this.#slice, this.#particles, update);
    this.#statistics = new StatisticsPanel(
      store,
      this.#slice,
      (kind, content) => void saveFigure(kind, content, store, catalogue.version),
      update,
    );
    this.#points = new PointsPanel(store, update);
    this.#cutout = new CutoutPanel(store, update);
    this.#jobs = new JobsPanel(store, update);
    this.#views = new ViewsPanel(store, update);
    const figures = {
      slice: this.#slice,
      probe: this.#probe,
      profile: this.#profile,
      series: this.#series,
      particles: this.#particles,
    };
    const filmed = {
      picture: () => this.#picture(),
      show: (time: number, signal: AbortSignal) => this.#showTime(time, signal),
    };
    this.#exports = new ExportPanel(store, { ...figures, ...filmed }, catalogue, update);
    store.onChange(({ time }) => {
      if (performance.now() - this.#saidAt > READ_MS || (this.#saidOf ?? time) !== time) this.#notice = "";
      this.#refresh();
    });
    window.addEventListener("resize", update);
    window.addEventListener("popstate", () => void this.#restore());
    root.addEventListener("table", update);
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("pointerdown", ({ target }) => {
      if ((target as Element).closest(".settings") === null) closeSettings();
    });
    document.body.addEventListener(CORRECTED, (event) => {
      const { sentence, time } = (event as CustomEvent<Correction>).detail;
      this.#say(sentence, time);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
    this.#refresh();
    requestAnimationFrame(() => this.#revealTab());
  }

  #makeProfile(update: () => void): CurveFigure {
    return new CurveFigure(
      {
        id: "profile",
        title: (state) =>
          `Line profile of ${inSentence(quantityOf(state.field).title)} along ${state.line}, ${state.curves === "times" ? "several times" : `t = ${shortText(state.time)}`}`,
        xName: (state) => state.line,
        queries: (state) => profileQueries(state, this.#store.facts),
        places: (state, { points }) => {
          const axis = AXES.indexOf(state.line);
          return Array.from({ length: points.length / 3 }, (_, i) => points[3 * i + axis]);
        },
        mark: (state) => state.probe[AXES.indexOf(state.line)],
        pick: (state, x) => {
          const axis = axisOf(this.#store.facts, state.line);
          const probe = [...this.#store.state.probe] as [number, number, number];
          probe[AXES.indexOf(state.line)] = Math.fround(Math.max(axis.first, Math.min(endOf(axis), x)));
          this.#store.set({ probe });
        },
      },
      this.#store,
      update,
    );
  }

  #makeSeries(update: () => void): CurveFigure {
    return new CurveFigure(
      {
        id: "series",
        title: (state) =>
          `Time series of ${inSentence(quantityOf(state.field).title)} at (${withMinus(state.probe.map(shortText).join(", "))})`,
        xName: () => "t",
        queries: (state) => seriesQueries(state, this.#store.facts),
        places: (_state, { parameters }) => [...(parameters.time as readonly number[])],
        mark: (state) => state.time,
        pick: (_state, x) => {
          const { first, last } = this.#store.facts.times;
          this.#store.set({ time: withoutNoise(Math.max(first, Math.min(last, x))) });
        },
      },
      this.#store,
      update,
    );
  }

  /** The paths of particles as planes draw them, in the colours that they have in 3-D; null without paths. */
  #paths(): DrawnPaths | null {
    const { launched, record } = this.#particles;
    return launched === null ? null : { drawn: launched.drawn, record, bar: this.#scene.pathBar() };
  }

  /** Everything in the place of the picture as one figure: the planes, and the 3-D view if it is open. */
  #picture(): FigureContent | null {
    const planes = this.#slice.content();
    const scene = this.#scene.capture();
    if (planes === null || scene === null) return planes;
    const { picture, note, bars } = scene;
    return {
      ...planes,
      parts: [...planes.parts, canvasPart(picture, picture.width / 2)],
      bars: [...planes.bars, ...bars.filter(({ scale }) => planes.bars.every((bar) => bar.scale !== scale))],
      notes: [...planes.notes, note],
    };
  }

  /** Shows a time, and waits until everything shows it. */
  async #showTime(time: number, signal: AbortSignal): Promise<void> {
    this.#store.pass(withoutNoise(time));
    do {
      await new Promise((drawn) => requestAnimationFrame(drawn));
      signal.throwIfAborted();
    } while (!this.#slice.isCurrent);
  }

  /** Whether probe, profile and surface show the time of the view; playing waits for them. */
  #isCurrent(): boolean {
    const requests = [this.#probe.request, this.#profile.request];
    return requests.every((request) => isCurrent(request, this.#store)) && this.#scene.surface.isCurrent;
  }

  /** Requests what the view needs, then draws. */
  #refresh(): void {
    this.#slice.refresh();
    const panels = { probe: this.#probe, profile: this.#profile, series: this.#series };
    for (const [name, figure] of Object.entries(panels)) {
      if (this.#isWanted(name as keyof typeof panels)) figure.refresh();
      else {
        figure.request.clear();
        figure.invalidate();
      }
    }
    // In the same batch as plane and panel. While time plays, the nearest sample is read, and named so.
    if (this.#store.state.open.includes("probe") || !this.#slice.player.playing) this.#slice.readProbe();
    this.#statistics.isOpen = this.#store.state.open.includes("statistics");
    for (const figure of [this.#scene, this.#statistics]) figure.refresh();
    this.#schedule();
  }

  /** Requests everything once more, after an outage or with another token. */
  #again(): void {
    const all = [this.#slice, this.#probe, this.#profile, this.#series, this.#scene.surface, this.#statistics];
    for (const figure of all) figure.invalidate();
    this.#refresh();
  }

  /** Draws once after this task, however much has changed. */
  #schedule(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      const { state } = this.#store;
      document.documentElement.dataset.theme = state.theme;
      document.title = `${state.named || describePlane(state, this.#store.facts)} · ${state.dataset} · fieldprobe`;
      this.#outage.watch([this.#slice.plane.request, this.#probe.request, this.#profile.request, this.#series.request]);
      render(this.#view(), this.#root);
      for (const figure of [this.#slice, this.#profile, this.#series, this.#statistics, this.#scene]) figure.paint();
    });
  }

  /**
   * Shows another dataset, with what still applies of the view, unless yet another is chosen before its facts arrive.
   */
  async #enter(name: string): Promise<void> {
    await this.#show(name, (facts) => {
      const { state: before, facts: from } = this.#store;
      this.#store.enter(facts, carryState(before, from, facts));
      if (before.compare !== "none") this.#say(`The comparison is off: it was one of ${from.name}.`);
    });
  }

  /** Shows the view of the address, after the caller has walked back or forward. */
  async #restore(): Promise<void> {
    const { search } = location;
    const name = new URLSearchParams(search).get("dataset") ?? this.#store.facts.name;
    if (name === this.#store.facts.name) {
      this.#store.restore(this.#store.facts, readView(search, this.#store.facts).state);
    } else await this.#show(name, (facts) => this.#store.restore(facts, readView(search, facts).state));
    this.#particles.resume();
  }

  async #show(name: string, enter: (facts: ViewStore["facts"]) => void): Promise<void> {
    this.#entering = name;
    try {
      const facts = await this.#store.api.facts(name);
      if (this.#entering !== name) return;
      this.#slice.clear();
      this.#scene.clear();
      this.#statistics.clear();
      for (const figure of [this.#probe, this.#profile, this.#series]) {
        figure.request.clear();
        figure.invalidate();
      }
      this.#notice = "";
      enter(facts);
    } catch (error) {
      if (this.#entering !== name) return;
      this.#say(error instanceof Error ? error.message : String(error));
    }
  }

  /** Sends a token from now on, and asks again what one request may hold. */
  async #useToken(token: string): Promise<void> {
    const { api } = this.#store;
    api.useToken(token);
    const points = await api.catalogue().then(
      (catalogue) => catalogue.points,
      () => api.points,
    );
    this.#store.admit(points);
    this.#again();
  }

  /**
   * Shows a sentence until the next one, or until it has been read and the view changes.
   *
   * @param time the time of the view that the sentence is about, with which it goes; null if it is about none
   */
  #say(notice: string, time: number | null = null): void {
    this.#notice = notice;
    this.#saidOf = time;
    this.#saidAt = performance.now();
    this.#schedule();
  }

  async #copyLink(): Promise<void> {
    const { link } = this.#store;
    this.#say((await copyText(link)) ? "Link copied." : `The browser refused to copy; here is the link: ${link}`);
  }

  #view(): TemplateResult {
    const { facts, state } = this.#store;
    const { title, name } = facts;
    const inScene = hasScene(state);
    const dark = state.theme;
    return html`
      <header>
        <h1>fieldprobe</h1>
        <p class="lead" title=${title}>
          ${titleWithSigns(title || name)}: ${nodesText(facts)} nodes, ${timesText(facts)}
        </p>
        <div class="row tools">
          <button type="button" id="fold" data-short="☰" aria-expanded=${this.#folded ? "false" : "true"} aria-controls="controls" @click=${() => this.#fold()}>
            ${this.#folded ? "Show controls" : "Hide controls"}
          </button>
          <button type="button" id="toggle-scene" aria-pressed=${inScene ? "true" : "false"} @click=${() => this.#scene.toggle()}>3-D <kbd>3</kbd></button>
          <button type="button" id="find" aria-haspopup="dialog" @click=${() => this.#palette.find()}>Find… <kbd>/</kbd></button>
          ${this.#flow === undefined ? nothing : html`<button type="button" id="tour" aria-haspopup="dialog" @click=${() => void this.#startTour()}>Tour</button>`}
          <button type="button" id="copy-link" data-short="Link" ?disabled=${this.#exports.isFilming} @click=${() => this.#copyLink()}>Copy link</button>
          <button type="button" id="help" aria-haspopup="dialog" aria-label="Keys and gestures" data-words="help shortcuts touch" @click=${() => this.#palette.help()}>?</button>
          <details class="settings">
            <summary data-short="⚙">Settings</summary>
            <div class="stack sheet">
              ${choose("theme", "Theme", dark, THEMES, (theme) => this.#store.set({ theme }), "dark light night")} ${this.#token()}
              <a href="api/docs/">HTTP interface</a>
            </div>
          </details>
        </div>
      </header>
      <main data-layout=${state.layout} data-scene=${inScene ? "open" : "closed"} data-drawer=${state.open.length > 0 ? "open" : "closed"}>
        <div class="messages">
          ${this.#outage.view()}
          <p role="status" id="notice" class=${this.#notice === "" ? "empty-notice" : "notice"} @click=${() => this.#say("")}>${this.#notice}</p>
        </div>
        ${controls(
          this.#store,
          this.#catalogue,
          this.#slice.scale.range,
          (dataset) => void this.#enter(dataset),
          () => this.#fold(),
        )}
        <div class="stage">${this.#slice.view(this.#statistics.vortexButton())} ${this.#scene.view()}</div>
        <div class="time-line">${this.#slice.player.view()}</div>
        ${this.#tabs()}
        <div class="drawer" id="drawer">
          ${this.#panels().map(({ name, text, view }) => html`<div id="panel-${name}" tabindex="-1" @keydown=${(event: KeyboardEvent) => this.#leavePanel(name, event)}>${closeSheet(text, () => this.#toggle(name))}${view()}</div>`)}
        </div>
      </main>
    `;
  }

  /** The panels that this dataset and service have. */
  #known(): readonly (typeof PANELS)[number][] {
    const { facts } = this.#store;
    const missing = [...(facts.times.count > 1 ? [] : ["series"]), ...(this.#catalogue.jobs ? [] : ["jobs"])];
    return PANELS.filter(({ name }) => !missing.includes(name));
  }

  /** The panels that are open, in the order of their names. */
  #panels(): readonly { readonly name: PanelName; readonly text: string; readonly view: () => unknown }[] {
    const { facts, state } = this.#store;
    const views: Readonly<Record<PanelName, () => unknown>> = {
      probe: () => this.#probe.view(),
      profile: () => this.#profile.view(this.#lineControls()),
      series: () =>
        this.#series.view(
          html`<p class="note">By <b>${state.temporal}</b> between stored times. A click sets the time.</p>`,
        ),
      statistics: () => this.#statistics.view(),
      particles: () => this.#scene.controls(),
      points: () => this.#points.view(this.#catalogue.version),
      export: () => this.#exports.view(),
      cutout: () => this.#cutout.view(),
      views: () => this.#views.view(),
      jobs: () => this.#jobs.view(),
      facts: () => factsPanel(facts),
    };
    return this.#known()
      .filter(({ name }) => state.open.includes(name))
      .map(({ name, text }) => ({ name, text, view: views[name] }));
  }

  /**
   * Opens or closes a panel; one at a time, in place of the controls, if it lies over the page.
   *
   * @param byKeys whether the focus goes into what is opened, for the keys
   */
  #toggle(name: PanelName, byKeys = false): void {
    const { open } = this.#store.state;
    const opens = !open.includes(name);
    if (this.#isCovered) {
      this.#fold();
      if (!opens) return;
    }
    const others = matchMedia(SHEETS).matches && opens ? [] : open.filter((panel) => panel !== name);
    this.#store.set({ open: opens ? [...others, name] : others });
    if (!opens) return;
    requestAnimationFrame(() => {
      this.#reveal(name);
      if (byKeys) document.querySelector<HTMLElement>(`#panel-${name}`)?.focus();
    });
  }

  /** The buttons that open panels beside the picture. */
  #tabs(): TemplateResult {
    const { open } = this.#store.state;
    return html`
      <div class="tabs" role="group" aria-label="Panels">
        ${this.#known().map(
          ({ name, text, words }) => html`<button
            type="button"
            id="tab-${name}"
            data-words=${words}
            aria-pressed=${open.includes(name) ? "true" : "false"}
            aria-controls="drawer"
            @click=${({ detail }: MouseEvent) => this.#toggle(name, detail === 0)}
          >${text}</button>`,
        )}
      </div>
    `;
  }

  /** Brings the button of an open panel into the row that a phone shows. */
  #revealTab(): void {
    document.querySelector(".tabs [aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  /** Goes back by Escape from a panel to its button. */
  #leavePanel(name: PanelName, event: KeyboardEvent): void {
    if (event.key === "Escape") document.querySelector<HTMLElement>(`#tab-${name}`)?.focus();
  }

  /** Brings a panel that was opened into view, and the view that it is about. */
  #reveal(name: PanelName): void {
    if (name === "particles") this.#scene.reveal();
    document.querySelector(`#panel-${name}`)?.scrollIntoView({ block: "start" });
  }

  /** What the statistics panel can show, for the palette to find. */
  #analyses(): readonly FoundControl[] {
    const { facts, state } = this.#store;
    return analysesOf(state, facts).map((analysis) => ({
      name: `Statistics: ${inSentence(ANALYSIS_NAMES[analysis])}`,
      words: ANALYSIS_WORDS[analysis],
      late: true,
      go: () => this.#goAnalysis(analysis),
    }));
  }

  /** Shows an analysis in its panel. */
  #goAnalysis(analysis: ViewState["analysis"]): void {
    const { open } = this.#store.state;
    this.#store.set({ analysis });
    if (!open.includes("statistics") || this.#isCovered) this.#toggle("statistics");
    requestAnimationFrame(() => document.querySelector<HTMLElement>("#analysis")?.focus());
  }

  /** Whether a figure is shown, or its numbers are to be saved. */
  #isWanted(name: "probe" | "profile" | "series"): boolean {
    const { open, subject } = this.#store.state;
    return open.includes(name) || (open.includes("export") && subject === name);
  }

  /** Whether the controls lie over the panels. */
  get #isCovered(): boolean {
    return matchMedia(SHEETS).matches && !this.#folded;
  }

  get #folded(): boolean {
    return (
      (document.documentElement.dataset.rail ?? (matchMedia("(min-width: 60rem)").matches ? "open" : "folded")) ===
      "folded"
    );
  }

  /** Folds the controls away, or shows them again; the picture takes their room. */
  #fold(): void {
    document.documentElement.dataset.rail = this.#folded ? "open" : "folded";
    this.#schedule();
    requestAnimationFrame(() => this.#schedule());
  }

  /** The keys that work anywhere except in a field for text. */
  #key(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      this.#palette.find();
      return;
    }
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") closeSettings();
    if (target.closest("input:not([type=checkbox], [type=range]), textarea, dialog")) return;
    const actions: Readonly<Record<string, () => void>> = {
      "/": () => this.#palette.find(),
      "?": () => this.#palette.help(),
      ...(target.closest("input, select") ? {} : { "[": () => this.#fold(), "3": () => this.#scene.go() }),
      ...(isFree(target) ? { " ": () => this.#slice.player.toggle() } : {}),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** The shipped flow that the tour is about; undefined if the service has none. */
  get #flow(): string | undefined {
    return TOUR_FLOWS.find((name) => this.#catalogue.datasets.some((dataset) => dataset.name === name));
  }

  async #startTour(): Promise<void> {
    const { Tour } = await import("./panels/tour.js");
    this.#tour ??= new Tour(this.#store, this.#flow ?? "");
    this.#tour.start();
  }

  /** Plays the first view slowly until the page is touched. */
  liven(): void {
    const { player } = this.#slice;
    player.toggle();
    const touched = new AbortController();
    const stop = (event: Event) => {
      touched.abort();
      const { target, key } = event as KeyboardEvent & { target: Element };
      // The player stops by itself what its own controls and the key for it stop.
      if (!target.closest?.(".player") && !(key === " " && isFree(target))) player.stop();
    };
    for (const name of ["pointerdown", "keydown", "wheel"] as const) {
      document.addEventListener(name, stop, { signal: touched.signal, capture: true, passive: true });
    }
  }

  #lineControls(): TemplateResult {
    const { facts, state } = this.#store;
    const axis = axisOf(facts, state.line);
    const names = CURVES.filter((value) => value !== "times" || facts.times.count > 1).map((value) => ({
      value,
      text: CURVE_NAMES[value],
    }));
    return html`
      <div class="row">
        ${choose("line", "Along", state.line, AXES, (line) => this.#store.set({ line }))}
        ${choose("curves", "Compare", state.curves, names, (curves) => this.#store.set({ curves }))}
        <span class="note">
          through the probe, ${withMinus(shortText(axis.first))} to ${withMinus(shortText(endOf(axis)))}. A click moves the probe.
        </span>
        ${
          analysesOf(state, facts).includes("profile")
            ? html`<button type="button" class="link" id="go-means" @click=${() => this.#goAnalysis("profile")}>Means over planes</button>`
            : nothing
        }
      </div>
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
          .value=${typed(this.#tokenText)}
          @input=${startTyping}
          @change=${(event: Event) => {
            this.#tokenText = (event.target as HTMLInputElement).value;
            void this.#useToken(this.#tokenText);
          }}
        />
      </label>
    `;
  }
}

/** Whether Space is free to play and pause, as nothing that it would press or write to has the focus. */
function isFree(target: Element): boolean {
  return target === document.body || target instanceof HTMLCanvasElement;
}
