/** Compiles each module in AssemblyScript to WebAssembly, unless it is newer than all of its sources. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The memory is the host's, shared by all threads and at most 4 GiB. */
const SHARED = ["--sharedMemory", "--maximumMemory", "65536", "--enable", "simd,threads"];

/** Folders of assembly, the files outside of them that they import, and what is compiled. */
const MODULES = [
  {
    sources: "src/kernels/simd/assembly",
    imports: ["src/kernels/simd/record-sizes.ts"],
    target: "dist/kernels/simd/kernels.wasm",
    flags: SHARED,
  },
  {
    sources: "src/kernels/fft/assembly",
    imports: ["src/kernels/fft/fft-layout.ts"],
    target: "dist/kernels/fft/fft.wasm",
    flags: ["--enable", "simd"],
  },
  {
    sources: "src/kernels/fft/assembly",
    imports: ["src/kernels/fft/fft-layout.ts"],
    target: "dist/kernels/fft/fft-shared.wasm",
    flags: SHARED,
  },
  {
    sources: "src/storage/levels/assembly",
    imports: [],
    target: "dist/storage/levels/levels.wasm",
    flags: ["--enable", "simd"],
  },
  {
    sources: "src/text/assembly",
    imports: ["src/text/text-layout.ts"],
    target: "dist/text/text.wasm",
    flags: ["--enable", "simd"],
  },
];

/** `stub`: nothing is ever allocated. */
const FLAGS = ["--runtime", "stub", "--importMemory", "--initialMemory", "1", "--noAssert", "-O3"];

function modified(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

for (const { sources, imports, target, flags } of MODULES) {
  const folder = join(ROOT, sources);
  const out = join(ROOT, target);
  const inputs = [
    fileURLToPath(import.meta.url),
    ...imports.map((file) => join(ROOT, file)),
    ...readdirSync(folder).map((name) => join(folder, name)),
  ];
  if (!inputs.some((file) => modified(file) > modified(out))) continue;
  mkdirSync(dirname(out), { recursive: true });
  const asc = join(ROOT, "node_modules/assemblyscript/bin/asc.js");
  const entry = `${sources}/index.ts`;
  execFileSync(process.execPath, [asc, entry, ...FLAGS, ...flags, "--outFile", out], { cwd: ROOT, stdio: "inherit" });
}
