/** Oracle and readers for the box filter tests: every leaf is one point, and nothing is separable. */
import { createScheme } from "../../../src/kernels/index.js";
import type { Axes, BrickField, BrickReader, Triple } from "../../../src/kernels/types.js";
import { SYMMETRIC } from "../../support/symmetric.js";
import { valuesAt } from "../fields.js";

/** Reads the frames of a field; counts visits and refuses to hand out two bricks at once. */
export function readerOf(frames: readonly BrickField[]): BrickReader & { visits: number } {
  let open = false;
  const { components, bricking } = frames[0] as BrickField;
  return {
    components,
    bricking,
    visits: 0,
    visit(frame, brick, use) {
      if (open) throw new Error("two bricks at once");
      open = true;
      this.visits++;
      const field = frames[frame] as BrickField;
      use(field.data, field.table[brick] as number);
      open = false;
    },
  };
}

/** The leaves of a cube with their octant digits, coarse to fine. */
function leavesOf(centre: Triple, length: number, layers: number): { digits: number[]; point: Triple }[] {
  let leaves: { digits: number[]; point: Triple }[] = [{ digits: [], point: centre }];
  for (let k = 0; k < layers; k++) {
    const move = length / 2 ** (k + 2);
    leaves = leaves.flatMap(({ digits, point: [x, y, z] }) =>
      Array.from({ length: 8 }, (_, o) => ({
        digits: [...digits, o],
        point: [x + (o & 1 ? move : -move), y + (o & 2 ? move : -move), z + (o & 4 ? move : -move)] as Triple,
      })),
    );
  }
  return leaves;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The answer of a box filter at one point, leaf by leaf; `weights` combines the frames of the field. */
export function filterByLeaves(
  kernel: string,
  axes: Axes,
  frames: readonly BrickField[],
  weights: readonly number[],
  centre: Triple,
  length: number,
  layers: number,
  nlayers: number,
): number[] {
  const [name, method] =
    kernel === "boxVelocityGradient" ? ["velocityGradient", "Fd4Lag4"] : ["velocityPressure", "Lag4"];
  const leaves = leavesOf(centre, length, layers);
  const points = leaves.map((leaf) => leaf.point);
  const scheme = createScheme(name as string, method as string, axes, { fd8Legacy: false });
  const perFrame = frames.map((field) =>
    name === "velocityGradient" ? valuesAt(scheme, [field], points) : single(axes, field, points),
  );
  const at = (f: number, i: number, c: number) => (perFrame[f] as number[][])[i]?.[c] as number;
  const size = { boxVelocity: 3, boxPressure: 1, boxVelocityGradient: 9, boxStress: 3 }[kernel] as number;
  const values = points.map((_, i) =>
    Array.from({ length: size }, (_, c) => weights.reduce((sum, weight, f) => sum + weight * at(f, i, c), 0)),
  );
  const answer: number[] = [];
  for (let layer = 0; layer < nlayers; layer++) {
    for (let item = 0; item < 8 ** layer; item++) {
      const inside = values.filter((_, i) => {
        const { digits } = leaves[i] as { digits: number[] };
        return digits.slice(0, layer).reduce((code, digit) => 8 * code + digit, 0) === item;
      });
      const columns = Array.from({ length: size }, (_, c) => inside.map((value) => value[c] as number));
      if (kernel !== "boxStress") {
        answer.push(...columns.map(mean));
        continue;
      }
      const centred = columns.map((column) => {
        const middle = mean(column);
        return column.map((value) => value - middle);
      });
      for (const [a, b] of SYMMETRIC) {
        answer.push(mean((centred[a] as number[]).map((value, i) => value * (centred[b]?.[i] as number))));
      }
    }
  }
  return answer;
}

function single(axes: Axes, field: BrickField, points: readonly Triple[]): number[][] {
  if (field.components === 3)
    return valuesAt(createScheme("velocity", "Lag4", axes, { fd8Legacy: false }), [field], points);
  const nothing: BrickField = { ...field, components: 3, data: new Float64Array(3 * field.data.length) };
  const table = field.table.map((offset) => 3 * offset);
  const both = createScheme("velocityPressure", "Lag4", axes, { fd8Legacy: false });
  return valuesAt(both, [{ ...nothing, table }, field], points).map((value) => value.slice(3));
}
