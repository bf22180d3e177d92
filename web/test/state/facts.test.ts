/** The methods that the page offers on short axes are those that the kernels evaluate there. */
import { describe, expect, it } from "vitest";
import { createBoxFilter } from "../../../src/kernels/filter/box-filter.js";
import { createScheme } from "../../../src/kernels/index.js";
import { BOX_KERNELS, POINT_KERNELS } from "../../../src/kernels/table.js";
import type { Axes, Axis } from "../../../src/kernels/types.js";
import { ALL_OPERATIONS, type Holdings, spatialOf } from "../../../src/shared/operations.js";
import { type DatasetFacts, methodsOf, offers } from "../../state/facts.js";

const LENGTHS = Array.from({ length: 18 }, (_, i) => i + 1);

const axis = (nodes: number, periodic: boolean): Axis => ({
  ...{ nodes, origin: 0, spacing: 0.1, periodic, coordinates: null },
});
/** Of a dataset that stores its force. */
const ROWS = ALL_OPERATIONS.map((row) => {
  return { ...row, spatial: spatialOf(row, { forcing: { kind: "stored" } } as Holdings) };
});
/** A box whose y axis has ends, and so many nodes. */
const axesOf = (nodes: number): Axes => [axis(32, true), axis(nodes, false), axis(32, true)];
const factsOf = (nodes: number) =>
  ({
    axes: axesOf(nodes),
    operations: ROWS.map(({ name, spatial }) => ({ name, available: true, spatialInterpolation: spatial })),
  }) as unknown as DatasetFacts;

function succeeds(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

describe("on an axis with ends", () => {
  it.each(ROWS.filter(({ kernel, spatial }) => POINT_KERNELS.has(kernel) && spatial.length > 0))(
    "$name is offered by the methods that have room",
    ({ name, kernel, spatial }) => {
      for (const nodes of LENGTHS) {
        const fitting = spatial.filter((method) =>
          succeeds(() => createScheme(kernel, method, axesOf(nodes), { fd8Legacy: false })),
        );
        expect(methodsOf(factsOf(nodes), name), `${nodes} nodes`).toEqual(fitting);
      }
    },
  );

  it.each(ROWS.filter(({ kernel }) => BOX_KERNELS.has(kernel)))(
    "$name is offered where it has room",
    ({ name, kernel }) => {
      for (const nodes of LENGTHS) {
        const fits = succeeds(() => createBoxFilter(kernel, axesOf(nodes), 0.3, 1));
        expect(offers(factsOf(nodes), name), `${nodes} nodes`).toBe(fits);
      }
    },
  );
});
