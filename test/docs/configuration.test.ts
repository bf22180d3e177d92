/** docs/configuration.md lists the settings table; `vitest --update` writes it again. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ALL_SETTINGS, LIMIT_SETTINGS, type Setting } from "../../src/shared/config.js";
import { withTables } from "../support/measured.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url));
const LIMITS = new Set<Setting<unknown>>(Object.values(LIMIT_SETTINGS));

function row({ variable, flag, defaultValue, defaultText, meaning: about }: Setting<unknown>): string {
  const option = flag === null ? "" : `\`--${variable.toLowerCase().replaceAll("_", "-")} <${flag}>\``;
  return `| \`${variable}\` | ${option} | ${defaultText ?? `\`${defaultValue}\``} | ${about} |\n`;
}

it("lists every setting and limit with flag, default and meaning", async () => {
  const settings = ALL_SETTINGS.filter((setting) => !LIMITS.has(setting)).map(row);
  const limits = [...LIMITS].map((row) => `| \`${row.variable}\` | ${row.defaultValue} | ${row.meaning} |\n`);
  expect(settings.length).toBeGreaterThan(30);
  expect(limits.length).toBeGreaterThan(20);
  const tables = new Map([
    ["settings", `| Name | Flag | Default | Meaning |\n|---|---|---|---|\n${settings.join("")}`],
    ["limits", `| Name | Default | Bounds |\n|---|---|---|\n${limits.join("")}`],
  ]);
  await expect(withTables(readFileSync(DOCUMENT, "utf8"), tables)).toMatchFileSnapshot(DOCUMENT);
});
