/** The commands of docs/start.md run as printed, and make what the page says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { scratchFolder } from "../support/scratch.js";
import { typeCommands } from "../support/typed-commands.js";

const folder = scratchFolder();

it("docs/start.md runs as printed", { timeout: 180_000 }, async (context) => {
  const typed = await typeCommands("docs/start.md", folder);
  if (typed === null) return context.skip("curl is missing");
  const figure = PNG.sync.read(readFileSync(join(folder, "vorticity.png")));
  expect([figure.width, figure.height]).toEqual([512, 512]);
  expect(readFileSync(join(folder, "spectrum.svg"), "utf8")).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
  const [head, , first] = readFileSync(join(folder, "spectrum.csv"), "utf8").split(/\r?\n/);
  expect(head).toBe("k,E");
  expect(Number(first?.split(",")[1])).toBeCloseTo(0.3, 6);
  expect(JSON.parse(readFileSync(join(folder, "runs/u.dataset.json"), "utf8")).questions).toBeUndefined();
  const [, answer] = typed.stdout.match(/x,y,z,u\.x,u\.y,u\.z\r?\n1,2,3,(\S+)/) ?? [];
  expect(answer?.split(",").map(Number).every(Number.isFinite)).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, "tokens.json"), "utf8")).tokens).toHaveLength(1);
});
