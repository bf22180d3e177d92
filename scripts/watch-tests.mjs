/**
 * `npm run test:watch [room]` waits for edits, rebuilds what they change and runs the tests that see them, the nearest
 * first. With a room, which is a folder of `test/`, it runs only the tests of that folder.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startVitest } from "vitest/node";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [room] = process.argv.slice(2);
if (room !== undefined && !existsSync(join(ROOT, "test", room))) {
  console.error(`test:watch: there is no folder test/${room}`);
  process.exit(1);
}
const { vite } = await startVitest("test", [], {
  root: ROOT,
  watch: true,
  standalone: true,
  ...(room === undefined ? {} : { project: [room, `${room}-alone`] }),
});

/**
 * Whether edits anywhere in the sources are seen: the watcher says that it is ready before it has found all folders.
 */
function seesEverything() {
  const seen = vite.watcher.getWatched();
  return ["src", "tools", "test"].every((name) =>
    readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .every((entry) => join(entry.parentPath, entry.name) in seen),
  );
}

while (!seesEverything()) await setTimeout(50);
console.log("Watching src, tools and test.");
