/** What the page writes: numbers with the digits that tell neighbours apart, and labels of what is drawn. */
import { describe, expect, it, vi } from "vitest";
import type { Pane } from "../draw/layout.js";
import type { Axis, Dataset } from "../state/dataset.js";
import { EMPTY } from "../state/link.js";
import { buttonsOf, markupOf, textOf } from "./template.js";

for (const name of ["matchMedia", "addEventListener"])
  vi.stubGlobal(name, () => ({ matches: false, addEventListener: () => undefined }));
vi.stubGlobal("location", { hash: "", pathname: "/", search: "?", origin: "http://a", href: "http://a/" });
vi.stubGlobal("history", { replaceState: () => undefined });
vi.stubGlobal("window", globalThis);
vi.stubGlobal("document", { createTreeWalker: () => ({}) });
const model = await import("../state/model.js");
const { manifests } = await import("../state/ask.js");
const { overStage } = await import("../shell.js");
const { particlesPanel } = await import("../particles.js");
const { dyedPart } = await import("../dye.js");
const { stageSize } = await import("../stage-state.js");
const { budget } = await import("../cards/budget.js");

/** What the service answers to a call with its members: numbers, or a table's rows. */
type Service = (call: string, members: Readonly<Record<string, string>>) => Float32Array | readonly unknown[];
const answering = (service: Service) =>
  vi.stubGlobal("fetch", async (url: URL, { body }: { body?: string }) => {
    const asked = body === undefined ? Object.fromEntries(url.searchParams) : JSON.parse(body);
    const name = asked.dataset ?? url.pathname.split("/").at(-2);
    const answer = service(asked.call ?? url.pathname.split("/").at(-1), asked);
    if (!(answer instanceof Float32Array)) return Response.json({ manifest: name, columns: [], rows: answer });
    return new Response(answer.slice(), { headers: { "fieldprobe-manifest": name } });
  });

const axisOf = (name: Axis["name"]): Axis => ({
  ...{ name, nodes: 4, first: 0, last: 3, length: 4, spacing: 1, periodic: true },
});
const setOf = (name: string, times: readonly number[]) =>
  ({
    ...{ name, digest: name, times, axes: [axisOf("x"), axisOf("y"), axisOf("z")], viscosity: null, levels: 0 },
    fields: [
      { name: "velocity", components: 3 },
      { name: "pressure", components: 1 },
    ],
    ...{ methods: ["Lag4"], units: {} },
  }) as unknown as Dataset;

type Members = Partial<ReturnType<typeof model.view.peek>>;
function show(set: Dataset, members: Members): void {
  manifests.set(set.name, set.digest);
  model.dataset.value = set;
  const place = [1, 1, 1] as const;
  const shown: Members = { what: "p", flow: "off", show: "slice:z", time: set.times[0] as number, ...members };
  model.view.value = { ...EMPTY, dataset: set.name, ...shown, cross: place, centre: place };
  stageSize.value = [400, 300];
  model.pixel.value = 0.01;
}

it("reads out a pressure of some 101 300 Pa with the digits that tell places apart", async () => {
  answering((call) =>
    call === "values" ? [[1, 1, 1, 101_300.3125]] : Float32Array.from({ length: 64 }, (_, i) => 101_300 + i / 32),
  );
  show(setOf("pascal", [0, 1]), {});
  await vi.waitFor(() => expect(textOf(overStage())).toContain("p 101300.31"));
  expect(markupOf(overStage())).toContain("crosshair 101300.31");
});

it("labels a pane of A − B with the range and the value of the difference", async () => {
  answering((call, { method, samples = "64" }) => {
    const value = method === "nearest" ? 19.5 : 20;
    const length = samples
      .split(",")
      .map(Number)
      .reduce((product, n) => product * n, 1);
    return call === "values" ? [[1, 1, 1, value]] : new Float32Array(length).fill(value);
  });
  show(setOf("both", [0, 1]), { show: "compare", compare: "difference", b: { method: "nearest" } });
  const label = "p, Lag8, t 0 − p, nearest, t 0 −0.5 to 0.5, crosshair 0.5000";
  await vi.waitFor(() => expect(markupOf(overStage())).toContain(label));
});

it("tells the ends of paths apart however far their times are from zero", async () => {
  answering((call) => (call === "paths" ? [[0, 1e6, 1, 1, 1, null, 2]] : new Float32Array(64)));
  const set = setOf("late", [1e6, 1e6 + 10, 1e6 + 20, 1e6 + 30]);
  show(set, {});
  buttonsOf(particlesPanel(set)).get("Release")?.();
  await vi.waitFor(() => expect(textOf(particlesPanel(set))).toContain("Time 1000000 to 1000030"));
});

describe("dye drawn at a time", () => {
  const set = setOf("dyed", [0, 1]);
  const pane = (second = false): Pane => ({
    kind: "plane",
    plane: "z",
    rect: { x: 0, y: 0, width: 9, height: 9 },
    second,
  });
  const at = (time: number) => ({ dataset: set, what: "p", time, method: "Lag8" });
  it.each([
    ["swipe", { method: "nearest" }, 0, [0, 1]],
    ["swipe", { time: 1 }, 0, [0, 0.5]],
    ["swipe", { time: 1 }, 1, [0.5, 1]],
    ["difference", { time: 1 }, 1, null],
    ["difference", { method: "nearest" }, 0, [0, 1]],
    ["side", { time: 1 }, 1, null],
  ] as const)("shows in %s with %o where that time is", async (compare, b, time, part) => {
    show(set, { show: "compare", compare, b });
    expect(dyedPart(pane(), at(time))).toEqual(part);
    if (compare === "side") expect(dyedPart(pane(true), at(time))).toEqual([0, 1]);
  });
});

it("states no residual of the budget of a flow without production", () => {
  const zero = [3e-18, -2e-18, 1e-18];
  const result = { produc: zero, dissip: zero, sum: [1, 0.4, 0.2] };
  const answer = { results: [result], wall_units: { u_tau: 1, nu: 0.1, y_plus: [0, 5, 10] } };
  const rows = (produc: readonly number[]) =>
    budget.facts({} as Dataset, "", [[0, { ...answer, results: [{ ...result, produc }] }, null]]).rows;
  expect(rows(zero).map(([name]) => name)).toEqual(["u_τ", "Peak production"]);
  expect(rows([0, 0.5, 0.25]).at(-1)?.[1]).toBe("80 % of the peak");
});
