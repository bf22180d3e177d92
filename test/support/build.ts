/** Global set-up of the suite: worker threads run the JavaScript that ships, so it is built once before any test. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export function setup(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  for (const step of [
    ["scripts/build-splines.mjs"],
    ["node_modules/typescript/bin/tsc", "-b"],
    ["scripts/build-simd.mjs"],
  ])
    execFileSync(process.execPath, step, { cwd: root, stdio: "inherit" });
}
