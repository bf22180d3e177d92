/**
 * The kernel table against the operation table, and the published answers of every point operation on the T16 field.
 */

import { describe, expect, it } from "vitest";
import { type Accelerator, createScheme } from "../../src/kernels/index.js";
import { BOX_KERNELS, METHODS, POINT_KERNELS, type PointKernel, RESULTS, reachOf } from "../../src/kernels/table.js";
import type { Axes, Scheme } from "../../src/kernels/types.js";
import { orElse } from "../../src/shared/errors.js";
import { OLDER_OPERATIONS, type Operation, RECORDS } from "../../src/shared/operations.js";
import { fieldOf, methodsOf, T16, valuesAt } from "./fields.js";

const numbers = (text: string) => text.trim().split(/\s+/).map(Number);
const velocity = fieldOf(T16.axes, 3, T16.velocity);
const pressure = fieldOf(T16.axes, 1, T16.pressure);
const plain = { fd8Legacy: false };

function total({ quantity, sizes }: PointKernel): number {
  return RESULTS[quantity] * sizes.reduce((sum: number, size) => sum + size, 0);
}

const UNIT = 1e-10;

function answer(kernel: string, method: string, fd8Legacy = false): number[] {
  const { sizes } = POINT_KERNELS.get(kernel) as PointKernel;
  const fields = sizes.map((size) => (size === 3 ? velocity : pressure));
  return valuesAt(createScheme(kernel, method, T16.axes, { fd8Legacy }), fields, [T16.point])[0] as number[];
}

describe("the kernel table", () => {
  const rows: readonly Operation[] = OLDER_OPERATIONS.filter(({ family }) => family !== "echo");

  it.each(rows.map((operation) => [operation.name, operation] as const))("has the kernel of %s", (_, operation) => {
    const box = BOX_KERNELS.get(operation.kernel);
    const point = POINT_KERNELS.get(operation.kernel);
    expect(operation.fields).toHaveLength(point?.sizes.length ?? 1);
    expect(box?.components ?? total(point as PointKernel)).toBe(RECORDS[operation.result].length);
    const takesMethod = operation.request.some((member) => member.type === "SpatialInterpolation");
    expect(operation.spatial.length > 0).toBe(takesMethod);
    expect(box === undefined).toBe(takesMethod);
  });

  it("makes a scheme for the options that operations offer, with as many results as their records have, and no other", () => {
    for (const { kernel, family, spatial } of rows) {
      const point = POINT_KERNELS.get(kernel);
      for (const method of ["None", "None_Fd4", "None_Fd6", "None_Fd8", "Fd4Lag4", "Lag4", "Lag6", "Lag8"]) {
        const make = () => createScheme(kernel, method, T16.axes, plain).components;
        const offered =
          family === "force" ? methodsOf("value").includes(method) : spatial.some((option) => option === method);
        if (point !== undefined && offered) expect(make()).toBe(total(point));
        else expect(make).toThrow(RangeError);
      }
    }
  });

  it("asks the accelerator first and falls back when it has nothing", () => {
    const fast = { components: 3 } as Scheme;
    const accelerator: Accelerator = {
      scheme: ({ method }) => (method.kind === "lagrange" && method.order === 8 ? fast : null),
    };
    expect(createScheme("velocity", "Lag8", T16.axes, plain, accelerator)).toBe(fast);
    expect(createScheme("velocity", "Lag4", T16.axes, plain, accelerator)).not.toBe(fast);
    expect(() => createScheme("velocity", "None_Fd4", T16.axes, plain, accelerator)).toThrow(RangeError);
  });
});

describe("published answers at (1, 2, 3)", () => {
  const [GRADIENT, HESSIAN] = ["velocityGradient", "velocityHessian"];
  const rows: readonly (readonly [string, string, string, boolean?])[] = [
    ["velocityPressure", "None", "1.1532814824 0.1035533906 -0.8040155553 -0.4035533906"],
    ["velocityPressure", "Lag4", "1.0429804244 0.2178451467 -0.7435987891 -0.5446123778"],
    ["velocityPressure", "Lag6", "1.0443877946 0.2212833874 -0.7421906161 -0.5457214900"],
    ["velocityPressure", "Lag8", "1.0445032777 0.2216714027 -0.7419788173 -0.5458043704"],
    [GRADIENT, "None_Fd4", "0.2703874452 -1.2911653347 0 -0.8528890750 -0.1463326309 0 -0.3873496004 -0.0811162336 0"],
    [GRADIENT, "None_Fd6", "0.2705911710 -1.3046203079 0 -0.8535316918 -0.1464428865 0 -0.3913860924 -0.0811773513 0"],
    [GRADIENT, "None_Fd8", "0.2705978172 -1.3063092523 0 -0.8535526559 -0.1464464834 0 -0.3918927757 -0.0811793451 0"],
    [
      "velocityGradient",
      "Fd4Lag4",
      "0.3483662787 -1.2408545225 0.0773275523 -0.7280712984 -0.2139338402 0.2684005897 -0.2225675227 -0.1124435597 -0.1409175339",
    ],
    ["pressureGradient", "None_Fd4", "0.9517105914 0.2451541473 0"],
    ["pressureGradient", "None_Fd6", "0.9533830073 0.2462942019 0"],
    ["pressureGradient", "None_Fd8", "0.9535332376 0.2464270650 0"],
    ["pressureGradient", "Fd4Lag4", "0.8092366895 0.3565697054 -0.0691824652"],
    ["pressureHessian", "None_Fd4", "0.5526609348 -0.5412715046 0 0.5526609348 0 0.3534612451"],
    ["pressureHessian", "None_Fd6", "0.5534749649 -0.5497566865 0 0.5534749649 0 0.3535511301"],
    ["pressureHessian", "None_Fd8", "0.5535453383 -0.5521931152 0 0.5535453383 0 0.3535533293"],
    ["pressureHessian", "None_Fd8", "0.5533624390 -0.5521931152 0 0.5533624390 0 0.3535476135", true],
    ["pressureHessian", "Fd4Lag4", "0.7200201512 -0.4626754060 0.1073996233 0.7200201512 0.0315579173 0.4856604511"],
    [HESSIAN, "Fd4Lag4", "-0.5428389091 -0.7891003916 0.0494904204 -2.1632306406 -0.1751581755 -0.5428389091"],
    ["velocityLaplacian", "None_Fd4", "-3.9088918109 -2.1154770040 0.0230051958"],
    ["velocityLaplacian", "None_Fd6", "-3.9186853955 -2.1207772538 0.0203711792"],
    ["velocityLaplacian", "None_Fd8", "-3.9195842605 -2.1212637160 0.0201089592"],
    ["velocityLaplacian", "None_Fd8", "-3.9172481241 -2.1199994081 0.0207904650", true],
    ["velocityLaplacian", "Fd4Lag4", "-3.2489084588 -2.7993385882 -0.2362561517"],
  ];

  it.each(rows.map(([kernel, method, printed, legacy]) => [kernel, method, printed, legacy ?? false] as const))(
    "%s %s",
    (kernel, method, printed, legacy) => {
      const values = answer(kernel, method, legacy);
      const expected = numbers(printed);
      expect(values.length).toBeGreaterThanOrEqual(expected.length);
      expected.forEach((value, i) => {
        expect(Math.abs((values[i] as number) - value), `component ${i}`).toBeLessThanOrEqual(UNIT);
      });
    },
  );

  it("gives velocity the same bits alone and together with pressure", () => {
    for (const method of methodsOf("value")) {
      expect(answer("velocityPressure", method).slice(0, 3)).toEqual(answer("velocity", method));
    }
  });
});

describe("reachOf", () => {
  const axis = { nodes: 64, origin: 0, spacing: 1, periodic: true, coordinates: null };
  const axes: Axes = [axis, axis, axis];
  const nodes = { edge: [1, 1, 1], count: [64, 64, 64] } as const;
  const suits = ([kernel, method]: readonly [string, string]): boolean =>
    orElse(() => createScheme(kernel, method, axes, { fd8Legacy: false }) !== null, false);
  const pairs = [...POINT_KERNELS.keys()].flatMap((kernel) => [...METHODS.keys()].map((m) => [kernel, m] as const));

  it.each(pairs.filter(suits))("bounds the nodes of %s by %s", (kernel, name) => {
    const method = METHODS.get(name);
    if (method === undefined) throw new Error(name);
    const { below, above } = reachOf(method);
    const positions = Float64Array.of(32.1, 32.1, 32.1, 32.9, 32.9, 32.9);
    const list = new Int32Array(64 ** 3);
    const scheme = createScheme(kernel, name, axes, { fd8Legacy: false });
    const length = scheme.listBricks(nodes, positions, 0, 2, new Uint8Array(64 ** 3), list, 0);
    const x = [...list.subarray(0, length)].map((node) => node % 64);
    expect([Math.min(...x), Math.max(...x)]).toEqual([32 - below, 32 + above]);
  });
});
