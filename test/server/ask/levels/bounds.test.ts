/** Bounds of conditions: what they exclude holds at no node, and they exclude what they should. */
import { expect, it } from "vitest";
import { boundCondition, type Interval } from "../../../../src/server/ask/levels/bounds.js";

/** Numbers in [0, 1), the same for the same seed. Source: Park, Miller, CACM 31 (1988). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

interface Node {
  readonly u: readonly [number, number, number];
  readonly p: number;
}

/** Conditions, and the same in this language. */
const CONDITIONS: readonly (readonly [string, (node: Node) => boolean])[] = [
  ["norm(u) > 1.2", ({ u }) => Math.hypot(...u) > 1.2],
  ["norm(u) <= 0.4", ({ u }) => Math.hypot(...u) <= 0.4],
  ["u.x * u.y < -0.5", ({ u }) => u[0] * u[1] < -0.5],
  ["u.x + u.y + u.z >= 2", ({ u }) => u[0] + u[1] + u[2] >= 2],
  ["u.x^2 + u.y^2 > 1.5", ({ u }) => u[0] ** 2 + u[1] ** 2 > 1.5],
  ["p - 2*u.z > 1.5 && abs(p) < 0.3", ({ u, p }) => p - 2 * u[2] > 1.5 && Math.abs(p) < 0.3],
  ["p > 0.9 || -u.y > 0.9", ({ u, p }) => p > 0.9 || -u[1] > 0.9],
  ["p / (u.x + 3) > 0.4", ({ u, p }) => p / (u[0] + 3) > 0.4],
  ["sqrt(p + 2) > 1.7", ({ p }) => Math.sqrt(p + 2) > 1.7],
];

it.each(CONDITIONS)("excludes only cubes where no node fulfils %s, and some of them", (text, holds) => {
  const seed = 20261129;
  const random = randomNumbers(seed);
  const cubes: Node[][] = Array.from({ length: 400 }, () => {
    const centre = Array.from({ length: 4 }, () => 2 * random() - 1);
    const node = () => centre.map((c) => Math.fround(c + 0.1 * (random() - 0.5)));
    return Array.from({ length: 8 }, node).map(([x, y, z, p]) => ({ u: [x, y, z], p }) as unknown as Node);
  });
  const range = (cube: number, of: (node: Node) => number): Interval => {
    const values = (cubes[cube] as Node[]).map(of);
    return [Math.min(...values), Math.max(...values)];
  };
  const axis = (a: 0 | 1 | 2) => (cube: number) => range(cube, ({ u }) => u[a]);
  const { mayHold } = boundCondition(text, (name) => {
    if (name === "p") return (cube) => [range(cube, ({ p }) => p)];
    if (name === "u") return (cube) => [axis(0)(cube), axis(1)(cube), axis(2)(cube)];
    const letter = /^u\.([xyz])$/.exec(name)?.[1];
    return letter === undefined ? null : (cube) => [axis("xyz".indexOf(letter) as 0)(cube)];
  });
  let [excluded, without] = [0, 0];
  for (const [at, nodes] of cubes.entries()) {
    const some = nodes.some(holds);
    if (some) expect(`seed ${seed}, cube ${at}: ${mayHold(at)}`).toBe(`seed ${seed}, cube ${at}: true`);
    else without++;
    if (!mayHold(at)) excluded++;
  }
  // Cubes are small: most of those where it fails are excluded.
  expect(excluded).toBeGreaterThan(0.8 * without);
});

it("holds everywhere it cannot know", () => {
  const known = (name: string) => (name === "p" ? () => [[0, 1] as const] : null);
  for (const [text, isDefined] of [
    ["Q > 3", false],
    ["!(p > 2)", false],
    ["p / p > 3", false],
    ["p > 0.5 || grad(p).x > 1", false],
    ["p >= 1", true],
  ] as const) {
    const bounded = boundCondition(text, known);
    expect([text, bounded.mayHold(0), bounded.isDefined]).toEqual([text, true, isDefined]);
  }
  expect(boundCondition("p > 2 && Q > 3", known).mayHold(0)).toBe(false);
});
