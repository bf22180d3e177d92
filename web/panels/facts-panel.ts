/** The facts panel lists grid, times, fields, units and operations of the dataset. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortText, withMinus } from "../../src/float32/format.js";
import { columnTable } from "../figures/data-table.js";
import { titleWithSigns } from "../figures/formula.js";
import type { DatasetFacts } from "../state/facts.js";

export function factsPanel(facts: DatasetFacts): TemplateResult {
  const { times } = facts;
  const units = Object.entries(facts.units).filter(([, unit]) => unit !== "1");
  const row = (name: string, text: unknown) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`;
  return html`
    <section class="panel facts" aria-labelledby="facts-title">
      <h2 id="facts-title">Dataset ${facts.name}</h2>
      <p>${titleWithSigns(facts.title)}</p>
      <dl>
        ${facts.axes.map((axis) =>
          row(
            `Axis ${axis.name}`,
            `${axis.nodes} nodes from ${withMinus(shortText(axis.first))} to ${withMinus(shortText(axis.last))}, ${axis.periodic ? `period ${shortText(axis.length)}` : "not periodic"}`,
          ),
        )}
        ${row("Times", times.count === 1 ? `one, ${shortText(times.first)}` : `${times.count} from ${shortText(times.first)} to ${shortText(times.last)}`)}
        ${row("Fields", facts.fields.map((field) => field.name).join(", "))}
        ${row("Force", facts.forcing)}
        ${row("Units", units.length === 0 ? "dimensionless" : units.map(([name, unit]) => `${name} ${unit}`).join(", "))}
        ${facts.dnsStep === null ? nothing : row("Step of the simulation", shortText(facts.dnsStep))}
        ${row("Source", facts.source)}
        ${row("Digest", html`<code>${facts.digest.slice(0, 16)}…</code>`)}
        ${facts.warnings.map((warning) => row("Warning", warning))}
      </dl>
      <details class="data">
        <summary>What each operation accepts</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Operations">
          ${columnTable(
            "Operations on this dataset",
            ["operation", "answers", "spatial options"],
            facts.operations.map((operation) => [
              operation.name,
              operation.available ? operation.components.join(" ") : "not on this dataset",
              operation.spatialInterpolation.join(", ") || "none to choose",
            ]),
          )}
        </div>
      </details>
    </section>
  `;
}
