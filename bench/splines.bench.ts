/** Compares every spline with Lagrange interpolation on as many nodes, in CPU and in turns, on one core. */
import { createScheme } from "../dist/kernels/index.js";
import { METHODS } from "../dist/kernels/table.js";
import { alternate, type Contestant, cpuNanoseconds } from "./alternate.js";
import { cubeAxes } from "./field.js";
import { EDGE, OPTIONS, prepare, type Setting } from "./kernel-setting.js";
import type { BenchOptions, Row } from "./row.js";

const NODES = 64;
/** Lagrange interpolation has at most eight nodes an axis; splines on more are compared with that. */
const MOST_NODES = 8;

/** Rows `splines`: ns/point of CPU of every spline and of Lagrange interpolation, and their ratio. */
export async function benchSplines({ quick }: BenchOptions): Promise<Row[]> {
  const setting = prepare(NODES, quick ? 20_000 : 50_000);
  const rows: Row[] = [];
  for (const nodes of [4, 6, 8, 10, 12, 14]) {
    const lagrange = `Lag${Math.min(nodes, MOST_NODES)}`;
    const under = contestant(setting, lagrange, nodes);
    const splines = [...METHODS].filter(([, method]) => method.kind === "spline" && method.nodes === nodes);
    const contestants = splines.map(([name]) => contestant(setting, name, nodes));
    const comparisons = contestants.map((over) => ({ case: over.row.case, unit: `of ${lagrange}`, over, under }));
    rows.push(...(await alternate([under, ...contestants], quick ? 5 : 21, quick, comparisons)));
  }
  return rows;
}

/** Velocities by an option at sorted points. */
function contestant({ accelerator, velocity, positions, out }: Setting, method: string, nodes: number): Contestant {
  const scheme = createScheme("velocity", method, cubeAxes(NODES), OPTIONS, accelerator);
  const points = positions.sorted.length / 3;
  const params = { nodes: NODES, order: "sorted", points, brick: EDGE, stencil: nodes };
  return {
    row: { bench: "splines", case: method, backend: "cpu", unit: "ns/point", params },
    run: () => cpuNanoseconds(() => scheme.evaluate([velocity], positions.sorted, 0, points, out)) / points,
  };
}
