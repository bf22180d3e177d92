/** The slice table lists a coarse sample of a plane for readers who cannot see the picture, its top row first. */
import { html, type TemplateResult } from "lit-html";
import { shortText } from "../../src/float32/format.js";
import type { Slice } from "../state/api.js";
import { coordinateOf } from "../state/plane-geometry.js";

const TABLE_SIDE = 12;

/** Texts of values with as many decimals as four digits of the largest one need, so that they align in columns. */
export function alignedText(values: Float32Array): (value: number) => string {
  const reach = values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
  const decimals = 3 - Math.floor(Math.log10(reach || 1));
  const plain = reach === 0 || (decimals >= -2 && decimals <= 7);
  return (value) => {
    if (!Number.isFinite(value)) return shortText(value);
    const text = plain ? value.toFixed(Math.max(0, decimals)) : value.toExponential(3);
    return (Number(text) === 0 ? text.replace("-", "") : text).replaceAll("-", "−");
  };
}

/** At most 12 by 12 values of the plane. */
export function sliceTable(slice: Slice | null): TemplateResult {
  if (slice === null) return html`<p>No values yet.</p>`;
  const pick = (count: number) => {
    const length = Math.min(TABLE_SIDE, count);
    return Array.from({ length }, (_, i) => Math.floor((i * count) / length));
  };
  const text = alignedText(slice.values);
  const columns = pick(slice.columns.count);
  const rows = pick(slice.rows.count).reverse();
  return html`
      <table>
        <caption>
          Every ${Math.ceil(slice.columns.count / TABLE_SIDE)}th sample; export as CSV for all.
        </caption>
        <thead>
          <tr>
            <th scope="col">${slice.rows.axis} \\ ${slice.columns.axis}</th>
            ${columns.map((column) => html`<th scope="col">${shortText(coordinateOf(slice.columns, column))}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) => html`
              <tr>
                <th scope="row">${shortText(coordinateOf(slice.rows, row))}</th>
                ${columns.map((column) => html`<td>${text(slice.values[row * slice.columns.count + column] as number)}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    `;
}
