/** The numbers behind a figure as a table, made when it is opened. */
import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";

const open = new Set<string>();

/** A closed box that holds the table; `rows` is only asked while it is open. */
export function dataTable(id: string, title: string, rows: () => TemplateResult): TemplateResult {
  return html`
    <details
      class="data"
      id=${id}
      @toggle=${(event: Event) => {
        const box = event.target as HTMLDetailsElement;
        if (box.open) open.add(id);
        else open.delete(id);
        box.dispatchEvent(new CustomEvent("table", { bubbles: true }));
      }}
    >
      <summary>Data table: ${title}</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Data table: ${title}">
        ${open.has(id) ? keyed(id, rows()) : nothing}
      </div>
    </details>
  `;
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
