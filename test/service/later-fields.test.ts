/**
 * Magnetic field, vector potential, density and temperature: made, served and answered under the names of the later
 * interface.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { membersIn, operationsIn, RECORDS, type WireMember } from "../../src/shared/operations.js";
import { writeCube } from "../../tools/generate/cube.js";
import { soapRecords } from "../support/operation-questions.js";
import { scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { callOperation } from "../support/soap-service.js";

const N = 32;
const H = (2 * Math.PI) / N;

const folder = scratchFolder();
for (const kind of ["mhd", "mixing"] as const) {
  const place = { name: kind, folder: join(folder, kind) };
  const nodes = [N, N, N] as const;
  await writeCube({ kind, nodes, steps: 4, chunk: null, filter: "none", seed: 0, ...place }, () => undefined);
}
const service = await useTestData([folder]);

const ask = async (dataset: string, operation: string, options: object, point: readonly number[]) =>
  (await soapRecords(service.url, dataset, operation, { ...options, points: [point] }))[0] as number[];

const VALUE = { time: 0, spatialInterpolation: "M2Q8", temporalInterpolation: "None" };
const [A, B, C] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
const point = [1, 2, 3] as const;
const [x, y, z] = point;
const beltrami = (scale: number): number[] => [
  scale * (A * Math.sin(2 * z) + C * Math.cos(2 * y)),
  scale * (B * Math.sin(2 * x) + A * Math.cos(2 * z)),
  scale * (C * Math.sin(2 * y) + B * Math.cos(2 * x)),
];

function expectNear(values: readonly number[], expected: readonly number[], within: number): void {
  expect(values).toHaveLength(expected.length);
  values.forEach((value, i) => {
    expect(Math.abs(value - (expected[i] as number)), `${i}: ${value} for ${expected[i]}`).toBeLessThan(within);
  });
}

describe("fields of the later interface", () => {
  it("answers magnetic field, vector potential and their derivatives", async () => {
    expectNear(await ask("mhd", "GetMagneticField", VALUE, point), beltrami(0.5), 1e-4);
    expectNear(await ask("mhd", "GetVectorPotential", VALUE, point), beltrami(0.25), 1e-4);
    const a = await ask("mhd", "GetVectorPotentialGradient", VALUE, point);
    const curl = [7, 2, 3].map((k, i) => (a[k] as number) - (a[[5, 6, 1][i] as number] as number));
    expectNear(curl, beltrami(0.5), 3e-3);
    const node = point.map((at) => Math.round(at / H) * H) as [number, number, number];
    const options = { ...VALUE, spatialInterpolation: "None_Fd8" };
    const laplacian = await ask("mhd", "GetMagneticFieldLaplacian", options, node);
    const field = await ask("mhd", "GetMagneticField", { ...VALUE, spatialInterpolation: "None" }, node);
    expectNear(
      laplacian,
      field.map((value) => -4 * value),
      1e-4,
    );
    expect(await ask("mhd", "GetMagneticHessian", VALUE, point)).toHaveLength(18);
  });

  it("answers density and temperature, alone and beside velocity", async () => {
    const density = 1.5 + 0.5 * Math.cos(x) * Math.cos(y) * Math.cos(z);
    const temperature = Math.sin(x) * Math.cos(z) + 0.5 * Math.sin(2 * y);
    expectNear(await ask("mixing", "GetDensity", VALUE, point), [density], 1e-4);
    expectNear(await ask("mixing", "GetTemperature", VALUE, point), [temperature], 1e-4);
    const both = await ask("mixing", "GetVelocityAndTemperature", VALUE, point);
    expectNear(both.slice(3), [temperature], 1e-4);
    expectNear(both.slice(0, 3), await ask("mixing", "GetVelocity", VALUE, point), 1e-12);
    expect(await ask("mixing", "GetTemperatureGradient", VALUE, point)).toHaveLength(3);
    expect(await ask("mixing", "GetDensityHessian", VALUE, point)).toHaveLength(6);
  });

  it("filters two fields in either order", async () => {
    const options = { time: 0, filterwidth: 5 * H };
    expect(await ask("mhd", "GetBoxFilterSGStensor", { ...options, field: "ub" }, point)).toHaveLength(9);
    const vector = await ask("mhd", "GetBoxFilterSGSvector", { ...options, field: "bp" }, point);
    expect(await ask("mhd", "GetBoxFilterSGSvector", { ...options, field: "pb" }, point)).toEqual(vector);
    expect(await ask("mixing", "GetBoxFilterSGSscalar", { ...options, field: "dt" }, point)).toHaveLength(1);
  });

  it.each([
    ["potential", "vectorpotential", "GetVectorPotential"],
    ["a", "vectorpotential", "GetVectorPotential"],
    ["b", "magneticfield", "GetMagneticField"],
    ["velocity", "velocity", "GetVelocity"],
  ])("are cut out by the words %s over SOAP, and %s over REST", async (soap, rest, operation) => {
    const box = { x_start: 2, y_start: 3, z_start: 4, x_end: 2, y_end: 3, z_end: 4, x_step: 1, y_step: 1, z_step: 1 };
    const members = { dataset: "mhd", field: soap, T: 1, ...box, filter_width: 1 };
    const { text } = await callOperation(service, "1.1", "GetAnyCutoutWeb", members);
    const bytes = Buffer.from(/<GetAnyCutoutWebResult>([^<]*)</.exec(text)?.[1] ?? "", "base64");
    const query = `function=${rest}&dataset=mhd&xs=2&xe=2&ys=3&ye=3&zs=4&ze=4&ts=1&te=1`;
    const cutout = await (await fetch(`${service.url}/turbulence-svc/cutout/api/local?token=T&${query}`)).json();
    const [values] = Object.values(cutout.data_vars as Record<string, { data: number[][][][] }>);
    const stored = await ask("mhd", operation, { ...VALUE, spatialInterpolation: "None" }, [H, 2 * H, 3 * H]);
    expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual(stored);
    expect(values?.data.flat(3).map(Math.fround)).toEqual(stored);
  });

  it("refuses fields that a filter does not take, in the words of the public service", async () => {
    await expect(ask("mhd", "GetBoxFilterSGStensor", { time: 0, filterwidth: 1, field: "uu" }, point)).rejects.toThrow(
      'method should be called with two distinct vector fields (e.g. "ub" or "ba")',
    );
  });
});

it("nodes are the stored numbers raw and as a NumPy file, with strides", async () => {
  const nodes = (format: string) =>
    fetch(`${service.url}/api/datasets/mhd/nodes?what=magnetic&frame=0&i=0:32:3&j=1:9&k=4:30:5&format=${format}`);
  const raw = await nodes("f32");
  expect(raw.headers.get("fieldprobe-shape")).toBe("6,8,11,3");
  const bytes = Buffer.from(await raw.arrayBuffer());
  expect(bytes).toHaveLength(4 * 6 * 8 * 11 * 3);
  const at = (k: number, j: number, i: number, c: number) => bytes.readFloatLE(4 * (((k * 8 + j) * 11 + i) * 3 + c));
  const [xi, yj, zk] = [3 * 4 * H, (1 + 3) * H, (4 + 5 * 2) * H];
  expect(at(2, 3, 4, 0)).toBeCloseTo(0.5 * (A * Math.sin(2 * zk) + C * Math.cos(2 * yj)), 6);
  expect(at(2, 3, 4, 1)).toBeCloseTo(0.5 * (B * Math.sin(2 * xi) + A * Math.cos(2 * zk)), 6);
  const npy = Buffer.from(await (await nodes("npy")).arrayBuffer());
  const start = 10 + npy.readUInt16LE(8);
  expect(start % 64).toBe(0);
  expect(npy.toString("latin1", 10, start)).toContain("'shape': (6, 8, 11, 3)");
  expect(npy.subarray(start).equals(bytes)).toBe(true);
});

describe("requests as the MATLAB toolbox writes them: SOAP 1.1 by hand, numbers with ten decimals, regular expressions on the answer", () => {
  const float = (value: number): string => value.toFixed(10);
  const axes = ["x", "y", "z"] as const;
  const POINTS = axes.map((_, i) => axes.map((_, a) => 0.5 + i + a));
  const FIELDS: Readonly<Record<string, string>> = {
    ...{
      GetThreshold: "vorticity",
      GetBoxFilterSGStensor: "ub",
      GetBoxFilterSGSvector: "up",
      GetBoxFilterSGSscalar: "pp",
    },
  };
  const textOf = (row: (typeof TOOLBOX)[number], { name, type }: WireMember): string => {
    if (type === "ArrayOfPoint3") {
      const written = POINTS.map((at) =>
        axes.map((axis, a) => `<${axis}>${float(at[a] as number)}</${axis}>`).join(""),
      );
      return written.map((text) => `<Point3>${text}</Point3>\n`).join("");
    }
    const texts: Readonly<Record<string, string>> = {
      ...{ authToken: "a", dataset: /Density|Temperature/.test(row.name) ? "mixing" : "mhd" },
      ...{
        spatialInterpolation: row.name === "GetThreshold" ? "None_Fd4" : (row.spatial[0] ?? ""),
        temporalInterpolation: "None",
      },
      ...{
        field: FIELDS[row.name] ?? "u",
        filterwidth: float(0.6),
        spacing: float(0.4),
        time: float(0.1),
        dt: float(0.01),
      },
      ...{ StartTime: float(0), EndTime: float(0.1), threshold: float(0.1) },
    };
    return texts[name] ?? (name.endsWith("_end") || name.endsWith("width") ? "3" : /^[XYZ]$/.test(name) ? "0" : "1");
  };
  const TOOLBOX = operationsIn("later").filter(
    ({ name, family }) => family !== "arrays" && name !== "GetRawTemperature",
  );

  it("has 43 of them", () => expect(TOOLBOX).toHaveLength(43));

  it.each(TOOLBOX.map((row) => [row.wire, row] as const))("%s", async (wire, row) => {
    const addr: WireMember[] = row.addr ? [{ name: "addr", type: "string", required: false }] : [];
    const members = [...row.request, ...addr].map((member) => {
      const { name, type } = member;
      const qualified = ["string", "float", "int"].includes(type) ? `xs:${type}` : `n:${type}`;
      return `\n<${name} xsi:type="${qualified}">${name === "addr" ? "" : textOf(row, member)}</${name}>`;
    });
    const response = await fetch(`${service.url}/service/turbulence.asmx`, {
      method: "POST",
      headers: { "content-type": "text/xml; charset=utf-8", soapaction: `http://turbulence.pha.jhu.edu/${wire}` },
      body:
        '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" ' +
        'xmlns:n="http://turbulence.pha.jhu.edu/" xmlns:xs="http://www.w3.org/2001/XMLSchema" ' +
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
        '<soap:Body soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">' +
        `<${wire} xmlns="http://turbulence.pha.jhu.edu/">${members.join("")}\n</${wire}></soap:Body></soap:Envelope>`,
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const components: readonly string[] = row.result === "base64" ? [] : RECORDS[row.result];
    const names = row.result === "float" ? ["float"] : components;
    const counts = names.map((name) => [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "g"))].length);
    const points = row.request.some(({ type }) => type === "ArrayOfPoint3");
    if (row.result === "base64")
      expect(new RegExp(`<${wire}Result>([A-Za-z0-9+/=]+)</${wire}Result>`).test(text)).toBe(true);
    else if (points) expect(counts).toEqual(names.map(() => POINTS.length));
    else expect(counts[0]).toBeGreaterThan(0);
  });
});

describe("the description of the later interface", () => {
  it.each(["?wsdl=later", "?WSDL&dialect=later"])("%s has all 48 operations with their members", async (query) => {
    const text = await (await fetch(`${service.url}/service/turbulence.asmx${query}`)).text();
    const names = new Set([...text.matchAll(/<wsdl:operation name="(\w+)"/g)].map((match) => match[1]));
    const rows = operationsIn("later");
    expect(rows).toHaveLength(48);
    expect([...names].toSorted()).toEqual(rows.map(({ wire }) => wire).toSorted());
    for (const row of rows) {
      const element = new RegExp(`<s:element name="${row.wire}"><s:complexType><s:sequence>(.*?)</s:sequence>`);
      const members = [...(element.exec(text)?.[1] ?? "").matchAll(/name="(\w+)"/g)].map((match) => match[1]);
      expect(members, row.wire).toEqual(membersIn(row, "later").map(({ name }) => name));
    }
    expect(text).toContain('<s:complexType name="ArrayOfArrayOfFloat">');
    expect(text).toContain('name="GetAnyCutoutWebResult" type="s:base64Binary"');
    expect(text).toContain('<s:enumeration value="M4Q4"/>');
  });
});
