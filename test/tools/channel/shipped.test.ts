/** The shipped channel obeys the laws of its flow, judged from its stored integers (docs/demonstration-data.md). */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";

const FOLDER = fileURLToPath(new URL("../../../data/turbulent-channel", import.meta.url));
const [NX, NY, NZ] = [32, 49, 32] as const;
const [LX, LZ] = [Math.PI, Math.PI / 2] as const;

describe("turbulent-channel", () => {
  let y: Float64Array;
  const fields = new Map<string, Float64Array>();
  const average = new Map<string, Float64Array>();
  const of = (map: ReadonlyMap<string, Float64Array>, name: string) => map.get(name) as Float64Array;

  beforeAll(async () => {
    await ready;
    const file = new File(join(FOLDER, "turbulent-channel.h5"), "r");
    y = (file.get("y") as Dataset).value as Float64Array;
    for (const name of ["u", "v", "w"]) {
      const dataset = file.get(name) as Dataset;
      const scale = dataset.attrs.scale_factor?.value as number;
      const offset = (dataset.attrs.add_offset?.value ?? 0) as number;
      const stored = dataset.slice([[1, 2], [], [], []]) as Int16Array;
      fields.set(
        name,
        Float64Array.from(stored, (value) => value * scale + offset),
      );
    }
    for (const name of ["u", "uv"]) average.set(name, (file.get(`average/${name}`) as Dataset).value as Float64Array);
    file.close();
  });

  const at = (name: string, x: number, j: number, z: number) => of(fields, name)[(z * NY + j) * NX + x] as number;

  /** A derivative of values around a period, from the definition. */
  function around(values: readonly number[], at: number, length: number): number {
    const n = values.length;
    let sum = 0;
    for (let m = 1; 2 * m < n; m++)
      values.forEach((value, i) => {
        sum -= (2 * value * m * Math.sin((2 * Math.PI * m * (at - i)) / n)) / n;
      });
    return (2 * Math.PI * sum) / length;
  }

  /** The derivative along y of the polynomial through the values, at one of them, by its barycentric form. */
  function across(values: ArrayLike<number>, j: number): number {
    const weight = (i: number) => (i % 2 === 0 ? 1 : -1) * (i === 0 || i === NY - 1 ? 0.5 : 1);
    let sum = 0;
    for (let i = 0; i < NY; i++)
      if (i !== j)
        sum +=
          ((weight(i) / weight(j)) * ((values[i] as number) - (values[j] as number))) /
          ((y[j] as number) - (y[i] as number));
    return sum;
  }

  it("rests at its walls, and has a divergence of zero as far as 16 bits go", () => {
    let [squares, gradient] = [0, 0];
    for (let n = 0; n < 100; n++) {
      const [x, j, z] = [(7 * n) % NX, 1 + ((11 * n) % (NY - 2)), (5 * n) % NZ];
      const line = (name: string, count: number, of: (i: number) => [number, number, number]) =>
        Array.from({ length: count }, (_, i) => at(name, ...of(i)));
      const dudx = around(
        line("u", NX, (i) => [i, j, z]),
        x,
        LX,
      );
      const dwdz = around(
        line("w", NZ, (i) => [x, j, i]),
        z,
        LZ,
      );
      const dvdy = across(
        line("v", NY, (i) => [x, i, z]),
        j,
      );
      squares += (dudx + dvdy + dwdz) ** 2;
      gradient +=
        across(
          line("u", NY, (i) => [x, i, z]),
          j,
        ) **
          2 +
        dudx ** 2 +
        dvdy ** 2 +
        dwdz ** 2;
      for (const name of ["u", "v", "w"]) expect([at(name, x, 0, z), at(name, x, NY - 1, z)]).toEqual([0, 0]);
    }
    expect(gradient).toBeGreaterThan(1000);
    expect(Math.sqrt(squares / gradient)).toBeLessThan(1e-3);
  });

  it("has the mean profile of the law of the wall, and its momentum budget", () => {
    const [u, uv] = [of(average, "u"), of(average, "uv")];
    for (let j = 1; j < NY - 1; j++) {
      const stress = across(u, j) / 110 - (uv[j] as number);
      expect(Math.abs(stress + (y[j] as number))).toBeLessThan(0.1);
    }
    for (let j = 0; j < NY; j++) {
      const plus = 110 * (1 - Math.abs(y[j] as number));
      const mean = ((u[j] as number) + (u[NY - 1 - j] as number)) / 2;
      if (plus < 4) expect(Math.abs(mean - plus)).toBeLessThan(0.1);
      if (plus > 27) expect(Math.abs(mean - 2.5 * Math.log(plus) - 5.5)).toBeLessThan(0.6);
    }
  });
});
