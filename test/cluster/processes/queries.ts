/** Queries of every operation, with what makes them hard to split: box filters in layers, records on the way, legs. */

import type { Query } from "../../../src/engine/query.js";
import { OPERATIONS } from "../../../src/operations.js";
import { generator } from "../../support/run-query.js";

/** What is asked where it does not matter what. */
export const VELOCITY = {
  operation: "GetVelocity",
  dataset: "isotropic32",
  time: 0.31,
  spatialInterpolation: "Lag8",
  temporalInterpolation: "PCHIP",
} as const satisfies Query;

/** Queries of all operations on a dataset, each with its number of points. */
export function everyOperation(
  dataset: string,
): { readonly title: string; readonly query: Query; readonly points: number }[] {
  return OPERATIONS.flatMap(({ name, family, spatial }): { title: string; query: Query; points: number }[] => {
    const common = { operation: name, dataset } as const;
    if (family === "echo") return [{ title: name, query: { operation: name }, points: 3000 }];
    if (family === "filter") {
      const query = {
        ...common,
        time: 0.31,
        filterlength: Math.fround(0.9),
        nlayers: 2,
        temporalInterpolation: "PCHIP",
      } as const;
      return [{ title: name, query, points: 40 }];
    }
    const spatialInterpolation = spatial.at(-1) ?? "None";
    if (name === "GetPosition") {
      const query = { ...common, StartTime: 0.3, dt: 0.001, nt: 150, spatialInterpolation };
      return [
        { title: name, query, points: 700 },
        { title: `${name} backward, recorded`, query: { ...query, dt: -0.001, recordEvery: 7 }, points: 300 },
        { title: `${name}, recorded less than once a leg`, query: { ...query, recordEvery: 100 }, points: 300 },
      ];
    }
    if (name === "GetPositionParticleControl") {
      const query = { ...common, StartTime: 0.1, EndTime: Math.fround(0.2), spatialInterpolation };
      return [{ title: name, query, points: 700 }];
    }
    if (name === "GetPositionInertialParticle") {
      const query = {
        ...common,
        StartTime: 0.1,
        EndTime: Math.fround(0.25),
        Tp: Math.fround(0.02),
        spatialInterpolation,
      };
      return [
        { title: `${name}, released with the flow`, query, points: 500 },
        { title: `${name}, velocities and records`, query: { ...query, recordEvery: 50 }, points: 300 },
      ];
    }
    const query = { ...common, time: 0.31, spatialInterpolation, temporalInterpolation: "PCHIP" } as const;
    return [{ title: `${name} ${spatialInterpolation}`, query, points: 20_000 }];
  });
}

/** Points in and around the domain. */
export function randomPoints(count: number, seed: number, scale = 6 * Math.PI): Float32Array {
  const random = generator(seed);
  return Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * scale);
}
