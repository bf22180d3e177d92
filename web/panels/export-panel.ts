/** The export panel saves the numbers of a figure and copies its query in five languages; both are made on request. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortText, withoutNoise } from "../../src/float32/format.js";
import { npyHeader } from "../../src/float32/npy.js";
import { operationOf, RECORDS } from "../../src/shared/operations.js";
import { formulaText, QUANTITIES, unitOf } from "../../src/shared/quantities.js";
import { chartPart } from "../figures/chart-part.js";
import { type CurveFigure, columnNames } from "../figures/curve-figure.js";
import {
  FIGURE_KINDS,
  type FigureContent,
  type FigureKind,
  figureDocument,
  fileName,
  rasterise,
  saveFigure,
} from "../figures/figure-file.js";
import { choose } from "../figures/inputs.js";
import { exitAt, type Launched, type ParticlesFigure } from "../figures/particles-figure.js";
import type { ShownPlane } from "../figures/plane-figure.js";
import { saveFile } from "../figures/save-file.js";
import type { SliceFigure } from "../figures/slice-figure.js";
import { commandLine } from "../recipes/command-line.js";
import { curl } from "../recipes/curl.js";
import { python } from "../recipes/python.js";
import type { Endpoint, Recipe } from "../recipes/recipe.js";
import { soapXml } from "../recipes/soap-xml.js";
import { addressOf, isServicePath } from "../state/api.js";
import { type Catalogue, type DatasetFacts, offers } from "../state/facts.js";
import { AXES, coordinateOf } from "../state/plane-geometry.js";
import {
  comparedView,
  describeOptions,
  optionText,
  planeQuery,
  pointQuery,
  probeComponents,
  probeQuery,
  shownFormula,
  shownName,
  shownTitle,
  shownUnit,
  showsQuantity,
  slicePathOf,
  stretchingOf,
} from "../state/queries.js";
import { stretchingQuestion } from "../state/questions.js";
import { quantityOf, quantityValues, unitOfQuantity } from "../state/shown-quantity.js";
import { LANGUAGES, SPEEDS, SUBJECTS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { copyText } from "./clipboard.js";
import type { MovieKind } from "./movie.js";
import type { ProbePanel, ShownProbe } from "./probe-panel.js";
import { toCsv, toJson, type ValueTable } from "./table-files.js";

/** The figures whose numbers can be saved. */
export interface Figures {
  readonly slice: SliceFigure;
  readonly probe: ProbePanel;
  readonly profile: CurveFigure;
  readonly series: CurveFigure;
  readonly particles: ParticlesFigure;
  /** Everything in the place of the picture. */
  readonly picture: () => FigureContent | null;
  /** Shows a time, and resolves when everything shows it. */
  readonly show: (time: number, signal: AbortSignal) => Promise<void>;
}

const WRITERS: Readonly<
  Record<ViewState["language"], { name: string; write: (recipe: Recipe, endpoint: Endpoint) => string }>
> = {
  python: { name: "Python", write: python },
  shell: { name: "Command line", write: commandLine },
  curl: { name: "curl", write: curl },
  soap: { name: "SOAP XML", write: soapXml },
};

const SUBJECT_NAMES: Readonly<Record<ViewState["subject"], string>> = {
  slice: "the slice",
  probe: "the probe",
  profile: "the line profile",
  series: "the time series",
  particles: "the particles",
};

/** Formats in which the service writes numbers, and the figures that it writes in each. */
interface FileFormat {
  readonly name: string;
  readonly ending: string;
  readonly type: string;
  readonly only: readonly ViewState["subject"][];
}
const FILE_FORMATS: readonly FileFormat[] = [
  { name: "npy", ending: "npy", type: "application/x-npy", only: ["slice", "probe", "profile", "series"] },
  { name: "NetCDF (HDF5)", ending: "nc", type: "application/netcdf", only: ["slice"] },
];

/** Characters shown; all of them are copied. */
const SHOWN = 6_000;

/** Pictures of a movie from one of the times that are played to the next, to choose from. */
const BETWEEN = ["1", "2", "4", "8"] as const;
/** Pictures of a movie at most, if others are between the times: all of them are kept until it is written. */
const MOST_PICTURES = 256;

/** Times with others between them, equally far apart, so that there are so many from one to the next. */
function framesBetween(times: readonly number[], count: number): number[] {
  return times.flatMap((time, i) => {
    const next = times[i + 1];
    if (next === undefined) return [time];
    return Array.from({ length: count }, (_, k) => withoutNoise(time + (k * (next - time)) / count));
  });
}

export class ExportPanel {
  readonly #store: ViewStore;
  readonly #figures: Figures;
  readonly #catalogue: Catalogue;
  readonly #render: () => void;
  #note = "";
  #open = false;
  /** Pictures of a movie from one time to the next. */
  #between: (typeof BETWEEN)[number] = "1";
  #film: { readonly part: number; readonly abort: AbortController } | null = null;

  constructor(store: ViewStore, figures: Figures, catalogue: Catalogue, render: () => void) {
    this.#store = store;
    this.#figures = figures;
    this.#catalogue = catalogue;
    this.#render = render;
  }

  view(): TemplateResult {
    const { state } = this.#store;
    const known = this.#isKnown();
    return html`
      <section class="panel request" aria-labelledby="request-title">
        <h2 id="request-title">Export</h2>
        <div class="row">
          ${choose(
            "subject",
            "Of",
            state.subject,
            SUBJECTS.map((value) => ({ value, text: SUBJECT_NAMES[value] })),
            (subject) => this.#store.set({ subject }),
          )}
          <span role="status" class="note">${this.#note}</span>
        </div>
        <div class="row" role="group" aria-label="The numbers as">
          <span class="note">The numbers as</span>
          <button type="button" id="save-csv" ?disabled=${!known} @click=${() => this.#save("csv")}>CSV</button>
          <button type="button" id="save-json" ?disabled=${!known} @click=${() => this.#save("json")}>JSON</button>
          ${FILE_FORMATS.filter(({ only }) => only.includes(state.subject)).map(
            (format) =>
              html`<button type="button" id="save-${format.ending}" ?disabled=${!known} @click=${() => void this.#saveFile(format)}>${format.name}</button>`,
          )}
        </div>
        ${this.#figureButtons()} ${this.#movieControls()}
        <div class="row">
          ${choose(
            "language",
            "The query as code",
            state.language,
            LANGUAGES.map((value) => ({ value, text: WRITERS[value].name })),
            (language) => this.#store.set({ language }),
          )}
          <button type="button" id="copy-call" ?disabled=${!known || this.isFilming} @click=${() => this.#copy()}>Copy the query</button>
        </div>
        <details
          class="data"
          id="call-box"
          @toggle=${(event: Event) => {
            this.#open = (event.target as HTMLDetailsElement).open;
            this.#render();
          }}
        >
          <summary>Show the query</summary>
          ${this.#open ? this.#preview() : nothing}
        </details>
      </section>
    `;
  }

  /** Buttons that save the picture, or a chart, as a figure. */
  #figureButtons(): TemplateResult | typeof nothing {
    const { subject } = this.#store.state;
    if (subject === "probe" || subject === "particles") return nothing;
    const save = (kind: FigureKind) => {
      const content = subject === "slice" ? this.#figures.picture() : this.#chartContent(subject);
      void saveFigure(kind, content, this.#store, this.#catalogue.version);
    };
    const what = subject === "slice" ? "The picture as" : "The chart as";
    return html`<div class="row" role="group" aria-label=${what}>
      <span class="note">${what}</span>
      ${FIGURE_KINDS.map((kind) => html`<button type="button" id="figure-${kind}" ?disabled=${!this.#isKnown()} @click=${() => save(kind)}>${kind.toUpperCase()}</button>`)}
    </div>`;
  }

  /** A chart as a figure; null before there are curves. */
  #chartContent(subject: "profile" | "series"): FigureContent | null {
    const figure = this.#figures[subject];
    const curves = figure.plotted;
    const shown = figure.request.value;
    if (curves === null || shown === null) return null;
    return {
      name: this.#table()?.name ?? subject,
      parts: [chartPart(curves)],
      bars: [],
      title: figure.source.title(shown.state),
      notes: [noteOf(shown.state)],
    };
  }

  /** Whether the page runs through the times of a movie, so that no link tells what the caller has set. */
  get isFilming(): boolean {
    return this.#film !== null;
  }

  /** Buttons that film the picture over the times that are played. */
  #movieControls(): TemplateResult | typeof nothing {
    const { slice } = this.#figures;
    if (slice.frames.length < 2) return nothing;
    const film = this.#film;
    if (film !== null) {
      return html`<p class="slow">
        <progress id="movie-progress" max="1" value=${film.part} aria-label="The movie is being made"></progress>
        <button type="button" id="movie-cancel" @click=${() => film.abort.abort(new Error("Cancelled."))}>Cancel the movie</button>
      </p>`;
    }
    const names = { webm: "WebM", zip: "PNG files (zip)" } as const;
    const { speed } = this.#store.state;
    const pictures = this.#offered().map((value) => {
      const count = this.#count(value);
      return { value, text: value === "1" ? `${count}, one of each time` : `${count}, ${value} from time to time` };
    });
    const between = this.#chosen();
    const seconds = this.#count(between) / Number(speed);
    return html`<div class="row" role="group" aria-label="Movie">
      <span class="note">A movie of ${shortText(seconds)} s:</span>
      ${choose("movie-pictures", "Pictures", between, pictures, (next) => {
        this.#between = next;
        this.#render();
      })}
      ${choose("movie-speed", "Pictures per second", speed, SPEEDS, (next) => this.#store.set({ speed: next }))}
      ${(["webm", "zip"] as const).map((kind) => html`<button type="button" id="movie-${kind}" @click=${() => void this.#makeMovie(kind)}>${names[kind]}</button>`)}
    </div>`;
  }

  /** Pictures of a movie with as many from one time to the next as chosen. */
  #count(between: string): number {
    return (this.#figures.slice.frames.length - 1) * Number(between) + 1;
  }

  /** Pictures from one time to the next that do not make too many for the times that are played. */
  #offered(): (typeof BETWEEN)[number][] {
    return BETWEEN.filter((value) => value === "1" || this.#count(value) <= MOST_PICTURES);
  }

  /** What was chosen, as long as it is offered. */
  #chosen(): (typeof BETWEEN)[number] {
    return this.#offered().includes(this.#between) ? this.#between : "1";
  }

  async #makeMovie(kind: MovieKind): Promise<void> {
    const { slice, picture, show } = this.#figures;
    const before = this.#store.state.time;
    slice.player.stop();
    const abort = new AbortController();
    this.#film = { part: 0, abort };
    this.#note = "";
    this.#render();
    const tell = (part: number) => {
      this.#film = { part, abort };
      this.#render();
    };
    try {
      const { film } = await import("./movie.js");
      const capture = async () => {
        const content = picture();
        if (content === null) throw new Error("There is no picture to film.");
        return rasterise(figureDocument(content, this.#store, this.#catalogue.version), 1);
      };
      const frames = framesBetween(slice.frames, Number(this.#chosen()));
      // The name of a picture ends with its time; that of the movie, with those that it runs through.
      const ends = [frames[0], frames.at(-1)].map((time) => Number(time?.toPrecision(5)));
      const name = (slice.content()?.name ?? this.#store.state.dataset).replace(/-t[\d.e+-]+$/, `-t${ends.join("-")}`);
      await film(kind, { name, frames, speed: slice.player.speed, show, capture }, tell, abort.signal);
    } catch (error) {
      this.#note = error instanceof Error ? error.message : String(error);
    }
    this.#film = null;
    this.#store.set({ time: before });
  }

  /** Saves the numbers as the service writes them; differences are written here, because they are computed here. */
  async #saveFile({ ending, type }: FileFormat): Promise<void> {
    const { api, facts } = this.#store;
    const name = `${this.#table()?.name ?? this.#store.state.dataset}.${ending}`;
    const { signal } = new AbortController();
    const { slice } = this.#figures;
    try {
      const shown = this.#store.state.subject === "slice" ? slice.shown : null;
      if (shown !== null && !showsQuantity(shown.state)) {
        saveFile(name, await differenceFile(ending, shown, facts, this.#store.link));
        return;
      }
      const path = shown === null ? "" : slicePathOf(shown.state, facts);
      const query = shown === null ? this.#recipe()?.query : planeQuery(shown.state, shown.slice);
      if (path !== "" && isServicePath(path)) saveFile(name, await api.sliceFile(path, type, signal));
      else if (query !== undefined) saveFile(name, await api.recordsFile(query, type, signal));
    } catch (error) {
      this.#note = error instanceof Error ? error.message : String(error);
      this.#render();
    }
  }

  #preview(): TemplateResult {
    const text = this.#text();
    if (text === null) return html`<p>Nothing to show yet.</p>`;
    const more = text.length > SHOWN ? "\n… (copy for all)" : "";
    return html`<pre tabindex="0" role="region" aria-label="The query" id="call">${text.slice(0, SHOWN)}${more}</pre>`;
  }

  async #copy(): Promise<void> {
    const text = this.#text();
    if (text === null) return;
    this.#note = (await copyText(text)) ? "Copied." : "The browser refused to copy.";
    this.#render();
  }

  #save(kind: "csv" | "json"): void {
    const table = this.#table();
    if (table === null) return;
    const text = kind === "csv" ? toCsv(table) : toJson(table, this.#catalogue.version);
    saveFile(`${table.name}.${kind}`, new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" }));
  }

  /** Whether the figure that is chosen shows something. */
  #isKnown(): boolean {
    const { slice, probe, profile, series, particles } = this.#figures;
    const shown: Readonly<Record<ViewState["subject"], unknown>> = {
      slice: slice.shown,
      probe: probe.request.value,
      profile: profile.request.value,
      series: series.request.value,
      particles: particles.launched,
    };
    return shown[this.#store.state.subject] !== null;
  }

  /** The query as text, or null while there is none. */
  #text(): string | null {
    const { api, facts, state } = this.#store;
    const shown = state.subject === "slice" ? this.#figures.slice.shown : null;
    const flow = shown === null ? null : stretchingOf(shown.state, facts);
    if (flow !== null) {
      const { call, members } = stretchingQuestion(flow.body);
      return `POST ${addressOf(`api/datasets/${flow.dataset}/${call}`)}\n${JSON.stringify(members)}`;
    }
    const { service: soap, namespace } = this.#catalogue;
    const endpoint = { base: addressOf(""), soap, namespace, token: api.hasToken };
    const texts = this.#recipes().map((recipe) => WRITERS[state.language].write(recipe, endpoint));
    return texts.length === 0 ? null : texts.join("\n");
  }

  /** The recipes of the figure that is chosen: none before it shows something, two for a difference. */
  #recipes(): readonly Recipe[] {
    const { state, facts } = this.#store;
    const { slice } = this.#figures;
    if (state.subject === "slice") return slice.shown === null ? [] : sliceRecipes(slice.shown, facts, slice);
    const recipe = this.#recipe();
    return recipe === null ? [] : [recipe];
  }

  #recipe(): Recipe | null {
    const { facts, state } = this.#store;
    const { probe, profile, series, particles } = this.#figures;
    if (state.subject === "particles") {
      const { launched } = particles;
      return launched === null ? null : particleRecipe(launched);
    }
    if (state.subject === "probe") {
      const shown = probe.request.value;
      if (shown === null) return null;
      const asked = { ...shown.state, field: state.field };
      if (offers(facts, quantityOf(state.field).operation)) return { query: pointQuery(asked), note: noteOf(asked) };
      const [[call, methods] = []] = shown.found;
      const [method = asked.values] = methods?.keys() ?? [];
      return call === undefined ? null : { query: probeQuery(asked, call, method) };
    }
    const curves = (state.subject === "profile" ? profile : series).request.value;
    if (curves === null) return null;
    const own = curves.queries.find(({ parameters }) => parameters.time === curves.state.time);
    return { query: own ?? curves.queries[0], note: noteOf(curves.state) };
  }

  /** The numbers shown, or null while there are none. */
  #table(): ValueTable | null {
    const { state, facts } = this.#store;
    const { slice, probe, profile, series, particles } = this.#figures;
    const about = { dataset: facts.name, digest: facts.digest, units: facts.units };
    if (state.subject === "slice") {
      const { shown } = slice;
      if (shown === null) return null;
      return { ...sliceTable(shown, facts), about: { ...about, formula: shownFormula(shown.state) } };
    }
    if (state.subject === "probe") return probe.request.value && { ...probeTable(probe.request.value, facts), about };
    if (state.subject === "particles")
      return particles.launched && { ...particleTable(particles.launched, facts), about };
    const figure = state.subject === "profile" ? profile : series;
    const curves = figure.request.value;
    if (curves === null) return null;
    const place = state.subject === "profile" ? `${curves.state.line}-t${shortText(curves.state.time)}` : "probe";
    return {
      name: nameOf(curves.state, state.subject, place),
      columns: [figure.source.xName(curves.state), ...columnNames(curves, curves.state.field)],
      units: [
        unitOf(facts, state.subject === "series" ? "time" : "length"),
        ...curves.curves.map(() => unitOfQuantity(facts, curves.state.field)),
      ],
      rows: curves.x.map((x, i) => [x, ...curves.curves.map(({ y }) => y[i])]),
      queries: curves.queries,
      about: { ...about, probe: curves.state.probe, formula: noteOf(curves.state) },
    };
  }
}

/** The numbers of a difference or of stretching as NumPy or NetCDF, in the rows and columns of slices. */
async function differenceFile(
  ending: FileFormat["ending"],
  { slice, state }: ShownPlane,
  facts: DatasetFacts,
  link: string,
): Promise<Blob> {
  const { rows, columns } = slice;
  const values = slice.values as Float32Array<ArrayBuffer>;
  if (ending === "npy") return new Blob([npyHeader([rows.count, columns.count]), values]);
  const { writeNetcdf } = await import("./netcdf-file.js");
  const stated = (units: string) => (units === "" ? {} : { units });
  const places = [rows, columns].map((along) => ({
    name: along.axis,
    over: [along.axis],
    values: Float64Array.from({ length: along.count }, (_, i) => coordinateOf(along, i)),
    attributes: { ...stated(unitOf(facts, "length")), axis: along.axis.toUpperCase() },
  }));
  const single = (name: string, value: number, attributes: Readonly<Record<string, string>>) => {
    return { name, over: [], values: Float64Array.of(value), attributes };
  };
  const about = {
    title: `${shownTitle(state)}, ${facts.name}`,
    history: `${describeOptions(state, facts)}; digest ${facts.digest}`,
    references: link,
    Conventions: "CF-1.11",
  };
  const file = writeNetcdf(
    [
      ...places,
      single(state.axis, state.at, stated(unitOf(facts, "length"))),
      single("time", state.time, stated(unitOf(facts, "time"))),
      {
        // A name of NetCDF begins with a letter.
        name: shownName(state).replaceAll(/[()]/g, ""),
        over: [rows.axis, columns.axis],
        values,
        attributes: { long_name: shownTitle(state), ...stated(shownUnit(state, facts)) },
      },
    ],
    about,
  );
  return new Blob([file as Uint8Array<ArrayBuffer>], { type: "application/netcdf" });
}

/** The name of a file: dataset, figure, quantity and place. */
function nameOf({ dataset, field }: ViewState, figure: string, place: string): string {
  return `${dataset}-${figure}-${field}-${place}`.replaceAll(/[^\w.-]/g, "_");
}

/** The quantity in the components of the operation behind it. */
function noteOf(state: ViewState): string {
  const { name, formula, operation, field } = quantityOf(state.field);
  const record = field === undefined ? RECORDS[operationOf(operation).result].join(" ") : `field=${field}`;
  return `${name} = ${formula}, from ${operation} (${record}); ${optionText(state)}`;
}

/** The recipes of a plane: one, or two whose answers are subtracted. The service draws no picture of a difference. */
function sliceRecipes({ slice, state }: ShownPlane, facts: DatasetFacts, { scale }: SliceFigure): readonly Recipe[] {
  const compared = comparedView(state);
  const [low, high] = scale.range;
  const reach = Math.max(Math.abs(low), Math.abs(high));
  const ends = scale.centred ? [-reach, reach] : [low, high];
  const range = low < high ? `&range=${ends.map(Math.fround).join(",")}` : "";
  const parts = compared === null ? [state] : [state, compared];
  return parts.map((view, i) => ({
    query: planeQuery(view, slice),
    ...(isServicePath(slicePathOf(view, facts)) ? { get: slicePathOf(view, facts) } : {}),
    ...(compared === null ? { picture: `&map=${scale.name}${range}` } : {}),
    note: compared === null ? noteOf(view) : `${i + 1} of 2, ${shownName(state)} = 1 minus 2: ${noteOf(view)}`,
  }));
}

function particleRecipe({ query, every, stops, integrator }: Launched): Recipe {
  const note = "under /api, particles stop when they leave through open faces; SOAP answers with a fault instead";
  return { query, every, stops, integrator, ...(stops ? { note } : {}) };
}

/** The unit of length for each axis. */
function lengths(facts: DatasetFacts): readonly string[] {
  return AXES.map(() => unitOf(facts, "length"));
}

function sliceTable(shown: ShownPlane, facts: DatasetFacts): ValueTable {
  const { slice, state } = shown;
  const compared = comparedView(state);
  const views = compared === null ? [state] : [state, compared];
  const asked = stretchingOf(state, facts);
  const flow = asked && { operation: "flow-map", dataset: asked.dataset, parameters: asked.body };
  const { rows, columns, values } = slice;
  const table = Array.from(values, (value, i) => {
    const row = Math.floor(i / columns.count);
    const place: Record<string, number> = {
      [state.axis]: state.at,
      [rows.axis]: coordinateOf(rows, row),
      [columns.axis]: coordinateOf(columns, i - row * columns.count),
    };
    return [...AXES.map((axis) => place[axis]), value];
  });
  return {
    name: fileName(shown),
    columns: [...AXES, shownName(state)],
    units: [...lengths(facts), shownUnit(state, facts)],
    rows: table,
    queries: flow === null ? views.map((view) => planeQuery(view, slice)) : [flow],
  };
}

function particleTable({ query, trajectories, stops, quantity }: Launched, facts: DatasetFacts): ValueTable {
  const { times, particles, positions, values } = trajectories;
  const rows = Array.from({ length: particles * times.length }, (_, i) => [
    Math.floor(i / times.length),
    withoutNoise(times[i % times.length]),
    ...positions.slice(3 * i, 3 * i + 3),
    ...(values === null ? [] : [values[i] as number]),
    ...(stops ? [exitAt(trajectories, Math.floor(i / times.length), i % times.length)] : []),
  ]);
  const columns = ["particle", "time", ...AXES, ...(values === null ? [] : [quantity]), ...(stops ? ["exit"] : [])];
  const time = unitOf(facts, "time");
  const along = values === null ? [] : [unitOfQuantity(facts, quantity)];
  const units = ["", time, ...lengths(facts), ...along, time];
  return { name: `${query.dataset}-particles`, columns, units, rows, queries: [query] };
}

/** Components and derived quantities at the probe, each with its point, time, unit and formula. */
function probeTable({ found, state }: ShownProbe, facts: DatasetFacts): ValueTable {
  const place = [...state.probe, state.time];
  const rows: (number | string)[][] = [];
  for (const [call, methods] of found) {
    const derived = QUANTITIES.filter((quantity) => quantity.operation === call);
    for (const [method, values] of methods) {
      if (typeof values === "string") continue;
      for (const [i, name] of probeComponents(call, values.length).entries()) {
        rows.push([call, method, name, values[i], "", ...place, name, facts.digest]);
      }
      for (const quantity of derived) {
        const { name, measure } = quantity;
        rows.push([
          call,
          method,
          name,
          Math.fround(quantityValues(name, values, values.length)[0]),
          unitOf(facts, measure),
          ...place,
          formulaText(quantity),
          facts.digest,
        ]);
      }
    }
  }
  const queries = [...found].flatMap(([call, methods]) =>
    [...methods.keys()].map((method) => probeQuery(state, call, method)),
  );
  return {
    name: `${state.dataset}-probe-${state.probe.map(shortText).join("_")}-t${shortText(state.time)}`,
    columns: ["operation", "method", "component", "value", "unit", ...AXES, "time", "formula", "digest"],
    units: ["", "", "", "", "", ...lengths(facts), unitOf(facts, "time")],
    rows,
    queries,
  };
}
