/** Damaged files and bodies from a seed, and what none of them may lead to: everything read that is no store. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect } from "vitest";
import { importFile } from "../../src/events/import/import-file.js";
import { ImportError } from "../../src/events/model/calendar.js";
import { openCalendar } from "../../src/events/store/stored-calendar.js";
import { digestToken, watchTokens } from "../../src/server/http/auth.js";
import { LIMITS } from "../../src/shared/config.js";
import { AuthError, DataError } from "../../src/shared/errors.js";
import { openDataset } from "../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../src/storage/catalog/scan-folders.js";
import { ScanIndex } from "../../src/storage/catalog/scan-index.js";
import type { FolderScan } from "../../src/storage/dataset/scan.js";
import { analyticEngine, closedForm } from "../server/ask/analysis/analytic-engine.js";
import { serveApi } from "../server/ask/serve-api.js";
import { descriptor, fill, NODES, nodeValue, stateGrid, writeField, writeHdf5 } from "./cubes.js";
import { DAMAGE_NAMES, damaged, victimOf, withSums } from "./hostile-files.js";
import { expectLine, type LookAtMutant, type MutantKinds, mutate, type Random } from "./mutants.js";
import { firstDifference, readNodes } from "./read-nodes.js";
import { scratchFolder } from "./scratch.js";

const VALUES = Float32Array.from(fill(["z", "y", "x"], [NODES.z, NODES.y, NODES.x], nodeValue));

export const INPUT_MUTANTS: MutantKinds = {
  "headers of HDF5": () => headerMutants(false),
  "headers of NetCDF-4": () => headerMutants(true),
  descriptors: descriptorMutants,
  "scan indexes": indexMutants,
  "iCalendar files": calendarMutants,
  "bodies of calls": () => bodyMutants("/api/datasets/lopsided/values", CALL),
  "bodies of lists": () => bodyMutants("/api/ask", [{ dataset: "lopsided", call: "values", ...CALL }]),
  "token files": () => tokenMutant,
};

/** Writes a file whose pressure has checksums. @param asNetcdf with coordinates and attributes as netCDF writes them */
function writePressure(path: string, asNetcdf: boolean): Promise<string> {
  return writeHdf5(path, (file) => {
    if (asNetcdf) {
      file.create_attribute("_NCProperties", "version=2,netcdf=4.9.2,hdf5=1.14.3");
      for (const axis of ["z", "y", "x"] as const) {
        const data = new Float64Array(NODES[axis]).map((_, i) => i);
        const scale = file.create_dataset({ name: axis, data });
        scale.create_attribute("CLASS", "DIMENSION_SCALE");
        scale.create_attribute("units", "m");
      }
    } else stateGrid(file);
    const filter = "fletcher32";
    writeField(file, "/pressure", { dimensions: ["z", "y", "x"], chunks: [4, 5, 6], filter });
  });
}

/** Reads the pressure of the dataset of a folder; null if it is refused, in one line each time. */
export function pressureIn(folder: string, look: (text: string) => void = expectLine): Float32Array | null {
  const scan: FolderScan = scanFolders([folder], { chunkBytes: 2 ** 26 });
  for (const { message } of scan.problems) look(message);
  const [dataset] = scan.datasets;
  if (dataset?.fields.pressure === undefined) return null;
  const open = openDataset(dataset);
  try {
    return readNodes(dataset, open, "pressure", 0);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    look(error.message);
    return null;
  } finally {
    open.close();
  }
}

/** An HDF5 file with structures damaged, every second time under checksums set right: its values, or an error. */
async function headerMutants(asNetcdf: boolean): Promise<LookAtMutant> {
  const folder = scratchFolder();
  const victim = victimOf(readFileSync(await writePressure(join(scratchFolder(), "whole.h5"), asNetcdf)));
  return (random) => {
    const name = DAMAGE_NAMES[Math.floor(DAMAGE_NAMES.length * random())] as string;
    const changed = damaged(victim, name, random);
    const isMended = random() < 0.5;
    writeFileSync(join(folder, asNetcdf ? "p.nc" : "p.h5"), isMended ? withSums(victim, changed) : changed);
    const values = pressureIn(folder);
    if (values !== null && !isMended) expect(firstDifference(values, VALUES), name).toBeNull();
    return values !== null;
  };
}

/** A descriptor changed beside a file that is whole: a dataset, or an error. */
async function descriptorMutants(): Promise<LookAtMutant> {
  const folder = scratchFolder();
  await writePressure(join(folder, "p.h5"), false);
  const pressure = { file: "p.h5", path: "/pressure", dimensions: ["z", "y", "x"] };
  const whole = descriptor("flow", { fields: { pressure }, time: { origin: 0, step: 1, count: 1 } });
  const bytes = Buffer.from(JSON.stringify(whole));
  return (random) => {
    writeFileSync(join(folder, "dataset.json"), mutate(random, bytes, true));
    return pressureIn(folder) !== null;
  };
}

/** An index with bytes changed: the outcome as it was written, or none. */
function indexMutants(): LookAtMutant {
  const path = join(scratchFolder(), "catalogue");
  const outcome = { problems: ["open question about spacing"], names: ["flow"] };
  const index = new ScanIndex(path, "key");
  index.add("/data/a.h5", "state", 0, outcome);
  index.write();
  const bytes = readFileSync(path);
  return (random) => {
    writeFileSync(path, mutate(random, bytes, false));
    const found = new ScanIndex(path, "key").find("/data/a.h5", "state");
    if (found !== null) expect(found).toEqual(outcome);
    return found !== null;
  };
}

const CALENDAR = [
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  "PRODID:test",
  "BEGIN:VEVENT",
  "UID:a",
  "DTSTAMP:20260901T000000Z",
  "DTSTART;TZID=Europe/Berlin:20261022T160000",
  "DTEND;TZID=Europe/Berlin:20261022T173000",
  "RRULE:FREQ=WEEKLY;COUNT=10;BYDAY=TH,FR",
  "EXDATE;TZID=Europe/Berlin:20261029T160000",
  "SUMMARY:Talk\\, long",
  "LOCATION:Room 1",
  "END:VEVENT",
  "BEGIN:VEVENT",
  "UID:a",
  "DTSTAMP:20260901T000000Z",
  "RECURRENCE-ID;TZID=Europe/Berlin:20261023T160000",
  "DTSTART;TZID=Europe/Berlin:20261023T180000",
  "DURATION:PT1H30M",
  "SUMMARY:Moved",
  "END:VEVENT",
  "END:VCALENDAR",
  "",
].join("\r\n");

/** An iCalendar file changed: its events, or problems of a line each. */
function calendarMutants(): LookAtMutant {
  const folder = scratchFolder();
  const file = join(folder, "a.ics");
  const now = Date.parse("2026-10-20T12:00:00Z") / 1000;
  const configured = { now, zone: "Europe/Berlin", site: "https://e.example", source: null, fallbackSite: "" };
  const empty = openCalendar({ file: join(folder, "none.json"), db: join(folder, "none.db") });
  const bytes = Buffer.from(CALENDAR);
  return (random) => {
    writeFileSync(file, mutate(random, bytes, random() < 0.5));
    try {
      importFile(empty, file, configured);
      return true;
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      for (const { place, reason } of error.problems) expectLine(`${place} ${reason}`);
      return false;
    }
  };
}

const CALL = {
  what: "u",
  method: "Lag4",
  time: 0.25,
  points: [
    [0.1, 0.2, 0.3],
    [1e-7, -0.5, 3],
  ],
};

/** The values of a call by JSON's own reader and the closed form. */
function expectedValues({ time, points }: typeof CALL): number[][] {
  return points.map((point) => {
    const [x, y, z] = point.map(Math.fround) as [number, number, number];
    return [0, 1, 2].map((c) => closedForm(c, x, y, z, Number(time)));
  });
}

/** What a body says by JSON's own reader; null if it is none. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A body changed: the values of what it says, or a problem of a line. */
async function bodyMutants(url: string, whole: object): Promise<LookAtMutant> {
  const app = await serveApi(analyticEngine());
  const bytes = Buffer.from(JSON.stringify(whole));
  return async (random) => {
    const payload = mutate(random, bytes, true);
    const answer = await app.inject({ method: "POST", url, payload, headers: { "content-type": "application/json" } });
    expect(answer.statusCode).not.toBe(500);
    const given = answer.json();
    if (answer.statusCode !== 200) {
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expectLine(given.message ?? given.detail);
      return false;
    }
    const results: { values?: number[][] }[] = given.results ?? [given];
    const said = parsed(payload.toString());
    if (said === null) expect(results.some(({ values }) => values !== undefined)).toBe(false);
    for (const [i, call] of (said?.queries ?? [said]).entries()) {
      const values = results[i]?.values;
      if (values !== undefined && typeof call.time === "number")
        expect(values.map((row) => row.map(Math.fround))).toEqual(expectedValues(call));
    }
    return results.every(({ values }) => values !== undefined);
  };
}

const TOKEN = "a-token-of-a-group";
const TOKENS = {
  version: 1,
  tokens: [
    { name: "group", sha256: digestToken(TOKEN), limit: 1000, perMinute: 60, concurrent: 4 },
    { name: "other", sha256: digestToken("another"), limit: 0, expires: "2031-12-31T23:59:59Z" },
  ],
};

/** A token file changed: its tokens, or a line that names the file; never a token that nobody has. */
function tokenMutant(random: Random): boolean {
  const path = join(scratchFolder(), "tokens.json");
  writeFileSync(path, mutate(random, Buffer.from(JSON.stringify(TOKENS)), true));
  let auth: ReturnType<typeof watchTokens>;
  try {
    auth = watchTokens(path, false, LIMITS, pino({ level: "silent" }));
  } catch (error) {
    expectLine((error as Error).message);
    expect((error as Error).message).toContain(path);
    return false;
  }
  try {
    expect(() => auth.authorise("unknown")).toThrow(AuthError);
    try {
      auth.authorise(TOKEN).release();
    } catch (error) {
      expect(error).toBeInstanceOf(AuthError);
    }
    return true;
  } finally {
    auth.close();
  }
}
