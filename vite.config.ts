/** Builds the page into dist/web: relative addresses, hashed names, nothing inlined that the content policy would block. */
import { defineConfig } from "vite";

export default defineConfig({
  root: "src/web",
  base: "./",
  build: {
    outDir: "../../dist/web",
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
