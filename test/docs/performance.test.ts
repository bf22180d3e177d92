/** Figures of docs/performance.md name their command and their day, and a report rewrites the lines it measured. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { figureLines, machineDays, rewritePage, written } from "../../bench/figures-page.js";
import type { Row } from "../../bench/row.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/performance.md"), "utf8");

describe("docs/performance.md", () => {
  it("names a command and a day for every figure, and the machine of every day", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const lines = figureLines(PAGE);
    expect(lines.length).toBeGreaterThan(80);
    const commands = new Set(lines.flatMap(({ command }) => command?.split(" ")[0] ?? []));
    expect([...commands].filter((command) => !(command in scripts))).toEqual([]);
    const days = new Set(lines.map(({ date }) => date));
    expect(machineDays(PAGE)).toEqual([...days].sort());
  });

  it("has no other table of figures", () => {
    const heads = PAGE.split("\n").filter((_, i, all) => /^\|---/.test(all[i + 1] ?? ""));
    expect(heads.map((head) => /\| (Command \| )?(Measured)/.test(head))).toEqual([true, true]);
  });

  it("says by which rows a line is renewed, if a bench prints them", () => {
    const without = figureLines(PAGE).filter(
      ({ command, selectors }) => command && Object.keys(selectors).length === 0,
    );
    expect(without.map(({ cells }) => cells[0])).toEqual([
      "8 points, on a Zen 4 (3.6 GHz) whose last-level cache other machines and programs fill",
      "the same, particle steps a second: Heun, Runge-Kutta",
    ]);
  });

  it("has plots with their day", () => {
    const folder = join(ROOT, "docs/performance");
    for (const name of readdirSync(folder)) {
      expect(PAGE).toContain(`(performance/${name})`);
      expect(readFileSync(join(folder, name), "utf8")).toMatch(/>measured \d{4}-\d{2}-\d{2}</);
    }
  });
});

describe("a report", () => {
  const table = (...lines: string[]) =>
    [
      "before",
      "",
      "| Figure | Ours | Anchor | Ratio | Aim | Command | Measured |",
      "|---|---|---|---|---|---|---|",
      ...lines,
      "",
      "| Measured | Machine and programs |",
      "|---|---|",
      "| 2020-01-01 | old |",
      "| 2020-01-02 | older |",
      "",
      "after",
    ].join("\n");
  const GROUP = "| **Kernels** | | | | | | |";
  const ONE =
    "| Lag | 1 | C, two: 2 | 3 | >= 1 | `bench:a` | 2020-01-01 <!-- ours {x,y} @ simd @ ns/point; theirs x @ c; ratio x @ ratio @ c / simd @ nodes=64 --> |";
  const OTHER = "| Lag | 1 | | | | `bench --only b` | 2020-01-02 <!-- ours z --> |";
  const row = (name: string, backend: string, value: number, spread: number, params: Row["params"] = {}): Row => {
    const unit = backend === "ratio" ? "c / simd" : "ns/point";
    return { bench: "kernel", case: name, backend, value, unit, spread, rounds: 3, params };
  };
  const ROWS = [
    row("x", "simd", 50, 2, { nodes: 32 }),
    row("x", "simd", 53.12, 1.234, { nodes: 64 }),
    row("y", "simd", 12_345.6, 234),
    row("x", "c", 48, 0),
    row("x", "ratio", 0.894, 0.071, { nodes: 64 }),
    row("x", "ratio", 0.5, 0.1, { nodes: 32 }),
  ];
  const measured = { date: "2021-02-03", machine: "new" };

  it("writes figures, day and machine, and leaves the other lines", () => {
    const { page, missing } = rewritePage(table(GROUP, ONE, OTHER), {
      ...measured,
      rows: new Map([["bench:a", ROWS]]),
    });
    expect(missing).toEqual([]);
    const [, , , , group, one, other, , , , ...machines] = page.split("\n");
    expect([group, other]).toEqual([GROUP, OTHER]);
    expect(one?.replace(/ <!--.*/, "")).toBe(
      "| Lag | 53 ± 1, 12 300 ± 200 ns per point | C, two: 48.0 ns per point | 0.89 ± 0.07 | >= 1 | `bench:a` | 2021-02-03",
    );
    expect(one).toContain(ONE.slice(ONE.indexOf("<!--")));
    expect(machines.slice(0, 2)).toEqual(["| 2020-01-02 | older |", "| 2021-02-03 | new |"]);
    expect(rewritePage(page, { ...measured, rows: new Map([["bench:a", ROWS]]) }).page).toBe(page);
  });

  it("leaves a line whose rows are not all there, and names it", () => {
    const text = table(ONE);
    const rows = new Map([["bench:a", ROWS.filter(({ case: name }) => name !== "y")]]);
    expect(rewritePage(text, { ...measured, rows })).toEqual({
      page: text.replace("| 2020-01-02 | older |\n", ""),
      missing: ["Lag (bench:a)"],
    });
  });

  it.each([
    ["no day", OTHER.replace("2020-01-02", ""), "the last cell has no day"],
    ["no command", OTHER.replace("`bench --only b`", ""), "no command"],
    ["a cell too few", OTHER.replace("| |", "|"), "6 cells instead of 7"],
    ["another word", OTHER.replace("ours z", "mine z"), '"mine z" does not begin with ours, theirs or ratio'],
  ])("refuses a line with %s", (_, line, message) => {
    expect(() => figureLines(table(line))).toThrow(message);
  });

  it.each([
    [251.4, 16.3, "250 ± 20"],
    [0.0831, 0.0072, "0.083 ± 0.007"],
    [46_712, 2_412, "47 000 ± 2000"],
    [1.5, 0, "1.50"],
    [5, 0.0004, "5.0000 ± 0.0004"],
    [3, 40, "3.0 ± 40.0"],
    [0, 0, "0"],
  ])("rounds %d with a spread of %d to %s", (value, spread, text) => {
    expect(written(value, spread)).toBe(text);
  });
});
