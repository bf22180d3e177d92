/** What is drawn is of the dataset, the time and the quantity that are shown. */
import { expect, it, vi } from "vitest";
import type { PlanePane } from "../draw/layout.js";
import type { Axis, Dataset } from "../state/dataset.js";
import { readLink } from "../state/link.js";
import { answering, axisOf, type Members, model, setOf, show } from "./page.js";

const { flowOf, planeLayer, planeTitle, surfaceLayer, timeNote } = await import("../stage-layers.js");
const { isolated, panes } = await import("../stage-state.js");
const { budget } = await import("../cards/budget.js");
const { rulesOf } = await import("../draw/overlay.js");
const { spectrum } = await import("../cards/spectrum.js");

/** Numbers of a box of four nodes an axis, or of as many samples as are asked for. */
const filled = (members: Readonly<Record<string, string>>, value: number) =>
  new Float32Array((members.samples ?? "64").split(",").reduce((product, n) => product * Number(n), 1)).fill(value);

it.each([
  [{ time: 1 }, "first 1"],
  [{ dataset: "second" }, "second 0"],
  [{ dataset: "second", time: 1 }, "second 1"],
])("streaks over B are those of its dataset and its time: %o", async (b, of) => {
  answering((call, members) => {
    const isOfB = `${members.dataset} ${members.frame}` === of;
    return call === "values"
      ? { rows: [[1, 1, 1, 0]] }
      : filled(members, members.what === "u.x" ? (isOfB ? -4 : 2) : 0);
  });
  const second = setOf("second", [0, 1]);
  show(second, {});
  show(setOf("first", [0, 1]), { show: "compare", compare: "side", flow: "streaks", b });
  model.secondDataset.value = "dataset" in b ? second : null;
  const ways = () =>
    panes.value.map((pane) => Math.sign(flowOf(pane as PlanePane, model.view.value)?.fill(1, 1)[0] ?? Number.NaN));
  await vi.waitFor(() => expect(ways()).toEqual([1, -1]));
  model.secondDataset.value = null;
});

it("samples waves of few nodes for streaks as they are", async () => {
  const wave = (x: number) => Math.cos((2 * Math.PI * 20 * x) / 4);
  answering((call, members) =>
    call === "values"
      ? { rows: [[1, 1, 1, 0]] }
      : Float32Array.from({ length: 2048 }, (_, i) => (members.what === "u.y" ? wave((i % 128) / 32) : 0)),
  );
  const axis: Axis = { ...axisOf("x"), nodes: 128, last: 4 - 1 / 32, spacing: 1 / 32 };
  const set = { ...setOf("waves", [0]), axes: [axis, axisOf("y"), axisOf("z")] } as unknown as Dataset;
  show(set, { flow: "streaks" });
  const flow = () => flowOf(panes.value[0] as PlanePane, model.view.value);
  await vi.waitFor(() => expect(flow()).not.toBeNull());
  const { columns, rows, fill } = flow() as NonNullable<ReturnType<typeof flow>>;
  const signs = Array.from(fill(columns, rows).slice(0, 2 * columns)).flatMap((one, i) => (i % 2 ? [one > 0] : []));
  // The pane is as wide as the box.
  expect(signs.filter((one, i) => one !== signs.at(i - 1))).toHaveLength(40);
});

it("has no streaks where a component of the flow is missing", async () => {
  answering((call, { what = "", ...members }) =>
    call === "values" ? { rows: [[1, 1, 1, 0]] } : filled(members, what === "u.y" ? Number.NaN : 3),
  );
  show(setOf("lacking", [0]), { flow: "streaks" });
  const flow = () => flowOf(panes.value[0] as PlanePane, model.view.value);
  await vi.waitFor(() => expect(flow()).not.toBeNull());
  expect([...(flow()?.fill(1, 1) ?? [])]).toEqual([0, 0]);
});

it("draws no surface of one time under another", async () => {
  let pass = () => undefined as void;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  answering(async (call, members) => {
    if (members.frame === "1") await passed;
    const value = members.frame === "1" ? 5 : 2;
    return call === "values" ? { rows: [[1, 1, 1, 0]] } : filled(members, value);
  });
  const set = setOf("jumped", [0, 1]);
  show(set, { show: "3d", surface: { what: "p", value: 1 }, colour: "p" });
  const drawn = () => surfaceLayer(model.view.value);
  await vi.waitFor(() => expect(drawn()?.isPending).toBe(false));
  const { key } = drawn() as NonNullable<ReturnType<typeof drawn>>;
  model.change({ time: 1 });
  // Until it has arrived, the old one is marked as such.
  expect(drawn()).toMatchObject({ key, isPending: true });
  expect(drawn()?.samples).toMatch(/, still p at t = 0$/);
  pass();
  await vi.waitFor(() => expect(drawn()?.isPending).toBe(false));
  expect(drawn()?.key).not.toBe(key);
  expect(drawn()?.layer.colour.frame).toBe(1);
  expect(drawn()?.layer.fine.data[0]).toBeCloseTo(5);
});

it("marks planes of another time or quantity, and what is of nodes over a picture between stored times", async () => {
  let pass = () => undefined as void;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  answering(async (call, members) => {
    if (members.frame === "1" || members.what === "u.y") await passed;
    return call === "values" ? { rows: [[1, 1, 1, 0]] } : filled(members, 2);
  });
  show(setOf("late", [0, 1]), { brush: "p >= 1" });
  const note = (hasStreaks = false) => timeNote(panes.value[0] as PlanePane, model.view.value, hasStreaks);
  const layer = () => planeLayer(panes.value[0] as PlanePane, model.view.value, false)?.layer;
  await vi.waitFor(() => expect(layer()?.picture).toBeTruthy());
  expect([note(), note(true)]).toEqual(["", ""]);
  model.change({ time: 1 });
  expect([note(true), layer()?.brush?.volume.frame]).toEqual(["still p at t = 0", 0]);
  model.change({ what: "u.y" });
  expect(note()).toBe("still p at t = 0");
  model.change({ what: "p", time: 0.4 });
  expect(note()).toBe("nodes of t = 0");
  pass();
  await vi.waitFor(() => expect(note()).toBe("brush by nodes of t = 0"));
  expect(note(true)).toBe("brush and streaks by nodes of t = 0");
});

it.each([
  [0.01, ""],
  [3, "  ·  every 3 × 3 nodes"],
  [40, "  ·  every 40 × 40 nodes"],
])("says how far apart pixels of %d are in nodes, and has samples between them", async (pixel, said) => {
  answering((call, members) => (call === "values" ? { rows: [[1, 1, 1, 0]] } : filled(members, 2)));
  show(setOf(`pixels${pixel}`, [0]), {});
  model.pixel.value = pixel;
  const layer = () => planeLayer(panes.value[0] as PlanePane, model.view.value, false)?.layer;
  await vi.waitFor(() => expect(layer()?.picture).toBeTruthy());
  const found = layer() as NonNullable<ReturnType<typeof layer>>;
  expect(planeTitle(panes.value[0] as PlanePane, found, [1, 1, 1])).toBe(`xy   z = 1.000${said}`);
  expect(found.picture?.columns).toBeGreaterThanOrEqual(8);
});

it("shows a structure at an open end without what touches the other end", async () => {
  const open: Axis = { ...axisOf("x"), nodes: 8, last: 7, length: 7, periodic: false };
  const set = { ...setOf("open", [0]), axes: [open, axisOf("y"), axisOf("z")] } as unknown as Dataset;
  const inside = [0, 1, 6, 7];
  answering((call) =>
    call === "values"
      ? { rows: [[1, 1, 1, 0]] }
      : Float32Array.from({ length: 128 }, (_, i) => (inside.includes(i % 8) ? 1 : -1)),
  );
  show(set, { show: "3d", surface: { what: "p", value: 0 }, colour: "p" });
  const labels = Int32Array.from({ length: 128 }, (_, i) => (i % 8 < 2 ? 1 : i % 8 > 5 ? 2 : 0));
  await vi.waitFor(() => expect(surfaceLayer(model.view.value)).not.toBeNull());
  // The page forgets a structure that nobody has clicked, once it is loaded.
  isolated.value = { key: "one", name: "structure 1 of 2", label: 1, labels };
  const { fine } = (surfaceLayer(model.view.value) as NonNullable<ReturnType<typeof surfaceLayer>>).layer;
  isolated.value = null;
  const row = [...fine.data.subarray(0, fine.dims[0])];
  expect(row[0]).toBeGreaterThan(0.5);
  for (const one of row.slice(fine.dims[0] / 2)) expect(one).toBeLessThan(0);
});

it("puts the crosshair where Q is largest, whatever the surface is of", async () => {
  const peaks: Readonly<Record<string, number>> = { Q: 27, p: 42, "norm(u)": 5 };
  const nodes = (what: string) => Float32Array.from({ length: 512 }, (_, i) => (i === peaks[what] ? 9 : 0));
  answering((call, { what = "" }) =>
    call === "nodes" ? nodes(what) : call === "values" ? { rows: [[1, 1, 1, 0]] } : new Float32Array(1),
  );
  const axis = (name: Axis["name"]): Axis => ({ ...axisOf(name), nodes: 8, last: 7, length: 8 });
  const set = { ...setOf("peaks", [0]), axes: [axis("x"), axis("y"), axis("z")] } as unknown as Dataset;
  show(set, { show: "3d", surface: { what: "p", value: null } });
  model.change({ cross: null, centre: null });
  await vi.waitFor(() => expect(model.view.peek().cross).toEqual([27 % 8, 3, 0]));
});

it("draws the budget of the first half, since only the channel has mirrored halves", () => {
  const wall: Axis = { ...axisOf("y"), periodic: false, faces: ["wall", "wall"] };
  const set = {
    ...setOf("folded", [0, 1]),
    axes: [axisOf("x"), wall, axisOf("z")],
    viscosity: 0.01,
  } as unknown as Dataset;
  const question = budget.question(set, "", 0);
  expect(question).toMatchObject({ over: ["x", "z", "t"], time: "all", units: "plus" });
  expect(question).not.toHaveProperty("fold");
  // Nodes gather at the second wall.
  const result = { produc: [0, 0.25, 7, 7, 7], dissip: [-0.1, -0.2, 8, 8, 8], sum: [0, 0.01, 9, 9, 9] };
  const wall_units = { u_tau: 0.05, nu: 0.01, y_plus: [2, 10, 9, 4, 2] };
  const { chart } = budget.content(set, "", [[0, { results: [result], wall_units }, null]]);
  expect(chart.curves.map(({ points }) => points)).toEqual([
    [
      [2, 0],
      [10, 0.25],
    ],
    [
      [2, -0.1],
      [10, -0.2],
    ],
  ]);
});

it.each([0.5, 1, 3])("draws the energy spectrum as a density, of wavenumbers in steps of %d", (step) => {
  // A density of k times exp(-k), whose energies are those of intervals of one step.
  const k = Array.from({ length: 40 }, (_, i) => i * step);
  const E = k.map((one) => one * Math.exp(-one) * step);
  const answer = { kind: "shell", axis: "x", coordinates: {}, k, E, scales: {} };
  const { chart } = spectrum.content(setOf("dense", [0]), "", [[0, answer, null]]);
  const [curve] = chart.curves;
  expect(curve?.points.length).toBeGreaterThan(3);
  for (const [x, y] of curve?.points ?? []) expect(y).toBeCloseTo(x * Math.exp(-x), 12);
});

it("draws each seam of a pane, and none where they would be dense", () => {
  const set = setOf("seams", [0]);
  const pane: PlanePane = {
    kind: "plane",
    plane: "z",
    rect: { x: 0, y: 0, width: 400, height: 300 },
    second: false,
  };
  const seams = (window: number) => rulesOf(pane, set, [1, 1, 1], window / 300).map(({ side, at }) => [side, at]);
  // Seams along x are at multiples of 4, from -7 to 9.
  expect(seams(12)).toEqual([...[75, 175, 275, 375].map((at) => [0, at]), ...[275, 175, 75].map((at) => [1, at])]);
  for (const window of [1e8, 1e300]) expect(seams(window)).toEqual([]);
});

async function opened({ times, ...set }: Dataset, query: string): Promise<Members> {
  answering((call) =>
    call === set.name ? { ...set, times: { stored: times, guardBefore: 0, guardAfter: 0 } } : new Float32Array(64),
  );
  await model.open(readLink(set.name, query));
  return model.view.peek();
}

it.each([
  [1e8, null],
  [1e-300, null],
  [15.9, 15.9],
])("opens a link with a window of %d in a box of 4 with %s", async (window, shown) => {
  expect((await opened(setOf("spanned", [0]), `what=p&view.window=${window}`)).window).toBe(shown);
});

it("places the crosshair of a link without z at the only node along z", async () => {
  const z: Axis = { ...axisOf("z"), nodes: 1, first: 0.5, last: 0.5, length: 1 };
  const set = { ...setOf("thin", [0]), axes: [axisOf("x"), axisOf("y"), z] } as unknown as Dataset;
  expect((await opened(set, "what=p&x=1&y=2")).cross).toEqual([1, 2, 0.5]);
});

it.each([
  ["grid", -1],
  ["grid", 1],
  ["nodes", -1],
  ["nodes", 64],
])("refuses an answer of %s with %d numbers more than asked, until it is whole", async (refused, more) => {
  let extra = more;
  answering((call, members) => {
    if (call === "values") return { rows: [[1, 1, 1, 0]] };
    const numbers = filled(members, 1);
    return call === refused ? new Float32Array(numbers.length + extra).fill(1) : numbers;
  });
  const set = setOf(`cut-${refused}-${more}`, [0]);
  show(set, {});
  model.rested.value = model.view.peek();
  const failed = () => model.refusalOf(model.view.peek());
  await vi.waitFor(() => expect(failed()?.error.message).toMatch(/^An answer has \d+ numbers, not \d+\.$/));
  const drawn = () => planeLayer(panes.value[0] as PlanePane, model.view.peek(), false);
  expect(drawn()).toBeNull();
  extra = 0;
  model.store.retry(failed()?.key ?? "");
  await vi.waitFor(() => expect(drawn()?.layer.picture?.data[0]).toBe(1));
});

it("has the range of both stored times around a time between them", async () => {
  answering((call, members) =>
    call === "values"
      ? { rows: [[1, 1, 1, 0]] }
      : filled(members, 10 * Number(members.frame)).map((one, i) => one + (i % 5)),
  );
  show(setOf("rising", [0, 1]), { show: "slice:z", time: 0.5 });
  await vi.waitFor(() => expect(model.view.peek().ranges.get("p")).toMatchObject({ low: 0, high: 14 }));
});

it("offers spectra of boxes with two periodic axes", () => {
  const [x, openAxis] = [axisOf("x"), { ...axisOf("x"), periodic: false }];
  const of = (...axes: object[]) => spectrum.isAvailable?.({ ...setOf("open", [0]), axes } as unknown as Dataset);
  expect([of(x, x, x), of(x, openAxis, x), of(x, openAxis, openAxis)]).toEqual([true, true, false]);
});

it("has no range of a time without values, and one of the next time", async () => {
  answering((call, members) =>
    call === "values"
      ? { rows: [[1, 1, 1, null]] }
      : filled(members, Number(members.frame) === 0 ? Number.NaN : 5).map((one, i) => one + (i % 5)),
  );
  show(setOf("blank", [0, 1]), { show: "slice:z", time: 0 });
  await vi.waitFor(() => expect(model.volumeOf(model.dataset.peek() as Dataset, "p", 0)).not.toBeNull());
  expect([...model.view.peek().ranges]).toEqual([]);
  model.change({ time: 1 });
  await vi.waitFor(() => expect(model.view.peek().ranges.get("p")).toMatchObject({ low: 5, high: 9 }));
});
