/** Runs the benches one after another: `npm run bench -- [--quick] [--json FILE] [--only PART[,PART]]`. */
import { parseArgs } from "node:util";
import { benchAnalysis } from "./analysis.bench.js";
import { benchEngine } from "./engine.bench.js";
import { benchFrames } from "./frames.bench.js";
import { benchKernels } from "./kernels.bench.js";
import { benchLevels } from "./levels.bench.js";
import { benchNodes } from "./nodes.bench.js";
import { benchParticles } from "./particles.bench.js";
import { OPTIONS, printRow, type Row, writeRows } from "./row.js";
import { benchService } from "./service.bench.js";
import { benchSources } from "./sources.bench.js";
import { benchStart } from "./start.bench.js";
import { benchStorage } from "./storage.bench.js";

const { json = null, quick, only } = parseArgs({ options: { ...OPTIONS, only: { type: "string" } } }).values;

const PARTS = new Map<string, () => Promise<Row[]>>([
  ["kernels", () => benchKernels({ json, quick })],
  ["frames", () => benchFrames({ json, quick })],
  ["engine", () => benchEngine({ json, quick })],
  ["levels", () => benchLevels({ json, quick })],
  ["nodes", () => benchNodes({ json, quick })],
  ["analysis", () => benchAnalysis({ json, quick })],
  ["particles", () => benchParticles({ json, quick })],
  ["storage", () => benchStorage({ json, quick })],
  ["sources", () => benchSources({ json, quick })],
  ["service", () => benchService({ json, quick })],
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
