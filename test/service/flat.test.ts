/** Data of two dimensions: one rule for axes of one node in SOAP, in `/api` and on the command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { operationValues } from "../support/operation-questions.js";
import { fieldprobe } from "../support/run-command.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";

const DATA = scratchFolder();
const INPUT = join(scratchFolder(), "points.csv");
const NODES = 32;
const STEP = (2 * Math.PI) / NODES;
const POINT = Float32Array.of(1, 2, 0);
/** u = sin x cos y, v = cos x + 2 sin y, w = 3, and their derivatives by x, y and z. */
const GRADIENT = [
  [Math.cos(1) * Math.cos(2), -Math.sin(1) * Math.sin(2), 0],
  [-Math.sin(1), 2 * Math.cos(2), 0],
  [0, 0, 0],
].flat();

writeFileSync(INPUT, `${POINT.join(",")}\n`);
const long = { nodes: NODES, origin: 0, spacing: STEP, periodic: true };
for (const [name, periodic] of [
  ["constant", true],
  ["plane", false],
] as const) {
  const folder = folderIn(DATA, name);
  await writeHdf5(join(folder, "u.h5"), (file) =>
    writeField(file, "/u", {
      dimensions: ["z", "y", "x", "c"],
      lengths: { x: NODES, y: NODES, z: 1 },
      value: ({ x, y, c }) => {
        const [a, b] = [x * STEP, y * STEP];
        return [Math.sin(a) * Math.cos(b), Math.cos(a) + 2 * Math.sin(b), 3][c] as number;
      },
    }),
  );
  writeDescriptor(
    folder,
    descriptor(name, {
      axes: { x: long, y: long, z: { nodes: 1, origin: 0, spacing: 0.5, periodic } },
      time: { count: 1 },
      fields: { velocity: { file: "u.h5", path: "/u", dimensions: ["z", "y", "x", "c"] } },
    }),
  );
}
const service = await useTestData([DATA]);
const client: Awaited<ReturnType<typeof connect>> = await connect(service.url);

it.each([
  ["gaussian", Math.exp(-(0.8 ** 2) / 12)],
  ["tophat", ((1 + 2 * Math.cos(STEP) + 2 * Math.cos(2 * STEP)) / 5) ** 2],
  ["sharp", 1],
])("filters by a %s wider than the period of one node, and names other axes where there is none", async (kind, by) => {
  const ask = async (name: string) =>
    (await fetch(`${service.url}/api/datasets/${name}/nodes?what=filter(u.x,${kind}:0.8)&i=5&j=3&k=0`)).json();
  const { data } = (await ask("constant")) as { data: Record<string, number[][][]> };
  expect(Object.values(data).flat(3)[0]).toBeCloseTo(by * Math.sin(5 * STEP) * Math.cos(3 * STEP), 6);
  const why = 'the shortest axis of "plane" is 0, along z; filter(e, gaussian:0.8, x, y) leaves it out';
  if (kind === "gaussian") expect(await ask("plane")).toMatchObject({ detail: `filter.width: ${why}.` });
});

type Ask = (
  dataset: string,
  operation: "GetVelocity" | "GetVelocityGradient",
  method: string,
) => Promise<number[] | string>;

const INTERFACES: Readonly<Record<string, Ask>> = {
  SOAP: async (dataset, operation, spatialInterpolation) => {
    const request = { dataset, time: 0, spatialInterpolation, temporalInterpolation: "None", points: POINT } as const;
    const answer = client[operation](request as never) as Promise<{ readonly values: Float32Array }>;
    return answer.then(
      ({ values }) => [...values],
      (error: Error) => error.message,
    );
  },
  "/api": async (dataset, operation, spatialInterpolation) => {
    const asked = { time: 0, spatialInterpolation, temporalInterpolation: "None", points: [[...POINT]] };
    return operationValues(service.url, dataset, operation, asked).then(
      ([row = []]) => row,
      (error: Error) => error.message,
    );
  },
  "fieldprobe soap": async (dataset, operation, method) => {
    const flags = ["--data", DATA, "--dataset", dataset, "--time", "0", "--points", INPUT];
    flags.push("--spatial-interpolation", method, "--temporal-interpolation", "None");
    const { stdout, stderr } = await fieldprobe("soap", operation, ...flags);
    const line = stdout.split("\n")[1];
    return line === undefined || line === ""
      ? stderr.replace("fieldprobe: ", "").trimEnd()
      : line.split(",").slice(3).map(Number);
  },
};

describe.each(Object.entries(INTERFACES))("axes of one node in %s", (door, ask) => {
  it("are constant where they are said to be periodic: derivatives along them are 0", async () => {
    const gradient = (await ask("constant", "GetVelocityGradient", "Fd4Lag4")) as number[];
    expect(gradient).toHaveLength(9);
    for (const [index, expected] of GRADIENT.entries()) {
      const along = index % 3 === 2;
      expect(Math.abs((gradient[index] as number) - expected)).toBeLessThan(along ? 1e-12 : 2e-3);
    }
  });

  it("are one plane where they are not: values at nodes, and nothing that needs more", async () => {
    const nearest = (await ask("plane", "GetVelocity", "None")) as number[];
    const [x, y] = [Math.round(1 / STEP) * STEP, Math.round(2 / STEP) * STEP];
    const expected = [Math.sin(x) * Math.cos(y), Math.cos(x) + 2 * Math.sin(y), 3];
    for (const [c, value] of expected.entries()) expect(nearest[c]).toBeCloseTo(value, 5);
    const refusal = (method: string) =>
      `The grid of "plane" is too small for ${method}: it has one node along z, and is not said to be periodic, thus constant, there.`;
    expect(await ask("plane", "GetVelocity", "Lag4")).toBe(refusal("Lag4"));
    expect(await ask("plane", "GetVelocityGradient", "None_Fd4")).toBe(refusal(door === "/api" ? "Fd4" : "None_Fd4"));
  });
});
