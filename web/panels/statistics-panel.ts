/**
 * The statistics panel shows distributions, profiles, conditional means, spectra and structures of the stored nodes,
 * each by one analysis call at the data, and moves the probe to the strongest vortex.
 */

import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { shortText, withMinus, withoutNoise } from "../../src/float32/format.js";
import { multiplyUnit, unitOf, unitText } from "../../src/shared/quantities.js";
import { chartPart } from "../figures/chart-part.js";
import { cleanName, FIGURE_KINDS, type FigureContent, type FigureKind } from "../figures/figure-file.js";
import { check, choose, number, tellCorrection } from "../figures/inputs.js";
import { drawJoint, type JointCounts, jointPart } from "../figures/joint-figure.js";
import { Plot, type PlottedCurves } from "../figures/plot.js";
import { saveFile } from "../figures/save-file.js";
import type { SliceFigure } from "../figures/slice-figure.js";
import { statusBar } from "../figures/status-bar.js";
import {
  ANALYSIS_NAMES,
  type AnalysisCall,
  type AnalysisChoice,
  analysesOf,
  analysisCall,
  analysisChoice,
  analysisFile,
  canSearchTimes,
  centreInside,
  distributionOf,
  hasVortices,
  hasWallUnits,
  incrementAxis,
  inertialRange,
  isOverTimes,
  type NodePlace,
  nodeQuantities,
  partText,
  resolvedSpectrum,
  type ShownAnswer,
  strongestVortexCall,
  structuresOf,
} from "../state/analyses.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES } from "../state/plane-geometry.js";
import { questionKey } from "../state/question-key.js";
import {
  conditionTitle,
  inSentence,
  listedTitle,
  marksBySmall,
  outwards,
  quantityOf,
  unitOfQuantity,
} from "../state/shown-quantity.js";
import { ABOVE, type NodeCondition, type ShownAnalysis, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import {
  KARMAN,
  lawOfTheWall,
  OFFSET,
  type WallProfile,
  type WallStress,
  type WallUnits,
  wallProfile,
  wallStress,
} from "../state/wall-units.js";
import { wallTable, withUnit } from "./table-files.js";

/** An answer with what asked for it. */
interface Answered {
  readonly state: ViewState;
  readonly choice: AnalysisChoice;
  readonly asked: AnalysisCall;
  readonly answer: ShownAnswer;
  /** The profile in wall units, if it is drawn so. */
  readonly walls: WallUnits | null;
  readonly curves: PlottedCurves | null;
  /** The stresses in wall units, drawn below them. */
  readonly stresses: PlottedCurves | null;
}

/** An answer before it is known what is drawn of it. */
type AskedCharts = Omit<Answered, "walls" | "curves" | "stresses">;

/** The moments of a quantity over planes. */
interface ProfileResult {
  readonly mean: readonly (number | null)[];
  readonly variance: readonly (number | null)[];
  readonly coordinates?: Readonly<Record<string, readonly number[]>>;
}

/** Means smaller than this part of the rms are rounding. */
const ROUNDING = 1e-12;
/** Structures that are listed; the answer has them all, and the CSV too. */
const LISTED = 12;

export class StatisticsPanel {
  readonly request: LatestRequest<Answered>;
  readonly #vortex: LatestRequest<ShownAnswer>;
  /** The view of the strongest vortex of its time, from which the button goes on to that of all times. */
  #vortexAt: ViewState | null = null;
  readonly #store: ViewStore;
  readonly #slice: SliceFigure;
  readonly #save: (kind: FigureKind, content: FigureContent) => void;
  readonly #plot = new Plot();
  readonly #stressPlot = new Plot();
  #element: HTMLElement | null = null;
  #stressElement: HTMLElement | null = null;
  /** Whether the panel is open; only then it asks. */
  isOpen = false;
  #asked = "";

  /** @param save saves a chart as a file */
  constructor(
    store: ViewStore,
    slice: SliceFigure,
    save: (kind: FigureKind, content: FigureContent) => void,
    render: () => void,
  ) {
    this.#save = save;
    this.#store = store;
    this.#slice = slice;
    this.request = new LatestRequest(render);
    this.#vortex = new LatestRequest(render);
  }

  /** Asks for what the open panel shows; while time plays, the last answer stays and says its frame. */
  refresh(): void {
    if (!this.isOpen || this.#slice.player.playing) return;
    const { api, facts, state } = this.#store;
    const choice = analysisChoice(state, facts);
    if (choice === null) return;
    this.#redraw();
    const asked = analysisCall(state, facts, choice);
    const key = questionKey(facts, [], asked);
    if (key === this.#asked) return;
    this.#asked = key;
    void this.request.run(async (signal) => {
      const answer = await api.analysis(facts.name, asked.call, asked.body, signal);
      const { wallUnits, logDensity } = this.#store.state;
      return this.#answered({ state: { ...state, wallUnits, logDensity }, choice, asked, answer });
    });
  }

  /** Draws the last answer anew if the view has changed to other axes: those of wall units, or of a logarithm. */
  #redraw(): void {
    const shown = this.request.value;
    const { wallUnits, logDensity } = this.#store.state;
    if (shown === null || (shown.state.wallUnits === wallUnits && shown.state.logDensity === logDensity)) return;
    this.request.value = this.#answered({ ...shown, state: { ...shown.state, wallUnits, logDensity } });
  }

  invalidate(): void {
    this.#asked = "";
  }

  /** Forgets every answer, for another dataset. */
  clear(): void {
    for (const request of [this.request, this.#vortex]) request.clear();
    this.invalidate();
  }

  view(): TemplateResult {
    return html`
      <section class="panel statistics" aria-labelledby="statistics-title">
        <h2 id="statistics-title">Statistics of the stored nodes</h2>
        ${this.#body()}
      </section>
    `;
  }

  /** Draws the chart that the last rendering laid out. */
  paint(): void {
    const { curves = null, stresses = null } = this.request.value ?? {};
    if (!this.isOpen) return;
    if (this.#element !== null && curves !== null) this.#plot.draw(this.#element, curves);
    if (this.#stressElement !== null && stresses !== null) this.#stressPlot.draw(this.#stressElement, stresses);
  }

  #body(): TemplateResult {
    const { facts, state } = this.#store;
    const choice = analysisChoice(state, facts);
    if (choice === null) return html`<p class="note">A filtered quantity has no values at nodes.</p>`;
    const { show, part, frames, along, on } = choice;
    const names = analysesOf(state, facts).map((value) => ({ value, text: ANALYSIS_NAMES[value] }));
    const parts = [
      { value: "frame" as const, text: "the whole volume" },
      { value: "plane" as const, text: "the plane shown" },
    ];
    const times = [
      { value: "one" as const, text: "the time shown" },
      { value: "all" as const, text: "all stored times" },
    ];
    const quantities = nodeQuantities(facts).map((quantity) => ({
      value: quantity.name,
      text: listedTitle(facts, quantity),
    }));
    const structure = structuresOf(state, facts);
    const inPart = show === "distribution" || show === "conditional" || show === "invariants" || show === "structures";
    return html`
      <div class="row">
        ${choose("analysis", "Show", show, names, (analysis) => this.#store.set({ analysis }))}
        ${inPart ? choose("analysis-part", "Over", part, parts, (value) => this.#store.set({ part: value })) : nothing}
        ${isOverTimes({ show, frames: "all" }, facts) ? choose("analysis-frames", "At", frames, times, (value) => this.#store.set({ frames: value })) : nothing}
        ${show === "profile" || show === "increments" ? choose("analysis-along", "Along", along, AXES, (value) => this.#store.set({ profileAxis: value })) : nothing}
        ${
          show === "conditional"
            ? choose("analysis-on", "On", on, quantities, (condition) => this.#store.set({ condition }))
            : nothing
        }
        ${
          show === "structures"
            ? html`
                ${choose("structure", "Of", structure, quantities, (value) => this.#store.set({ structure: value }))}
                ${number("structure-above", marksBySmall(structure) ? "Below, times −rms" : "Above, times rms", state.above, { min: ABOVE[0], max: ABOVE[1] }, (above) => this.#store.set({ above }))}
              `
            : nothing
        }
        ${show === "profile" && hasWallUnits(state, facts, along) ? check("wall-units", "in wall units", state.wallUnits, (wallUnits) => this.#store.set({ wallUnits })) : nothing}
        ${show === "distribution" ? check("log-density", "logarithmic density", state.logDensity, (logDensity) => this.#store.set({ logDensity })) : nothing}
      </div>
      ${this.#differenceNote(show)}
      ${statusBar("statistics", this.request)} ${this.request.value === null ? nothing : this.#answerView(this.request.value)}
    `;
  }

  /** The comparison that the picture shows in numbers, which the analyses of stored nodes below are not about. */
  #differenceNote(show: ShownAnalysis): TemplateResult | typeof nothing {
    const { difference } = this.#slice;
    if (difference === null) return nothing;
    const { largest, place, rms } = difference;
    return html`<p class="note" id="difference-statistics">
      Difference in the picture: largest ${largest} at (${place.map(shortText).join(", ")}), rms ${rms}.
      ${OF_QUANTITY.includes(show) ? "Below: the quantity itself, at the stored nodes." : nothing}
    </p>`;
  }

  /** The profile of an answer in wall units; null if it is not to be drawn so, or nothing shears at the walls. */
  #wallProfileOf({ state, choice, answer }: AskedCharts): WallUnits | null {
    const { facts } = this.#store;
    const { show, along } = choice;
    if (!state.wallUnits || show !== "profile" || !hasWallUnits(state, facts, along)) return null;
    const results = (answer.results ?? []) as readonly ProfileResult[];
    const places = results[0]?.coordinates?.[along] ?? [];
    const known = (values: readonly (number | null)[] = []) => values.map((value) => value ?? Number.NaN);
    const profile = wallProfile(places, known(results[0]?.mean), facts.viscosity ?? 0);
    if (profile === null) return null;
    const [means, variances] = [results.map(({ mean }) => known(mean)), results.map(({ variance }) => known(variance))];
    const stresses = AXES.map((axis, i): WallStress => {
      const name = `⟨u${axis}′²⟩⁺`;
      return { name, column: `u${axis}'u${axis}'+`, values: wallStress(places, variances[i + 1] ?? [], profile, 1) };
    });
    const [across, streamwise] = [means[1 + AXES.indexOf(along)] ?? [], means[0] ?? []];
    const shear = (means[4] ?? []).map((product, i) => (streamwise[i] as number) * (across[i] as number) - product);
    const [name, column] = [`−⟨${state.field}′u${along}′⟩⁺`, `-${state.field}'u${along}'+`];
    return { ...profile, stresses: [...stresses, { name, column, values: wallStress(places, shear, profile, -1) }] };
  }

  /** An answer with what is drawn of it. */
  #answered(answer: AskedCharts): Answered {
    const walls = this.#wallProfileOf(answer);
    const done = { ...answer, walls, stresses: walls === null ? null : stressCurves(walls, answer.choice) };
    return { ...done, curves: this.#curvesOf(done) };
  }

  /** What a part of a chart is a condition on; null if its axis has no nodes. */
  #brushed({ show, along, on }: AnalysisChoice, state: ViewState): NodeCondition["of"] | null {
    if (show === "distribution") return state.field;
    if (show === "profile") return along;
    return show === "conditional" ? (on as NodeCondition["of"]) : null;
  }

  #mark(...brush: readonly NodeCondition[]): void {
    this.#store.set({
      brush: brush.map(({ of, low, high }) => ({ of, low: outwards(low, -1), high: outwards(high, 1) })),
    });
  }

  /** Fields that mark nodes in the picture, for those who do not drag. */
  #brushControls(choice: AnalysisChoice): TemplateResult | typeof nothing {
    const of = this.#brushed(choice, this.#store.state);
    const { x = [], ends = [x[0] ?? 0, x.at(-1) ?? 0] } = this.request.value?.curves ?? {};
    if (of === null || x.length === 0 || this.request.value?.curves?.log === "across") return nothing;
    const [marked] = this.#store.state.brush.filter((condition) => condition.of === of);
    const [low, high] = [marked?.low ?? outwards(ends[0], -1), marked?.high ?? outwards(ends[1], 1)];
    return html`<div class="row" id="brush">
      <span class="note">Drag in the chart to mark its nodes in the picture, or</span>
      ${number("brush-low", `mark ${conditionTitle(of)} from`, low, {}, (value) => this.#mark({ of, low: value, high }))}
      ${number("brush-high", "to", high, {}, (value) => this.#mark({ of, low, high: value }))}
    </div>`;
  }

  /** The joint distribution, in which dragging marks nodes. */
  #joint(counts: JointCounts): TemplateResult {
    const range = (name: "R" | "Q") => this.#store.state.brush.find(({ of }) => of === name);
    const [r, q] = [range("R"), range("Q")];
    const part = r === undefined || q === undefined ? null : ([r.low, r.high, q.low, q.high] as const);
    return html`
      ${drawJoint(counts, part, ([r0, r1, q0, q1]) =>
        this.#mark({ of: "R", low: r0, high: r1 }, { of: "Q", low: q0, high: q1 }),
      )}
      <p class="note">
        Above the curve the velocity gradient has complex eigenvalues: the flow swirls. Drag a rectangle to mark its
        nodes in the picture.
      </p>
    `;
  }

  #answerView(answered: Answered): TemplateResult {
    const { state, choice, asked, answer, walls, curves } = answered;
    const time = shortText(answer.frames[0]?.time ?? Number.NaN);
    const isUneven = this.#store.facts.axes.some(({ periodic }) => !periodic);
    const weights = isUneven && choice.show !== "invariants" ? `, weighted by ${answer.weights}` : "";
    return html`
      <p class="note" id="analysis-of">${partText(state, this.#store.facts, choice, time)}${weights}.</p>
      ${choice.show === "distribution" ? this.#moments(answered) : nothing}
      ${choice.show === "invariants" ? this.#joint(answer.results?.[0] as JointCounts) : nothing}
      ${choice.show === "structures" ? this.#structures(answered) : nothing}
      ${wallText(walls)}
      ${curves === null ? nothing : this.#chart(`${ANALYSIS_NAMES[choice.show]}: ${curves.yLabel}`)} ${this.#brushControls(choice)}
      ${
        answered.stresses === null
          ? nothing
          : html`<div class="plot" id="stress-plot" role="img" aria-label="Stresses in wall units"
              ${ref((element) => {
                this.#stressElement = (element as HTMLElement | undefined) ?? null;
              })}
            ></div>`
      }
      ${choice.show === "energy" ? html`<p class="note" id="spectrum-marks">${marksText(answer)} ${slopeText(answer)}</p>${scales(answer)}` : nothing}
      <details class="data">
        <summary>The call behind it</summary>
        <pre id="analysis-call">POST api/datasets/${state.dataset}/${asked.call}
${JSON.stringify(asked.body)}</pre>
      </details>
      <div class="row">
        <button type="button" id="csv-analysis" @click=${() => void this.#saveTable(answered)}>CSV</button>
        ${this.#figureButtons(answered)}
      </div>
    `;
  }

  /** Buttons that save the chart as a figure; nothing if there is none. */
  #figureButtons(answered: Answered): TemplateResult | typeof nothing {
    const { state, choice, answer, curves, walls } = answered;
    const { show } = choice;
    if (curves === null && show !== "invariants") return nothing;
    const content = (): FigureContent => ({
      name: this.#fileOf(answered),
      parts: [
        curves === null ? jointPart(answer.results?.[0] as JointCounts) : chartPart(curves),
        ...(answered.stresses === null ? [] : [chartPart(answered.stresses)]),
      ],
      bars: [],
      title: ANALYSIS_NAMES[show],
      notes: [
        partText(state, this.#store.facts, choice, shortText(answer.frames[0]?.time ?? Number.NaN)),
        ...(walls === null ? [] : [frictionText(walls, unitOf(this.#store.facts, "velocity"))]),
      ],
    });
    return html`${FIGURE_KINDS.map(
      (kind) =>
        html`<button type="button" id="chart-${kind}" @click=${() => this.#save(kind, content())}>${kind.toUpperCase()}</button>`,
    )}`;
  }

  /** The name of a file of an answer. */
  #fileOf({ state, choice, answer, walls }: Answered): string {
    const time = answer.frames[0]?.time ?? state.time;
    return cleanName(analysisFile(state, this.#store.facts, choice, time, walls !== null));
  }

  /** Saves the numbers as the service writes them; wall units are written here, because they are computed here. */
  async #saveTable(answered: Answered): Promise<void> {
    const { state, choice, asked, walls } = answered;
    try {
      const signal = new AbortController().signal;
      const { facts } = this.#store;
      const own = walls === null ? null : wallTable(walls, choice.along, unitOf(facts, "velocity"));
      const table = own ?? (await (await this.#store.api.analysisTable(state.dataset, asked, signal)).text());
      const [head = ""] = /^.*/.exec(table) ?? [];
      const names = head.split(",").map((name) => withUnit(name, this.#unitOfColumn(name, state, choice)));
      const named = own ?? names.join(",") + table.slice(head.length);
      saveFile(`${this.#fileOf(answered)}.csv`, new Blob([named], { type: "text/csv" }));
    } catch (error) {
      this.request.fail(error);
    }
  }

  /** The unit of a column of a table of the service; empty if it has none. */
  #unitOfColumn(name: string, { field }: ViewState, { show, on }: AnalysisChoice): string {
    const { facts } = this.#store;
    const raised = (unit: string, power: number): string => {
      const product = new Map<string, number>();
      multiplyUnit(product, unit.replaceAll("²", "^2").replaceAll("³", "^3"), power);
      return unitText(product);
    };
    const unit = (of: string, power = 1) => raised(unitOfQuantity(facts, of), power);
    const length = (power: number) => raised(unitOf(facts, "length"), power);
    if (AXES.some((axis) => axis === name) || /^(?:length|centre|box)/.test(name)) return length(1);
    if (name === "volume") return length(3);
    if (name === "k") return length(-1);
    if (/^(?:from|to)2$/.test(name)) return unit("Q");
    if (name === "from" || name === "to")
      return unit(show === "conditional" ? on : show === "invariants" ? "R" : field);
    // The sum over E is that of the squares, halved.
    if (name === "E") return unit(show === "energy" ? "ux" : field, 2);
    const [, order] = /^(?:longitudinal|transverse)\.(\d)$/.exec(name) ?? [];
    if (order !== undefined) return unit("ux", Number(order));
    const [, property] = /^properties\.(.+)\.(?:mean|min|max)$/.exec(name) ?? [];
    if (property !== undefined) return unit(property);
    if (/^(?:mean|min|max)$/.test(name)) return unit(field);
    return name === "variance" ? unit(field, 2) : "";
  }

  #chart(label: string): TemplateResult {
    return html`<div
      class="plot"
      id="analysis-plot"
      role="img"
      aria-label=${label}
      ${ref((element) => {
        this.#element = (element as HTMLElement | undefined) ?? null;
      })}
    ></div>`;
  }

  #moments({ state, answer }: Answered): TemplateResult {
    const { moments, highest, lowest } = distributionOf(answer);
    const rms = Math.sqrt(moments.variance);
    // Rounding is what is left of a mean that vanishes.
    const mean = Math.abs(moments.mean) < ROUNDING * rms ? 0 : moments.mean;
    const unit = unitOfQuantity(this.#store.facts, state.field);
    const item = (id: string, name: string, text: unknown) =>
      html`<div><dt>${name}</dt><dd data-stat=${id}>${text}</dd></div>`;
    const place = (id: string, name: string, extreme: typeof highest) =>
      extreme === undefined
        ? nothing
        : item(id, name, html`${withMinus(shortText(extreme.value))} ${unit} at ${this.#goTo(id, extreme.at, answer)}`);
    return html`
      <dl>
        ${item("mean", "Mean", `${withMinus(shortText(mean))} ${unit}`)}
        ${item("rms", "rms of the deviations", `${shortText(rms)} ${unit}`)}
        ${item("skewness", "Skewness", withMinus(shortText(moments.skewness)))}
        ${item("flatness", "Flatness", shortText(moments.flatness))}
        ${place("lowest", "Smallest", lowest)} ${place("highest", "Largest", highest)}
        ${item("count", "Nodes", String(moments.count))}
        ${moments.missing > 0 ? item("missing", "Nodes without data", String(moments.missing)) : nothing}
      </dl>
    `;
  }

  #structures({ state, choice, answer }: Answered): TemplateResult {
    const { facts } = this.#store;
    const of = structuresOf(state, facts);
    const small = marksBySmall(of);
    const { count = 0, nodes = 0, threshold = 0, structures = [] } = answer;
    const limit = `${withMinus(shortText(threshold))} ${unitOfQuantity(facts, of)}`.trim();
    const heads = [
      "Nodes",
      withUnit("Volume", this.#unitOfColumn("volume", state, choice)),
      withUnit(small ? "Smallest value" : "Largest value", unitOfQuantity(facts, of)),
      "Centre",
    ];
    return html`
      <p>
        ${count} connected ${count === 1 ? "set" : "sets"} of nodes at which ${inSentence(quantityOf(of).title)}
        is ${small ? "below" : "above"} ${limit}, ${shortText(state.above)} times its root mean square${small ? ", negative" : ""}:
        ${nodes} nodes. ${count > LISTED ? `The largest ${LISTED}:` : nothing}
      </p>
      <div class="scroll">
        <table id="structures">
          <thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
          <tbody>
            ${structures.slice(0, LISTED).map((structure, i) => {
              const extreme = structure.properties[of]?.[small ? "min" : "max"] ?? Number.NaN;
              return html`<tr>
                <td>${structure.nodes}</td><td>${shortText(structure.volume)}</td><td>${withMinus(shortText(extreme))}</td>
                <td>${this.#goTo(`structure-${i}`, structure.centre, answer)}</td>
              </tr>`;
            })}
          </tbody>
        </table>
      </div>
    `;
  }

  /** A place that a click shows. */
  #goTo(id: string, at: NodePlace, answer: ShownAnswer): TemplateResult {
    return html`<button type="button" class="link" id="go-${id}" @click=${() => this.#show(at, answer.frames[0])}>
      (${withMinus(at.map(shortText).join(", "))})
    </button>`;
  }

  /** Moves probe, plane and time to a place of an analysed frame. */
  #show(at: NodePlace, frame: { readonly time: number } | undefined): void {
    const { facts, state } = this.#store;
    const probe = centreInside(at, facts);
    const time = withoutNoise(frame?.time ?? state.time);
    this.#slice.goTo({ probe, at: probe[AXES.indexOf(state.axis)] ?? state.at, time, window: null });
  }

  /** The button that goes to the strongest vortex; nothing if the data have none. */
  vortexButton(): TemplateResult | typeof nothing {
    if (!hasVortices(this.#store.facts)) return nothing;
    const { probe, time } = this.#store.state;
    const all = canSearchTimes(this.#store.facts) && this.#vortexAt?.probe === probe && this.#vortexAt.time === time;
    // While the search is slow, its progress has the place of the button, and moves nothing beside it.
    return html`<span class="search-slot">
      <button
        type="button"
        id="strongest-vortex"
        title=${all ? "The strongest vortex of all stored times" : nothing}
        ?data-covered=${this.#vortex.status.slow}
        ?disabled=${this.#vortex.status.running}
        @click=${() => this.#findVortex(all)}
      >${all ? "Strongest ever" : "Strongest vortex"}</button>
      ${statusBar("search", this.#vortex)}
    </span>`;
  }

  /** @param all whether the vortex is looked for in all stored times */
  #findVortex(all: boolean): void {
    // The frame that is on show stays until its vortex is found.
    this.#slice.player.stop();
    const { api, facts, state } = this.#store;
    void this.#vortex.run(async (signal) => {
      const answer = await api.analysis(facts.name, "statistics", strongestVortexCall(state, facts, all), signal);
      const [extremes] = answer.results as readonly {
        readonly highest: readonly { value: number; at: NodePlace; time: number }[];
      }[];
      const [strongest] = extremes?.highest ?? [];
      if (strongest === undefined) return answer;
      this.#show(strongest.at, strongest);
      this.#vortexAt = all ? null : this.#store.state;
      const place = withMinus(strongest.at.map(shortText).join(", "));
      tellCorrection(
        document.body,
        `The strongest vortex at t = ${shortText(strongest.time)}: Q = ${withMinus(shortText(strongest.value))} at (${place}), the highest ${all ? "of all stored times" : "of this time"}.`,
      );
      return answer;
    });
  }

  /** The curves of an answer; null if it has none. */
  #curvesOf(done: Omit<Answered, "curves">): PlottedCurves | null {
    const { show } = done.choice;
    const of = this.#brushed(done.choice, done.state);
    const edges = edgesOf(done);
    const [first, last] = [edges[0], edges.at(-1)];
    const ends = first === undefined || last === undefined ? {} : { ends: [first, last] as const };
    const brush = of === null ? {} : { ...ends, brush: (low: number, high: number) => this.#mark({ of, low, high }) };
    const brushed = (curves: PlottedCurves | null) => curves && { ...curves, ...brush };
    if (show === "distribution") return brushed(this.#densityOf(done));
    if (done.walls !== null) return wallCurves(done.walls, done.choice);
    if (show === "profile" || show === "conditional") return brushed(this.#meansOf(done));
    if (show === "increments") return this.#incrementsOf(done);
    return show === "energy" || show === "spectrum" ? this.#spectrumOf(done) : null;
  }

  #label(name: string): string {
    return withUnit(quantityOf(name).title, unitOfQuantity(this.#store.facts, name));
  }

  /** The density of values, and that of a Gaussian of the same mean and rms. */
  #densityOf({ state, answer }: Omit<Answered, "curves">): PlottedCurves | null {
    const { moments, histogram } = distributionOf(answer);
    const { edges, counts, weights, weight } = histogram;
    const width = (edges[1] ?? 0) - (edges[0] ?? 0);
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (!(width > 0) || all === 0) return null;
    const x = counts.map((_, i) => (edges[i] as number) + width / 2);
    const rms = Math.sqrt(moments.variance);
    const density = weights.map((inBin) => (inBin > 0 ? inBin / (weight * width) : Number.NaN));
    const gaussian = x.map((at) => Math.exp(-0.5 * ((at - moments.mean) / rms) ** 2) / (rms * Math.sqrt(2 * Math.PI)));
    // On a logarithmic axis a Gaussian falls without end: it is drawn as far as one node in a bin.
    const least = state.logDensity ? 1 / (all * width) : 0;
    return {
      x,
      curves: [
        { name: "density", y: density },
        { name: "Gaussian", y: gaussian.map((value) => (value >= least ? value : Number.NaN)), dashed: true },
      ],
      ...(state.logDensity ? { log: "up" as const } : {}),
      xLabel: this.#label(state.field),
      yLabel: "probability density",
      mark: null,
    };
  }

  /** A mean along an axis or in bins of a condition, and the same plus and minus the rms of the deviations. */
  #meansOf({ state, choice, answer }: Omit<Answered, "curves">): PlottedCurves | null {
    const result = answer.results?.[0] as {
      readonly mean: readonly (number | null)[];
      readonly variance: readonly (number | null)[];
      readonly edges?: readonly number[];
      readonly coordinates?: Readonly<Record<string, readonly number[]>>;
    };
    const { edges } = result;
    const x =
      edges === undefined
        ? (result.coordinates?.[choice.along] ?? [])
        : edges.slice(1).map((edge, i) => (edge + (edges[i] as number)) / 2);
    if (x.length < 2) return null;
    const mean = result.mean.map((value) => value ?? Number.NaN);
    const rms = result.variance.map((value) => Math.sqrt(value ?? Number.NaN));
    const profile = choice.show === "profile";
    return {
      x,
      curves: [
        { name: "mean", y: mean },
        { name: "mean + rms", y: mean.map((value, i) => value + (rms[i] as number)), dashed: true },
        { name: "mean − rms", y: mean.map((value, i) => value - (rms[i] as number)), dashed: true },
      ],
      xLabel: profile ? choice.along : this.#label(choice.on),
      yLabel: this.#label(state.field),
      mark: profile ? (state.probe[AXES.indexOf(choice.along)] ?? null) : null,
    };
  }

  /** Second-order structure functions over the separation, and the slope of the inertial range. */
  #incrementsOf({ choice, answer }: Omit<Answered, "curves">): PlottedCurves | null {
    const { separations = [] } = answer;
    if (separations.length < 2) return null;
    const x = separations.map(({ length }) => length);
    const order = (of: "longitudinal" | "transverse") => separations.map((row) => row[of]["2"] ?? Number.NaN);
    const along = order("longitudinal");
    const anchor = Math.floor(x.length / 2);
    const slope = x.map((r) => (along[anchor] as number) * (r / (x[anchor] as number)) ** (2 / 3));
    return {
      x,
      curves: [
        { name: "longitudinal", y: along },
        { name: "transverse", y: order("transverse") },
        { name: "slope 2/3", y: slope, dashed: true },
      ],
      xLabel: `separation along ${incrementAxis(this.#store.facts, choice.along).name}`,
      yLabel: "mean square of increments",
      mark: null,
      log: true,
    };
  }

  #spectrumOf({ state, choice, answer }: Omit<Answered, "curves">): PlottedCurves | null {
    const { k, E, at } = resolvedSpectrum(answer, (axis) => state.probe[AXES.indexOf(axis)] as number);
    if (k.length < 2) return null;
    const { nyquist = 0, scales: known = {}, kind } = answer;
    const energy = choice.show === "energy";
    const anchor = Math.min(3, k.length - 1);
    const middle = k[anchor] as number;
    const [low, high] = inertialRange(known) ?? [middle / GUIDE, middle * GUIDE];
    const above = GUIDE_ABOVE * (E[anchor] as number);
    const slope = k.map((wave) => (wave >= low && wave <= high ? above * (wave / middle) ** (-5 / 3) : Number.NaN));
    const where = kind === "shell" ? "" : `, ${at}`;
    const { kolmogorov } = known;
    return {
      x: k,
      curves: [
        { name: energy ? "E(k)" : `spectrum of ${inSentence(quantityOf(state.field).title)}`, y: E },
        ...(energy ? [{ name: "slope −5/3", y: slope, dashed: true }] : []),
      ],
      xLabel: `wavenumber k, up to Nyquist ${shortText(nyquist)}`,
      yLabel: `${energy ? "E(k)" : `spectrum of ${inSentence(quantityOf(state.field).title)}`}${where}`,
      mark: null,
      limits: [
        { x: nyquist, name: "Nyquist" },
        { x: (2 / 3) * nyquist, name: "2/3 rule" },
        ...(kolmogorov === undefined ? [] : [{ x: 0.1 / kolmogorov, name: "kη = 0.1" }]),
      ],
      log: true,
    };
  }
}

/** The edges of the bins of an answer; none if it has no bins. */
function edgesOf({ choice, answer }: Omit<Answered, "curves">): readonly number[] {
  if (choice.show === "distribution") return distributionOf(answer).histogram.edges;
  const [result] = (answer.results ?? []) as readonly { readonly edges?: readonly number[] }[];
  return (choice.show === "conditional" ? result?.edges : undefined) ?? [];
}

/** Names of the scales that come with the energy spectrum. */
const SCALES: Readonly<Record<string, string | TemplateResult>> = {
  energy: "Kinetic energy",
  rms: "u′",
  integral: "Integral length",
  taylor: "Taylor length",
  kolmogorov: "Kolmogorov length",
  dissipation: "Dissipation",
  Re_lambda: html`Reynolds number Re<sub>λ</sub>`,
  resolution: html`Resolution k<sub>max</sub> η`,
};

/** Analyses of the quantity shown. */
const OF_QUANTITY: readonly ShownAnalysis[] = ["distribution", "profile", "conditional", "spectrum"];

/** The marks of an energy spectrum in words. */
function marksText({ scales: known = {} }: ShownAnswer): string {
  const begins = known.kolmogorov === undefined ? "" : "kη = 0.1, about where dissipation begins; ";
  return `Dashed lines: ${begins}2/3 rule, up to where products are free of aliasing; Nyquist, the last wavenumber that the nodes resolve.`;
}
/** Half the extent of the short line of slope −5/3, as a factor, and its height over the curve. */
const GUIDE = 2;
const GUIDE_ABOVE = 2;

/** What the line of slope −5/3 means in a spectrum. */
function slopeText({ scales: known = {} }: ShownAnswer): string {
  return inertialRange(known) === null
    ? "The short line of slope −5/3 only guides the eye: there is no inertial range, in which it would be that of E(k)."
    : "The line of slope −5/3 spans the inertial range.";
}

/** The friction of a profile in wall units, and what the references are. */
function wallText(profile: WallProfile | null): TemplateResult | typeof nothing {
  if (profile === null) return nothing;
  const { friction, reynolds } = profile;
  return html`<p class="note" id="wall-scales">
    u<sub>τ</sub> = ${shortText(friction)}, Re<sub>τ</sub> = ${shortText(reynolds)}, from the mean shear at both walls.
    Dashed: u⁺ = y⁺, and the logarithmic law u⁺ = ln y⁺/${KARMAN} + ${OFFSET}.
  </p>`;
}

/** What a profile in wall units is scaled by, for the caption of a figure. */
function frictionText({ friction, reynolds }: WallProfile, unit: string): string {
  return `Friction velocity uτ = ${`${shortText(friction)} ${unit}`.trim()}, Reτ = ${shortText(reynolds)}, from the mean shear at both walls.`;
}

/** The halves of a profile in wall units, with the law of the wall. */
function wallCurves({ distance, fromFirst, fromLast }: WallProfile, { along }: AnalysisChoice): PlottedCurves {
  const { viscous, log } = lawOfTheWall(distance);
  return {
    x: distance,
    curves: [
      { name: "from the lower wall", y: fromFirst },
      { name: "from the upper wall", y: fromLast },
      { name: "u⁺ = y⁺", y: viscous, dashed: true },
      { name: "logarithmic law", y: log, dashed: true },
    ],
    xLabel: `${along}⁺, distance from the wall`,
    yLabel: "u⁺",
    mark: null,
    log: "across",
  };
}

/** Stresses of the fluctuations over the distance from the wall, in wall units. */
function stressCurves({ distance, stresses }: WallUnits, { along }: AnalysisChoice): PlottedCurves {
  return {
    x: distance,
    curves: stresses.map(({ name, values }) => ({ name, y: values })),
    xLabel: `${along}⁺, mean of both halves`,
    yLabel: "stress over uτ²",
    mark: null,
    log: "across",
  };
}

function scales({ scales: known = {} }: ShownAnswer): TemplateResult {
  const rows = Object.entries(SCALES).filter(([id]) => typeof known[id] === "number");
  return html`<dl>
    ${rows.map(([id, name]) => html`<div><dt>${name}</dt><dd data-scale=${id}>${shortText(known[id] as number)}</dd></div>`)}
  </dl>`;
}
