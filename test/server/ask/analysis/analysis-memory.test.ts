/** The bound on the fragments of structures, against the closest that marked nodes come without being neighbours. */
import { expect, it } from "vitest";
import { fragmentsOf, widthOf } from "../../../../src/analysis/fragments.js";
import type { ReductionPlan } from "../../../../src/analysis/plan.js";
import { bytesOfReduction } from "../../../../src/server/ask/analysis/analysis-memory.js";

const EDGE = 16;
const NODES = EDGE ** 3;

it.each([
  [6, (x: number, y: number, z: number) => (x + y + z) % 2 === 0],
  [18, (x: number, y: number, z: number) => x % 2 === y % 2 && y % 2 === z % 2],
  [26, (x: number, y: number, z: number) => (x % 2) + (y % 2) + (z % 2) === 0],
] as const)("admits the rows of as many fragments as there can be with %i neighbours", (connectivity, isMarked) => {
  const marked = Float64Array.from({ length: NODES }, (_, i) =>
    isMarked(i % EDGE, Math.floor(i / EDGE) % EDGE, Math.floor(i / EDGE ** 2)) ? 1 : 0,
  );
  const side = [EDGE, EDGE, EDGE] as const;
  const options = {
    ...{ of: 0, side: "above", threshold: 0.5, connectivity, cell: 1, most: 1e6, properties: [0], labels: false },
    wraps: [false, false, false],
  } as const;
  const places = Float64Array.from({ length: EDGE }, (_, i) => i);
  const box = {
    ...{ from: [0, 0, 0], shape: side, columns: [marked], weights: null, coordinates: [places, places, places] },
    periods: [0, 0, 0],
  };
  const { rows } = fragmentsOf(options as never, box as never);
  expect(rows.length / widthOf(1)).toBe(marked.reduce((sum, one) => sum + one));
  const plan = {
    extent: [EDGE, EDGE, EDGE, 1],
    kept: [false, false, false, false],
    reductions: [{ kind: "structures", ...options }],
  };
  const bytes = bytesOfReduction({ plan: plan as unknown as ReductionPlan, frames: [0] } as never);
  expect(bytes).toBeGreaterThan(rows.byteLength);
});
