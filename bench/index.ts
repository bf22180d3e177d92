/** Runs the benches one after another: `npm run bench -- [--quick] [--json FILE]`. */
import { benchCodec } from "./codec.bench.js";
import { benchEngine } from "./engine.bench.js";
import { benchKernels } from "./kernels.bench.js";
import { type Row, readOptions, report } from "./row.js";
import { benchService } from "./service.bench.js";
import { benchStorage } from "./storage.bench.js";

const options = readOptions();
const rows: Row[] = [];
for (const bench of [benchKernels, benchCodec, benchEngine, benchStorage, benchService])
  rows.push(...(await bench(options)));
report(rows, options);
