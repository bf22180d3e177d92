/** The page on datasets: its transcripts are what inspect prints, its descriptor is valid, its numbers are right. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { measured } from "../../src/storage/catalog/raised-questions.js";
import { AXIS_NAMES } from "../../src/storage/dataset/dataset.js";
import { parseDescriptor } from "../../src/storage/dataset/descriptor.js";
import { openLines } from "../../src/storage/recognise/draft.js";
import { type Recognised, recognise } from "../../src/storage/recognise/recognise.js";
import { describeDraft, screenOf } from "../../src/storage/tools/report.js";
import { writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";

const PAGE = readFileSync(new URL("../../docs/datasets.md", import.meta.url), "utf8");
const SCRATCH = scratchFolder();

const abc = (x: number, y: number, z: number) => [
  Math.sin(z) + Math.cos(y),
  Math.sin(x) + Math.cos(z),
  Math.sin(y) + Math.cos(x),
];

const screenFor = (found: Recognised) => screenOf(describeDraft(found, SCRATCH, "u.h5", 2 ** 26));

describe("docs/datasets.md", () => {
  it("walks from u.h5 to the velocity of an ABC flow", async () => {
    const [n, step] = [64, (2 * Math.PI) / 64];
    const path = await writeHdf5(join(SCRATCH, "u.h5"), (file) => {
      const data = new Float32Array(3 * n ** 3);
      for (let node = 0; node < n ** 3; node++) {
        const [x, y, z] = [node % n, Math.floor(node / n) % n, Math.floor(node / n ** 2)].map((i) => i * step);
        data.set(abc(x as number, y as number, z as number), 3 * node);
      }
      file.create_dataset({ name: "u", data, shape: [n, n, n, 3] });
    });
    const found = recognise(path);
    if (found === null) throw new Error("u.h5 is not recognised");
    const screen = screenFor(measured(found, SCRATCH, {}));
    const [picture, end] = [
      screen.findIndex((line) => line.startsWith("    |")),
      screen.indexOf("Open (?) and red (!) lines:"),
    ];
    const shownAs = [
      ...screen.slice(0, picture),
      `    (a picture of it in ${end - picture} lines)`,
      ...screen.slice(end),
    ];
    expect(PAGE).toContain(shownAs.join("\n"));
    expect(PAGE).toContain(`"spacing": ${step}`);
    const length = [n * step, n * step, n * step];
    const answers = { dims: ["z", "y", "x", "c"], periodic: AXIS_NAMES, length, origin: [0, 0, 0] };
    const answered = recognise(path, answers);
    expect(openLines(answered?.descriptor.questions ?? [])).toEqual([]);
    const lines = screenFor(measured(answered as Recognised, SCRATCH, {}));
    expect(PAGE).toContain(lines.slice(0, lines.indexOf("Why:")).join("\n"));
    const velocity = abc(1, 2, 3);
    const shown = /^1,2,3,(.*),(.*),(.*)$/m.exec(PAGE)?.slice(1).map(Number) as number[];
    for (const [c, value] of velocity.entries()) expect(shown[c]).toBeCloseTo(value, 6);
  });

  it("has a valid descriptor", () => {
    const [, text] = /A complete descriptor:\n\n```json\n([\s\S]*?)```/.exec(PAGE) ?? [];
    expect(parseDescriptor(text as string)).toHaveProperty("descriptor");
  });
});
