/** Copied calls carry the very numbers, whatever the language, and text that cannot break out of where it stands. */
import { describe, expect, it } from "vitest";
import { curl } from "../../recipes/curl.js";
import { matlab } from "../../recipes/matlab.js";
import { python } from "../../recipes/python.js";
import { soapXml } from "../../recipes/soap-xml.js";
import { typescript } from "../../recipes/typescript.js";
import type { PointQuery } from "../../state/point-query.js";

const ENDPOINT = { base: "http://localhost:1/", soap: "service/x.asmx", namespace: "urn:a&b/", token: false };
const QUERY: PointQuery = {
  operation: "GetVelocity",
  dataset: "box",
  parameters: { time: [0.1, 0.2].map(Math.fround), spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" },
  points: Float32Array.from([0.1, -2.5, 3e-7]),
};

describe.each([
  ["curl", curl],
  ["SOAP XML", soapXml],
  ["Python", python],
  ["MATLAB", matlab],
  ["TypeScript", typescript],
] as const)("%s", (_name, write) => {
  it("says point, times and options in the shortest numbers that mean them", () => {
    const text = write({ query: QUERY }, ENDPOINT);
    for (const part of ["GetVelocity", "Lag6", "PCHIP", "-2.5", "3e-7"]) expect(text).toContain(part);
    expect(text).toMatch(/\b0\.1\b/);
    expect(text).not.toMatch(/0\.1000000/);
  });
});

it("asks for every time where a request can hold one", () => {
  expect(python({ query: QUERY }, ENDPOINT)).toContain("for time in (0.1, 0.2):");
  expect(typescript({ query: QUERY }, ENDPOINT)).toContain("for (const time of [0.1, 0.2]) {");
  expect(soapXml({ query: QUERY }, ENDPOINT)).toContain("one request for each of the 2 times");
  expect(curl({ query: QUERY }, ENDPOINT)).toContain('"time":[0.1,0.2]');
});

it("escapes text in XML", () => {
  const text = soapXml({ query: { ...QUERY, dataset: "a<b" } }, ENDPOINT);
  expect(text).toContain("<dataset>a&lt;b</dataset>");
  expect(text).toContain('xmlns="urn:a&amp;b/"');
  const dashes = soapXml({ query: QUERY }, { ...ENDPOINT, base: "http://a---b.org/" });
  expect(/<!--([\s\S]*?)-->/.exec(dashes)?.[1]).not.toContain("--");
  expect(dashes.split("-->")).toHaveLength(2);
});

it("asks for planes by their grid and for paths by their ends in Python, by the grid in MATLAB and TypeScript too", () => {
  const get =
    "api/datasets/box/slice?field=wz&time=0.5&method=Fd4Lag4&axis=z&at=1&region.origin=0%2C0&region.extent=6%2C6&nodes=64%2C32";
  expect(python({ query: QUERY, get }, ENDPOINT)).toContain(
    'plane = ds.slice("wz", 0.5, "z", 1, nodes=(64,32),\n    region={"origin": (0,0), "extent": (6,6)},\n    method="Fd4Lag4")',
  );
  expect(typescript({ query: QUERY, get }, ENDPOINT)).toContain(`await fetch("http://localhost:1/${get}")`);
  const script = matlab({ query: QUERY, get }, { ...ENDPOINT, token: true });
  expect(script).toContain(`'"http://localhost:1/${get}"'];`);
  expect(script).toContain("values = fread(id, [64, 32], 'single')';");
  expect(script).toContain("Authorization: Bearer YOUR-TOKEN");
  const query: PointQuery = {
    ...QUERY,
    operation: "GetPosition",
    parameters: { StartTime: 0.5, dt: 0.25, nt: 4, spatialInterpolation: "Lag4" },
  };
  expect(python({ query, every: 2, stops: true }, ENDPOINT)).toContain(
    'ds.trajectories(points, 0.5, 0.5 + 4 * 0.25, 0.25,\n    method="Lag4", every=2, openFaces="stop")',
  );
});

it("names the positions on the way where they are asked for", () => {
  const query: PointQuery = {
    ...QUERY,
    operation: "GetPosition",
    parameters: { StartTime: 0, dt: 0.25, nt: 4, spatialInterpolation: "Lag4" },
  };
  for (const write of [curl, matlab]) {
    expect(write({ query, every: 2 }, ENDPOINT)).toContain("trajectories?operation=GetPosition&every=2");
  }
  expect(curl({ query, every: 2, stops: true }, ENDPOINT)).toContain("&every=2&openFaces=stop'");
  expect(curl({ query, every: 2, integrator: "rk4" }, ENDPOINT)).toContain("&every=2&integrator=rk4'");
  expect(python({ query, every: 2, integrator: "rk4" }, ENDPOINT)).toContain('every=2, integrator="rk4")');
  expect(curl({ query, get: "api/slice?x=1" }, ENDPOINT)).toContain("'http://localhost:1/api/slice?x=1'");
});
