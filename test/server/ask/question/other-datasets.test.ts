/** Fields of other datasets in expressions: against NumPy, in every call at nodes, in jobs, and what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { namesOfOthers } from "../../../../src/server/ask/question/other-datasets.js";
import { askNumpy, expectNear, GRID_KINDS, type GridKind, NUMPY } from "../../../support/analysis-data.js";
import { type AnyAnswer, jsonOf, type Members } from "../ask.js";
import { useGrids } from "../grids.js";

const SCRIPT = fileURLToPath(new URL("../oracle.py", import.meta.url));
const [CHANNEL, HOLED] = GRID_KINDS.filter(({ name }) => /channel|holed/.test(name)) as [GridKind, GridKind];
const OTHER: GridKind = { ...CHANNEL, name: "run-2", seed: 7 };
const KINDS: readonly GridKind[] = [
  ...[CHANNEL, OTHER, HOLED, { ...HOLED, name: "filled", holes: false }],
  { ...OTHER, name: "pascals", change: (one) => (one.units = { pressure: "Pa", velocity: "m/s" }) },
  { ...OTHER, name: "later", change: ({ time }) => (time.origin = (time.origin ?? 0) + time.step) },
  { ...OTHER, name: "feet", change: (one) => (one.units = { length: "ft" }) },
  { ...OTHER, name: "wider", change: ({ axes }) => (axes.z.spacing *= 1.001) },
];
/** Call, members, where the answer has it, and the same in Python; all of frame 1. */
const CASES = String.raw`
statistics | {"what": "u.x*field(u.y, \"run-2\", 2)", "over": "x,z"} | results.0.mean | mean(u[0]*other.u[1][[2]], 'xz')[1,0,:,0]
statistics | {"what": "norm(u - field(u, 'run-2'))"} | results.0.mean | mean(np.sqrt(sum((u[i]-other.u[i])**2 for i in range(3))), 'xyz')[1,0,0,0]
nodes | {"what": "q = field(d(p, y), 'run-2', 0) - d(p, y)", "i": "3:9", "j": "2:19"} | data.q | (other.d(other.p, 'y')[0] - d(p, 'y')[1])[:, 2:, 3:9]
nodes | {"what": "q = fluc(field(shift(p, x, 2), 'run-2', 3))", "over": "x"} | data.q | (lambda f: f - f.mean(-1, keepdims=True))(np.roll(other.p[3], -2, -1))
spectrum | {"cross": ["u.x", "field(u.x, 'run-2')"], "kind": "line", "over": "x,z,t", "remove": "none"} | results.0.im | pair(u[0][[1]], other.u[0][[1]], 'x', 'zt')[1]
spectrum | {"what": "field(p, 'run-2', 2)", "kind": "line", "over": "x,z,t", "remove": "none"} | results.0.E | line(other.p[[2]], 'x', 'zt')`
  .trim()
  .split("\n")
  .map((row) => row.split(" | ") as [string, string, string, string]);

describe.skipIf(NUMPY === undefined)("fields of another dataset", () => {
  const { made, folder, ask, url } = useGrids(KINDS, 4, [], true);
  const question = (call: string, members: Members, dataset = "channel"): Promise<AnyAnswer> =>
    ask({ dataset, call, ...members }).then(jsonOf);

  it("are those that NumPy finds, and asked again by the question", async () => {
    const requests = CASES.map(([, , , python]) => python);
    const grids = [{ grid: made.get(CHANNEL), other: made.get(OTHER), requests }];
    const [expected = []] = askNumpy<unknown[][]>(SCRIPT, { grids });
    for (const [i, [call, members, path]] of CASES.entries()) {
      const answer = await question(call, { ...JSON.parse(members), frame: 1 });
      const value = path.split(".").reduce((of: AnyAnswer, name) => of[name], answer);
      expectNear(value, expected[i], `${call} ${members}`, 2e-7);
      expect(Object.keys(answer.manifests)).toEqual(["run-2"]);
      expect(await ask(answer.question).then(jsonOf)).toEqual(answer);
    }
  });

  it.each<[string, Members]>([
    [
      "statistics",
      {
        reduce: [
          { histogram: "P", bins: 5, range: [-1, 1] },
          { quantiles: "P", at: [0.3] },
        ],
      },
    ],
    ["find", { where: "P > 0.4", what: "P" }],
    ["structures", { where: "P > 0.3", what: "P" }],
    ["around", { where: "P > 0.5", what: "P", lag: [2, 0, 1] }],
    ["correlation", { what: "P", axis: "x" }],
    ["structure_functions", { what: "P", axis: "x", orders: "2", separations: "1,3", terms: "scalar" }],
    ["spectrum", { what: "P", kind: "frequency", frame: "all", over: "x,z,t" }],
  ])("are in %s as there", async (call, members) => {
    const put = (text: string) => JSON.parse(JSON.stringify({ frame: 1, ...members }).replaceAll("P", text));
    const text = 'field(p, \\"run-2\\")';
    const here = JSON.stringify(await question(call, put(text))).replaceAll(text, "p");
    const left = ["dataset", "manifest", "manifests", "formulas", "question"];
    const plain = (text: string) => JSON.parse(text, (name, value) => (left.includes(name) ? undefined : value));
    expect(plain(here)).toEqual(plain(JSON.stringify(await question(call, put("p"), "run-2"))));
  });

  it("are missing where they are there, and of the same time without a frame", async () => {
    const [{ of: _, ...here }] = (await question("statistics", { what: 'field(p, "holed")', frame: 2 }, "filled"))
      .results;
    expect(here.missing).toBeGreaterThan(0);
    expect((await question("statistics", { what: "p", frame: 2 }, "holed")).results[0]).toMatchObject(here);
    const { results } = await question("statistics", { what: 'field(p, "later") - field(p, "run-2", 0)', frame: 1 });
    expect([results[0].min, results[0].max]).toEqual([0, 0]);
  });

  it("are found in each text of a question", () => {
    const members = { terms: ["helicity", "cross:field(u, 'a')"], where: "max(field(p, 'b', 1), 0) > 1" };
    expect(namesOfOthers(members as never)).toEqual(["b", "a"]);
  });

  it("are computed by jobs, and their version is a part of tags", async () => {
    const members = { what: 'field(p, "run-2")', frame: 1 };
    const [body, headers] = [JSON.stringify({ ...members, job: true }), { "content-type": "application/json" }];
    const job = await fetch(`${url()}/api/datasets/channel/statistics`, { method: "POST", headers, body }).then(jsonOf);
    await fetch(`${url()}/api/jobs/${job.id}/events`).then((answer) => answer.text());
    const result = await fetch(`${url()}/api/jobs/${job.id}/result`).then(jsonOf);
    expect(result).toEqual(await question("statistics", members));
    const { result: file } = await fetch(`${url()}/api/jobs/${job.id}`).then(jsonOf);
    const kept = readFileSync(join(folder, "state/results", `${file.name}.json`), "utf8");
    expect(JSON.parse(kept)).toMatchObject({ dataset: result.manifest, others: result.manifests });
    const path = `${url()}/api/datasets/channel/statistics?frame=0&what=`;
    const asked = ["later", "run-2"].map(async (one) => (await fetch(`${path}field(p,'${one}',0)`)).headers);
    for (const name of ["etag", "fieldprobe-manifests"])
      expect(new Set((await Promise.all(asked)).map((one) => one.get(name))).size).toBe(2);
  });

  it.each([
    ["statistics", "field(p, 'wider')", /nodes along z of .*wider.* and .*channel.* differ/],
    ["statistics", "field(p, 'feet')", /units of length of .*feet.* and .*channel.* differ/],
    ["statistics", "field(p, 'later')", /later.* has no frame at [\d.-]+, as .*channel.* has/],
    ["statistics", "field(p, 'run-2', 9)", /frames are 0 to 3, not 9/],
    ["statistics", "field(v, 'run-2')", /run-2: nothing has the name v/],
    ["statistics", "field(mean(p), 'run-2')", /write mean\(field/],
    ["statistics", "field(p, 'run-2', 1, 2)", /field takes a quantity, another dataset/],
    ["statistics", "field(p, 'nowhere')", /"status":404.*nowhere/],
    ["statistics", "max(p, 'nowhere')", /"status":400/],
    ["statistics", "field(p, 'pascals') + field(u.x, 'pascals')", /joins Pa and m\/s/],
    ["grid", "field(p, 'run-2')", /known at nodes, not at points/],
  ])("are refused in %s: %s", async (call, what, why) => {
    await expect(question(call, { what, frame: 0 })).rejects.toThrow(why);
  });
});
