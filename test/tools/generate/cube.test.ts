/**
 * Analytic and random cubes: stored values against the formulas, any shape, any slabs, equal seeds giving equal bytes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, File, ready } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { type CubeOptions, writeCube } from "../../../tools/generate/cube.js";
import { eachScratchFolder } from "../../support/scratch.js";

let folder: string;
eachScratchFolder((path) => {
  folder = path;
});

const NODES = [12, 7, 10] as const;
const STEPS = 2;

async function cube(
  options: Partial<CubeOptions>,
): Promise<{ velocity: Float32Array; pressure: Float32Array; digest: string }> {
  const place = join(folder, `${readdirSync(folder).length}`);
  const manifest = await writeCube(
    {
      kind: "abc",
      nodes: NODES,
      steps: STEPS,
      chunk: null,
      filter: "none",
      seed: 1,
      name: "cube",
      folder: place,
      ...options,
    },
    () => {},
  );
  await ready;
  const file = new File(join(place, "cube.h5"), "r");
  try {
    return {
      velocity: (file.get("/velocity") as Dataset).value as Float32Array,
      pressure: (file.get("/pressure") as Dataset).value as Float32Array,
      digest: manifest.files["cube.h5"]?.sha256 as string,
    };
  } finally {
    file.close();
  }
}

type Formula = (x: number, y: number, z: number, t: number) => readonly [number, number, number, number];

const FORMULAS: Readonly<Record<"abc" | "taylor-green", Formula>> = {
  abc: (x, y, z, t) => {
    const [a, b, c] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
    const u = [
      a * Math.sin(z) + c * Math.cos(y),
      b * Math.sin(x) + a * Math.cos(z),
      c * Math.sin(y) + b * Math.cos(x),
    ] as const;
    const f = Math.exp(-0.1 * t);
    // The mean of |u|^2 is A^2 + B^2 + C^2 = 2.
    return [f * u[0], f * u[1], f * u[2], f * f * (1 - (u[0] ** 2 + u[1] ** 2 + u[2] ** 2) / 2)];
  },
  "taylor-green": (x, y, z, t) => {
    const f = Math.exp(-0.3 * t);
    return [
      f * Math.sin(x) * Math.cos(y) * Math.cos(z),
      -f * Math.cos(x) * Math.sin(y) * Math.cos(z),
      0,
      (f * f * (Math.cos(2 * x) + Math.cos(2 * y)) * (Math.cos(2 * z) + 2)) / 16,
    ];
  },
};

describe("writeCube", () => {
  it.each(["abc", "taylor-green"] as const)("stores the %s flow at every node and frame", async (kind) => {
    const { velocity, pressure } = await cube({ kind, chunk: [5, 3, 4] });
    const [nx, ny, nz] = NODES;
    let worst = 0;
    for (let node = 0; node < STEPS * nz * ny * nx; node++) {
      const [i, j, k, n] = [
        node % nx,
        Math.floor(node / nx) % ny,
        Math.floor(node / (nx * ny)) % nz,
        Math.floor(node / (nx * ny * nz)),
      ];
      const angle = (index: number, nodes: number) => (2 * Math.PI * index) / nodes;
      const expected = FORMULAS[kind](angle(i, nx), angle(j, ny), angle(k, nz), 0.1 * n);
      for (let c = 0; c < 3; c++)
        worst = Math.max(worst, Math.abs((velocity[3 * node + c] as number) - expected[c as 0]));
      worst = Math.max(worst, Math.abs((pressure[node] as number) - expected[3]));
    }
    // Half a unit in the last place of float32 below 4.
    expect(worst).toBeLessThanOrEqual(2 ** -23);
  });

  it.each(["abc", "random", "smooth"] as const)("stores the same %s values in any chunks", async (kind) => {
    const whole = await cube({ kind, chunk: [12, 7, 10] });
    const small = await cube({ kind, chunk: [5, 3, 4], filter: "gzip" });
    expect(small.velocity).toEqual(whole.velocity);
    expect(small.pressure).toEqual(whole.pressure);
  });

  it.each(["random", "smooth"] as const)("makes %s fields a function of the seed", async (kind) => {
    const [first, again, other] = [await cube({ kind }), await cube({ kind }), await cube({ kind, seed: 2 })];
    expect(again.digest).toBe(first.digest);
    expect(other.velocity).not.toEqual(first.velocity);
  });

  it("makes white noise: uniform, without correlation between neighbours, components and frames", async () => {
    const nodes = [32, 32, 32] as const;
    const { velocity } = await cube({ kind: "random", nodes });
    const moment = (lag: number) => {
      let sum = 0;
      for (let i = 0; i + lag < velocity.length; i++) sum += (velocity[i] as number) * (velocity[i + lag] as number);
      return sum / (velocity.length - lag);
    };
    const bound = 4 / 3 / Math.sqrt(velocity.length / 2); // four standard deviations of a mean over half of the values
    expect(Math.abs(velocity.reduce((sum, value) => sum + value, 0) / velocity.length)).toBeLessThan(
      bound * Math.sqrt(3),
    );
    expect(Math.abs(moment(0) - 1 / 3)).toBeLessThan(bound);
    for (const lag of [1, 2, 3, 96, 3 * 32 ** 2, 3 * 32 ** 3])
      expect(Math.abs(moment(lag)), `lag ${lag}`).toBeLessThan(bound);
  });

  it("describes what it stored", async () => {
    await cube({ kind: "abc", filter: "fletcher32" });
    const descriptor = JSON.parse(readFileSync(join(folder, "0", "dataset.json"), "utf8"));
    expect(descriptor).toMatchObject({
      schemaVersion: 1,
      name: "cube",
      axes: { x: { nodes: 12, origin: 0, periodic: true }, y: { nodes: 7 }, z: { nodes: 10 } },
      time: { origin: 0, step: 0.1, count: 2 },
      fields: { velocity: { file: "cube.h5", path: "/velocity", dimensions: ["t", "z", "y", "x", "c"] } },
      forcing: { kind: "none" },
    });
    expect(descriptor.axes.y.nodes * descriptor.axes.y.spacing).toBeCloseTo(2 * Math.PI, 14);
  });

  it("leaves nothing behind when it fails on the way", async () => {
    const failing = writeCube(
      {
        kind: "abc",
        nodes: NODES,
        steps: 1,
        chunk: [4, 4, 4],
        filter: "none",
        seed: 1,
        name: "cube",
        folder: join(folder, "x"),
      },
      (fraction) => {
        if (fraction > 0.5) throw new Error("stopped");
      },
    );
    await expect(failing).rejects.toThrow("stopped");
    expect(readdirSync(join(folder, "x"))).toEqual([]);
  });
});
