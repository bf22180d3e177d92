/** Copied calls carry the very numbers, whatever the language, and text that cannot break out of where it stands. */
import { describe, expect, it } from "vitest";
import { commandLine } from "../../recipes/command-line.js";
import { curl } from "../../recipes/curl.js";
import { python } from "../../recipes/python.js";
import { soapXml } from "../../recipes/soap-xml.js";
import type { PointQuery } from "../../state/point-query.js";

const ENDPOINT = { base: "http://localhost:1/", soap: "service/x.asmx", namespace: "urn:a&b/", token: false };
const QUERY: PointQuery = {
  operation: "GetVelocity",
  dataset: "box",
  parameters: { time: [0.1, 0.2].map(Math.fround), spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" },
  points: Float32Array.from([0.1, -2.5, 3e-7]),
};
const PATHS: PointQuery = {
  ...QUERY,
  operation: "GetPosition",
  parameters: { StartTime: 0.5, dt: -0.25, nt: 4, spatialInterpolation: "Lag4" },
};

describe.each([
  ["curl", curl],
  ["SOAP XML", soapXml],
  ["Python", python],
  ["command line", commandLine],
] as const)("%s", (_name, write) => {
  it("says point, times and options in the shortest numbers that mean them", () => {
    const text = write({ query: QUERY }, ENDPOINT);
    for (const part of ["Lag6", "-2.5", "3e-7"]) expect(text).toContain(part);
    expect(text).toMatch(/\b0\.1\b/);
    expect(text).not.toMatch(/0\.1000000/);
  });
});

it("are one question in three languages", () => {
  const query: PointQuery = {
    ...QUERY,
    operation: "GetVelocityGradient",
    parameters: { time: 0.5, spatialInterpolation: "None_Fd4", temporalInterpolation: "None" },
  };
  expect(python({ query }, ENDPOINT)).toContain(
    'answer = ds.values("grad(u)", points, time=0.5, derivatives="Fd4", time_method="nearest")',
  );
  expect(commandLine({ query }, ENDPOINT)).toBe(
    "npx fieldprobe values box 'grad(u)' \\\n  --points=0.1,-2.5,3e-7 \\\n  --time=0.5 \\\n  --derivatives=Fd4 \\\n  --time-method=nearest \\\n  --url=http://localhost:1",
  );
  expect(curl({ query }, { ...ENDPOINT, token: true })).toBe(
    "curl --fail --get 'http://localhost:1/api/datasets/box/values' \\\n  --header 'Authorization: Bearer YOUR-TOKEN' \\\n" +
      "  --data-urlencode 'what=grad(u)' \\\n  --data-urlencode 'points=0.1,-2.5,3e-7' \\\n  --data-urlencode 'time=0.5' \\\n" +
      "  --data-urlencode 'derivatives=Fd4' \\\n  --data-urlencode 'time_method=nearest'",
  );
  expect(python({ query: QUERY }, ENDPOINT)).toContain('time="0.1,0.2"');
});

it.each([
  ["GetVelocityAndPressure", {}, "u, p"],
  ["GetPressureHessian", {}, "hess(p)"],
  ["GetField", { field: "soil" }, "soil"],
  ["GetFieldGradient", { field: "soil" }, "grad(soil)"],
  ["GetBoxFilterSGSStress", { filterlength: 0.5 }, "tau"],
  ["GetBoxFilterVelocity", { filterlength: 0.5 }, "filter(u)"],
] as const)("%s is asked as a quantity", (operation, parameters, what) => {
  const text = python({ query: { ...QUERY, operation, parameters } }, ENDPOINT);
  expect(text).toContain(`ds.values("${what}", points`);
  if ("filterlength" in parameters) expect(text).toContain('filter="box:0.5"');
});

it("escapes text in XML", () => {
  const text = soapXml({ query: { ...QUERY, dataset: "a<b" } }, ENDPOINT);
  expect(text).toContain("<dataset>a&lt;b</dataset>");
  expect(text).toContain('xmlns="urn:a&amp;b/"');
  const dashes = soapXml({ query: QUERY }, { ...ENDPOINT, base: "http://a---b.org/" });
  expect(/<!--([\s\S]*?)-->/.exec(dashes)?.[1]).not.toContain("--");
  expect(dashes.split("-->")).toHaveLength(2);
  expect(soapXml({ query: QUERY }, ENDPOINT)).toContain("one request for each of the 2 times");
});

it("ask for planes by their grid, and for paths by their ends", () => {
  const get =
    "api/datasets/box/slice?field=wz&time=0.5&method=Fd4Lag4&axis=z&at=1&region.origin=0%2C0&region.extent=6%2C6&nodes=64%2C32";
  expect(python({ query: QUERY, get }, ENDPOINT)).toContain(
    'answer = ds.grid("omega.z", z=1, x="0:6", y="0:6", samples="64,32", time=0.5, derivatives="Fd4Lag4")',
  );
  expect(python({ query: PATHS, every: 2, stops: true, integrator: "rk4" }, ENDPOINT)).toContain(
    'ds.paths(points=points, time="0.5:-0.5", step=0.25, every=2, integrator="rk4", open_faces="stop", method="Lag4")',
  );
  expect(commandLine({ query: PATHS }, ENDPOINT)).toContain("npx fieldprobe paths box \\\n  --points=0.1,-2.5,3e-7");
  expect(curl({ query: PATHS }, ENDPOINT)).toContain("--data-urlencode 'last=true'");
  const inertial: PointQuery = { ...PATHS, operation: "GetPositionInertialParticle" };
  for (const write of [python, curl, commandLine]) expect(write({ query: inertial }, ENDPOINT)).toMatch(/Only SOAP/);
});
