/** Query strings of the REST interface, as its clients send them. */
import { describe, expect, it } from "vitest";
import { countsFrames, readValuesQuery, timesOfFrames } from "../../../src/server/jhtdb/values-query.js";

const PLAIN = {
  authToken: "secret",
  dataset: "isotropic32",
  function: "GetVariable",
  var: "velocity",
  t: "0.364",
  sint: "lag8",
  sop: "field",
  tint: "none",
  timepoint_end: "-999.9",
  delta_t: "-999.9",
};

const read = (query: unknown, most: number) => readValuesQuery(query, most, () => undefined);

/** The times that clients of the public service expect: numpy.arange, and the end where the last step meets it. */
function clientTimes(start: number, end: number, step: number): number {
  const count = Math.max(0, Math.ceil((end - start) / step));
  const last = start + (count - 1) * step + step;
  return Math.abs(last - end) <= 1e-9 * Math.max(Math.abs(last), Math.abs(end)) ? count + 1 : count;
}

describe("the query string of values", () => {
  it("reads a plain query; -999.9 means not given", () => {
    const query = read(PLAIN, 100);
    expect(query).toMatchObject({
      dataset: "isotropic32",
      query: { dataset: "isotropic32", spatialInterpolation: "Lag8", temporalInterpolation: "None" },
      times: [0.364],
      isTrack: false,
    });
    expect(query.operation.name).toBe("GetVelocity");
    const { timepoint_end: _end, delta_t: _step, ...without } = PLAIN;
    expect(read(without, 100)).toEqual(query);
  });

  it.each([
    ["none", "field", "GetVelocity", "None"],
    ["fd4noint", "gradient", "GetVelocityGradient", "None_Fd4"],
    ["fd6noint", "hessian", "GetVelocityHessian", "None_Fd6"],
    ["fd8noint", "laplacian", "GetVelocityLaplacian", "None_Fd8"],
    ["fd4lag4", "gradient", "GetVelocityGradient", "Fd4Lag4"],
  ])("maps %s and %s", (sint, sop, operation, option) => {
    const { query } = read({ ...PLAIN, sint, sop, tint: "pchip" }, 100);
    expect(query).toMatchObject({ operation, spatialInterpolation: option, temporalInterpolation: "PCHIP" });
  });

  it("takes a series that ends at its start, and none that ends before it", () => {
    const series = (end: string) => read({ ...PLAIN, timepoint_end: end, delta_t: "0.002" }, 100);
    expect(series("0.364").times).toEqual([0.364]);
    expect(() => series("0.362")).toThrow("timepoint_end must not be before t.");
  });

  it("counts the times of a series as clients do, for decimals of all kinds", () => {
    let compared = 0;
    for (let k = 1; k < 400; k++) {
      for (const step of [0.1, 0.02, 0.0002, 0.3, 0.007]) {
        const start = Number((0.05 * (k % 17)).toFixed(4));
        const end = Number((start + k * step).toFixed(6));
        const { times } = read({ ...PLAIN, t: String(start), timepoint_end: String(end), delta_t: String(step) }, 1000);
        if (times.length !== clientTimes(start, end, step)) throw new Error(`${start} ${end} ${step} ${times.length}`);
        expect(times[0]).toBe(start);
        compared++;
      }
    }
    expect(compared).toBe(399 * 5);
  });

  it("reads the start, end and step of a track", () => {
    const position = { ...PLAIN, var: "position", t: "0.2", sint: "lag6", timepoint_end: "0.4", delta_t: "0.02" };
    expect(read(position, 100)).toMatchObject({
      query: { StartTime: 0.2, EndTime: 0.4, dt: 0.02, spatialInterpolation: "Lag6" },
      isTrack: true,
    });
    expect(() => read({ ...position, timepoint_end: "-999.9", delta_t: "-999.9" }, 100)).toThrow(
      "position needs timepoint_end and delta_t",
    );
  });

  it.each([
    [{ var: "energy" }, "var must be one of"],
    [{ sop: "curl" }, "sop must be one of field, gradient, hessian, laplacian"],
    [{ sint: "lag5" }, "sint must be one of none, lag4"],
    [{ sint: "fd4noint" }, "sint must be one of none, lag4"],
    [{ tint: "linear" }, "tint must be one of none, pchip"],
    [{ t: "now" }, 't is not a number: "now"'],
    [{ t: "1e60" }, "t is not a finite float32"],
    [{ delta_t: "0.1" }, "given together or not at all"],
    [{ timepoint_end: "0.5", delta_t: "-0.1" }, "delta_t must be above 0"],
    [{ timepoint_end: "0.1", delta_t: "0.1" }, "timepoint_end must not be before t"],
    [{ timepoint_end: "50", delta_t: "0.1" }, "The series has 497 times; at most 100 are allowed."],
    [{ function: "GetCutout" }, "function must be GetVariable"],
    [{ c: "" }, 'There is no parameter "c"'],
    [{ dataset: undefined }, "dataset is given more than once"],
  ])("refuses %j", (change, message) => {
    expect(() => read({ ...PLAIN, ...change }, 100)).toThrow(message);
  });
});

it("takes the times of frames that clients count from 1, for the public names that do", () => {
  for (const name of ["isotropic4096", "Channel5200", "isotropic32768", "stsabl2048low", "sabl2048low", "rotstrat4096"])
    expect(countsFrames(name), name).toBe(true);
  for (const name of ["isotropic32", "isotropic1024coarse", "isotropic40960", "sabl2048high"])
    expect(countsFrames(name), name).toBe(false);
  expect(countsFrames("isotropic32", { countsFrames: true })).toBe(true);
  expect(countsFrames("isotropic32", { countsFrames: false })).toBe(false);
  expect(timesOfFrames([1, 3], [0.5, 0.7, 0.9])).toEqual([0.5, 0.9]);
  for (const wrong of [0, 4, 1.5])
    expect(() => timesOfFrames([wrong], [0.5, 0.7, 0.9])).toThrow("numbers of frames, 1 to 3, instead of times");
});
