/** docs/analysis.md lists the quantities by name; `vitest --update` writes the list again. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { presentName } from "../../src/analysis/names.js";
import { formulaText, MEASURES, QUANTITIES, type Quantity } from "../../src/shared/quantities.js";
import { withTables } from "../support/measured.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/analysis.md", import.meta.url));

const plain = (text: string): string => text.replaceAll("|", "\\|");

it("lists every quantity with its expression, its formula and its unit", async () => {
  const named = QUANTITIES.filter(({ name, method }) => method !== null && presentName(name) === undefined);
  const rows = named.map((quantity: Quantity) => {
    const { name, title, expression, measure } = quantity;
    const unit = Object.entries(MEASURES[measure]).map(([base, power]) => (power === 1 ? base : `${base}^${power}`));
    return `| \`${name}\` | ${plain(title)} | \`${expression}\` | ${plain(formulaText(quantity))} | ${unit.join(" ")} |\n`;
  });
  const head = "| Name | Quantity | Expression | Formula | Unit |\n|---|---|---|---|---|\n";
  const tables = new Map([["quantities", `${head}${rows.join("")}`]]);
  await expect(withTables(readFileSync(DOCUMENT, "utf8"), tables)).toMatchFileSnapshot(DOCUMENT);
});
