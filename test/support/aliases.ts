/** Lets tests load modules named `#src/` and `#tools/` (package.json, "imports") from source, not from the build. */
import { fileURLToPath } from "node:url";

const source = (folder: string) => fileURLToPath(new URL(`../../${folder}/$1.ts`, import.meta.url));

export const ALIASES = [
  { find: /^#src\/(.*)\.js$/, replacement: source("src") },
  { find: /^#tools\/(.*)\.js$/, replacement: source("tools") },
];
