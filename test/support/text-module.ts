/** `textModule` instantiates the text module that the build has made. */
import { readFileSync } from "node:fs";
import { TextModule } from "../../src/text/text-module.js";

export function textModule(): TextModule {
  return new TextModule(readFileSync(new URL("../../dist/text/text.wasm", import.meta.url)));
}
