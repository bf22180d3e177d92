/** `textModule` instantiates the text module that the build has made. */
import { readFileSync } from "node:fs";
import { TextModule } from "../../src/float32/text-module.js";

export function textModule(): TextModule {
  return new TextModule(readFileSync(new URL("../../dist/float32/text.wasm", import.meta.url)));
}
