/** A data table shows the numbers behind a figure; its rows are made when it is opened. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortestFloat32 } from "../../src/float32/format.js";

/** A value of a table; a missing one in words. */
export function valueText(value: number): string {
  return Number.isNaN(value) ? "no data" : shortestFloat32(value);
}

export class DataTable {
  readonly #id: string;
  #open = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** A closed box that holds the table; `rows` is only called while it is open. */
  view(title: string, rows: () => TemplateResult): TemplateResult {
    return html`
      <details
        class="data"
        id=${this.#id}
        @toggle=${(event: Event) => {
          const box = event.target as HTMLDetailsElement;
          this.#open = box.open;
          box.dispatchEvent(new CustomEvent("table", { bubbles: true }));
        }}
      >
        <summary>Data table: ${title}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Data table: ${title}">
          ${this.#open ? rows() : nothing}
        </div>
      </details>
    `;
  }
}

/** A plain table of columns. */
export function columnTable(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): TemplateResult {
  return html`
    <table>
      <caption>${caption}</caption>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>${row.map((text, i) => (i === 0 ? html`<th scope="row">${text}</th>` : html`<td>${text}</td>`))}</tr>`,
        )}
      </tbody>
    </table>
  `;
}
