/**
 * The shipped turbulence obeys the Navier-Stokes equations, judged from its stored frames; and generating is
 * repeatable.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { digestFile } from "../../../src/storage/catalog/manifest.js";
import { type IsotropicOptions, writeIsotropic } from "../../../tools/generate/isotropic.js";
import { NavierStokes } from "../../../tools/generate/navier-stokes.js";
import { type Complex, derivative, indexOf, transformOf, wavenumberAt } from "../../support/dft.js";
import { scratchFolder } from "../../support/scratch.js";

const FOLDER = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const NODES = 32;
/** Largest wavenumber of an axis that the 2/3 rule keeps. */
const KMAX = 10;
const CELLS = NODES ** 3;
const FRAMES = 15;
const FIRST = 1;
const LAST = 12;
const STEP = 0.2;

/** Wavenumbers of the cube, and whether the simulation kept them. */
const WAVES = Array.from({ length: CELLS }, (_, index) => {
  const k = wavenumberAt(NODES, index);
  const square = k[0] ** 2 + k[1] ** 2 + k[2] ** 2;
  return { k, square, kept: square > 0 && k.every((component) => Math.abs(component) <= KMAX) };
});

/** The figures that tests compare, for one stored frame. */
interface Frame {
  readonly energy: number;
  readonly dissipation: number;
  readonly input: number;
  readonly spectrum: readonly number[];
  /** rms of the divergence over rms of the gradient. */
  readonly divergence: number;
  /** rms over the kept wavenumbers of -k^2 p + transform of d_i u_j d_j u_i, over that of -k^2 p. */
  readonly poisson: number;
  readonly skewness: number;
  /**
   * Largest difference of a force coefficient from its shell's rate times the velocity, over the largest coefficient.
   */
  readonly misalignment: number;
}

const square = (values: Complex, index: number) =>
  (values.re[index] as number) ** 2 + (values.im[index] as number) ** 2;

function analyse(
  velocity: Float32Array,
  pressure: Float32Array,
  wavenumber: Int32Array,
  force: Float64Array,
  viscosity: number,
): Frame {
  const u = [0, 1, 2].map((c) =>
    transformOf(
      NODES,
      Float64Array.from({ length: CELLS }, (_, n) => velocity[3 * n + c] as number),
    ),
  );
  const [ux, uy, uz] = u as [Complex, Complex, Complex];
  const p = transformOf(NODES, pressure);
  const spectrum = new Array<number>(KMAX + 1).fill(0);
  let [energy, gradient, divergence] = [0, 0, 0];
  WAVES.forEach(({ k, square: k2 }, n) => {
    const half = (square(ux, n) + square(uy, n) + square(uz, n)) / 2;
    const shell = Math.round(Math.sqrt(k2));
    energy += half;
    gradient += 2 * k2 * half;
    if (shell <= KMAX) spectrum[shell] = (spectrum[shell] as number) + half;
    const along = (part: "re" | "im") =>
      k[0] * (ux[part][n] as number) + k[1] * (uy[part][n] as number) + k[2] * (uz[part][n] as number);
    divergence += along("re") ** 2 + along("im") ** 2;
  });
  const slopes = u.map((component) => ([0, 1, 2] as const).map((axis) => derivative(NODES, component, axis)));
  const product = new Float64Array(CELLS);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      const [a, b] = [slopes[j]?.[i] as Float64Array, slopes[i]?.[j] as Float64Array];
      for (let n = 0; n < CELLS; n++) product[n] = (product[n] as number) + (a[n] as number) * (b[n] as number);
    }
  }
  const source = transformOf(NODES, product);
  let [residual, laplacian] = [0, 0];
  WAVES.forEach(({ square: k2, kept }, n) => {
    if (!kept) return;
    laplacian += k2 * k2 * square(p, n);
    residual += ((source.re[n] as number) - k2 * (p.re[n] as number)) ** 2;
    residual += ((source.im[n] as number) - k2 * (p.im[n] as number)) ** 2;
  });
  const skewness = ([0, 1, 2] as const).map((c) => {
    const slope = slopes[c]?.[c] as Float64Array;
    const moment = (power: number) => slope.reduce((sum, value) => sum + value ** power, 0) / CELLS;
    return moment(3) / moment(2) ** 1.5;
  });
  return {
    energy,
    dissipation: viscosity * gradient,
    spectrum,
    divergence: Math.sqrt(divergence / gradient),
    poisson: Math.sqrt(residual / laplacian),
    skewness: skewness.reduce((sum, value) => sum + value, 0) / 3,
    ...analyseForce(u, wavenumber, force),
  };
}

/** Power of the stored force, and how far it is from being the same multiple of the velocity over each shell. */
function analyseForce(
  u: readonly Complex[],
  wavenumber: Int32Array,
  force: Float64Array,
): { input: number; misalignment: number } {
  const modes = Array.from({ length: wavenumber.length / 3 }, (_, m) => {
    const k = [...wavenumber.subarray(3 * m, 3 * m + 3)] as [number, number, number];
    const n = indexOf(NODES, k);
    const f = force.subarray(6 * m, 6 * m + 6);
    const v = u.flatMap((component) => [component.re[n] as number, component.im[n] as number]);
    const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
      Array.from(a).reduce((sum, value, e) => sum + value * (b[e] as number), 0);
    const shell = Math.round(Math.hypot(...k));
    return { shell, f, v, power: dot(f, v), square: dot(v, v), pair: k[0] === 0 ? 1 : 2 };
  });
  const input = modes.reduce((sum, { power, pair }) => sum + pair * power, 0);
  let worst = 0;
  for (const shell of [1, 2]) {
    const members = modes.filter((mode) => mode.shell === shell);
    const sum = (of: "power" | "square") => members.reduce((all, mode) => all + mode.pair * mode[of], 0);
    const rate = sum("power") / sum("square");
    for (const { f, v } of members)
      f.forEach((value, e) => {
        worst = Math.max(worst, Math.abs(value - rate * (v[e] as number)));
      });
  }
  return { input, misalignment: worst / Math.max(...force.map(Math.abs)) };
}

describe("data/isotropic32", () => {
  let frames: Frame[];
  let pair: readonly Float32Array[];
  let viscosity: number;
  let wavenumber: Int32Array;
  let coefficient: Float64Array;
  let history: { time: Float64Array; energy: Float64Array };

  beforeAll(async () => {
    (await ready).activate_throwing_error_handler();
    const file = new File(join(FOLDER, "isotropic32.h5"), "r");
    try {
      const read = (path: string) => (file.get(path) as Dataset).value;
      wavenumber = read("/forcing/wavenumber") as Int32Array;
      coefficient = read("/forcing/coefficient") as Float64Array;
      history = { time: read("/history/time") as Float64Array, energy: read("/history/energy") as Float64Array };
      const velocity = read("/velocity") as Float32Array;
      const pressure = read("/pressure") as Float32Array;
      viscosity = file.get_attribute("viscosity", true) as number;
      const perFrame = coefficient.length / FRAMES;
      pair = [4, 5].map((n) => velocity.slice(3 * CELLS * n, 3 * CELLS * (n + 1)));
      frames = Array.from({ length: FRAMES }, (_, n) =>
        analyse(
          velocity.subarray(3 * CELLS * n, 3 * CELLS * (n + 1)),
          pressure.subarray(CELLS * n, CELLS * (n + 1)),
          wavenumber,
          coefficient.subarray(perFrame * n, perFrame * (n + 1)),
          viscosity,
        ),
      );
    } finally {
      file.close();
    }
  });

  it("is what its manifest and descriptor say, in at most 8 MB", async () => {
    const manifest = JSON.parse(readFileSync(join(FOLDER, "manifest.json"), "utf8"));
    expect(manifest).toEqual({ files: { "isotropic32.h5": await digestFile(join(FOLDER, "isotropic32.h5")) } });
    expect(statSync(join(FOLDER, "isotropic32.h5")).size).toBeLessThan(8e6);
    expect(JSON.parse(readFileSync(join(FOLDER, "dataset.json"), "utf8"))).toMatchObject({
      name: "isotropic32",
      aliases: ["iso32"],
      axes: { x: { nodes: NODES, periodic: true }, y: { nodes: NODES }, z: { nodes: NODES } },
      time: { origin: -STEP, step: STEP, count: FRAMES, guardBefore: FIRST, guardAfter: FRAMES - 1 - LAST },
      forcing: { kind: "modes", file: "isotropic32.h5", path: "/forcing" },
    });
  });

  it("goes from one frame to the next as the solver takes it there, to the rounding of what is stored", () => {
    const simulation = new NavierStokes(NODES, viscosity, 5);
    const { modes } = simulation;
    const [from, to] = pair as [Float32Array, Float32Array];
    for (let c = 0; c < 3; c++) {
      const { re, im } = transformOf(
        NODES,
        Float64Array.from({ length: CELLS }, (_, n) => from[3 * n + c] as number),
      );
      for (let m = 0; m < modes.count; m++) {
        const n = indexOf(NODES, [...modes.k.subarray(3 * m, 3 * m + 3)] as [number, number, number]);
        simulation.velocity.values.set([re[n] as number, im[n] as number], 6 * m + 2 * c);
      }
    }
    for (let i = 0; i < 10; i++) simulation.step(STEP / 10);
    for (let c = 0; c < 3; c++)
      simulation.physical(simulation.velocity, c).forEach((value, n) => {
        expect(Math.abs(value - (to[3 * n + c] as number))).toBeLessThan(2e-6);
      });
  });

  it("has velocity free of divergence", () => {
    for (const { divergence } of frames) expect(divergence).toBeLessThan(1e-6);
  });

  it("has the pressure that its velocity asks for", () => {
    for (const { poisson } of frames) expect(poisson).toBeLessThan(1e-5);
  });

  it("gains the energy that its force puts in beyond what viscosity takes", () => {
    // Each interval by the cubic through its ends and their neighbours, the guard frames included.
    const integral = (of: (frame: Frame) => number) => {
      const value = frames.map(of);
      const at = (n: number) => value[n] as number;
      let sum = 0;
      for (let n = FIRST; n < LAST; n++) sum += (STEP * (13 * (at(n) + at(n + 1)) - at(n - 1) - at(n + 2))) / 24;
      return sum;
    };
    const gain = (frames[LAST] as Frame).energy - (frames[FIRST] as Frame).energy;
    const dissipated = integral((frame) => frame.dissipation);
    expect(Math.abs(gain - integral((frame) => frame.input) + dissipated)).toBeLessThan(0.005 * dissipated);
    expect(integral((frame) => frame.input)).toBeGreaterThan(0.5 * dissipated);
  });

  it("stretches vortices: the longitudinal derivative is skewed as in isotropic turbulence", () => {
    for (const { skewness } of frames) {
      expect(skewness).toBeGreaterThan(-0.6);
      expect(skewness).toBeLessThan(-0.2);
    }
  });

  it("was statistically steady before the first frame", () => {
    const { spectrum, energy } = frames[0] as Frame;
    const component = Math.sqrt((2 * energy) / 3);
    const integralLength =
      (Math.PI / (2 * component ** 2)) * spectrum.reduce((sum, e, k) => (k === 0 ? 0 : sum + e / k), 0);
    const span = (5 * integralLength) / component;
    const start = -STEP - span;
    expect(history.time[0] as number).toBeLessThan(start);
    const mean = (from: number, to: number) => {
      const inside = history.energy.filter(
        (_, n) => (history.time[n] as number) >= from && (history.time[n] as number) < to,
      );
      return inside.reduce((sum, value) => sum + value, 0) / inside.length;
    };
    const [earlier, later] = [mean(start, start + span / 2), mean(start + span / 2, -STEP)];
    expect(Math.abs(later - earlier)).toBeLessThan(0.15 * Math.min(earlier, later));
    history.energy.slice(-FRAMES).forEach((value, n) => {
      expect(value).toBeCloseTo((frames[n] as Frame).energy, 6);
    });
  });

  it("resolves its smallest scales: the spectrum falls by four decades, and kmax eta is at least 1.3", () => {
    for (const { spectrum, dissipation } of frames) {
      expect(Math.max(...spectrum)).toBeGreaterThan(1e4 * (spectrum[KMAX] as number));
      expect(KMAX * (viscosity ** 3 / dissipation) ** 0.25).toBeGreaterThanOrEqual(1.3);
    }
  });

  it("stores the force of the 80 lowest modes: along the velocity, equally strong over a shell", () => {
    const rows = Array.from({ length: wavenumber.length / 3 }, (_, m) => [...wavenumber.subarray(3 * m, 3 * m + 3)]);
    const expected = WAVES.map(({ k }) => k).filter(
      (k) => k[0] >= 0 && Math.hypot(...k) <= 2.5 && Math.hypot(...k) >= 0.5,
    );
    expect(new Set(rows.map(String))).toEqual(new Set(expected.map(String)));
    expect(rows.length).toBe(50);
    expect(rows.reduce((sum, row) => sum + (row[0] === 0 ? 1 : 2), 0)).toBe(80);
    expect(coefficient.length).toBe(FRAMES * 50 * 3 * 2);
    for (const { misalignment } of frames) expect(misalignment).toBeLessThan(1e-6);
  });
});

describe("writeIsotropic", () => {
  const folder = scratchFolder();
  it("gives equal bytes for equal options and others for another seed", async () => {
    const options: IsotropicOptions = {
      nodes: 16,
      viscosity: 0.1,
      seed: 5,
      spinUp: 0.4,
      frames: 4,
      name: "small",
      aliases: [],
      folder: join(folder, "a"),
    };
    const fractions: number[] = [];
    const first = await writeIsotropic(options, (fraction) => fractions.push(fraction));
    const again = await writeIsotropic({ ...options, folder: join(folder, "b") }, () => {});
    const other = await writeIsotropic({ ...options, seed: 6, folder: join(folder, "c") }, () => {});
    expect(again.manifest).toEqual(first.manifest);
    expect(other.manifest.files["small.h5"]?.sha256).not.toBe(first.manifest.files["small.h5"]?.sha256);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
    expect(first.reports.map(({ time }) => Math.round(10 * time))).toEqual([-2, 0, 2, 4]);
  });

  it("goes on where it was killed, with the same bytes", async () => {
    const small = { nodes: 16, viscosity: 0.1, seed: 7, spinUp: 0.6, frames: 4, name: "small", aliases: [] };
    const whole = await writeIsotropic({ ...small, folder: join(folder, "whole") }, () => {});
    // After two intervals of the spin-up, and after two stored frames.
    for (const intervals of [2, 5]) {
      const options: IsotropicOptions = { ...small, folder: join(folder, `killed-${intervals}`) };
      let left = intervals;
      const kill = () => {
        if (--left === 0) throw new Error("killed");
      };
      await expect(writeIsotropic(options, kill)).rejects.toThrow("killed");
      await expect(writeIsotropic({ ...options, seed: 8 }, () => {})).rejects.toThrow("a run with other options");
      const fractions: number[] = [];
      const { manifest } = await writeIsotropic(options, (fraction) => fractions.push(fraction));
      expect(manifest).toEqual(whole.manifest);
      expect(fractions).toHaveLength(intervals === 2 ? 6 : 4);
      expect(readdirSync(options.folder).toSorted()).toEqual(readdirSync(join(folder, "whole")).toSorted());
    }
  });
});
