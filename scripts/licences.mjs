/** Prints docs/licences.md: the packages that an installation without development dependencies brings, by licence. */
import { readFileSync } from "node:fs";

/** Packages whose code is in the built page. */
const IN_THE_PAGE = [
  ...["@babel/runtime", "@observablehq/plot", "@preact/signals-core", "cssesc", "d3", "fast-png"],
  ...["font-family-papandreou", "interval-tree-1d", "iobuffer", "isoformat", "jspdf", "lit-html", "mediabunny"],
  ...["pako", "specificity", "svg2pdf.js", "svgpath"],
];

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
const byLicence = new Map();
for (const [path, { dev, devOptional, license, link, version }] of Object.entries(packages)) {
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  const installed = path.startsWith("node_modules/") && !dev && !devOptional && !link;
  if (!installed && !IN_THE_PAGE.includes(name)) continue;
  if (license === undefined) throw new Error(`${path} states no licence`);
  byLicence.set(license, [...(byLicence.get(license) ?? []), `${name} ${version}`]);
}
const rows = [...byLicence]
  .sort(([, a], [, b]) => b.length - a.length)
  .map(([licence, names]) => `| ${licence} | ${[...new Set(names)].sort().join(", ")} |`);
console.log(`# Licences

The packages that an installation of fieldprobe brings, including those in the built page, by licence. \`node scripts/licences.mjs > docs/licences.md\` writes this page; a test
compares it with the lock file.

| Licence | Packages |
|---|---|
${rows.join("\n")}`);
