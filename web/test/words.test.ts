/** What the page writes: numbers with the digits that tell neighbours apart, and labels of what is drawn. */
import { describe, expect, it, vi } from "vitest";
import type { Pane, PlanePane } from "../draw/layout.js";
import type { Wanted } from "../state/ask.js";
import { type Dataset, datasetOf } from "../state/dataset.js";
import { EMPTY, readLink, writeLink } from "../state/link.js";
import { answering, axisOf, model, setOf, show } from "./page.js";
import { buttonsOf, markupOf, textOf } from "./template.js";

const { overStage, PARTS, wantSeries } = await import("../shell.js");
const { particlesPanel } = await import("../particles.js");
const { dyeRange } = await import("../dye.js");
const { budget } = await import("../cards/budget.js");
const { correlation } = await import("../cards/correlation.js");
const { library, pointCard, statisticsPanel, wantCards } = await import("../cards.js");
const { previewNote } = await import("../stage-layers.js");
const { panes, pointer, stroke } = await import("../stage-state.js");
const { trouble } = await import("../messages.js");
const { sampleTable } = await import("../readout.js");
const { structures } = await import("../cards/structures.js");
const { pdf } = await import("../cards/pdf.js");
const { stepTime } = await import("../playing.js");
const { step } = await import("../stage-input.js");
const { inspector } = await import("../inspector.js");
const { exportDialog, openExport } = await import("../export.js");

it("reads out a pressure of some 101 300 Pa with the digits that tell places apart", async () => {
  answering((call) =>
    call === "values"
      ? { rows: [[1, 1, 1, 101_300.3125]] }
      : Float32Array.from({ length: 64 }, (_, i) => 101_300 + i / 32),
  );
  const ranges = new Map([["p", { low: 101_299.5, high: 101_302, scale: "linear" as const }]]);
  show(setOf("pascal", [0, 1]), { ranges });
  await vi.waitFor(() => expect(textOf(overStage())).toContain("p 101300.31"));
  expect(markupOf(overStage())).toContain("p 101299.5 to 101302, crosshair 101300.31");
});

it("labels a pane of A − B with the range and the value of the difference", async () => {
  answering((call, { method, samples = "64" }) => {
    const value = method === "nearest" ? 19.5 : 20;
    const length = samples
      .split(",")
      .map(Number)
      .reduce((product, n) => product * n, 1);
    return call === "values" ? { rows: [[1, 1, 1, value]] } : new Float32Array(length).fill(value);
  });
  show(setOf("both", [0, 1]), { show: "compare", compare: "difference", b: { method: "nearest" } });
  const label = "p, Lag8, t 0 − p, nearest, t 0 −0.5 to 0.5, crosshair 0.5000";
  await vi.waitFor(() => expect(markupOf(overStage())).toContain(label));
  const tableOf = async (caption: string, value: string) => {
    model.rested.value = model.view.peek();
    await vi.waitFor(() => expect(textOf(sampleTable())).toContain(caption));
    expect(new Set(textOf(sampleTable()).match(/(?<= )\d+\.\d{2,}/g))).toContain(value);
  };
  await tableOf("A − B in the xy plane, z = 1, A: p, Lag8, t 0 · B: p, nearest, t 0 ", "0.5000");
  model.change({ compare: "side" });
  await tableOf("A in the xy plane, z = 1, A: p, Lag8, t 0 · B: p, nearest, t 0 ", "20.00");
});

it("states no difference of quantities of different units", async () => {
  answering((call, { what, samples = "64" }) => {
    const numbers = new Float32Array(samples.split(",").reduce((product, n) => product * Number(n), 1));
    return call === "values" ? { rows: [[1, 1, 1, 7]] } : { numbers, unit: what === "p" ? "Pa" : "m/s" };
  });
  show(setOf("unlike", [0, 1]), { show: "compare", compare: "difference", b: { what: "u.x" } });
  await vi.waitFor(() => expect(textOf(overStage())).toContain("p 7.000 B 7.000 x"));
  expect(markupOf(overStage())).toContain("A is in Pa, B in m/s: no difference, crosshair none");
});

it("tells the ends of paths apart however far their times are from zero", async () => {
  answering((call) => (call === "paths" ? { rows: [[0, 1e6, 1, 1, 1, null, 2]] } : new Float32Array(64)));
  const set = setOf("late", [1e6, 1e6 + 10, 1e6 + 20, 1e6 + 30]);
  show(set, {});
  buttonsOf(particlesPanel(set)).get("Release")?.();
  await vi.waitFor(() => expect(textOf(particlesPanel(set))).toContain("Time 1000000 to 1000030"));
});

it.each(["Lag4", "nearest"])("follows dye by %s where a dataset has no other method", (plainMethod) => {
  const times = { stored: [0, 1], guardBefore: 0, guardAfter: 0 };
  const set = datasetOf({ ...setOf("plain", []), methods: [plainMethod], times });
  show(set, {});
  const places = [[1, 1, 1] as const, [2, 2, 1] as const];
  stroke.value = { tool: "dye", plane: "z", second: false, places, isDone: true };
  const [{ shared = [] }] = model.panelWants.value.get("dye") as readonly Wanted[];
  expect(shared[0].question).toMatchObject({ call: "paths", method: plainMethod });
  stroke.value = null;
});

it("says in space, too, why a vector has no value at the crosshair", async () => {
  answering((call) => (call === "values" ? { rows: [[1, 1, 1, 5, 6, 7]] } : new Float32Array(64)));
  const set = setOf("vector", [0]);
  show(set, { what: "u", show: "3d", surface: { what: "p", value: 1 }, colour: "p" });
  model.rested.value = model.view.peek();
  await vi.waitFor(() => expect(textOf(trouble())).toContain("The page shows one number at each place"));
});

it.each([
  ["the same", "same", "", ["p", "u.x"]],
  ["other", "before", "Replaced, since unreadable, repeated or not in the dataset: view.range p:5:7.", ["u.x"]],
])("takes ranges that the page chose for %s data", async (_, manifest, said, kept) => {
  const set = { ...setOf("same", []), times: { stored: [0], guardBefore: 0, guardAfter: 0 } };
  answering((call) => (call === "datasets" ? { datasets: [set] } : set));
  const search = "?what=p&time=0&method=Lag4&view.range=p:5:7&view.range=u.x:0:1";
  vi.stubGlobal("location", { pathname: "/view/same", search, href: `http://a/view/same${search}` });
  const state: { usual?: string[] } = { manifest, usual: ["p"] } as object;
  vi.stubGlobal("history", { state, replaceState: (next: object) => Object.assign(state, next) });
  await model.openAddress();
  expect([[...model.view.peek().ranges.keys()], model.ignoredLinkMembers.peek()]).toEqual([kept, said]);
  expect(state).toMatchObject({ manifest: "same", usual: kept.filter((what) => what === "p") });
  model.ignoredLinkMembers.value = "";
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
    expect(dyeRange(pane(), at(time))).toEqual(part);
    if (compare === "side") expect(dyeRange(pane(true), at(time))).toEqual([0, 1]);
  });
});

it("states no residual of the budget of a flow without production", () => {
  const zero = [3e-18, -2e-18, 1e-18];
  const result = { produc: zero, dissip: zero, sum: [1, 0.4, 0.2] };
  const answer = { results: [result], wall_units: { u_tau: 1, nu: 0.1, y_plus: [0, 5, 10] } };
  const rows = (produc: readonly number[]) =>
    budget.content({} as Dataset, "", [[0, { ...answer, results: [{ ...result, produc }] }, null]]).rows;
  expect(rows(zero).map(([name]) => name)).toEqual(["u_τ", "Peak production"]);
  expect(rows([0, 0.5, 0.25]).at(-1)?.[1]).toBe("80 % of the peak");
});

it.each([
  ["Point", "Series", pointCard],
  ["Point", "Line", pointCard],
  ["Statistics", "Profile", statisticsPanel],
  ["Statistics", "Around", statisticsPanel],
] as const)("refuses a vector in a card of %s, %s", async (tab, name, panel) => {
  const means = [
    {
      coordinates: { y: [0, 1] },
      mean: [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    },
  ];
  answering((call) => {
    if (call === "around") return { results: [...means, ...means, ...means] };
    if (call === "statistics") return { results: means };
    if (call === "grid") return { coords: { x: [0] }, data: { u: [[1, 2, 3]] } };
    const columns = ["x", "y", "z", "t", "u.x", "u.y", "u.z"].map((one) => ({ name: one }));
    return { columns, rows: [[1, 1, 1, 0, 5, 6, 7]] };
  });
  const set = setOf("vectors", [0, 1]);
  show(set, { what: "u" });
  library.value = {} as typeof import("../chart.js");
  model.rested.value = model.view.peek();
  buttonsOf(panel(set)).get(name)?.();
  wantCards(set, tab);
  await vi.waitFor(() => expect(textOf(panel(set))).toContain("choose a component, or the norm."));
  expect(markupOf(panel(set))).not.toContain('class="card"');
});

describe("of a set with one node along y", () => {
  const set = {
    ...setOf("flat", [0, 1]),
    axes: [axisOf("x"), { ...axisOf("y"), nodes: 1, first: 1, last: 1, length: 0, periodic: false }, axisOf("z")],
  };
  const flat = set as unknown as Dataset;

  it.each(["slice:z", "3d", "four", "slice:y", "compare"] as const)(
    "shows its plane, whatever is chosen: %s",
    (chosen) => {
      show(flat, {});
      model.change({ show: chosen });
      expect(panes.value).toMatchObject([{ kind: "plane", plane: "y" }]);
      expect(model.planesOf(model.view.peek())).toEqual(["y"]);
      expect(model.view.peek().show).toBe(chosen === "compare" ? "compare" : "slice:y");
    },
  );

  it("releases particles around the crosshair, not all at it", async () => {
    show(flat, { what: "p" });
    buttonsOf(particlesPanel(flat)).get("Release")?.();
    const [want] = model.panelWants.peek().get("paths") ?? [];
    const points = (want?.shared?.[0]?.question.points ?? []) as readonly (readonly number[])[];
    expect(new Set(points.map(([x, , z]) => `${x} ${z}`)).size).toBe(200);
    expect(new Set(points.map(([, y]) => y)).size).toBe(1);
  });

  it("draws the correlation that the service nests by the one node", () => {
    const rho = [[1, 0.5, -1, 0.5]];
    const result = { coordinates: { y: [0.5], r_x: [0, 1, 2, -1] }, rho };
    const { chart, rows } = correlation.content(flat, "p", [[0, { results: [result], integral_length: [0.7] }, null]]);
    expect(chart.curves[0]?.points).toEqual([
      [0, 1],
      [1, 0.5],
      [2, -1],
    ]);
    expect(rows[0]?.[1]).toBe("0.7000");
  });
});

it("puts the crosshair where the service takes it to be, where float32 is coarse beside the nodes", () => {
  const far = {
    ...axisOf("x"),
    first: 5.8e6,
    last: 5.8e6 + 9.5,
    length: 9.5,
    spacing: 0.5,
    nodes: 20,
    periodic: false,
  };
  const set = { ...setOf("utm", [0, 1]), axes: [far, axisOf("y"), axisOf("z")] } as unknown as Dataset;
  show(set, {});
  model.change({ cross: [5_800_007.3, 0.3, 0.7] });
  expect(model.cross.value).toEqual([5_800_007.5, 0.3, 0.7]);
  expect(textOf(overStage())).toContain("x 5800007.50 y 0.3000");
});

it("asks for the share of a brush by the quantity as a whole, whatever its operators", () => {
  const what = "u.x > 0 ? 1 : 0";
  show(setOf("brushed", [0, 1]), { what, brush: `(${what}) >= 0.4 && (${what}) <= 0.9` });
  const asked = (brush: string, of = what) => {
    model.view.value = { ...model.view.peek(), brush };
    return (pdf.question(model.dataset.peek() as Dataset, of, 0).reduce as readonly object[]).slice(2);
  };
  expect(asked(`(${what}) >= 0.4 && (${what}) <= 0.9`)).toEqual([
    { moments: `((${what}) >= 0.4 && (${what}) <= 0.9) ? 1 : 0`, order: 1 },
  ]);
  // Without brackets the service reads another condition.
  expect(asked(`${what} >= 0.4 && ${what} <= 0.9`)).toEqual([]);
  expect(asked("2*ddot(S,S) >= 0.4", "2*ddot(S,S)")).toHaveLength(1);
});

it.each([
  [2.8, 1, 3],
  [2.8, -1, 2.5],
  [2.6, 1, 3],
  [3, 1, 3.5],
  [2.5, -1, 2],
  [3.5, 1, 2],
  [2, -1, 3.5],
])("steps from %d by %d to the next stored time, %d", (time, by, next) => {
  show(setOf("stepped", [2, 2.5, 3, 3.5]), { time });
  stepTime(by);
  expect(model.view.peek().time).toBe(next);
});

it("names the stored time of nodes between times over many decades", () => {
  const set = setOf("decades", [1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 1]);
  const notes = [1e-8, 5e-8, 8.5e-7, 1e-4, 0.5].map((time) => model.nodesNote({ dataset: set, time }));
  const nodes = (time: string) => `nodes of t = ${time}`;
  expect(notes).toEqual(["", nodes("1·10⁻⁸"), nodes("1·10⁻⁶"), "", nodes("0.01")]);
});

it("names nodes that densities leave out, missing and infinite ones", () => {
  const moments = { mean: 1, variance: 1, skewness: 0, flatness: 3, missing: 7, infinite: 1024 };
  const histogram = { edges: [0, 1, 2], weights: [1, 1], weight: 2 };
  const { rows } = pdf.content(setOf("walls", [0]), "p", [[0, { results: [histogram, moments] }, null]]);
  expect(rows.slice(-2)).toEqual([
    ["Missing, not counted", "7 nodes"],
    ["Infinite, not counted", "1024 nodes"],
  ]);
});

it("stops at each stored time, however short an interval is beside others", () => {
  const times = [0, 1000, 1000.0004, 1000.0008, 2000];
  show(setOf("bursts", times), {});
  const passed = [1, 1, 1, 1, -1, -1, -1, -1].map((by) => {
    stepTime(by);
    return model.view.peek().time;
  });
  expect(passed).toEqual([...times.slice(1), ...times.slice(0, -1).toReversed()]);
});

it.each([4, 0, -101_325, 3e19])("gives a constant field of %d a range that links keep", (value) => {
  const volume = {
    data: new Float32Array(64).fill(value),
    dims: [4, 4, 4],
    strides: [1, 1, 1],
    low: value,
    high: value,
  };
  const range = model.defaultRange(volume as never, "p", setOf("constant", [0]));
  const view = { ...EMPTY, dataset: "a", ranges: new Map([["p", range]]) };
  const kept = readLink("a", writeLink(view)).ranges.get("p");
  expect(kept?.low).toBeLessThan(value);
  expect(kept?.high).toBeGreaterThan(value);
});

it.each([
  [1, 1.6],
  [2, 3],
  [-1, 0],
  [-9, 0],
])("steps by %d nodes to the node of a stretched axis at %d", (nodes, place) => {
  const set = setOf("stretched", [0]);
  const y = { ...axisOf("y"), periodic: false, coordinates: [0, 1, 1.6, 3] };
  show({ ...set, axes: [axisOf("x"), y, axisOf("z")] } as Dataset, {});
  step(1, nodes);
  expect(model.cross.peek()).toEqual([1, place, 1]);
});

it("says of files that they are of the view behind a card", () => {
  const set = setOf("behind", [0, 1]);
  show(set, {});
  buttonsOf(statisticsPanel(set)).get("Fill the stage")?.();
  openExport("data");
  expect(textOf(exportDialog())).toContain("Of the view behind the card");
  buttonsOf(statisticsPanel(set)).get("Close")?.();
  expect(textOf(exportDialog())).not.toContain("behind");
});

it("reads out the place under a pointer at rest, wherever the plane and the view have gone", async () => {
  answering((call) =>
    call === "values" ? { rows: [[1, 1, 1, 0]] } : Float32Array.from({ length: 64 }, (_, i) => i >> 4),
  );
  show(setOf("resting", [0, 1]), {});
  pointer.value = [300, 100];
  await vi.waitFor(() => expect(textOf(overStage())).toContain("p ≈ 1.00 x 2.000 y 1.500 z 1.000"));
  model.change({ cross: [1, 1, 2.5] });
  expect(textOf(overStage())).toContain("p ≈ 2.50 x 2.000 y 1.500 z 2.500");
  model.change({ show: "slice:x" });
  expect(textOf(overStage())).toContain("x 1.000 y 1.500 z 2.000");
  model.change({ centre: [1, 1.25, 1] });
  expect(textOf(overStage())).toContain("x 1.000 y 1.750 z 2.000");
  pointer.value = null;
});

it("asks pictures of narrow views with so many samples that no border is flat", () => {
  show(setOf("narrow", [0, 1]), {});
  model.paneSize.value = [400, 300];
  for (const width of [2, 0.5, 0.01]) {
    model.pixel.value = width / 400;
    const plan = model.planOf(model.view.peek(), "z");
    expect(Math.min(plan?.columns ?? 0, plan?.rows ?? 0)).toBeGreaterThan(99);
  }
});

it("compares the volume of structures with that of all cells, which may end beyond the nodes", () => {
  const cells = { edges: [0, 1, 2, 3, 4], length: 3, periodic: false };
  const set = { ...setOf("cells", [0]), axes: [{ ...axisOf("x"), ...cells }, axisOf("y"), axisOf("z")] };
  const answer = { structures: [{ volume: 32, nodes: 32 }] };
  const { rows } = structures.content(set as unknown as Dataset, "p", [[0, answer, null]]);
  expect(rows[1]).toEqual(["Together", "50 % of the box"]);
});

it.each([
  ["dopri5", 0.333333, 1],
  ["rk4", 0.0238095, 14],
  ["heun", 0.0238095, 14],
])("follows particles through many stored times in steps that are short enough: %s", (integrator, step, every) => {
  const set = setOf(
    "turning",
    Array.from({ length: 201 }, (_, i) => i / 10),
  );
  show(set, {});
  const choose = (one: unknown): ((event: object) => void) | undefined => {
    if (Array.isArray(one)) return one.map(choose).find((found) => found !== undefined);
    const { strings = [], values = [] } = (one ?? {}) as { strings?: readonly string[]; values?: readonly unknown[] };
    if (values[0] === "Integrator") return values[strings.findIndex((text) => text.endsWith("@change="))] as never;
    return values.map(choose).find((found) => found !== undefined);
  };
  choose(particlesPanel(set))?.({ target: { value: integrator } });
  buttonsOf(particlesPanel(set)).get("Release")?.();
  const [want] = model.panelWants.peek().get("paths") ?? [];
  expect(want?.shared?.[0]?.question).toMatchObject({ time: "0:20", integrator, step, every });
});

it("releases no particle around the crosshair outside of walls", () => {
  const set = setOf("corner", [0, 1]);
  const axes = set.axes.map((axis) => ({ ...axis, first: 1, periodic: false })) as never;
  show({ ...set, axes }, {});
  buttonsOf(particlesPanel({ ...set, axes })).get("Release")?.();
  const [want] = model.panelWants.peek().get("paths") ?? [];
  const points = want?.shared?.[0]?.question.points as readonly (readonly number[])[];
  expect(points.length).toBeGreaterThan(10);
  expect(points.length).toBeLessThan(50);
  // The first of them is beside the crosshair along x alone.
  expect(points.flat().filter((one) => one <= 1)).toEqual([1]);
});

it("rides a particle through uneven times in records that the shortest interval tells apart", () => {
  const set = setOf("uneven", [0, 0.1, 0.2, 1, 5, 5.05, 20]);
  show(set, {});
  buttonsOf(particlesPanel(set)).get("Ride the particle at the crosshair")?.();
  const [want] = model.panelWants.peek().get("ride") ?? [];
  expect(want?.shared?.[0]?.question).toMatchObject({ time: "0:20", step: 0.005 });
});

it("names the stored times of nodes that are drawn until pictures arrive", async () => {
  const waiting = new Set<() => void>();
  answering(async (call, { samples = "64" }) => {
    if (call === "values") return { rows: [[1, 1, 1, 0]] };
    if (call === "grid") await new Promise<void>((pass) => waiting.add(pass));
    return new Float32Array(samples.split(",").reduce((product, n) => product * Number(n), 1));
  });
  const set = setOf("awaited", [0, 1, 1.5, 10]);
  show(set, { time: 5 });
  model.rested.value = model.view.peek();
  const note = () => previewNote(panes.value[0] as PlanePane, model.view.value);
  await vi.waitFor(() => expect(note()).toBe("nodes of t = 1.5"));
  await vi.waitFor(() => expect(waiting.size).toBeGreaterThan(0));
  for (const pass of waiting) pass();
  await vi.waitFor(() => expect(note()).toBe(""));
  show(set, { time: 1, show: "compare", compare: "difference", b: { time: 7 } });
  await vi.waitFor(() => expect(note()).toBe("A: nodes, B: nodes of t = 10"));
});

it.each([
  ["side", true],
  ["difference", false],
] as const)("offers range and colours of what has them: %s", (compare, has) => {
  const set = setOf("ranged", [0, 1]);
  show(set, { show: "compare", compare, b: { time: 1 } });
  expect(textOf(inspector(set)).includes("Colours")).toBe(has);
});

it("leaves a gap in the curve of the time line where a stored time has no values", async () => {
  answering((call) => (call === "statistics" ? { results: [{ mean: [1, null, 4, 2] }] } : new Float32Array(64)));
  const set = setOf("lost", [0, 1, 2, 3]);
  show(set, {});
  wantSeries(set);
  const curve = () => / d=(M[^ ]+ [^ ]+?)(M[^ ]+ [^L]+L[^ ]+ [\d.]+)/.exec(markupOf(PARTS.time?.()))?.slice(1);
  await vi.waitFor(() => expect(curve()).toEqual(["M0.0 27.0", "M666.7 6.0L1000.0 20.0"]));
});
