/** Every call answers its example in every form, and its question gives the same bytes again. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CallName, Format, MemberName } from "../../../src/shared/calls.js";
import { CALL_NAMES, callOf, FORMATS, MEMBERS } from "../../../src/shared/calls.js";
import { referenceText } from "../../support/asking-page.js";
import { useTestData } from "../../support/service.js";
import { ROOT } from "../../support/source-graph.js";
import { type AnyAnswer, ask, get, jsonOf } from "./ask.js";

const service = await useTestData([join(ROOT, "data/turbulent-channel")]);

/** What a form of one quantity needs instead of the example. */
const ALONE: Readonly<Partial<Record<CallName, Readonly<Partial<Record<MemberName, string>>>>>> = {
  values: { what: "u" },
  nodes: { what: "p" },
  find: { what: "p" },
};

const MAGIC: Readonly<Partial<Record<Format, string>>> = {
  npy: "\x93NUMPY",
  npz: "PK",
  zarr: "PK",
  parquet: "PAR1",
  nc: "\x89HDF",
  h5: "\x89HDF",
  png: "\x89PNG",
  xmf: "<?xml",
};

const ROWS = CALL_NAMES.flatMap((call) => callOf(call).formats.map((form) => ({ call, form })));

describe("calls", () => {
  it.each(ROWS)("$call answers its example as $form", async ({ call, form }) => {
    const example = { ...callOf(call).example, ...(FORMATS[form].singleQuantity ? ALONE[call] : {}), format: form };
    const response = await get(service, "isotropic32", call, example);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status, bytes.toString("utf8", 0, 400)).toBe(200);
    expect(response.headers.get("content-type")).toContain(FORMATS[form].type);
    expect(bytes.toString("latin1").startsWith(MAGIC[form] ?? ""), form).toBe(true);
    expect(bytes.length).toBeGreaterThan(0);
  });

  const place = { call: "grid" as const, members: { what: "p", x: "1", y: "2", z: "3", time: "0.5" } };
  it.each([...CALL_NAMES.map((call) => ({ call, members: callOf(call).example })), place])(
    "$call repeats its question $members, which gives the same bytes",
    async ({ call, members }) => {
      const first = await get(service, "isotropic32", call, members);
      const text = await first.text();
      expect(first.status, text).toBe(200);
      const { question, dataset, version, manifest } = JSON.parse(text);
      expect([dataset, typeof version, typeof manifest]).toEqual(["isotropic32", "string", "string"]);
      expect(question).toMatchObject({ dataset: "isotropic32", call });
      expect(await (await ask(service, question)).text()).toBe(text);
    },
  );

  it.each([
    [Array.from({ length: 257 }, (_, i) => `p + ${i}`), "what: at most 256 quantities are asked at once."],
    [
      ["q0 = p+p", ...Array.from({ length: 40 }, (_, i) => `q${i + 1} = q${i}+q${i}`)],
      "what: with earlier names written out, q10 has more than 4096 characters.",
    ],
  ])("refuse quantities that would fill the memory (%#)", async (what, text) => {
    const answer = await ask(service, { dataset: "isotropic32", call: "values", what, points: [[1, 2, 3]], time: 0.4 });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([400, text]);
  });

  it("tell some of many unknown members, and refuse more times than a range has", async () => {
    const question = { dataset: "isotropic32", call: "values", what: "p", points: [[1, 2, 3]] };
    const junk = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a${i}`, 1]));
    const told = (await (await ask(service, { ...question, time: 0.4, ...junk })).json()) as { errors: object[] };
    expect(told.errors).toHaveLength(16);
    const many = (await (await ask(service, { ...question, time: Array(65_537).fill(0.4) })).json()) as object;
    expect(many).toMatchObject({ status: 400, detail: "time: at most 65536 times are asked at once." });
  });

  it.each([
    [
      "dispersion",
      { time: "0:2", step: 2e-5, increments: 2, origins: "all" },
      "records are too many: state every, or fewer points",
    ],
    [
      "dispersion",
      { time: "0:2", step: 1e-3, increments: 2, bins: 65_536, range: "-1,1" },
      "bins: the histograms have",
    ],
    ["spectrum", { time: 0.4, terms: Array(65).fill("cross:u") }, "terms: at most 64 items are given"],
    ["around", { what: "p", where: "p > 0", lag: 1000, time: 0.4 }, "all offsets of all components are 8012006001;"],
    ["around", { time: 0.4, points: [[1, 2, 3]], weights: "volume" }, "they are of nodes; points weigh 1 each"],
    ["around", { time: 0.4, events: { lowest: "p", count: 1 }, weights: "nodes" }, "events weigh 1 each"],
    ["find", { where: "p > 1e9", time: 0.4, format: "nc" }, "the answer has no rows, and a dimension of"],
    ["find", { where: "p > 0", time: 0.4, job: "yes" }, 'job: expected true or false, not "yes"'],
  ])("refuse what would hold the service up or cannot be written (%s, %#)", async (call, members, text) => {
    const points = call === "dispersion" ? { points: [[1, 2, 3]] } : {};
    const answer = await ask(service, { dataset: "isotropic32", call, ...points, ...members });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining(text),
    ]);
  });

  it.each([
    [{ time: [] }, "time: an item is missing."],
    [{ time: 0.4, mean_time: [] }, "mean_time: an item is missing."],
    [{ time: [[0.4]] }, "time: [0.4] is not a number."],
    [{ time: 0.4, filter: "{kind: box}" }, "filter: this is not JSON, whose names have double quotes."],
    [{ time: 0.4, units: "plus" }, 'units: expected one of check, ignore, not "plus".'],
    [{ time: 0.4, what: "s = p, p = u.x" }, "what: p is a quantity of isotropic32: take another name for u.x."],
    [{ time: 0.4, what: "x = u.x" }, "what: x is a quantity of isotropic32: take another name for u.x."],
    [{ time: 0.4, what: "a = p, t = a" }, "what: t is a quantity of isotropic32: take another name for (p)."],
  ])("refuse %j", async (members, text) => {
    const answer = await ask(service, { dataset: "isotropic32", call: "nodes", what: "fluc(p)", ...members });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([400, text]);
  });

  const meant = ["velocity = u", "omega = curl(u)", "helicity = dot(u,curl(u))", "divergence = div(u)", "t=t, tau = p"];
  it.each(meant)("take names for what they mean, and those that mean nothing: %s", async (what) => {
    const question = { dataset: "isotropic32", call: "values", what, points: [[1, 2, 3]], time: 0.4 };
    expect((await ask(service, question)).status).toBe(200);
  });

  it.each([
    ["around", { where: "p > 1", lag: 0 }],
    ["correlation", { axis: "x" }],
    ["spectrum", {}],
    ["spectrum", { kind: "frequency", frame: "0:4" }],
    ["spectrum", { kind: "line", over: "y,z" }],
    ["statistics", { where: "p > 0" }],
    ["structure_functions", { separations: "1" }],
    ["structures", { where: "2*u.x > 2" }],
  ])("keep the name that a quantity is given: %s %j", async (call, members) => {
    const question = { dataset: "isotropic32", call, what: "q = 2*u.x", frame: 2, ...members };
    const answer = await jsonOf(await ask(service, question));
    const of = answer.results?.[0].of ?? Object.keys(answer.structures?.[0].properties ?? { q: 1 })[0];
    expect([answer.question.what, answer.formulas, of]).toEqual([["q = 2*u.x"], { q: "2*u.x" }, "q"]);
  });

  it.each(CALL_NAMES.map((call) => ({ call })))("$call means the same by GET and by JSON", async ({ call }) => {
    const { example } = callOf(call);
    const typed = Object.fromEntries(
      Object.entries(example as Record<string, string>).map(([name, text]) => [
        name,
        /^(-?\d+(\.\d+)?|\{.*\})$/.test(text) ? JSON.parse(text) : text,
      ]),
    );
    const [a, b] = await Promise.all([
      get(service, "isotropic32", call, example),
      ask(service, { dataset: "isotropic32", call, ...typed }),
    ]);
    expect(await a.text()).toBe(await b.text());
  });

  it("answers a list of questions, each with its answer or its problem", async () => {
    const questions = [
      { dataset: "isotropic32", call: "values", ...callOf("values").example },
      { dataset: "isotropic32", call: "values", what: "w", points: [[1, 2, 3]], time: 0.5 },
      { dataset: "nowhere", call: "values" },
      { dataset: "isotropic32", call: "statistics", what: "p", time: 0.6 },
    ];
    const [first, second, third, fourth] = await jsonOf(await ask(service, questions));
    expect(first.rows).toHaveLength(2);
    expect(second.problem).toMatchObject({
      status: 400,
      member: "what",
      errors: [{ nearest: expect.stringContaining("omega") }],
    });
    expect(third.problem).toMatchObject({ status: 404, member: "dataset" });
    expect(fourth.results[0].mean).toBeTypeOf("number");
  });

  it.each([...CALL_NAMES.filter((call) => callOf(call).required.length > 0), "around"] as const)(
    "%s without its members shows an example that a channel answers",
    async (call) => {
      const { detail } = (await (await get(service, "turbulent-channel", call, {})).json()) as AnyAnswer;
      const members = [...detail.matchAll(/(\w+)=(.*?)(?= \w+=|\.$)/g)].map(([, name, text]) => [name, text]);
      expect((await get(service, "turbulent-channel", call, Object.fromEntries(members))).status).toBe(200);
    },
  );

  it("lists at most 25 paths and no member outside of the table", async () => {
    const { paths } = await jsonOf(await fetch(`${service.url}/api/openapi.json`));
    for (const call of CALL_NAMES) {
      const { get: one } = paths[`/api/datasets/{name}/${call}`];
      const names = one.parameters
        .filter((row: { in: string }) => row.in === "query")
        .map((row: { name: string }) => row.name);
      expect(names).toEqual([...callOf(call).members]);
      expect(names.every((name: string) => Object.hasOwn(MEMBERS, name))).toBe(true);
    }
  });
});

describe("map", () => {
  const { choices = [] } = MEMBERS.map as { readonly choices?: readonly string[] };
  it.each(choices)("%s colours a picture", async (map) => {
    const picture = { what: "p", z: "1", frame: "0", samples: "4", map, format: "png" };
    const answer = await get(service, "isotropic32", "grid", picture);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  });
});

describe("docs/asking.md", () => {
  it("is what the table says", async () => {
    await expect(referenceText()).toMatchFileSnapshot(join(ROOT, "docs/asking.md"));
  });

  it("is complete", () => {
    const text = referenceText();
    for (const name of [...CALL_NAMES, ...Object.keys(MEMBERS)]) expect(text).toContain(`\`${name}\``);
  });
});
