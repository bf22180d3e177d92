/**
 * docs/operating.md lists the figures of /metrics, and alerts and dashboard use only those; `vitest --update` writes
 * the list again.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { withTables } from "../support/measured.js";
import { useService } from "../support/soap-service.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/operating.md", import.meta.url));
const DEPLOY = new URL("../../deploy/", import.meta.url);
const service = useService();

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

/** Name and meaning of every figure, from the HELP lines. */
async function figures(): Promise<Map<string, string>> {
  const text = await (await fetch(new URL("/metrics", service.url))).text();
  return new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name as string, help as string]));
}

/** The figures that an expression asks for, without the suffixes of histograms. */
const asked = (expr: string) =>
  [...expr.matchAll(/\bfieldprobe_\w+/g)].map(([name]) => name.replace(/_seconds_(bucket|sum|count)$/, "_seconds"));

const { groups } = parse(readFileSync(new URL("prometheus-rules.yaml", DEPLOY), "utf8")) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

it("lists every figure of /metrics", async () => {
  const known = await figures();
  expect(known.size).toBeGreaterThan(20);
  const rows = [...known].map(([name, help]) => `| \`${name}\` | ${help} |\n`).join("");
  const tables = new Map([["metrics", `| Figure | Means |\n|---|---|\n${rows}`]]);
  await expect(withTables(readFileSync(DOCUMENT, "utf8"), tables)).toMatchFileSnapshot(DOCUMENT);
});

it("says what to do about each alert, and alerts ask for figures that there are", async () => {
  const known = await figures();
  const text = readFileSync(DOCUMENT, "utf8");
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    expect(text).toContain(`\`${alert}\``);
    expect(asked(expr).filter((name) => !known.has(name))).toEqual([]);
    expect(annotations.summary).not.toBe("");
  }
});

it("draws figures that there are", async () => {
  const known = await figures();
  const { panels } = JSON.parse(readFileSync(new URL("grafana.json", DEPLOY), "utf8")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  expect(panels.length).toBeGreaterThan(8);
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      expect(asked(expr).length, title).toBeGreaterThan(0);
      expect(
        asked(expr).filter((name) => !known.has(name)),
        title,
      ).toEqual([]);
    }
});
