/** README.md: its tables say what the code says. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LIMITS, type LimitName, limitVariable, loadConfig, SETTINGS } from "../../src/config.js";
import { DERIVATIVES, INTERPOLATIONS, OPERATIONS } from "../../src/operations.js";

const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** Rows of the table under a heading, as lists of cells; `skip` tables of that section come before it. */
function table(heading: string, skip = 0): string[][] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const tables = section.match(/(^\|.*\n)+/gm) ?? [];
  const rows = (tables[skip] ?? "").trimEnd().split("\n").slice(2);
  return rows.map((row) => row.slice(2, -2).split(" | "));
}

const names = (cell: string | undefined) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map((name) => name[1] as string);

describe("README", () => {
  it("has exactly the two set-up commands", () => {
    const blocks = [...text.matchAll(/```\n(npm ci[^`]*)```/g)].map((block) => block[1]);
    expect(blocks).toEqual(["npm ci && npm start\n", "npm ci && npm test\n"]);
  });

  it("shows the same numbers from Python as from curl", () => {
    const python = /```python\n[^`]*```\n```text\n([^`]*)```/.exec(text)?.[1]?.trim();
    const [, x, y, z] = /<Vector3><x>(.*?)<\/x><y>(.*?)<\/y><z>(.*?)<\/z><\/Vector3>/.exec(text) ?? [];
    expect(python).toBe(`${x} ${y} ${z}`);
  });

  it("lists every operation with the options it takes", () => {
    const rows = table("Operations");
    expect(rows.map((row) => names(row[0])[0])).toEqual(OPERATIONS.map(({ name }) => name));
    for (const [i, { spatial }] of OPERATIONS.entries()) {
      const options = names(rows[i]?.[2]);
      if (spatial === INTERPOLATIONS || spatial === DERIVATIVES)
        expect(options).toEqual(expect.arrayContaining([...spatial]));
    }
  });

  it("lists every setting and no other", () => {
    const listed = table("Configuration").flatMap((row) => names(row[0]));
    expect(listed).toEqual(Object.keys(SETTINGS));
  });

  it("states the settings' plain defaults", () => {
    const config = loadConfig({}, {});
    const stated = new Map(table("Configuration").map((row) => [names(row[0])[0], names(row[1])[0]]));
    expect(stated.get("HOST")).toBe(config.host);
    expect(stated.get("PORT")).toBe(String(config.port));
    expect(stated.get("NAMESPACE")).toBe(config.namespace);
    expect(stated.get("LOG_LEVEL")).toBe(config.logLevel);
    expect(config.state.endsWith(stated.get("STATE") as string)).toBe(true);
    expect(config.events.db.endsWith(stated.get("EVENTS_DB") as string)).toBe(true);
    expect(stated.get("FD8_LEGACY")).toBe(String(config.fd8Legacy));
    expect(stated.get("HTTP_GZIP")).toBe(config.gzip);
    expect([config.baseUrl, config.tokens, config.tls, config.events.zone, config.events.site]).toEqual(
      Array(5).fill(null),
    );
  });

  it("lists every limit with its default", () => {
    const rows = table("Configuration", 1);
    expect(rows.map((row) => names(row[0])[0])).toEqual((Object.keys(LIMITS) as LimitName[]).map(limitVariable));
    expect(rows.map((row) => Number.parseInt(row[1] as string, 10))).toEqual(Object.values(LIMITS));
  });
});
