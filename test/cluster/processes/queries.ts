/** Queries of every operation of both interfaces, with what makes them hard to split: layers, records on the way, legs, regions. */

import type { Query } from "../../../src/engine/query.js";
import { ALL_OPERATIONS, type FieldName, type Operation } from "../../../src/operations.js";
import { generator } from "../../support/run-query.js";

/** What is asked where it does not matter what. */
export const VELOCITY = {
  operation: "GetVelocity",
  dataset: "isotropic32",
  time: 0.31,
  spatialInterpolation: "Lag8",
  temporalInterpolation: "PCHIP",
} as const satisfies Query;

interface Titled {
  readonly title: string;
  readonly query: Query;
  readonly points: number;
}

/** Fields of the operations that filter two of them. */
const PAIRS: Readonly<Record<string, string>> = {
  GetBoxFilterSGStensor: "ub",
  GetBoxFilterSGSvector: "up",
  GetBoxFilterSGSscalar: "pp",
};

/**
 * Queries of all operations on a dataset that has these fields, each with its number of points. Array forms are missing: they
 * are other operations written otherwise.
 */
export function everyOperation(
  dataset: string,
  fields: readonly FieldName[] = ["velocity", "pressure", "force"],
): readonly Titled[] {
  const answered = ALL_OPERATIONS.filter((row: Operation) => {
    const letters = PAIRS[row.name] ?? "";
    return (
      row.family !== "arrays" &&
      row.fields.every((field) => fields.includes(field)) &&
      !(letters === "ub" && !fields.includes("magnetic"))
    );
  });
  return answered.flatMap((row: Operation) => {
    const special = QUERIES[row.name] ?? QUERIES[row.family];
    return special === undefined
      ? atPoints(row, dataset)
      : special(row, { operation: row.name as Query["operation"], dataset });
  });
}

/** Interpolation or differences, and a spline where there is one. */
function atPoints({ name, spatial, fields }: Operation, dataset: string): Titled[] {
  const splines = spatial.filter((method) => /^M\dQ/.test(method));
  const methods = [spatial.filter((method) => !splines.includes(method)).at(-1) ?? "None", ...splines.slice(-1)];
  return methods.map((spatialInterpolation) => {
    const common = { operation: name as Query["operation"], dataset, time: 0.31, spatialInterpolation } as const;
    const query = { ...common, temporalInterpolation: "PCHIP", ...(fields.length === 0 && { field: "u" }) } as const;
    return {
      title: `${name} ${spatialInterpolation}`,
      query,
      points: splines.includes(spatialInterpolation) ? 1000 : 20_000,
    };
  });
}

type Common = Pick<Query, "operation" | "dataset">;
const CORNERS = { ...{ x_start: 3, y_start: 2, z_start: 1 }, ...{ x_end: 30, y_end: 31, z_end: 29 } } as const;

/** Queries of operations, by name or family, that are not asked at points alone. */
const QUERIES: Readonly<Record<string, (row: Operation, common: Common) => Titled[]>> = {
  echo: ({ name }, { operation }) => [{ title: name, query: { operation }, points: 3000 }],
  filter: ({ name }, common) => {
    const box = { filterlength: Math.fround(0.9), nlayers: 2, temporalInterpolation: "PCHIP" } as const;
    return [{ title: name, query: { ...common, time: 0.31, ...box }, points: 40 }];
  },
  box: ({ name }, common) => {
    const spacing = name === "GetBoxFilterGradient" ? { spacing: 0.5 } : {};
    const query = { ...common, time: 0.31, field: PAIRS[name] ?? "u", filterwidth: Math.fround(0.9), ...spacing };
    return [{ title: name, query, points: 2000 }];
  },
  search: ({ name }, common) =>
    (
      [
        ["vorticity", "None_Fd4"],
        ["q", "None_Fd8"],
        ["pressure", "None"],
      ] as const
    ).map(([field, spatialInterpolation]) => ({
      title: `${name} of ${field}`,
      query: { ...common, time: 0.31, field, threshold: 0.5, spatialInterpolation, ...CORNERS },
      points: 0,
    })),
  cutout: ({ name, fields: [field] }, common) => {
    if (field !== undefined) {
      const box = { X: 0, Y: 1, Z: 2, Xwidth: 30, Ywidth: 29, Zwidth: 28 };
      return [{ title: name, query: { ...common, T: 1, ...box }, points: 0 }];
    }
    const steps = { x_step: 1, y_step: 2, z_step: 3 };
    return [1, 3].map((width) => ({
      title: `${name}, means of ${width}`,
      query: { ...common, field: "u", T: 2, ...CORNERS, ...steps, filter_width: width },
      points: 0,
    }));
  },
  GetPosition: ({ name, spatial }, common) => {
    const spatialInterpolation = spatial.at(-1) ?? "None";
    const query = { ...common, StartTime: 0.3, dt: 0.001, nt: 150, spatialInterpolation };
    return [
      { title: name, query, points: 700 },
      { title: `${name} backward, recorded`, query: { ...query, dt: -0.001, recordEvery: 7 }, points: 300 },
      { title: `${name}, recorded less than once a leg`, query: { ...query, recordEvery: 100 }, points: 300 },
    ];
  },
  GetPositionByEnd: ({ name, spatial }, common) => {
    const spatialInterpolation = spatial.at(-1) ?? "None";
    const query = {
      ...common,
      StartTime: 0.1,
      EndTime: Math.fround(0.2),
      dt: Math.fround(0.003),
      spatialInterpolation,
    };
    return [
      { title: name, query, points: 700 },
      {
        title: `${name} backward`,
        query: { ...query, StartTime: Math.fround(0.2), EndTime: Math.fround(0.1) },
        points: 300,
      },
    ];
  },
  GetPositionParticleControl: ({ name, spatial }, common) => {
    const spatialInterpolation = spatial.at(-1) ?? "None";
    const query = { ...common, StartTime: 0.1, EndTime: Math.fround(0.2), spatialInterpolation };
    return [{ title: name, query, points: 700 }];
  },
  GetPositionInertialParticle: ({ name, spatial }, common) => {
    const spatialInterpolation = spatial.at(-1) ?? "None";
    const times = { StartTime: 0.1, EndTime: Math.fround(0.25), Tp: Math.fround(0.02) };
    const query = { ...common, ...times, spatialInterpolation };
    return [
      { title: `${name}, released with the flow`, query, points: 500 },
      { title: `${name}, velocities and records`, query: { ...query, recordEvery: 50 }, points: 300 },
    ];
  },
};

/** Points in and around the domain. */
export function randomPoints(count: number, seed: number, scale = 6 * Math.PI): Float32Array {
  const random = generator(seed);
  return Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * scale);
}
