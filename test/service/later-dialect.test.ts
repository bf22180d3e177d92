/** Operations of the later interface over a real socket: published anchors, and agreement with older operations. */
import { describe, expect, it } from "vitest";
import { soapRecords } from "../support/operation-questions.js";
import { useTestData } from "../support/service.js";
import { callOperation, ENVELOPES, NAMESPACE, type Version } from "../support/soap-service.js";

const service = await useTestData();

type Given = Readonly<Record<string, string | number>>;

const send = async (operation: string, given: Given, more = "", version: Version = "1.1"): Promise<string> =>
  (await callOperation(service, version, operation, given, more)).text;

const POINT = "<points><Point3><x>1</x><y>2</y><z>3</z></Point3></points>";
const SET = { dataset: "isotropic32" };
const numbers = (text: string): number[] =>
  [...(/<\w+Result>(.*)<\/\w+Result>/s.exec(text)?.[1] ?? text).matchAll(/>([^<>]+)</g)].map((match) =>
    Number(match[1]),
  );

function expectNear(values: readonly number[], anchors: string, within = 1e-6): void {
  const expected = anchors.trim().split(/\s+/).map(Number);
  expect(values, values.join(" ")).toHaveLength(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs((values[i] as number) - value), `${i}: ${values[i]} for ${value}`).toBeLessThan(within);
  });
}

describe("published anchors on isotropic32 at (1, 2, 3) and time 0.4", () => {
  const rows: readonly (readonly [string, Given, string])[] = [
    [
      "GetInvariant",
      { time: 0.4, spatialInterpolation: "Fd4Lag4", temporalInterpolation: "None" },
      "2.4590163 1.9827752 -0.2381206",
    ],
    ["GetBoxFilter", { field: "u", time: 0.4, filterwidth: 1.4 }, "-0.05669076 -0.13494397 0.34448779"],
    ["GetBoxFilter", { field: "pressure", time: 0.4, filterwidth: 1.4 }, "0.50638366 0 0"],
    [
      "GetBoxFilterSGSsymtensor",
      { field: "velocity", time: 0.4, filterwidth: 1.4 },
      "0.01232081 0.13522324 0.26078223 -0.00467428 0.02625300 -0.12568958",
    ],
    [
      "GetBoxFilterSGS",
      { field: "uu", time: 0.4, filterwidth: 1.4 },
      "0.01232081 0.13522324 0.26078223 -0.00467428 0.02625300 -0.12568958",
    ],
    ["GetBoxFilterSGSvector", { field: "up", time: 0.4, filterwidth: 1.4 }, "-0.00110903 0.02532776 -0.02161662"],
    ["GetBoxFilterSGSscalar", { field: "pp", time: 0.4, filterwidth: 1.4 }, "0.01209502"],
    [
      "GetBoxFilterGradient",
      { field: "velocity", time: 0.4, filterwidth: 1.4, spacing: 0.785398 },
      "-0.03930672 0.08153304 0.11931185 -0.44834801 -0.03098942 0.51989997 0.72413113 0.60076638 0.09740727",
    ],
  ];
  it.each(rows)("%s %o", async (operation, given, anchors) => {
    for (const version of ["1.1", "1.2"] as const) {
      expectNear(numbers(await send(operation, { ...SET, ...given }, POINT, version)), anchors);
    }
  });

  const corners = { x_start: 1, y_start: 1, z_start: 1, x_end: 8, y_end: 8, z_end: 8 };
  it.each([
    ["vorticity", 1.5, "None_Fd4", 59, "3 8 3 2.103288 2 8 3 2.097415 2 8 4 2.092661 3 8 2 2.030399"],
    ["q", 0.5, "None_Fd4", 56, "3 8 3 1.027046 2 8 3 0.983172"],
    ["velocity", 1, "None", 23, "1 1 8 1.132098 2 1 8 1.110986"],
  ] as const)("GetThreshold of %s above %s", async (field, threshold, spatialInterpolation, count, first) => {
    const given = { ...SET, field, time: 0.4, threshold, spatialInterpolation, ...corners };
    const values = numbers(await send("GetThreshold", given, "<addr/>"));
    expect(values).toHaveLength(4 * count);
    expectNear(values.slice(0, first.split(" ").length), first, 2e-6);
    const found = values.filter((_, i) => i % 4 === 3);
    expect(found).toEqual(found.toSorted((a, b) => b - a));
    expect(found.every((value) => value > threshold)).toBe(true);
  });

  it("GetAnyCutoutWeb and GetRawVelocity: the same little-endian numbers", async () => {
    const box = { T: 3, x_start: 1, y_start: 1, z_start: 1, x_end: 2, y_end: 2, z_end: 1 };
    const steps = { x_step: 1, y_step: 1, z_step: 1, filter_width: 1 };
    const text = await send(
      "GetAnyCutoutWeb",
      { ...SET, field: "u", ...box, ...steps },
      '<addr xsi:nil="true" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"/>',
    );
    const base64 = /<GetAnyCutoutWebResult>([^<]*)</.exec(text)?.[1] as string;
    const bytes = Buffer.from(base64, "base64");
    const values = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
    expectNear(
      values,
      "0.11659112 -0.19505672 -0.6774256 0.10323346 -0.23880164 -0.70956296 0.12884392 -0.16881731 -0.726673 0.08667458 -0.21954058 -0.761243",
      1e-7,
    );
    const raw = await send("GetRawVelocity", { ...SET, T: 2, X: 0, Y: 0, Z: 0, Xwidth: 2, Ywidth: 2, Zwidth: 1 });
    expect(/<GetRawVelocityResult>([^<]*)</.exec(raw)?.[1]).toBe(base64);
  });
});

describe("requests of libraries of before 2019, told apart by their members", () => {
  const WIDTHS = { Xwidth: 8, Ywidth: 8, Zwidth: 8 };
  const binary = (text: string): string => /<\w+Result>([^<]*)</.exec(text)?.[1] ?? text;

  it.each(["GetRawVelocity", "GetRawPressure"])("%s takes a time in place of a step", async (operation) => {
    const box = { X: 1, Y: 0, Z: 2, Xwidth: 2, Ywidth: 2, Zwidth: 1 };
    const today = binary(await send(operation, { authToken: "a", ...SET, T: 2, ...box }));
    expect(today.length).toBeGreaterThan(20);
    for (const version of ["1.1", "1.2"] as const) {
      const older = await send(operation, { authToken: "a", ...SET, time: 0.4001, ...box }, "", version);
      expect(binary(older)).toBe(today);
    }
    const late = await send(operation, { ...SET, time: 99, ...box });
    expect(late).toContain("Time 99 out of range");
    expect(late).toContain("time");
  });

  it("GetThreshold takes a corner and widths, and counts its answers from 0 as the corner", async () => {
    const asked = { ...SET, field: "vorticity", time: 0.4, threshold: 1.5, spatialInterpolation: "None_Fd4" };
    const corners = { x_start: 1, y_start: 1, z_start: 1, x_end: 8, y_end: 8, z_end: 8 };
    const today = numbers(await send("GetThreshold", { ...asked, ...corners }));
    const older = numbers(await send("GetThreshold", { ...asked, X: 0, Y: 0, Z: 0, ...WIDTHS }));
    expect(older).toHaveLength(4 * 59);
    expect(older).toEqual(today.map((value, i) => (i % 4 === 3 ? value : value - 1)));
    const over = numbers(await send("GetThreshold", { ...asked, X: 30, Y: 0, Z: 0, ...WIDTHS }));
    const behindSeam = (hits: number[], from: number, to: number) =>
      Array.from({ length: hits.length / 4 }, (_, i) => hits.slice(4 * i, 4 * i + 4))
        .filter(([x = 0]) => x >= from && x < to)
        .map(([x = 0, ...others]) => [x % 32, ...others]);
    expect(behindSeam(over, 32, 38)).toEqual(behindSeam(older, 0, 6));
    const beyond = await send("GetThreshold", { ...asked, X: 30, Y: 0, Z: 0, ...WIDTHS, Xwidth: 33 });
    expect(beyond).toContain("are not all among the 32");
  });

  it("GetAnyCutoutWeb takes a corner and widths, and counts steps from 0", async () => {
    const steps = { x_step: 2, y_step: 1, z_step: 1, filter_width: 1 };
    const corners = { x_start: 2, y_start: 1, z_start: 1, x_end: 9, y_end: 8, z_end: 8 };
    const today = binary(await send("GetAnyCutoutWeb", { ...SET, field: "p", T: 3, ...corners, ...steps }));
    const older = { ...SET, field: "p", T: 2, X: 1, Y: 0, Z: 0, ...WIDTHS, ...steps };
    expect(binary(await send("GetAnyCutoutWeb", older, "<addr/>"))).toBe(today);
    expect(today.length).toBeGreaterThan(1000);
  });

  it("a request that mixes both forms is refused by the member that does not belong", async () => {
    const mixed = { ...SET, T: 2, time: 0.4, X: 0, Y: 0, Z: 0, ...WIDTHS };
    expect(await send("GetRawPressure", mixed)).toContain("The member time is unknown to GetRawPressure");
  });
});

it("GetAnyCutoutWeb takes every so many nodes, and means over cubes that pass the ends", async () => {
  const cut = async (box: Given, steps: readonly number[], width: number): Promise<number[]> => {
    const [x_step, y_step, z_step] = steps as [number, number, number];
    const given = { ...SET, field: "u", T: 3, ...box, x_step, y_step, z_step, filter_width: width };
    const text = await send("GetAnyCutoutWeb", given);
    const bytes = Buffer.from(/<GetAnyCutoutWebResult>([^<]*)</.exec(text)?.[1] ?? "", "base64");
    return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
  };
  const whole = { x_start: 1, y_start: 1, z_start: 1, x_end: 32, y_end: 32, z_end: 32 };
  const nodes = await cut(whole, [1, 1, 1], 1);
  const at = (x: number, y: number, z: number, c: number) =>
    nodes[3 * (((z & 31) * 32 + (y & 31)) * 32 + (x & 31)) + c] as number;
  for (const [width, steps] of [
    [1, [3, 2, 5]],
    [4, [5, 7, 3]],
    [9, [1, 16, 11]],
  ] as const) {
    const box = { x_start: 1, y_start: 2, z_start: 3, x_end: 17, y_end: 32, z_end: 31 };
    const found = await cut(box, steps, width);
    const half = width >> 1;
    let n = 0;
    for (let z = 2; z <= 30; z += steps[2]) {
      for (let y = 1; y <= 31; y += steps[1]) {
        for (let x = 0; x <= 16; x += steps[0]) {
          for (let c = 0; c < 3; c++) {
            let sum = 0;
            for (let k = -half; k <= half; k++)
              for (let j = -half; j <= half; j++) for (let i = -half; i <= half; i++) sum += at(x + i, y + j, z + k, c);
            expect(Math.abs((found[n++] as number) - sum / (2 * half + 1) ** 3)).toBeLessThan(1e-6);
          }
        }
      }
    }
    expect(found).toHaveLength(n);
  }
});

describe("the later dialect at the same address", () => {
  it("tells GetPosition apart by the member after StartTime, with the same paths", async () => {
    const common = { spatialInterpolation: "Lag6" };
    const older = await send("GetPosition", { ...SET, StartTime: 0.1, dt: 0.02, nt: 5, ...common }, POINT);
    const later = await send("GetPosition", { ...SET, StartTime: 0.1, EndTime: 0.2, dt: 0.02, ...common }, POINT);
    expect(numbers(older)).toHaveLength(3);
    expectNear(numbers(later), numbers(older).join(" "), 1e-6);
    const back = await send("GetPosition", { ...SET, StartTime: 0.2, EndTime: 0.1, dt: 0.02, ...common }, POINT);
    expect(numbers(back)).toHaveLength(3);
  });

  it("answers pressure and the array forms as the older operations do", async () => {
    const given = { ...SET, time: 0.37, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP" };
    const both = numbers(await send("GetVelocityAndPressure", given, POINT));
    const pressure = await send("GetPressure", given, POINT);
    expect(pressure).toMatch(/<GetPressureResult><Pressure><p>[^<]+<\/p><\/Pressure><\/GetPressureResult>/);
    expect(numbers(pressure)).toEqual(both.slice(3));
    const lists =
      "<points><ArrayOfFloat><float>1</float></ArrayOfFloat><ArrayOfFloat><float>2</float></ArrayOfFloat><ArrayOfFloat><float>3</float></ArrayOfFloat></points>";
    const arrays = await send("GetData_Python", { function_name: "GetVelocityAndPressure", ...given }, lists);
    expect(arrays).toContain("<GetData_PythonResult><float>");
    expect(numbers(arrays)).toEqual(both);
    const filter = {
      function_name: "GetBoxFilter",
      ...SET,
      field: "u",
      time: 0.4,
      filterwidth: 1.4,
      spatialInterpolation: "None",
    };
    expectNear(
      numbers(await send("GetFilter_Python", filter, `${lists}<spacing>0</spacing>`)),
      "-0.05669076 -0.13494397 0.34448779",
    );
    const search = {
      function_name: "",
      ...SET,
      field: "velocity",
      time: 0.4,
      threshold: 1,
      spatialInterpolation: "None",
    };
    const corners = { x_start: 1, y_start: 1, z_start: 1, x_end: 8, y_end: 8, z_end: 8 };
    expect(numbers(await send("GetThreshold_Python", { ...search, ...corners }))).toHaveLength(4 * 23);
  });

  it.each([
    ["GetMagneticField", "GetMagneticField is available only for MHD datasets!"],
    ["GetVectorPotentialHessian", "GetMagnetic is available only for MHD datasets!"],
    ["GetDensity", "Invalid dataset specified!"],
  ])("%s: a field that the dataset lacks is a fault with the known text", async (operation, text) => {
    const given = { ...SET, time: 0.37, spatialInterpolation: "None", temporalInterpolation: "None" };
    expect(await send(operation, given, POINT)).toContain(`<faultstring>${text}`);
  });
});

describe("requests as today's C client writes them: SOAP 1.2, prefixes, the action twice, no kept connection", () => {
  async function recorded(operation: string, content: string): Promise<string> {
    const action = `${NAMESPACE}${operation}`;
    const response = await fetch(`${service.url}/service/turbulence.asmx`, {
      method: "POST",
      headers: {
        "content-type": `application/soap+xml; charset=utf-8; action="${action}"`,
        soapaction: `"${action}"`,
        connection: "close",
      },
      body:
        `<?xml version="1.0" encoding="UTF-8"?>\n<SOAP-ENV:Envelope xmlns:SOAP-ENV="${ENVELOPES["1.2"]}"` +
        ' xmlns:SOAP-ENC="http://www.w3.org/2003/05/soap-encoding" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"' +
        ` xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:turb1="${NAMESPACE}"><SOAP-ENV:Body><turb1:${operation}>` +
        `${content.replace(/<(\/?)/g, "<$1turb1:")}</turb1:${operation}></SOAP-ENV:Body></SOAP-ENV:Envelope>`,
    });
    expect(response.status).toBe(200);
    return response.text();
  }
  const set = "<authToken>tok</authToken><dataset>isotropic32</dataset>";
  const points = "<points><Point3><x>1</x><y>2</y><z>3</z></Point3></points>";
  const corner = [1, 4].flatMap((n) =>
    ["x", "y", "z"].map((axis) => `<${axis}_${n === 1 ? "start" : "end"}>${n}</${axis}_${n === 1 ? "start" : "end"}>`),
  );
  const steps = ["x", "y", "z"].map((axis) => `<${axis}_step>1</${axis}_step>`).join("");

  it.each([
    [
      "GetPosition",
      `${set}<StartTime>0.363999993</StartTime><EndTime>0.375999987</EndTime><dt>0.00039999999</dt><spatialInterpolation>Lag6</spatialInterpolation>${points}`,
      /<GetPositionResult><Point3><x>/,
    ],
    [
      "GetThreshold",
      `${set}<field>vorticity</field><time>0.363999993</time><threshold>0.5</threshold><spatialInterpolation>None_Fd4</spatialInterpolation>${corner.join("")}`,
      /<ThresholdInfo><x>\d+<\/x><y>\d+<\/y><z>\d+<\/z><value>/,
    ],
    [
      "GetAnyCutoutWeb",
      `${set}<field>u</field><T>1</T>${corner.join("")}${steps}<filter_width>1</filter_width>`,
      /<GetAnyCutoutWebResult>[A-Za-z0-9+/]{1024}<\/GetAnyCutoutWebResult>/,
    ],
    [
      "GetBoxFilterGradient",
      `${set}<field>velocity</field><time>0.363999993</time><filterwidth>1</filterwidth><spacing>0.4</spacing>${points}`,
      /<GetBoxFilterGradientResult><VelocityGradient><duxdx>/,
    ],
  ])("%s", async (operation, content, expected) => {
    expect(await recorded(operation, content)).toMatch(expected);
  });
});

describe("a step that leads nowhere", () => {
  const track = (operation: string, members: object) =>
    soapRecords(service.url, "isotropic32", operation, {
      ...{ StartTime: 0.5, spatialInterpolation: "Lag4", points: [[1, 2, 3]], ...members },
    });

  it.each([
    ["GetPosition", { dt: 0, nt: 5 }],
    ["GetPositionByEnd", { EndTime: 0.6, dt: 0 }],
    ["GetPositionByEnd", { EndTime: 0.5, dt: 0 }],
    ["GetPositionByEnd", { EndTime: 0.6, dt: -0.01 }],
  ])("is refused by %s with %j", async (operation, members) => {
    await expect(track(operation, members)).rejects.toMatchObject({ member: "dt" });
  });

  it("is not one whose length alone is given: both signs lead back", async () => {
    const back = await track("GetPositionByEnd", { EndTime: 0.4, dt: 0.01 });
    expect(await track("GetPositionByEnd", { EndTime: 0.4, dt: -0.01 })).toEqual(back);
  });
});
