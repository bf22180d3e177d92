/** A process that looks at a prefix of a bucket; it prints the milliseconds and by how many MiB it has grown. */
import { readFileSync } from "node:fs";
import { placesAt } from "../dist/storage/catalog/source.js";

// The first look starts the thread that fetches.
placesAt("s3://cubes/none");
const before = process.memoryUsage.rss();
const start = performance.now();
const places = placesAt("s3://cubes/runs/reynolds-433");
const took = performance.now() - start;
if (places.length !== 1) throw new Error(`${places.length} places`);
// The peak that `resourceUsage` tells begins with that of the process that started this one.
const peakKib = Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
process.stdout.write(`${took} ${(1024 * peakKib - before) / 2 ** 20}\n`);
process.exit();
