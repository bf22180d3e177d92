/**
 * The points panel asks an operation at the caller's own points, pasted or dropped as CSV or NumPy, and saves the
 * answer.
 */
import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { ALL_OPERATIONS, type Operation, type OperationName, operationOf } from "../../src/shared/operations.js";
import { unitOf } from "../../src/shared/quantities.js";
import { columnTable, valueText } from "../figures/data-table.js";
import { choose } from "../figures/inputs.js";
import { saveFile } from "../figures/save-file.js";
import { type Fitting, statusBar } from "../figures/status-bar.js";
import type { PointRecords } from "../state/api.js";
import { methodsOf, offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES } from "../state/plane-geometry.js";
import { readPointFile, readPointText } from "../state/point-files.js";
import type { PointQuery } from "../state/point-query.js";
import { unitOfComponent } from "../state/shown-quantity.js";
import type { ViewStore } from "../state/view-store.js";
import { toCsv, toJson } from "./table-files.js";

/** Rows of the answer that are shown; all of them are saved. */
const SHOWN_ROWS = 50;

/** Whether the panel can ask an operation: at points, of fields that the operation names itself. */
function isAsked({ family, fields }: Operation): boolean {
  return fields.length > 0 && (family === "points" || family === "filter" || family === "force");
}

async function readPoints(file: File): Promise<Float32Array> {
  return readPointFile(new Uint8Array(await file.arrayBuffer()));
}

interface AnsweredPoints {
  readonly query: PointQuery;
  readonly records: PointRecords;
}

export class PointsPanel {
  readonly request: LatestRequest<AnsweredPoints>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  #text = "";
  #points: Float32Array | null = null;
  #name = "";
  /** The file chosen last, which may still be read. */
  #reading: File | null = null;
  #problem = "";
  #operation: OperationName = "GetVelocity";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.request = new LatestRequest(render);
  }

  view(version: string): TemplateResult {
    const { facts } = this.#store;
    const names = ALL_OPERATIONS.filter((row) => isAsked(row) && offers(facts, row.name)).map(({ name }) => name);
    if (!names.includes(this.#operation)) this.#operation = names[0] ?? "GetVelocity";
    return html`
      <section class="panel points" aria-labelledby="points-title">
        <h2 id="points-title">Your own points</h2>
        <form
          class="row"
          aria-label="Your own points"
          @submit=${(event: Event) => {
            event.preventDefault();
            this.#ask();
          }}
          @dragover=${(event: DragEvent) => event.preventDefault()}
          @drop=${(event: DragEvent) => {
            event.preventDefault();
            void this.#read(event.dataTransfer?.files[0]);
          }}
        >
          ${this.#inputs()}
          ${choose("points-operation", "Operation", this.#operation, names, (name) => {
            this.#operation = name;
            this.#render();
          })}
          <button type="submit" class="primary" id="points-ask">Ask</button>
        </form>
        ${this.#points === null || this.#name === "" ? nothing : html`<p class="note">${this.#points.length / 3} points from ${this.#name}.</p>`}
        ${this.#problem === "" ? nothing : html`<p class="error" role="alert">${this.#problem}</p>`}
        ${statusBar("answer at your points", this.request, undefined, (most) => this.#fitting(most))}
        ${this.request.value === null ? nothing : this.#answer(this.request.value, version)}
      </section>
    `;
  }

  /** The fields for points: text, or a file. */
  #inputs(): TemplateResult {
    return html`
      <label for="points-text" class="wide">
        x, y, z of each point, one a line (or drop a .csv or .npy file here)
        <textarea
          id="points-text"
          rows="4"
          spellcheck="false"
          placeholder="1.0, 2.0, 3.0"
          .value=${live(this.#text)}
          @input=${(event: Event) => {
            this.#text = (event.target as HTMLTextAreaElement).value;
            this.#points = null;
          }}
        ></textarea>
      </label>
      <label for="points-file">
        File
        <input
          type="file"
          id="points-file"
          accept=".csv,.txt,.npy"
          @change=${(event: Event) => {
            const input = event.target as HTMLInputElement;
            void this.#read(input.files?.[0]);
            // The same file, edited, is a change then.
            input.value = "";
          }}
        />
      </label>
    `;
  }

  async #read(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    this.#problem = "";
    this.#reading = file;
    const read = await readPoints(file).catch((error: Error) => error);
    if (this.#reading !== file) return;
    if (read instanceof Error) {
      this.#points = null;
      this.#problem = `${file.name}: ${read.message}`;
    } else {
      this.#points = read;
      this.#text = "";
      this.#name = file.name;
    }
    this.#render();
  }

  /** The first points, as many as the limits of the service admit; null if that is none. */
  #fitting(most: number | null): Fitting | null {
    const points = most ?? this.#store.facts.points;
    if (points === 0) return null;
    return { text: `The first ${points} of your points fit.`, choose: () => this.#ask(points) };
  }

  #ask(most: number = Number.POSITIVE_INFINITY): void {
    this.#problem = "";
    try {
      const given = this.#points ?? readPointText(this.#text);
      const query = this.#query(given.length > 3 * most ? given.slice(0, 3 * most) : given);
      const { api } = this.#store;
      void this.request.run(async (signal) => ({ query, records: await api.records(query, signal) }));
    } catch (error) {
      this.#problem = (error as Error).message;
      this.#render();
    }
  }

  /** The operation with the options of the view; another method if it takes none of them. */
  #query(points: Float32Array): PointQuery {
    const { state, facts } = this.#store;
    const methods = methodsOf(facts, this.#operation);
    const method = [state.values, state.derivatives].find((name) => methods.includes(name)) ?? methods[0];
    const given: Readonly<Record<string, string | number | undefined>> = {
      time: state.time,
      spatialInterpolation: method,
      temporalInterpolation: state.temporal,
      filterlength: Math.fround(state.filter),
      nlayers: 1,
    };
    const names = operationOf(this.#operation).request.map((member) => member.name);
    const parameters = Object.fromEntries(
      names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const])),
    );
    return { operation: this.#operation, dataset: state.dataset, parameters, points };
  }

  #answer({ query, records }: AnsweredPoints, version: string): TemplateResult {
    const { components, values } = records;
    const { facts } = this.#store;
    const count = query.points.length / 3;
    const row = (i: number) => [
      ...query.points.subarray(3 * i, 3 * i + 3),
      ...values.subarray(i * components.length, (i + 1) * components.length),
    ];
    const columns = [
      ...AXES,
      ...components.map((name) => ((AXES as readonly string[]).includes(name) ? `value ${name}` : name)),
    ];
    const table = () => ({
      name: `${query.dataset}-${query.operation}-points`,
      columns,
      units: [
        ...AXES.map(() => unitOf(facts, "length")),
        ...components.map((name) => unitOfComponent(facts, query.operation, name)),
      ],
      rows: Array.from({ length: count }, (_, i) => row(i)),
      queries: [query],
      about: { dataset: this.#store.facts.name, digest: this.#store.facts.digest, units: this.#store.facts.units },
    });
    const more = count > SHOWN_ROWS ? `, the first ${SHOWN_ROWS} of ${count}` : "";
    const options = Object.entries(query.parameters).map(([name, value]) => `${name} ${value}`);
    return html`
      <div class="row">
        <button type="button" id="points-csv" @click=${() => saveFile(`${table().name}.csv`, new Blob([toCsv(table())]))}>CSV</button>
        <button
          type="button"
          id="points-json"
          @click=${() => saveFile(`${table().name}.json`, new Blob([toJson(table(), version)]))}
        >
          JSON
        </button>
      </div>
      <div class="scroll" tabindex="0" role="region" aria-label="Answer at your points" id="points-answer">
        ${columnTable(
          `${query.operation}${more}; ${options.join(", ")}`,
          columns,
          Array.from({ length: Math.min(SHOWN_ROWS, count) }, (_, i) => row(i).map(valueText)),
        )}
      </div>
    `;
  }
}
