/** Compiles src/kernels/simd/assembly to dist/kernels/simd/kernels.wasm, unless that is newer than all of its sources. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = join(ROOT, "src/kernels/simd/assembly");
const TARGET = join(ROOT, "dist/kernels/simd/kernels.wasm");

/** `stub`: nothing is ever allocated. The memory is the host's, shared by all threads and at most 4 GiB. */
const FLAGS = ["--runtime", "stub", "--importMemory", "--sharedMemory", "--initialMemory", "1"].concat([
  "--maximumMemory",
  "65536",
  "--noAssert",
  "-O3",
  "--enable",
  "simd,threads",
]);

function modified(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const inputs = [
  fileURLToPath(import.meta.url),
  join(SOURCES, "../record-sizes.ts"),
  ...readdirSync(SOURCES).map((name) => join(SOURCES, name)),
];
if (inputs.some((file) => modified(file) > modified(TARGET))) {
  mkdirSync(dirname(TARGET), { recursive: true });
  const asc = join(ROOT, "node_modules/assemblyscript/bin/asc.js");
  const entry = "src/kernels/simd/assembly/index.ts";
  execFileSync(process.execPath, [asc, entry, ...FLAGS, "--outFile", TARGET], { cwd: ROOT, stdio: "inherit" });
}
