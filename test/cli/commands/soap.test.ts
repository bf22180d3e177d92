/** `fieldprobe soap`: the numbers of the typed client, and mistakes in one line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { ALL_OPERATIONS, dialectOf } from "../../../src/shared/operations.js";
import { fieldprobe } from "../../support/run-command.js";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA, useTestData } from "../../support/service.js";

const service = await useTestData();

const points = join(scratchFolder(), "points.csv");
writeFileSync(points, "1,2,3\n");
const soap = (words: readonly string[]) => fieldprobe("soap", ...words);

const GRADIENT = ["GetVelocityGradient", "--dataset", "isotropic32", "--time", "0.5", "--points", points];
const SCHEME = ["--spatial-interpolation", "Fd4Lag4"];

it("prints the records of an operation, of a service and by itself", async () => {
  const client = await connect(service.url);
  const { values, components } = await client.GetVelocityGradient({
    ...{ dataset: "isotropic32", time: 0.5, points: [[1, 2, 3]] },
    ...{ spatialInterpolation: "Fd4Lag4", temporalInterpolation: "PCHIP" },
  });
  const asked = await soap([...GRADIENT, ...SCHEME, "--url", service.url]);
  expect(asked).toMatchObject({ status: 0, stderr: "" });
  const [head, line] = asked.stdout.split("\n");
  expect(head?.split(",").slice(3)).toEqual([...components]);
  expect(
    line
      ?.split(",")
      .slice(3)
      .map((cell) => Math.fround(Number(cell))),
  ).toEqual([...values]);
  expect(await soap([...GRADIENT, ...SCHEME, "--data", SHIPPED_DATA])).toEqual(asked);
});

it("runs cutouts, searches and array forms", async () => {
  const at = ["--dataset", "isotropic32", "--url", service.url];
  const cutout = await soap([
    "GetAnyCutoutWeb",
    ...at,
    "--field",
    "u",
    "--t",
    "3",
    ...["x", "y", "z"].flatMap((axis) => [`--${axis}-start`, "1", `--${axis}-end`, "2"]),
  ]);
  expect([cutout.stderr, cutout.stdout.trimEnd().split("\n").length]).toEqual(["", 1 + 24]);
  const box = ["x", "y", "z"].flatMap((axis) => [`--${axis}-start`, "1", `--${axis}-end`, "32"]);
  const search = ["--field", "vorticity", "--time", "0.4", "--threshold", "12", "--spatial-interpolation", "None_Fd4"];
  const found = await soap(["GetThreshold", ...at, ...search, ...box]);
  expect([found.stderr, found.stdout.split("\n")[0]]).toEqual(["", "x,y,z,value"]);
  const array = [
    "GetData_Python",
    "--function-name",
    "GetVelocity",
    ...at,
    "--time",
    "0.5",
    "--spatial-interpolation",
    "Lag8",
    "--points",
    points,
  ];
  expect((await soap(array)).stderr).toBe("");
});

it("lists the flags of every operation", async () => {
  const { stdout } = await soap(["--help"]);
  for (const { name } of ALL_OPERATIONS.filter((row) => dialectOf(row.name) !== null))
    expect(stdout).toContain(`  ${name} `);
});

it.each([
  [["GetVelocit"], /there is no operation GetVelocit/],
  [["getvelocity"], /did you mean GetVelocity\?/],
  [[...GRADIENT], /--spatial-interpolation is missing: GetVelocityGradient needs it/],
  [[...GRADIENT, ...SCHEME, "--dt", "1"], /--dt: GetVelocityGradient does not take it, but --dataset/],
  [[...GRADIENT.slice(0, 3), "--time", "x", "--points", points, ...SCHEME], /--time: x is not a number/],
])("%j fails in one line, exit code 2", async (words, text) => {
  const failed = await soap(words);
  expect(failed).toMatchObject({ status: 2, stdout: "", stderr: expect.stringMatching(text) });
  expect(failed.stderr.trimEnd().split("\n")).toHaveLength(1);
});
