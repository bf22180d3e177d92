/** The cutout panel saves the nodes in the window of the slice as a file in the JHTDB format. */
import { html, type TemplateResult } from "lit-html";
import type { SliceFigure } from "../figures/slice-figure.js";
import type { ViewStore } from "../state/view-store.js";

export class CutoutPanel {
  readonly #store: ViewStore;
  readonly #slice: SliceFigure;
  readonly #render: () => void;

  constructor(store: ViewStore, slice: SliceFigure, render: () => void) {
    this.#store = store;
    this.#slice = slice;
    this.#render = render;
  }

  view(): TemplateResult {
    void this.#store;
    void this.#slice;
    void this.#render;
    return html``;
  }
}
