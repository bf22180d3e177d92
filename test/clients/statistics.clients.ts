/** The statistics of the demonstration data are what numpy computes from the stored numbers, without code of ours. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { missing, PYTHON, TOOLKITS } from "./packages.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const reason = missing(TOOLKITS.formats);
if (reason !== null) console.log(`statistics are skipped: ${reason}`);

const compute = (script: string, file: string) =>
  execFileSync(PYTHON, [join(ROOT, script), join(ROOT, file)], { encoding: "utf8" });

/** The cell of a row of the page's table, by the beginning of the row and the number of the cell. */
function cell(page: string, row: string, number: number): string {
  const line = readFileSync(join(ROOT, page), "utf8")
    .split("\n")
    .find((text) => text.startsWith(`| ${row}`));
  return (line?.split("|")[number] ?? "").replaceAll("⁺", "").trim();
}
const numbers = (text: string): number[] => (text.match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);

describe.skipIf(reason !== null)("statistics", () => {
  it("of the channel are those of its page", () => {
    const page = "docs/demonstration-data.md";
    const printed = compute("tools/channel/statistics.py", "data/turbulent-channel/turbulent-channel.h5");
    const [head = "", ...rows] = printed.slice(printed.indexOf("     y+")).trim().split("\n");
    expect(head.trim().split(/\s{2,}/)).toEqual(["y+", "U", "U 178", "u_rms", "v_rms", "w_rms", "-uv", "p_rms"]);
    const table = rows.map(numbers);
    const at = (wall: number) => table.find(([y = 0]) => Math.abs(y - wall) < 0.5) ?? [];
    for (const row of ["U⁺ at y⁺ = 0.94", "U⁺ at y⁺ = 27"]) {
      const places = numbers(cell(page, row, 1)).map(at);
      expect(numbers(cell(page, row, 2))).toEqual(places.map(([, u]) => u));
      expect(numbers(cell(page, row, 3).replace(/;? ?2\.5 ln.*/, "")).slice(-3)).toEqual(places.map(([, , u]) => u));
    }
    for (const [row, column] of [
      ["largest u_rms", 3],
      ["largest v_rms", 4],
      ["largest w_rms", 5],
      ["largest -⟨uv⟩", 6],
    ] as const) {
      const most = Math.max(...table.map((line) => line[column] as number));
      const [value, wall = 0] = numbers(cell(page, row, 2));
      expect([value, at(wall)[column]]).toEqual([most, most]);
    }
    expect(printed).toContain(`divergence over gradient ${cell(page, "divergence", 2).replace("e-5", "e-05")}`);
    expect(printed).toContain(`friction velocity ${cell(page, "friction velocity", 2)}`);
    expect(printed).toContain(`bulk velocity ${cell(page, "bulk", 2).replace(", ", ", centre ")}`);
  });

  it("of isotropic64 are those of its page", () => {
    const page = "docs/demonstration-data.md";
    const printed = compute("tools/generate/statistics.py", "data/isotropic64/isotropic64.h5");
    for (const [row, name] of [
      ["Taylor-scale", "Taylor-scale Reynolds number"],
      ["skewness", "skewness of the longitudinal derivative"],
      ["flatness", "flatness of the longitudinal derivative"],
      ["dissipation ×", "dissipation times integral scale over rms^3"],
      ["15 ν", "15 nu <(du/dx)^2> over the dissipation"],
      ["kmax η", "kmax eta"],
    ] as const) {
      const line = printed.split("\n").find((text) => text.startsWith(`${name}:`)) ?? "";
      const stated = [cell(page, row, 2), cell(page, row, 3)].join(" ");
      const decimals = /\.(\d+)/.exec(stated)?.[1]?.length ?? 0;
      expect(numbers(stated), name).toEqual(
        numbers(line.slice(name.length)).map((one) => Number(one.toFixed(decimals))),
      );
    }
  });
});
