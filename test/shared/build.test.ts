/** Places of files of the build: of modules in `src` and in `dist`, below folders of any name. */
import { expect, it } from "vitest";
import { builtFile } from "../../src/shared/build.js";

it.each([
  ["/home/me/fieldprobe/src/engine/worker.js", true, "/home/me/fieldprobe/dist/engine/worker.js"],
  ["/usr/src/app/src/engine/worker.js", true, "/usr/src/app/dist/engine/worker.js"],
  ["/home/me/fieldprobe/dist/engine/worker.js", false, "/home/me/fieldprobe/dist/engine/worker.js"],
  ["/usr/src/app/dist/kernels.wasm", false, "/usr/src/app/dist/kernels.wasm"],
  ["/usr/src/engine/a b/dist/engine/worker.js", false, "/usr/src/engine/a b/dist/engine/worker.js"],
])("finds the file that the build made of %s (in the source: %s)", (path, fromSource, built) => {
  expect(builtFile(new URL(`file://${path}`), fromSource)).toBe(built);
});

it("finds files of this build from the source", () => {
  expect(builtFile(new URL("../../src/main.js", import.meta.url), true)).toMatch(/\/dist\/main\.js$/);
});
