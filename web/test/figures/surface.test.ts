/** The isosurface reports why its worker failed, and trying again starts another worker. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { IsoSurface } from "../../figures/surface.js";
import type { DatasetFacts } from "../../state/facts.js";
import type { ViewStore } from "../../state/view-store.js";

/** A worker that does nothing but keep what it is sent. */
class FakeWorker extends EventTarget {
  static started: FakeWorker[] = [];
  readonly sent: unknown[] = [];
  ended = false;
  constructor() {
    super();
    FakeWorker.started.push(this);
  }
  postMessage(message: unknown): void {
    this.sent.push(message);
  }
  terminate(): void {
    this.ended = true;
  }
}

const axis = (name: "x" | "y" | "z") => ({
  ...{ name, nodes: 4, first: 0, last: 3, length: 4, spacing: 1, periodic: true },
});
const facts = { name: "box", points: 1000, axes: (["x", "y", "z"] as const).map(axis) } as unknown as DatasetFacts;
const samples = { count: 2, origin: 0, spacing: 2 };
const volume = {
  ...{ values: new Float32Array(8), low: 0, high: 0 },
  axes: (["x", "y", "z"] as const).map((name) => ({ axis: name, ...samples })),
};

beforeEach(() => {
  FakeWorker.started = [];
  vi.stubGlobal("Worker", FakeWorker);
});
afterEach(() => void vi.unstubAllGlobals());

it("shows the error of its worker and starts another one when asked again", async () => {
  const state = {
    ...{ dataset: "box", surface: "ux", tint: "none", field: "ux", values: "Lag4", temporal: "None", time: 0 },
    ...{ enclosed: 5, volume: "32", box: null, scene: true, launched: false },
  };
  const store = { state, facts, api: { volume: () => Promise.resolve(volume) } } as unknown as ViewStore;
  const surface = new IsoSurface(store, () => undefined);
  surface.refresh();
  await vi.waitFor(() => expect(surface.request.value).not.toBeNull());
  const [first] = FakeWorker.started as [FakeWorker];
  first.dispatchEvent(
    Object.assign(new Event("error"), { message: "Uncaught RangeError: Invalid typed array length" }),
  );
  expect(surface.request.status.error).toBe(
    "The isosurface could not be computed: Uncaught RangeError: Invalid typed array length.",
  );
  expect(first.ended).toBe(true);
  surface.request.again();
  await vi.waitFor(() => expect(FakeWorker.started.length).toBe(2));
  expect(surface.request.status.error).toBeNull();
  await vi.waitFor(() => expect(FakeWorker.started[1]?.sent.length).toBe(2));
  FakeWorker.started[1]?.dispatchEvent(new Event("messageerror"));
  expect(surface.request.status.error).toContain("its answer could not be read");
});
