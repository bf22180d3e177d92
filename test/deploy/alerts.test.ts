/**
 * Every alert can fire: by outcomes that the service has, and by figures that `alerts.yaml` lets Prometheus judge where
 * it is installed.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { SERVER_CODES } from "../../src/shared/errors.js";

const RULES = fileURLToPath(new URL("../../deploy/prometheus-rules.yaml", import.meta.url));
const CASES = fileURLToPath(new URL("alerts.yaml", import.meta.url));

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const rules = (parse(readFileSync(RULES, "utf8")) as Rules).groups.flatMap((group) => group.rules);

it("asks for outcomes that requests have", () => {
  const asked = rules.flatMap(({ expr }) => [...expr.matchAll(/outcome=~?"([^"]*)"/g)]);
  const outcomes = asked.flatMap(([, alternatives = ""]) => alternatives.split("|"));
  expect(outcomes.length).toBeGreaterThan(4);
  const known: readonly string[] = [...SERVER_CODES, "503", "5.."];
  expect(outcomes.filter((outcome) => !known.includes(outcome))).toEqual([]);
});

it("fires in one of the cases", () => {
  const cases = readFileSync(CASES, "utf8");
  expect(rules.filter(({ alert }) => !cases.includes(`alertname="${alert}"`))).toEqual([]);
});

it("fires as the cases say, and not where all is well, as Prometheus judges it", ({ skip }) => {
  skip(spawnSync("promtool", ["--version"]).error !== undefined, "promtool is not installed");
  const judged = spawnSync("promtool", ["test", "rules", CASES], { encoding: "utf8" });
  expect([judged.status, judged.stdout]).toEqual([0, expect.stringContaining("SUCCESS")]);
});
