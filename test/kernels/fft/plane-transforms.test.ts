/** The transforms agree with sums over the definition, for every radix, and undo each other. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isFftLength, nearestFftLengths } from "../../../src/analysis/fft-lengths.js";
import { halfOf, PlaneTransforms } from "../../../src/kernels/fft/plane-transforms.js";

const WASM = readFileSync("dist/kernels/fft/fft.wasm");
/** Every radix alone and mixed, odd lengths, and more rows than registers hold. */
const LENGTHS = [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 25, 27, 30, 32, 45, 64, 75, 96, 125];

const noise = (i: number): number => Math.sin(12.9898 * (i + 1) + 78.233 * ((i * i) % 97));

/** U(k) = sum u(x) exp(-i k x), by its definition. */
function sumsOf(re: readonly number[], im: readonly number[]): readonly (readonly [number, number])[] {
  const n = re.length;
  return re.map((_, k) => {
    let [a, b] = [0, 0];
    for (let x = 0; x < n; x++) {
      const angle = (-2 * Math.PI * ((k * x) % n)) / n;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      a += c * (re[x] as number) - s * (im[x] as number);
      b += c * (im[x] as number) + s * (re[x] as number);
    }
    return [a, b] as const;
  });
}

describe.each(LENGTHS)("transforms of %i numbers", (n) => {
  const rows = 19;
  const half = halfOf(n, true);

  it("are the sums of their definition along rows, and come back", () => {
    const planes = new PlaneTransforms(WASM);
    planes.prepare({ nodes: n, lengths: [1], half, rows, planes: 1 });
    const plane = planes.plane(0);
    for (let y = 0; y < rows; y++) for (let x = 0; x < n; x++) plane[2 * half * y + x] = noise(n * y + x);
    planes.forwardAlongRows(0);
    for (const y of [0, 7, 8, rows - 1]) {
      const row = Array.from({ length: n }, (_, x) => noise(n * y + x));
      const sums = sumsOf(row, new Array(n).fill(0));
      for (let k = 0; k <= n >> 1; k++) {
        expect(plane[2 * half * y + k]).toBeCloseTo(sums[k]?.[0] as number, 11);
        expect(plane[2 * half * y + half + k]).toBeCloseTo(sums[k]?.[1] as number, 11);
      }
    }
    planes.inverseAlongRows(0);
    for (let y = 0; y < rows; y++)
      for (let x = 0; x < n; x++) expect((plane[2 * half * y + x] as number) / n).toBeCloseTo(noise(n * y + x), 13);
  });

  it("are the sums of their definition along columns, and come back", () => {
    const planes = new PlaneTransforms(WASM);
    planes.prepare({ nodes: 1, lengths: [n], half: 8, rows: 2 * n, planes: 2 });
    const plane = planes.plane(1);
    for (let i = 0; i < plane.length; i++) plane[i] = noise(i);
    planes.alongColumns(1, n, false, 1, 2);
    for (const line of [0, 1, 7]) {
      const column = (part: number) => Array.from({ length: n }, (_, y) => noise(16 * (2 * y + 1) + 8 * part + line));
      sumsOf(column(0), column(1)).forEach(([re, im], k) => {
        expect(plane[16 * (2 * k + 1) + line]).toBeCloseTo(re, 11);
        expect(plane[16 * (2 * k + 1) + 8 + line]).toBeCloseTo(im, 11);
      });
    }
    planes.alongColumns(1, n, true, 1, 2);
    for (let i = 0; i < plane.length; i++) {
      const scale = Math.floor(i / 16) % 2 === 1 ? n : 1;
      expect((plane[i] as number) / scale).toBeCloseTo(noise(i), 13);
    }
  });
});

it("names the nearest lengths of the form 2^a 3^b 5^c", () => {
  expect([1, 30, 96, 125, 4096].every(isFftLength)).toBe(true);
  expect([7, 70, 77, 121].some(isFftLength)).toBe(false);
  expect(nearestFftLengths(70)).toEqual([64, 72]);
});
