/** Vectors and tensors are answered by component where a call has components, and refused where a scalar is needed. */
import { describe, expect, it } from "vitest";
import { useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask, jsonOf } from "../ask.js";

const service = await useTestData();

const post = (call: string, body: object, accept?: string) =>
  ask(service, { dataset: "isotropic32", call, time: 0.6, ...body }, accept);

async function reduce(reduce: readonly object[], more: object = {}): Promise<AnyAnswer> {
  return (await jsonOf(await post("statistics", { reduce, ...more }))).results;
}

const UNIT = ["x", "y", "z"].map((letter) => `u.${letter}`);

describe("statistics", () => {
  it("have the moments and covariances of components", async () => {
    const singles = UNIT.map((moments) => ({ moments }));
    const [whole, matrix, ...each] = await reduce([{ moments: "u" }, { covariance: ["u", "p"] }, ...singles]);
    expect(whole).toMatchObject({ of: UNIT, mean: each.map(({ mean }: AnyAnswer) => mean) });
    expect(whole?.variance).toEqual(each.map(({ variance }: AnyAnswer) => variance));
    expect(matrix?.of).toEqual([...UNIT, "p"]);
    expect(matrix?.matrix[2]?.[2]).toBeCloseTo(0.34828983293458976, 12);
    expect(matrix?.matrix[0]?.[1]).toBeCloseTo(0.06821034015139155, 12);
    expect((await reduce([{ moments: "2 * A" }]))[0]?.of).toEqual(
      [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => `(2 * A)[${i}][${j}]`)),
    );
  });

  it("have profiles of components, also as a table", async () => {
    const over = ["x", "z"];
    const [whole, y] = await reduce(
      [
        { moments: "u", order: 1 },
        { moments: "u.y", order: 1 },
      ],
      { over },
    );
    expect(whole?.mean).toHaveLength(3);
    expect(whole?.mean[1]).toEqual(y?.mean);
    expect(whole?.coordinates).toEqual(y?.coordinates);
    const csv = await (await post("statistics", { reduce: [{ moments: "u" }], over }, "text/csv")).text();
    const [head = "", first = ""] = csv.split("\r\n").filter((line) => !line.startsWith("#"));
    expect(Number(first.split(",")[head.split(",").indexOf("mean.u.y")])).toBe(y?.mean[0]);
    const rows = await (await post("statistics", { reduce: [{ moments: "u" }] }, "text/csv")).text();
    expect(
      rows
        .trim()
        .split("\n")
        .slice(-3)
        .map((line) => line.split(",")[0]),
    ).toEqual(UNIT);
  });

  it("have the moments of vectors where a condition holds, beside others", async () => {
    const where = "p > 0.1";
    const order = 6;
    const wanted = [{ moments: "u", order }, { moments: "p", order }, { covariance: ["u", "p"] }];
    wanted.push({ moments: "u.z", order });
    const [u, p, matrix, uz, more] = await reduce(wanted, { where });
    expect(more).toBeUndefined();
    expect(u?.of).toEqual(UNIT);
    expect(u?.mean[2]).toBe(uz?.mean);
    for (const member of ["central", "standardised"] as const)
      expect(u?.[member]).toMatchObject({ 6: [expect.anything(), expect.anything(), uz?.[member][6]] });
    expect(matrix?.of).toEqual([...UNIT, "p"]);
    expect(matrix?.matrix[2]?.[2]).toBeCloseTo(uz?.variance as number, 12);
    const { data } = (await (await post("nodes", { what: "p" })).json()) as { readonly data: { readonly p: number[] } };
    const held = data.p.flat(2).filter((value) => value > 0.1);
    const mean = held.reduce((sum, value) => sum + value, 0) / held.length;
    const sixth = held.reduce((sum, value) => sum + (value - mean) ** 6, 0) / held.length;
    expect(p).toMatchObject({ of: "p", count: held.length, central: { 6: expect.closeTo(sixth, 7) } });
  });

  it.each([{}, { where: "p > 0" }])("name the components of a named quantity: %j", async (more) => {
    const response = await post("statistics", { what: "a = u, p", ...more });
    expect(await response.json()).toMatchObject({ results: [{ of: ["a.x", "a.y", "a.z"] }, { of: "p" }] });
  });

  it("list coordinates in the order of the levels of their lists", async () => {
    const [result] = await reduce([{ moments: "p" }], { time: undefined, frame: [0, 1], over: ["y"] });
    expect(Object.keys(result?.coordinates as object)).toEqual(["t", "z", "x"]);
    expect(result?.mean.map((rows: unknown[]) => rows.length)).toEqual([32, 32]);
  });

  it.each([
    [
      "statistics",
      { reduce: [{ histogram: "omega", bins: 2, range: [0, 1] }] },
      "reduce[0].histogram: omega is a vector",
    ],
    ["statistics", { reduce: [{ extremes: "A", count: 1 }] }, "norm(A), or a component such as A[0][0]."],
    ["statistics", { reduce: [{ covariance: ["A", "S"] }] }, "reduce[0].covariance: 18 components"],
    ["structures", { where: "omega > 1" }, "where: > takes scalars, not a vector"],
  ])("%s %j names what to write", async (name, body, words) => {
    const response = await post(name, body);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { readonly detail: string }).detail).toContain(words);
  });
});
