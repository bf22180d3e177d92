/** Periodic axes whose end is stored twice are found; fields that only look alike at the ends are left alone. */
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

/** Axes of which the description of a field asks for the spacing. */
async function asked(name: string, velocity: (x: number, y: number, z: number) => readonly number[]) {
  const path = await writeHdf5(join(SCRATCH, `${name}.h5`), (file) => {
    const data = new Float32Array(3 * N ** 3);
    for (let i = 0; i < N ** 3; i++) data.set(velocity(i % N, Math.floor(i / N) % N, Math.floor(i / N ** 2)), 3 * i);
    file.create_dataset({ name: "velocity", data, shape: [N, N, N, 3], chunks: [16, 16, 16, 3] });
    // An answer against a statement accepts no question that the values raise.
    file.create_attribute("dx", 1);
  });
  const found = recognise(path, ANSWERS, name);
  if (found === null) throw new Error("not recognised");
  return measured(found, SCRATCH, {})
    .written.questions?.filter(({ about }) => about === "spacing")
    .map(({ axes }) => axes);
}

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
