/** Runs the benches of the engine one after another: `npm run bench -- [--quick] [--json FILE]`. */
import { benchEngine } from "./engine.bench.js";
import { type Row, readOptions, report } from "./row.js";

const options = readOptions();
const rows: Row[] = [];
for (const bench of [benchEngine]) rows.push(...(await bench(options)));
report(rows, options);
