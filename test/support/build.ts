/** Global set-up of the suite: worker threads run the JavaScript that ships, so it is built once before any test. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export function setup(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b"], { cwd: root, stdio: "inherit" });
  execFileSync(process.execPath, ["scripts/build-simd.mjs"], { cwd: root, stdio: "inherit" });
}
