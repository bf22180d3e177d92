/** Damaged HDF5 files by the thousand, for SOAK_MINUTES: no wrong value, no end of the process, and bounded memory. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { fill, NODES, nodeValue, stateGrid, writeField, writeHdf5 } from "../support/cubes.js";
import { DAMAGE_NAMES, damaged, type Victim, victimOf, withSums } from "../support/hostile-files.js";
import { pressureIn } from "../support/input-mutants.js";
import { firstDifference } from "../support/read-nodes.js";
import { generator } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";

const SCRATCH = scratchFolder();
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const SEED = Number(process.env.SOAK_SEED ?? 20_261_123);
const VALUES = Float32Array.from(fill(["z", "y", "x"], [NODES.z, NODES.y, NODES.x], nodeValue));
/** Growth of the resident memory that is allowed after the first cases. */
const GROWTH_BYTES = 200 * 2 ** 20;
const FIRST_CASES = 500;
/** CPU that a file of some kilobytes may take. */
const MAX_CPU_MS = 5_000;

const CHUNKS = [4, 5, 6];
const victims: { readonly victim: Victim; readonly isChecked: boolean }[] = [];

beforeAll(async () => {
  for (const filter of ["gzip", "fletcher32", null] as const)
    for (const isEarliest of [false, true]) {
      const path = await writeHdf5(
        join(SCRATCH, `${filter}-${isEarliest}.h5`),
        (file) => {
          stateGrid(file);
          file.create_attribute("note", ["some", "text"], [2], "S");
          const chunked = filter === null ? {} : { chunks: CHUNKS, filter };
          writeField(file, "/pressure", { dimensions: ["z", "y", "x"], ...chunked });
        },
        isEarliest,
      );
      victims.push({ victim: victimOf(readFileSync(path)), isChecked: !isEarliest && filter !== null });
    }
});

/** Scans a folder with one file and reads its pressure; null where it is refused. */
function served(content: Buffer): Float32Array | null {
  const folder = join(SCRATCH, "one");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, "p.h5"), content);
  return pressureIn(folder, (text) => expect(text).toMatch(/^(?!.*examination failed)[^\n]{1,600}$/));
}

it(`damaged files for ${MINUTES} minutes, from seed ${SEED}`, () => {
  const random = generator(SEED);
  const end = performance.now() + MINUTES * 60_000;
  const outcomes = { refused: 0, served: 0 };
  let resident = 0;
  for (let round = 0; performance.now() < end; round++) {
    const { victim, isChecked } = victims[round % victims.length] as (typeof victims)[number];
    const name = DAMAGE_NAMES[Math.floor(DAMAGE_NAMES.length * random())] as string;
    const changed = damaged(victim, name, random);
    const isMended = random() < 0.5;
    const before = process.cpuUsage();
    const values = served(isMended ? withSums(victim, changed) : changed);
    const { user, system } = process.cpuUsage(before);
    const what = `${name}, round ${round} of seed ${SEED}`;
    expect((user + system) / 1000, what).toBeLessThan(MAX_CPU_MS);
    if (values === null) outcomes.refused++;
    else outcomes.served++;
    if (isChecked && !isMended && values !== null) expect(firstDifference(values, VALUES), what).toBeNull();
    if (round === FIRST_CASES) resident = process.memoryUsage().rss;
    if (round > FIRST_CASES) expect(process.memoryUsage().rss - resident, what).toBeLessThan(GROWTH_BYTES);
  }
  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  for (const { victim, isChecked } of victims)
    if (isChecked) expect(firstDifference(served(victim.bytes) as Float32Array, VALUES)).toBeNull();
});
