/**
 * `npm ci`, `npm pack` and `npm install` of a repository run this: builds the program and its manual.
 *
 * The first `npx fieldprobe` in a checkout runs it too, since npm links the package into its cache for that; what
 * `npm ci` has built is used then.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const isBuilt = process.env.npm_command === "exec" && existsSync(new URL("../dist/site", import.meta.url));
for (const script of isBuilt ? [] : ["build", "docs:site"]) {
  const { status } = spawnSync("npm", ["run", script], { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}
