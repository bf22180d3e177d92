/**
 * The site of the documents: every page of docs, the README, and the references that scripts/docs-site.mjs makes, with
 * search. A link to a page that does not exist fails the build; a linked file that is not a page is copied beside them.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { CONTENTS, PLACES } from "./contents.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BASE = "/docs/";
/** Files that pages link to, as paths of the repository. */
const linked = new Set();

/** The place on the site of a page, by its path in the repository. */
const placeOf = (path) => PLACES[path] ?? path.replace(/^docs\//, "");

/** Leads links between pages to their places on the site, and those to other files to copies below `files/`. */
function leadLinks(md) {
  md.core.ruler.push("places", ({ tokens, env }) => {
    const folder = relative(ROOT, dirname(env.realPath ?? env.path))
      .split(sep)
      .join("/");
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
      const [file, fragment] = href.split("#");
      const path = posix.join(folder, file);
      if (path.endsWith(".md")) {
        token.attrSet("href", `/${placeOf(path)}${fragment === undefined ? "" : `#${fragment}`}`);
      } else {
        if (!existsSync(join(ROOT, path))) throw new Error(`${env.relativePath}: ${href} does not exist`);
        linked.add(path);
        const list = statSync(join(ROOT, path)).isDirectory() ? "/index.txt" : "";
        token.attrSet("href", `${BASE}files/${path}${list}`);
        token.attrSet("target", "_blank");
      }
    }
  });
}

/** Copies linked files, and writes the digests of inline scripts, which the service allows by its content policy. */
function finish({ outDir }) {
  for (const path of linked) {
    const copy = join(outDir, "files", path);
    cpSync(join(ROOT, path), copy, { recursive: true });
    if (statSync(copy).isDirectory()) writeFileSync(join(copy, "index.txt"), `${readdirSync(copy).join("\n")}\n`);
  }
  const scripts = new Set();
  for (const name of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".html")) continue;
    const text = readFileSync(join(outDir, name), "utf8");
    for (const [, script] of text.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g)) {
      scripts.add(`sha256-${createHash("sha256").update(script).digest("base64")}`);
    }
  }
  writeFileSync(join(outDir, "scripts.json"), `${JSON.stringify([...scripts].sort())}\n`);
}

export default defineConfig({
  title: "fieldprobe",
  description: "Velocity, pressure, their derivatives, filtered values and particle paths from stored simulations",
  base: BASE,
  srcDir: ROOT,
  outDir: join(ROOT, "dist/site"),
  cacheDir: join(ROOT, "node_modules/.cache/site"),
  srcExclude: ["**/node_modules/**", "{.*,bench,bin,data,deploy,dist*,examples,src,test,tools}/**"],
  rewrites: placeOf,
  metaChunk: true,
  lastUpdated: false,
  markdown: { config: leadLinks },
  themeConfig: {
    sidebar: CONTENTS.map(({ text, items }) => ({
      text,
      collapsed: text === "Reference" || text === "The source",
      items: items.map(([link, name]) => ({ text: name, link })),
    })),
    outline: [2, 3],
    search: { provider: "local" },
    docFooter: { prev: false, next: false },
  },
  vite: { build: { chunkSizeWarningLimit: 2000 }, logLevel: "warn" },
  buildEnd: finish,
});
