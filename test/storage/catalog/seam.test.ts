/** Periodic axes whose end is stored twice are found, and values that float32 does not hold; others are left alone. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { measured } from "../../../src/storage/catalog/raised-questions.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const N = 33;
const ANSWERS = {
  dims: ["z", "y", "x", "c"],
  periodic: ["x", "y", "z"],
  spacing: [0.2, 0.2, 0.2],
  origin: [0, 0, 0],
} as const;

type Velocity = (x: number, y: number, z: number) => readonly number[];
/** The description of a field of three components. */
async function described(name: string, velocity: Velocity, bytes: 4 | 8 = 4) {
  const path = await writeHdf5(join(SCRATCH, `${name}.h5`), (file) => {
    const data = new (bytes === 4 ? Float32Array : Float64Array)(3 * N ** 3);
    for (let i = 0; i < N ** 3; i++) data.set(velocity(i % N, Math.floor(i / N) % N, Math.floor(i / N ** 2)), 3 * i);
    file.create_dataset({ name: "velocity", data, shape: [N, N, N, 3], chunks: [16, 16, 16, 3] });
    // An answer against a statement accepts no question that the values raise.
    file.create_attribute("dx", 1);
  });
  const found = recognise(path, ANSWERS, name);
  if (found === null) throw new Error("not recognised");
  return measured(found, SCRATCH, {}).written;
}

/** Axes of which the description asks for the spacing. */
const asked = async (name: string, velocity: Velocity) =>
  (await described(name, velocity)).questions?.flatMap(({ about, axes }) => (about === "spacing" ? [axes] : []));

/** An angle whose period is as many nodes. */
const turn = (node: number, nodes: number) => (2 * Math.PI * node) / nodes;

it("asks where the last node repeats the first", async () => {
  const both = (x: number, y: number, z: number) => [
    Math.sin(turn(x, N - 1)) + Math.sin(turn(z, N)),
    Math.cos(turn(y, N - 1)) * Math.cos(turn(x, N - 1)),
    Math.sin(turn(z, N)) * Math.cos(turn(y, N - 1)),
  ];
  expect(await asked("repeated", both)).toEqual([["x", "y"]]);
});

it("does not ask where the field is even about the seam, constant along an axis, or small beside its mean", async () => {
  const even = (x: number, y: number) => [Math.cos(turn(x, N)), Math.sin(turn(y, N)), Math.cos(turn(y, N))];
  expect(await asked("even", even)).toEqual([]);
  const small = (...at: number[]) => at.map((node) => 101_325 + 0.05 * Math.sin(turn(node, N)));
  expect(await asked("small", small)).toEqual([]);
});

it.each([
  ["float32-steps", "assumed", 1e8, 1, [/x varies by 1.998 in values up to 100000000, .*, up to 0.9989 off/]],
  ["values-beyond-float32", "questions", 1e39, 1e38, [/x reaches 1.1e[+]39, and .* ends at 3.4e38/]],
  ["rounding-errors", "assumed", 1, 1e-14, []],
] as const)("tells of %s in float64", async (name, member, mean, size, texts) => {
  const values = (x: number, y: number) => [mean + size * Math.sin(turn(x, N)), Math.cos(turn(y, N)), 0];
  const lines = (await described(name, values, 8))[member] ?? [];
  const told = lines.flatMap(({ about, question }) => (about === "values" ? question : []));
  expect(told).toEqual(texts.map((text) => expect.stringMatching(text)));
});
