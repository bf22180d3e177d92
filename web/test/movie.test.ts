/** Movies end at what the service refuses; Share says that data were replaced. */
import { expect, it, vi } from "vitest";
import { answering, model, setOf, show } from "./page.js";
import { buttonsOf, textOf } from "./template.js";

const drawn: number[] = [];
vi.mock("../export/movie.js", () => ({
  movieOf: async () => ({
    ending: ".mp4",
    add: async () => drawn.push(model.view.peek().time as number),
    end: async () => new Blob(),
  }),
}));
const { exportDialog, openExport } = await import("../export.js");
const { openShare, shareDialog } = await import("../export/share.js");
const { message } = await import("../notify.js");
const { replaced } = await import("../state/ask.js");

/** An element on which everything can be called, and nothing is drawn. */
const element = (): HTMLElement =>
  new Proxy({ width: 400, height: 300, clientWidth: 400 } as unknown as HTMLElement, {
    get: (own, name) => own[name as keyof HTMLElement] ?? (() => element()),
  });
vi.stubGlobal("document", { createElement: element, querySelector: element, querySelectorAll: () => [] });
/** Waits, as a page without graphics, until answers or refusals of all that is wanted are there. */
const settled = async () => {
  await new Promise((pass) => setTimeout(pass, 0));
  model.rested.value = model.view.peek();
  await new Promise((pass) => setTimeout(pass, 0));
  await vi.waitFor(() => expect(model.store.isBusy).toBe(false));
};
vi.stubGlobal("stage", { settled });

it("end with the last picture of data that are replaced meanwhile", async () => {
  answering((call, { samples = "64", time = "0" }) =>
    call === "values"
      ? { rows: [[1, 1, 1, 0]], manifest: Number(time) < 2 ? "changing" : "changed" }
      : new Float32Array(samples.split(",").reduce((product, n) => product * Number(n), 1)),
  );
  show(setOf("changing", [0, 1, 2, 3]), {});
  openShare();
  expect(textOf(shareDialog())).toContain("It reopens to the same picture and numbers. Manifest changing");
  openExport("movie");
  buttonsOf(exportDialog()).get("Time")?.();
  buttonsOf(exportDialog()).get("Record")?.();
  await vi.waitFor(() => expect(message.value).toMatch(/saved/), 5000);
  expect(drawn).toEqual([0, 1]);
  expect(message.value).toBe(`Movie of 2 pictures saved. ${replaced.value}`);
  expect(replaced.value).toContain("changing was replaced by other data");
  expect(textOf(shareDialog())).toContain("The data were replaced: it opens with the numbers of others. Manifest");
});
