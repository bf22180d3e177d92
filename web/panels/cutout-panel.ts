/**
 * The cutout panel saves the stored nodes behind the window of the slice as HDF5 in the JHTDB format, with its XDMF.
 */
import { html, type TemplateResult } from "lit-html";
import { choose } from "../figures/inputs.js";
import { saveFile } from "../figures/save-file.js";
import { type Fitting, statusBar } from "../figures/status-bar.js";
import { axisOf, type DatasetFacts } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES, type AxisName, clampWindow, type PlaneWindow, sidesOf, wholePlane } from "../state/plane-geometry.js";
import type { ViewStore } from "../state/view-store.js";

const DEPTHS = ["whole", "plane"] as const;
type Depth = (typeof DEPTHS)[number];

/** First and last node along x, y and z, counted from 1. */
type NodeRanges = readonly (readonly [number, number])[];

function nodesIn(box: NodeRanges): number {
  return box.reduce((product, [from, to]) => product * (to - from + 1), 1);
}

/** The nodes of an axis from `low` to `high`, counted from 1, both ends included; at least one. */
function nodesBetween(facts: DatasetFacts, name: AxisName, low: number, high: number): readonly [number, number] {
  const { first, spacing, nodes, coordinates } = axisOf(facts, name);
  const places = coordinates ?? Array.from({ length: nodes }, (_, i) => first + i * spacing);
  const slack = 1e-6 * spacing;
  const from = places.findIndex((place) => place >= low - slack);
  const to = places.findLastIndex((place) => place <= high + slack);
  if (from >= 0 && to >= from) return [from + 1, to + 1];
  const nearest = places.reduce((best, place, i) => {
    return Math.abs(place - (low + high) / 2) < Math.abs(places[best] - (low + high) / 2) ? i : best;
  }, 0);
  return [nearest + 1, nearest + 1];
}

export class CutoutPanel {
  readonly request: LatestRequest<string>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  #depth: Depth = "whole";
  #fields = "all";

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.request = new LatestRequest(render);
  }

  view(): TemplateResult {
    const { facts, state } = this.#store;
    const box = this.#box();
    const fields = ["all", ...facts.fields.map(({ name }) => name)];
    const text = AXES.map((name, i) => `${name} ${box[i][0]} to ${box[i][1]}`).join(", ");
    const count = nodesIn(box);
    const depths = { whole: `all nodes along ${state.axis}`, plane: "the plane nearest to the slice" } as const;
    return html`
      <section class="panel cutout" aria-labelledby="cutout-title">
        <h2 id="cutout-title">Cutout</h2>
        <p class="note" id="cutout-note">
          The stored nodes in the window of the slice: ${text} (${count} nodes), frame ${this.#frame()}. HDF5 in the JHTDB
          format; the XDMF next to it opens the file in ParaView.
        </p>
        <div class="row">
          ${choose(
            "cutout-depth",
            "Depth",
            this.#depth,
            DEPTHS.map((value) => ({ value, text: depths[value] })),
            (depth) => {
              this.#depth = depth;
              this.#render();
            },
          )}
          ${choose("cutout-fields", "Fields", this.#fields, fields, (name) => {
            this.#fields = name;
            this.#render();
          })}
          <button type="button" id="cutout-h5" @click=${() => this.#save("h5")}>HDF5</button>
          <button type="button" id="cutout-xmf" @click=${() => this.#save("xmf")}>XDMF</button>
        </div>
        ${statusBar("cutout", this.request, undefined, (most) => this.#fitting(most))}
      </section>
    `;
  }

  /** The largest of the usual choices that the limits of the service admit: fewer fields, a plane, a smaller window. */
  #fitting(most: number | null): Fitting {
    const { facts } = this.#store;
    const points = most ?? facts.points;
    const [first] = facts.fields;
    const choices = [this.#depth, "plane" as const].flatMap((depth) =>
      [this.#fields, first.name].map((fields) => ({ depth, fields })),
    );
    const found = choices.find(({ depth, fields }) => this.#numbers(depth, fields) <= points);
    const { depth, fields } = found ?? { depth: "plane" as const, fields: first.name };
    const what = `${fields === "all" ? "all fields" : fields} ${depth === "plane" ? "on the plane" : "at all depths"}`;
    return {
      text: `${points} nodes fit: ${what}${found === undefined ? ", in a smaller window" : ""}.`,
      choose: () => {
        this.#depth = depth;
        this.#fields = fields;
        if (found === undefined) this.#store.set({ window: this.#windowOf(points) });
        this.#save("h5");
      },
    };
  }

  /** Nodes of a cutout, each once for every field. */
  #numbers(depth: Depth, fields: string): number {
    return nodesIn(this.#box(depth)) * (fields === "all" ? this.#store.facts.fields.length : 1);
  }

  /** A window about the probe that holds at most a number of nodes of the plane. */
  #windowOf(points: number): PlaneWindow {
    const { facts, state } = this.#store;
    const whole = wholePlane(facts, state.axis);
    const [across, up] = sidesOf(state.axis).map((name) => state.probe[AXES.indexOf(name)]);
    let window = state.window ?? whole;
    while (nodesIn(this.#box("plane", window)) > points) {
      const [width, height] = [0.9 * (window[1] - window[0]), 0.9 * (window[3] - window[2])];
      window = clampWindow(whole, across - width / 2, up - height / 2, width, height);
    }
    return window;
  }

  /** First and last node along x, y and z. */
  #box(depth: Depth = this.#depth, window: PlaneWindow | null = this.#store.state.window): NodeRanges {
    const { facts, state } = this.#store;
    const [left, right, bottom, top] = window ?? wholePlane(facts, state.axis);
    const [columns, rows] = sidesOf(state.axis);
    return AXES.map((name) => {
      if (name === columns) return nodesBetween(facts, name, left, right);
      if (name === rows) return nodesBetween(facts, name, bottom, top);
      if (depth === "whole") return [1, axisOf(facts, name).nodes];
      return nodesBetween(facts, name, state.at, state.at);
    });
  }

  /** The stored frame nearest to the time of the view, counted from 1. */
  #frame(): number {
    const { times } = this.#store.facts;
    const { time } = this.#store.state;
    const index = times.stored.reduce((best, value, i) => {
      return Math.abs(value - time) < Math.abs(times.stored[best] - time) ? i : best;
    }, 0);
    return times.guardBefore + index + 1;
  }

  #save(kind: "h5" | "xmf"): void {
    const { api, state } = this.#store;
    const box = this.#box();
    const query = {
      "region.start": box.map(([from]) => from - 1).join(","),
      "region.end": box.map(([, to]) => to).join(","),
      frames: `${this.#frame()},${this.#frame()}`,
      ...(this.#fields === "all" ? {} : { fields: this.#fields }),
    };
    void this.request.run(async (signal) => {
      const { name, data } = await api.cutout(state.dataset, query, kind, signal);
      saveFile(name, data);
      return name;
    });
  }
}
