/** The page without a browser: its state, with answers of a service that a test makes up. */
import { vi } from "vitest";
import type { Axis, Dataset } from "../state/dataset.js";
import { EMPTY } from "../state/link.js";

for (const name of ["matchMedia", "addEventListener"])
  vi.stubGlobal(name, () => ({ matches: false, addEventListener: () => undefined }));
/** The address of the page, also after tests with another one. */
function stubAddress(): void {
  vi.stubGlobal("location", { hash: "", pathname: "/", search: "?", origin: "http://a", href: "http://a/" });
  vi.stubGlobal("history", { replaceState: () => undefined, pushState: () => undefined });
}
stubAddress();
vi.stubGlobal("window", globalThis);
vi.stubGlobal("document", { createTreeWalker: () => ({}) });
const [shown, pictures] = await Promise.all([import("../state/shown.js"), import("../state/picture-plan.js")]);
const [views, wants] = await Promise.all([import("../state/view.js"), import("../state/wants.js")]);
const { defaultRange } = await import("../state/ranges.js");
const { placeIn } = await import("../state/dataset.js");
export const model = { ...shown, ...pictures, ...views, ...wants, defaultRange, placeIn };
const { manifests } = await import("../state/ask.js");
const { stageSize } = await import("../stage-state.js");

interface Numbers {
  readonly numbers?: Float32Array<ArrayBuffer>;
  readonly unit?: string;
}
/** What the service answers to a call with its members: numbers, also with a unit, or an object. */
type Service = (call: string, members: Readonly<Record<string, string>>) => Float32Array | object;
export const answering = (service: Service) =>
  vi.stubGlobal("fetch", async (url: URL, { body }: { body?: string }) => {
    const asked = body === undefined ? Object.fromEntries(url.searchParams) : JSON.parse(body);
    const name = asked.dataset ?? url.pathname.split("/").at(-2);
    const answer = await service(asked.call ?? url.pathname.split("/").at(-1), { ...asked, dataset: name });
    const { numbers, unit } = (answer instanceof Float32Array ? { numbers: answer } : answer) as Numbers;
    if (numbers === undefined) return Response.json({ manifest: name, columns: [], ...answer });
    const units = unit === undefined ? {} : { "fieldprobe-unit": encodeURIComponent(unit) };
    return new Response(numbers.slice(), { headers: { "fieldprobe-manifest": name, ...units } });
  });

export const axisOf = (name: Axis["name"]): Axis => ({
  ...{ name, nodes: 4, first: 0, last: 3, length: 4, spacing: 1, periodic: true },
});
export const setOf = (name: string, times: readonly number[]) =>
  ({
    ...{ name, digest: name, times, axes: [axisOf("x"), axisOf("y"), axisOf("z")], viscosity: null, levels: 0 },
    fields: [
      { name: "velocity", components: 3 },
      { name: "pressure", components: 1 },
    ],
    ...{ methods: ["Lag4"], plainMethod: "Lag4", units: {}, warnings: [], title: name, source: "", guards: 0 },
  }) as unknown as Dataset;

export type Members = Partial<ReturnType<typeof model.view.peek>>;
export function show(set: Dataset, members: Members): void {
  stubAddress();
  manifests.set(set.name, set.digest);
  model.dataset.value = set;
  const place = [1, 1, 1] as const;
  const shown: Members = { what: "p", flow: "off", show: "slice:z", time: set.times[0] as number, ...members };
  model.view.value = { ...EMPTY, dataset: set.name, ...shown, cross: place, centre: place };
  stageSize.value = [400, 300];
  model.pixel.value = 0.01;
}
