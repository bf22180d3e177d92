/** Means around events, in the axes of the local strain or vorticity, from interpolated values. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { Extremes } from "../../../analysis/extremes.js";
import { nested } from "../../../analysis/nested.js";
import { placeIn, type ReductionPlan } from "../../../analysis/plan.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { LimitError } from "../../../shared/errors.js";
import { spanOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import { pointOptions } from "../question/what.js";
import { pooled } from "./analysed-nodes.js";
import type { Analysis } from "./analysis.js";
import { whereHolds } from "./conditions.js";

/** Most events whose axes are found together. */
const MOST_EVENTS = 20_000;
/** Points that are evaluated together. */
const POINTS = 2 ** 17;
const AXES = ["eigvec1(S)", "eigvec2(S)", "omega"].flatMap((text) => ["x", "y", "z"].map((c) => `${text}.${c}`));

type Vector = readonly number[];
/** Unit vectors along the turned axes. */
type Frame = readonly [Vector, Vector, Vector];

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const times = (a: Vector, s: number): Vector => a.map((one) => s * one);
const cross = (a: Vector, b: Vector): Vector =>
  [0, 1, 2].map((i) => {
    const [j, k] = [(i + 1) % 3, (i + 2) % 3];
    return a[j] * b[k] - a[k] * b[j];
  });

/**
 * The axes of an event; of the vorticity two, since the sign of e1 means nothing. None where they are not known.
 * Of the strain e1 and e2 have the signs of e1.omega, e2.omega >= 0, and e3 = e1 x e2. Of the vorticity e_z is along it,
 * e_x along e1 less its part along e_z, and e_y = e_z x e_x.
 */
function framesOf(by: "strain" | "omega", numbers: Vector): readonly Frame[] {
  const [e1, e2, omega] = [numbers.slice(0, 3), numbers.slice(3, 6), numbers.slice(6, 9)];
  if (numbers.some((one) => !Number.isFinite(one))) return [];
  const along = (e: Vector): Vector => times(e, dot(e, omega) < 0 ? -1 : 1);
  if (by === "strain") {
    const [a, b] = [along(e1), along(e2)];
    return [[a, b, cross(a, b)]];
  }
  const length = Math.sqrt(dot(omega, omega));
  const z = times(omega, 1 / length);
  const rest = e1.map((one, c) => one - dot(e1, z) * z[c]);
  const size = Math.sqrt(dot(rest, rest));
  if (!(length > 0 && size > 1e-6)) return [];
  const x = times(rest, 1 / size);
  return [1, -1].map((sign): Frame => [times(x, sign), times(cross(z, x), sign), z]);
}

/** Mean and count of each component of quantities at each offset, in the turned axes, x fastest. */
export async function meansOriented(
  by: "strain" | "omega",
  texts: readonly string[],
  where: string,
  offsets: readonly Vector[],
  events: number,
  { question, dataset, nodes: all, reduce, evaluate, admit }: Analysis,
): Promise<{ readonly results: readonly Omit<GroupAnswer, "coordinates">[]; readonly undirected: number }> {
  const { base } = all;
  if (events > MOST_EVENTS)
    throw new LimitError("analysis.numbers", `where: ${events} nodes are events; at most ${MOST_EVENTS} are turned.`);
  const { names, weights } = base;
  const quantities = texts.map((text) => ({ text, shape: compileExpression(text, names, "what").shape }));
  const columns = quantities.flatMap(({ text, shape }) => componentsIn(text, shape));
  const compiled = columns.map((text) => compileExpression(text, names, "what"));
  const also = AXES.map((_, c) => c + 1);
  const strongest = [{ kind: "extremes", of: 0, count: Math.max(1, events), apart: 0, also } as const];
  const found = await reduce(pooled(all), { columns: [whereHolds(where, "1"), ...AXES], reductions: strongest });
  const { highest } = found.states(0)[0] as Extremes;
  const nodes = highest.map(({ node }) => node);
  const sums = columns.map(() => new Float64Array(offsets.length));
  const shares = columns.map(() => new Float64Array(offsets.length));
  const counts = columns.map(() => new Float64Array(offsets.length));
  const spans = dataset.axes.map((axis) => ({ ...spanOf(axis), periodic: axis.periodic }));
  const turnedAxes = highest.flatMap(({ more = [] }, event) => framesOf(by, more).map((frame) => ({ event, frame })));
  await admit(turnedAxes.length * offsets.length);
  const options = { ...pointOptions(question), temporalInterpolation: "None" as const };
  const [nx, ny] = base.extent;
  for (const [f, time] of base.times.entries()) {
    const own = turnedAxes.filter(({ event }) => highest[event].frame === f);
    const atOnce = Math.max(1, Math.floor(POINTS / offsets.length));
    for (let from = 0; from < own.length; from += atOnce) {
      const some = own.slice(from, from + atOnce);
      const points = new Float32Array(3 * some.length * offsets.length);
      const isInside = new Uint8Array(some.length * offsets.length);
      for (const [n, { event, frame }] of some.entries()) {
        const at = placeIn(base as ReductionPlan, nodes[event]);
        for (const [o, r] of offsets.entries()) {
          const place = at.map((one, c) => one + r[0] * frame[0][c] + r[1] * frame[1][c] + r[2] * frame[2][c]);
          const i = n * offsets.length + o;
          isInside[i] = Number(
            spans.every((span, a) => span.periodic || (place[a] >= span.first && place[a] <= span.last)),
          );
          points.set(isInside[i] === 1 ? place : at, 3 * i);
        }
      }
      const values = await evaluate(compiled, points, { ...options, time });
      for (const [n, { event, frame }] of some.entries()) {
        const at = [nodes[event] % nx, Math.floor(nodes[event] / nx) % ny, Math.floor(nodes[event] / (nx * ny))];
        const w = at.reduce((product, node, a) => product * (weights[a]?.[node] ?? 1), 1);
        for (let o = 0; o < offsets.length; o++) {
          const i = n * offsets.length + o;
          if (isInside[i] === 0) continue;
          let first = 0;
          for (const { shape } of quantities) {
            const size = { scalar: 1, vector: 3, tensor: 9 }[shape];
            const numbers = values.slice(first, first + size).map((list) => list[i]);
            for (const [c, value] of turned(numbers, frame).entries()) {
              if (Number.isNaN(value)) continue;
              sums[first + c][o] += w * value;
              shares[first + c][o] += w;
              counts[first + c][o]++;
            }
            first += size;
          }
        }
      }
    }
  }
  const results = columns.map((of, c) => ({
    of,
    mean: [...sums[c].map((sum, o) => sum / shares[c][o])],
    count: [...counts[c]],
  }));
  return { results, undirected: events - new Set(turnedAxes.map(({ event }) => event)).size };
}

/** The components R v and R T R^T of a vector or a tensor along turned axes. */
function turned(numbers: Vector, frame: Frame): Vector {
  if (numbers.length === 1) return numbers;
  if (numbers.length === 3) return frame.map((e) => dot(e, numbers));
  const rows = [0, 1, 2].map((i) => numbers.slice(3 * i, 3 * i + 3));
  return frame.flatMap((e) =>
    frame.map((g) =>
      dot(
        e,
        rows.map((row) => dot(row, g)),
      ),
    ),
  );
}

/** Offsets in the rotated axes: multiples of the smallest spacing of the uniform axes. Throws RequestError. */
export function offsetsIn(lags: readonly number[], { axes }: Dataset) {
  const spacings = axes.flatMap(({ coordinates, spacing }) => (coordinates === null ? [spacing] : []));
  if (spacings.length === 0) throw wrong("orient", "no axis has evenly spaced nodes");
  const h = Math.min(...spacings);
  const [x, y, z] = lags.map((n) => Array.from({ length: 2 * n + 1 }, (_, i) => (i - n) * h));
  const offsets = z.flatMap((k) => y.flatMap((j) => x.map((i) => [i, j, k])));
  return { offsets, coordinates: { r_z: z, r_y: y, r_x: x } };
}

/** Lists of numbers at offsets as nested lists, the slowest first. */
export function atOffsets(results: readonly GroupAnswer[], coordinates: Readonly<Record<string, readonly number[]>>) {
  const lengths = Object.values(coordinates).map((list) => list.length);
  return results.map(({ of, mean, count }) => ({
    ...{ of, coordinates, mean: nested(mean as number[], lengths), count: nested(count as number[], lengths) },
  }));
}
