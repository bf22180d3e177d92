/**
 * Runs the benches one after another:
 * `npm run bench -- [--quick] [--json FILE] [--only PART[,PART]] [--large NODES] [--folder DIR]`.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { benchAnalysis } from "./analysis.bench.js";
import { benchCodec } from "./codec.bench.js";
import { benchEngine } from "./engine.bench.js";
import { benchFrames } from "./frames.bench.js";
import { benchKernels } from "./kernels.bench.js";
import { benchLarge } from "./large.bench.js";
import { benchMemory } from "./memory.bench.js";
import { benchNodes } from "./nodes.bench.js";
import { benchParticles } from "./particles.bench.js";
import { OPTIONS, printRow, type Row, writeRows } from "./row.js";
import { benchService } from "./service.bench.js";
import { benchSources } from "./sources.bench.js";
import { benchSplines } from "./splines.bench.js";
import { benchStart } from "./start.bench.js";
import { benchStorage } from "./storage.bench.js";
import { benchZarrView } from "./zarr-view.bench.js";

const {
  json = null,
  quick,
  only,
  large,
  folder,
} = parseArgs({
  options: {
    ...OPTIONS,
    only: { type: "string" },
    large: { type: "string", default: "256" },
    folder: { type: "string", default: tmpdir() },
  },
}).values;

const PARTS = new Map<string, () => Promise<Row[]>>([
  ["kernels", () => benchKernels({ json, quick })],
  ["frames", () => benchFrames({ json, quick })],
  ["splines", () => benchSplines({ json, quick })],
  ["codec", () => benchCodec({ json, quick })],
  ["engine", () => benchEngine({ json, quick })],
  ["nodes", () => benchNodes({ json, quick })],
  ["analysis", () => benchAnalysis({ json, quick })],
  ["particles", () => benchParticles({ json, quick })],
  ["storage", () => benchStorage({ json, quick })],
  ["sources", () => benchSources({ json, quick })],
  ["large", () => benchLarge({ quick, nodes: Number(large), within: folder })],
  ["service", () => benchService({ json, quick })],
  ["memory", () => benchMemory({ json, quick })],
  ["zarr", () => benchZarrView({ json, quick })],
  ["start", () => benchStart({ json, quick })],
]);

const rows: Row[] = [];
for (const name of only?.split(",") ?? PARTS.keys()) {
  const part = PARTS.get(name);
  if (!part) throw new Error(`--only ${name}: there are ${[...PARTS.keys()].join(", ")}`);
  const made = await part();
  for (const row of made) printRow(row);
  rows.push(...made);
}
writeRows(rows, { json });
