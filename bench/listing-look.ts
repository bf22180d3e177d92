/** A process that looks at a prefix of a bucket; it prints the milliseconds and by how many MiB it has grown. */
import { placesAt } from "../dist/storage/catalog/source.js";

// The first look starts the thread that fetches.
placesAt("s3://cubes/none");
const before = process.memoryUsage.rss();
const start = performance.now();
const places = placesAt("s3://cubes/runs/reynolds-433");
const took = performance.now() - start;
if (places.length !== 1) throw new Error(`${places.length} places`);
process.stdout.write(`${took} ${(1024 * process.resourceUsage().maxRSS - before) / 2 ** 20}\n`);
process.exit();
