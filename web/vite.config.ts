/** Builds the page into dist/web: relative addresses, hashed names, nothing inlined that the content policy would block. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const BUILT = fileURLToPath(new URL("../dist/web", import.meta.url));

const EMPTY = "data:text/javascript,export default null";

const GZIP_BYTES = 1024;

/** Leaves a compressed copy next to each large file, which the service sends to browsers that accept it. */
const compressed: Plugin = {
  name: "compressed",
  closeBundle() {
    for (const name of readdirSync(BUILT, { recursive: true, encoding: "utf8" })) {
      const file = join(BUILT, name);
      if (statSync(file).isFile() && statSync(file).size >= GZIP_BYTES)
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    }
  },
};

export default defineConfig({
  base: "./",
  plugins: [compressed],
  // What jsPDF loads for pictures of HTML, which figures are not.
  resolve: { alias: { canvg: EMPTY, html2canvas: EMPTY, dompurify: EMPTY } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    // Colours follow the scheme by light-dark(); older targets would turn it into something that scripts cannot read.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
});
