/** A figure as a document: parts in rows, a bar for each scale, and a caption that says where the numbers come from. */
import { afterEach, expect, it, vi } from "vitest";
import { figureDocument } from "../../figures/figure-file.js";
import type { ViewStore } from "../../state/view-store.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

const FACTS = { name: "box", title: "A <small> box", digest: "0123456789abcdef0123", source: "A paper." };
const store = { facts: FACTS, link: "http://host/?dataset=box" } as unknown as ViewStore;
const part = (width: number, height: number, name: string) => ({ width, height, svg: `<g id="${name}"/>` });

it("lays parts side by side as long as they fit, the next row below the highest", () => {
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => null }) });
  const parts = [part(1000, 300, "a"), part(500, 400, "b"), part(700, 200, "c")];
  const content = { name: "u", parts, bars: [], title: "Velocity", notes: ["One note."] };
  const { svg, width, height } = figureDocument(content as never, store, "1.2.3");
  const places = [...svg.matchAll(/translate\((\d+) (\d+)\)"><g id="(\w)"/g)].map(([, x, y, id]) => `${id} ${x} ${y}`);
  expect(places).toEqual(["a 0 0", "b 1000 0", "c 0 400"]);
  expect(width).toBe(1500);
  const lines = [...svg.matchAll(/<text x="\d+" y="(\d+)" font-weight="(\w+)".*?>(.*)<\/text>/g)];
  expect(lines.map(([, , weight, text]) => `${weight} ${text}`)).toEqual([
    "bold Velocity",
    "normal One note.",
    "normal box: A &lt;small&gt; box; digest 0123456789abcdef",
    "normal A paper.",
    "normal http://host/?dataset=box",
    "normal Drawn by fieldprobe 1.2.3; to be cited with the dataset (CITATION.cff).",
  ]);
  expect(Number(lines[0]?.[1])).toBe(600 + 6 + 14);
  expect(height).toBeGreaterThan(Number(lines.at(-1)?.[1]));
});
