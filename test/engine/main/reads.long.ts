/**
 * Queries on data that exceeds the cache, of files and of stores: the bytes they read, of the bricks that stencils
 * touch, and their bits.
 */
import { join } from "node:path";
import { pino } from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import type { Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { objectTarget } from "../../../src/storage/remote/objects/object-target.js";
import { convertToZarr } from "../../../src/storage/tools/convert-zarr.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { generator, runQuery } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const PERIOD = 2 * Math.PI;
const EDGE = 16;
const BRICK_BYTES = 12 * EDGE ** 3;
const SHAPES = { cube: [96, 96, 96], plate: [128, 128, 32], beam: [32, 32, 256] } as const;

/** Bricks that Lag8 touches at random points of a periodic box of length 2 pi. */
function touchedBricks(nodes: readonly number[], points: Float32Array): number {
  const touched = new Set<string>();
  const brickOf = (point: number, a: number, offset: number): number => {
    const size = nodes[a] as number;
    const cell = Math.floor(((points[3 * point + a] as number) / PERIOD) * size);
    return Math.floor(((cell + offset + size) % size) / EDGE);
  };
  for (let point = 0; 3 * point < points.length; point++) {
    for (const x of [-3, 4])
      for (const y of [-3, 4])
        for (const z of [-3, 4]) touched.add(`${brickOf(point, 0, x)} ${brickOf(point, 1, y)} ${brickOf(point, 2, z)}`);
  }
  return touched.size;
}

interface Answer {
  readonly values: Float32Array;
  readonly bytesRead: number;
}

function pointsOf(count: number): Float32Array {
  const random = generator(11);
  return Float32Array.from({ length: 3 * count }, () => random() * 6.28);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) => Buffer.from(buffer, byteOffset, byteLength);

describe("bytes read where data exceeds the cache", () => {
  const folder = scratchFolder();
  beforeAll(async () => {
    for (const [name, nodes] of Object.entries(SHAPES)) {
      const shape = { kind: "random", nodes, steps: 4, chunk: [EDGE, EDGE, EDGE], filter: "none", seed: 1 } as const;
      await writeCube({ ...shape, name, folder: join(folder, name) }, () => {});
    }
    const form = { name: "stored", chunk: EDGE, shard: 2 * EDGE, compression: "none" } as const;
    const store = objectTarget(join(folder, "stored.zarr"), STORE_DEFAULTS);
    await convertToZarr(openConfirmed(join(folder, "cube"), 2 ** 28), store, form, () => {});
  });

  async function answer(query: Query, count: number, cacheMiB: number, workers: number): Promise<Answer> {
    const settings = { DATA: folder, WORKERS: String(workers), CACHE_BYTES: String(cacheMiB * 2 ** 20) };
    const engine = await openEngine(loadConfig(settings, {}), pino({ level: "silent" }));
    try {
      const values = await runQuery(engine, query, pointsOf(count));
      return { values, bytesRead: engine.status().bytesRead };
    } finally {
      await engine.close(1000);
    }
  }

  it.each([
    { name: "cube", count: 20_000, temporal: "None", cacheMiB: 3, workers: 2 },
    { name: "cube", count: 20_000, temporal: "PCHIP", cacheMiB: 12, workers: 2 },
    { name: "cube", count: 300, temporal: "PCHIP", cacheMiB: 6, workers: 2 },
    { name: "cube", count: 300, temporal: "None", cacheMiB: 2, workers: 2 },
    { name: "plate", count: 20_000, temporal: "PCHIP", cacheMiB: 8, workers: 2 },
    { name: "beam", count: 20_000, temporal: "PCHIP", cacheMiB: 8, workers: 2 },
  ] as const)(
    "$name, $count random points, $temporal, cache of $cacheMiB MiB, $workers workers: at most twice the bricks touched",
    async ({ name, count, temporal, cacheMiB, workers }) => {
      const asked = { operation: "GetVelocity", dataset: name, time: 0.15, spatialInterpolation: "Lag8" } as const;
      const query = { ...asked, temporalInterpolation: temporal };
      const { bytesRead } = await answer(query, count, cacheMiB, workers);
      const touched = touchedBricks(SHAPES[name], pointsOf(count)) * BRICK_BYTES * (temporal === "PCHIP" ? 4 : 1);
      expect(bytesRead / touched).toBeLessThanOrEqual(2);
    },
  );

  const answered = new Map<string, Answer>();

  it.each([
    { dataset: "cube", operation: "GetVelocity", scheme: "Lag8", count: 20_000, cacheMiB: 12, workers: 1, most: 1.17 },
    { dataset: "cube", operation: "GetVelocity", scheme: "Lag8", count: 20_000, cacheMiB: 6, workers: 1, most: 1.56 },
    { dataset: "cube", operation: "GetVelocity", scheme: "Lag8", count: 300, cacheMiB: 6, workers: 1, most: 1.33 },
    { dataset: "cube", operation: "GetVelocity", scheme: "Lag8", count: 20_000, cacheMiB: 6, workers: 2, most: 2 },
    {
      dataset: "cube",
      operation: "GetVelocityGradient",
      scheme: "None_Fd8",
      count: 20_000,
      cacheMiB: 12,
      workers: 1,
      most: 1.17,
    },
    {
      dataset: "cube",
      operation: "GetVelocityHessian",
      scheme: "M2Q14",
      count: 2_000,
      cacheMiB: 12,
      workers: 2,
      most: 2,
    },
    { dataset: "stored", operation: "GetVelocity", scheme: "Lag8", count: 20_000, cacheMiB: 6, workers: 1, most: 1.56 },
    { dataset: "stored", operation: "GetVelocity", scheme: "Lag8", count: 300, cacheMiB: 6, workers: 2, most: 2 },
  ] as const)(
    "$dataset, $operation $scheme, $count points, PCHIP, $cacheMiB MiB, $workers workers: $most times the bricks, same bits",
    async ({ dataset, operation, scheme, count, cacheMiB, workers, most }) => {
      const query = { operation, time: 0.15, spatialInterpolation: scheme, temporalInterpolation: "PCHIP" } as const;
      const points = pointsOf(count);
      const held =
        answered.get(`${operation} ${count}`) ?? (await answer({ ...query, dataset: "cube" }, count, 256, 1));
      answered.set(`${operation} ${count}`, held);
      const touched = touchedBricks(SHAPES.cube, points) * BRICK_BYTES * 4;
      const swept = await answer({ ...query, dataset }, count, cacheMiB, workers);
      expect(Buffer.compare(bytesOf(swept.values), bytesOf(held.values))).toBe(0);
      expect(swept.bytesRead / touched).toBeLessThanOrEqual(most);
    },
  );
});
