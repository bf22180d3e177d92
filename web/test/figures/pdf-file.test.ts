/** A PDF of a figure: its elements as the figure has them, its texts in fonts that every reader has. */
import { expect, it } from "vitest";
import { readSvg, runsOf } from "../../figures/pdf-file.js";

it("reads the elements of a figure with their attributes and texts", () => {
  const svg = `<svg width="9" height="8"\n  font-size="12">
<g transform="translate(1 2)"><rect x="1" fill="#fff"/><text x="3">a &lt; b &amp; &quot;c&quot;</text></g>
<path d="M0 0L1 1"/></svg>`;
  const root = readSvg(svg);
  const [group, path] = root.children;
  const [rect, text] = group?.children ?? [];
  expect([root.name, root.attributes.get("font-size")]).toEqual(["svg", "12"]);
  expect([group?.name, group?.attributes.get("transform")]).toEqual(["g", "translate(1 2)"]);
  expect([rect?.attributes.get("fill"), text?.text]).toEqual(["#fff", 'a < b & "c"']);
  expect([path?.name, path?.attributes.get("d")]).toEqual(["path", "M0 0L1 1"]);
});

it("writes letters in Helvetica, Greek ones in Symbol, and draws what neither has", () => {
  expect(runsOf("wz é")).toEqual([{ font: "F", text: "wz é", codes: [0x77, 0x7a, 0x20, 0xe9] }]);
  // Codes of the fonts' own tables: omega of Symbol is 167 octal, its nabla 321; the minus begins the formulas.
  expect(runsOf("|ω| − ∇p")).toEqual([
    { font: "F", text: "|", codes: [0x7c] },
    { font: "S", text: "ω", codes: [0o167] },
    { font: "F", text: "| − ", codes: [0x7c, 0x20, 1, 0x20] },
    { font: "S", text: "∇", codes: [0o321] },
    { font: "F", text: "p", codes: [0x70] },
  ]);
  expect(runsOf("⊙z流").map(({ font, text }) => `${font} ${text}`)).toEqual(["null ⊙", "F z", "null 流"]);
});
