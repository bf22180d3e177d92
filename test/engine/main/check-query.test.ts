import { describe, expect, it } from "vitest";
import { recordTimes } from "../../../src/engine/contract/particle-records.js";
import type { Query } from "../../../src/engine/contract/query.js";
import { checkQuery } from "../../../src/engine/main/check-query.js";
import { FieldprobeError, NotFoundError } from "../../../src/shared/errors.js";
import { OLDER_OPERATIONS, type Operation, SPATIAL_INTERPOLATION } from "../../../src/shared/operations.js";
import type { Axis, Dataset, FieldSource } from "../../../src/storage/dataset/dataset.js";

const axis: Axis = { nodes: 32, origin: 0, spacing: 0.25, periodic: true, coordinates: null };
const field = (components: 1 | 3): FieldSource => ({
  components,
  bricking: { edge: [16, 16, 16], count: [2, 2, 2] },
  parts: [],
});

const FLOW: Dataset = {
  name: "flow",
  title: "",
  aliases: ["stream"],
  axes: [axis, axis, axis],
  walls: [
    [false, false],
    [false, false],
    [false, false],
  ],
  openFaces: "fail",
  time: { count: 13, origin: -0.2, step: 0.2, values: null, guardBefore: 1, guardAfter: 2 },
  fields: { velocity: field(3), pressure: field(1) },
  forcing: { kind: "taylorGreen", amplitude: 1, wavenumber: 1 },
  dnsStep: 0.01,
  frameVelocity: [0, 0, 0],
  units: {},
  source: "",
  location: "",
  digest: "",
  files: [],
  warnings: [],
  assumed: [],
  questions: [],
};

function goodQuery(operation: Operation & { name: Query["operation"] }): Query {
  const values = {
    ...{ dataset: "flow", time: 0.5, StartTime: 0.1, EndTime: 0.5, dt: 0.1, nt: 4, Tp: 0.1, filterlength: 1 },
    ...{ nlayers: 1 },
    spatialInterpolation: operation.spatial[0],
    temporalInterpolation: "PCHIP",
  };
  const names = operation.request.map(({ name }) => name);
  const given = Object.entries(values).filter(([name]) => names.includes(name));
  return { operation: operation.name, ...Object.fromEntries(given) };
}

function failure(query: Query, dataset: Dataset = FLOW): FieldprobeError {
  try {
    checkQuery(query, (name) => (name.toLowerCase() === dataset.name ? dataset : undefined));
  } catch (error) {
    if (error instanceof FieldprobeError) return error;
    throw error;
  }
  throw new Error("the query was accepted");
}

const named = (name: string) => OLDER_OPERATIONS.find((row) => row.name === name) as (typeof OLDER_OPERATIONS)[number];
const good = (name: string): Query => goodQuery(named(name));

/** Section 4 of the numerics: who takes what. */
const TRACKING = ["None", "Lag4", "Lag6", "Lag8"];
const DIFFERENCES = ["None_Fd4", "None_Fd6", "None_Fd8", "Fd4Lag4"];
const SPLINES = [4, 6, 8, 10, 12, 14].flatMap((q) => (q === 4 ? [1, 2] : [1, 2, 3, 4]).map((m) => `M${m}Q${q}`));
const VALUES = [...TRACKING, ...SPLINES];
const GRADIENTS = [...DIFFERENCES, ...SPLINES];
const HESSIANS = GRADIENTS.filter((name) => !name.startsWith("M1"));
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  ...{ GetVelocity: VALUES, GetVelocityAndPressure: VALUES, GetVelocityGradient: GRADIENTS },
  ...{ GetPressureGradient: GRADIENTS, GetVelocityHessian: HESSIANS, GetPressureHessian: HESSIANS },
  ...{ GetVelocityLaplacian: DIFFERENCES, GetForce: SPATIAL_INTERPOLATION, GetPosition: TRACKING },
  ...{ GetPositionInertialParticle: TRACKING, GetPositionParticleControl: TRACKING },
};

describe("checks before any work", () => {
  const options = Object.keys(ACCEPTED).flatMap((name) =>
    SPATIAL_INTERPOLATION.map((method) => [name, method] as const),
  );
  it.each(options)("%s with %s: accepted or refused as the table of options says", (name, method) => {
    const query = { ...good(name), spatialInterpolation: method };
    if (ACCEPTED[name]?.includes(method)) {
      expect(checkQuery(query, () => FLOW).query).toBe(query);
      return;
    }
    const { code, message, context } = failure(query);
    expect([code, context.member]).toEqual(["InvalidRequest", "spatialInterpolation"]);
    if (/Hessian|Laplacian/.test(name) && method.startsWith("M1")) {
      expect(message).toBe(
        `This interpolation option does not support second order derivatives! ${name} takes ${ACCEPTED[name]?.join(", ")}.`,
      );
      return;
    }
    const tracking = name.startsWith("GetPosition");
    const text = tracking
      ? "Invalid interpolation option specified!"
      : `Invalid Spatial Interpolation Option: ${method}.`;
    expect(message).toBe(`${text} ${name} takes ${ACCEPTED[name]?.join(", ")}.`);
  });

  it("lets a stored force take the options of velocity only", () => {
    const stored: Dataset = { ...FLOW, forcing: { kind: "stored" }, fields: { ...FLOW.fields, force: field(3) } };
    for (const method of SPATIAL_INTERPOLATION) {
      const query = { ...good("GetForce"), spatialInterpolation: method };
      if (VALUES.includes(method)) expect(checkQuery(query, () => stored).dataset).toBe(stored);
      else {
        const text = `Invalid Spatial Interpolation Option: ${method}. GetForce takes ${VALUES.join(", ")}.`;
        expect(failure(query, stored).message).toBe(text);
      }
    }
  });

  it("reports the first of several faults: dataset, time (start, end), availability, options", () => {
    const faults: [Partial<Query>, Dataset, string][] = [
      [{ spatialInterpolation: "Lag8" }, FLOW, "Invalid Spatial Interpolation Option: Lag8."],
      [
        {},
        { ...FLOW, fields: { velocity: field(3) } },
        'Invalid dataset specified! "flow" cannot answer GetPressureGradient: it has no pressure.',
      ],
      [{ time: 2.5 }, FLOW, 'Time 2.5 out of range for "flow". It has times from 0 to 1.8.'],
      [{ dataset: "nowhere" }, FLOW, "Invalid set name: nowhere"],
    ];
    let query = good("GetPressureGradient");
    let dataset = FLOW;
    for (const [change, on, text] of faults) {
      query = { ...query, ...change };
      dataset = on === FLOW ? dataset : on;
      expect(failure(query, dataset).message.startsWith(text)).toBe(true);
    }
    const late = { ...good("GetPositionParticleControl"), StartTime: -1, EndTime: 99 };
    expect(failure(late).message).toMatch(/^Time -1 out of range for "flow"\./);
    expect(failure({ ...late, StartTime: 0 }).context.member).toBe("EndTime");
  });

  it("takes names and aliases in any letter case and shows unknown ones", () => {
    expect(failure({ ...good("GetVelocity"), dataset: "Flow2" })).toBeInstanceOf(NotFoundError);
    const { dataset: _absent, ...without } = good("GetVelocity");
    expect(failure(without as Query).context.member).toBe("dataset");
  });

  it("refuses widths and spacings by their own names, which and how many nodes they are", () => {
    const box = { operation: "GetBoxFilter", dataset: "flow", time: 0.2, field: "u" } as const;
    const gradient = { ...box, operation: "GetBoxFilterGradient", filterwidth: 0.75 } as const;
    const refused = (query: Query) => {
      const { context, message } = failure(query);
      return [context.member, message];
    };
    expect(refused({ ...box, filterwidth: 9 })).toEqual([
      "filterwidth",
      'The filter width is 35 nodes, more than "flow" has.',
    ]);
    expect(refused({ ...box, filterwidth: -1 })).toEqual(["filterwidth", "The filter width must not be negative."]);
    expect(refused({ ...gradient, spacing: 9 })).toEqual(["spacing", 'The spacing is 36 nodes, more than "flow" has.']);
    expect(refused({ ...gradient, spacing: 0.1 })).toEqual([
      "spacing",
      "The spacing must be at least half a grid spacing, which is 0.25.",
    ]);
    expect(refused({ ...gradient, filterwidth: 9, spacing: 9 })[0]).toBe("filterwidth");
    // Even widths of exactly 4 spacings, as float32 numbers: three nodes. The spacing is that of x.
    const flat = { ...FLOW, axes: [{ ...axis, spacing: 0.5 }, axis, axis] } as const;
    const samplesOf = (filterwidth: number, of = FLOW) => checkQuery({ ...box, filterwidth }, () => of).samples;
    expect([samplesOf(1), samplesOf(Math.fround(1.1)), samplesOf(Math.fround(1.1), flat)]).toEqual([27, 125, 27]);
  });

  it("snaps a time before it judges it, and shows float32 times as they were written", () => {
    expect(checkQuery({ ...good("GetVelocity"), time: Math.fround(1.8) }, () => FLOW).dataset).toBe(FLOW);
    expect(failure({ ...good("GetVelocity"), time: Math.fround(1.801) }).message).toBe(
      'Time 1.801 out of range for "flow". It has times from 0 to 1.8.',
    );
    expect(failure({ ...good("GetVelocity"), time: Number.NaN }).code).toBe("OutOfRange");
    expect(checkQuery({ ...good("GetForce"), time: 99 }, () => FLOW).dataset).toBe(FLOW);
    const { code, context } = failure({ ...good("GetForce"), time: Number.NaN });
    expect([code, context.member]).toEqual(["OutOfRange", "time"]);
  });

  it("judges tracking: number of steps, response time, direction, snapshots", () => {
    expect(failure({ ...good("GetPosition"), nt: -1 }).context.member).toBe("nt");
    expect(failure({ ...good("GetPosition"), nt: 100 }).code).toBe("OutOfRange");
    expect(checkQuery({ ...good("GetPosition"), StartTime: 0.5, dt: -0.1 }, () => FLOW).step).toBe(-0.1);
    expect(checkQuery({ ...good("GetPosition"), nt: 0, dt: 1000 }, () => FLOW).steps).toBe(0);
    for (const dt of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const nt of [0, 1]) {
        const { code, context } = failure({ ...good("GetPosition"), dt, nt });
        expect([code, context.member]).toEqual(["OutOfRange", "dt"]);
      }
    }
    expect(failure({ ...good("GetPositionInertialParticle"), Tp: -1 }).context.member).toBe("Tp");
    const ballistic = failure({ ...good("GetPositionInertialParticle"), Tp: Number.POSITIVE_INFINITY });
    expect([ballistic.code, ballistic.context.member]).toEqual(["OutOfRange", "Tp"]);
    expect(failure({ ...good("GetPositionInertialParticle"), EndTime: 0 }).context.member).toBe("EndTime");
    const controlled = checkQuery(good("GetPositionParticleControl"), () => FLOW);
    expect([controlled.steps, controlled.step]).toEqual([40, expect.closeTo(0.01, 12)]);
    const snapshot: Dataset = {
      ...FLOW,
      time: { count: 1, origin: 0.1, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
    };
    const still = { ...good("GetPosition"), nt: 0 };
    const { code: refusal, message: reason } = failure(still, snapshot);
    expect([refusal, reason]).toEqual(["Unsupported", expect.stringMatching(/: it is a snapshot\.$/)]);
    const away = { ...still, StartTime: 1, nt: 1 };
    expect(failure(away, snapshot).message).toMatch(
      /It has the time 0\.1 only, and no particle can be tracked in a snapshot\.$/,
    );
    expect(failure({ ...good("GetVelocity"), time: 3 }, snapshot).message).toMatch(/It has the time 0\.1 only\.$/);
  });

  it("refuses float32 times far beyond the range by the range", () => {
    for (const time of [1e6, -1e6, Math.fround(3e38)]) {
      const far = failure({ ...good("GetVelocity"), time, singleTimes: true });
      expect([far.code, far.message]).toEqual(["OutOfRange", expect.stringContaining("out of range for")]);
    }
  });

  it("reads the first letter of the field of a SOAP cutout, as the Fortran client sends it", () => {
    const corners = { x_start: 1, y_start: 1, z_start: 1, x_end: 2, y_end: 2, z_end: 2, T: 1 };
    const steps = { x_step: 1, y_step: 1, z_step: 1, filter_width: 1 };
    const cutout = { operation: "GetAnyCutoutWeb", dataset: "flow", ...corners, ...steps } as const;
    const fieldOf = (field: string): unknown =>
      checkQuery({ ...cutout, field, singleTimes: true }, () => FLOW).region?.field;
    for (const field of ["u", "u2g", "u\u00f2~", "u ", "velocity"]) expect(fieldOf(field)).toBe("velocity");
    for (const field of ["p", "p~x", "pressure", "pr"]) expect(fieldOf(field)).toBe("pressure");
    for (const field of ["vorticity", "q", "", "x2g", "b2g"])
      expect(failure({ ...cutout, field, singleTimes: true }).message).toMatch(/^Invalid field specified!/);
    // Plain HTTP takes names and letters only.
    expect(failure({ ...cutout, field: "u2g" }).message).toMatch(/^Invalid field specified!/);
  });

  it("judges box filters: layers, length, grids", () => {
    const filter = good("GetBoxFilterVelocity");
    expect(failure({ ...filter, nlayers: 0 }).message).toBe("Invalid input of nlayers: 0");
    expect(failure({ ...filter, nlayers: 3 }).message).toMatch(
      /^The input for nlayers exceeds the number of total layers, which is 2 for /,
    );
    expect(failure({ ...filter, filterlength: 0.2 }).message).toMatch(
      /^Filter length is smaller than grid size\. Filter calculation not operated\. The least length is /,
    );
    const endless = failure({ ...filter, filterlength: Number.POSITIVE_INFINITY });
    expect([endless.code, endless.context.member]).toEqual(["OutOfRange", "filterlength"]);
    expect(checkQuery({ ...filter, filterlength: 2, nlayers: 3 }, () => FLOW)).toMatchObject({
      samples: 512,
      itemsPerPoint: 73,
    });
    const wall: Axis = { ...axis, periodic: false, coordinates: Float64Array.from({ length: 32 }, (_, i) => i * i) };
    const { code, message } = failure(filter, { ...FLOW, axes: [axis, wall, axis] });
    expect([code, message]).toEqual(["Unsupported", expect.stringMatching(/: its grid is not uniform\.$/)]);
  });

  it("refuses a force that nobody knows, and what a dataset does not hold", () => {
    expect(failure(good("GetForce"), { ...FLOW, forcing: { kind: "none" } }).code).toBe("Unsupported");
    for (const { name, family, fields } of OLDER_OPERATIONS) {
      if (family === "force" || family === "echo") continue;
      const text = `Invalid dataset specified! "flow" cannot answer ${name}: it has no ${fields[0]}.`;
      expect(failure(good(name), { ...FLOW, fields: {} }).message).toBe(text);
    }
  });

  it("counts the records of a path without having room for them", () => {
    const query = { operation: "GetPosition", dataset: "flow", StartTime: 0, dt: 2 ** -40, nt: 2 ** 31 - 1 } as const;
    const find = (): Dataset => FLOW;
    const tracked = checkQuery({ ...query, spatialInterpolation: "Lag4", recordEvery: 1 }, find);
    expect(tracked.itemsPerPoint).toBe(2 ** 31);
    const short = checkQuery({ ...query, spatialInterpolation: "Lag4", dt: 0.125, nt: 5, recordEvery: 2 }, find);
    expect([...(recordTimes(short) ?? [])]).toEqual([0, 0.25, 0.5, 0.625]);
  });
});
