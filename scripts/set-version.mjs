/**
 * `npm version 1.0.0 --no-git-tag-version` runs this after it has changed package.json and the lock file: writes the
 * version into every other file that states it, and gives the changes in CHANGELOG.md their heading with the date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Files that state the version, and what is before and after it there. */
export const PLACES = [
  ["CITATION.cff", "\nversion: ", "\n"],
  ["python/pyproject.toml", '\nversion = "', '"\n'],
  ["deploy/compose.yaml", "image: fieldprobe:", "\n"],
  ["deploy/kustomization.yaml", 'newTag: "', '"\n'],
  ["docs/client.md", "fieldprobe-", ".tgz"],
  ["docs/cluster.md", "registry.example.org/fieldprobe:", " "],
];
const VERSION = "\\d+\\.\\d+\\.\\d+(?:-[\\w.]+)?";
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Where a file states a version, with what is before and after it. */
export const statements = (before, after) =>
  new RegExp(`(${literally(before)})(${VERSION})(?=${literally(after)})`, "g");

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { npm_package_version: version } = process.env;
  const change = (file, write) => writeFileSync(file, write(readFileSync(file, "utf8")));
  for (const [file, before, after] of PLACES) {
    change(file, (text) => text.replace(statements(before, after), (_, lead) => lead + version));
  }
  const heading = `## ${version} - ${new Date().toISOString().slice(0, 10)}\n`;
  change("CHANGELOG.md", (text) => text.replace("## Unreleased\n", heading));
}
