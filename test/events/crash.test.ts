/** A process killed during an import or an extension leaves the store as before or as after, never between. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConnection } from "../../src/sqlite.js";
import { EXAMPLE, load, scratch, seconds } from "./support.js";

const NOW = seconds("2026-10-20T12:00:00Z");
const LATER = seconds("2026-12-01T12:00:00Z");
const MAINTAIN = fileURLToPath(new URL("../../dist/events/upkeep.js", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));

let folder: ReturnType<typeof scratch>;
let many: string;
beforeAll(() => {
  folder = scratch();
  const events = Array.from({ length: 70 }, (_, n) => ({
    id: 5000 + n,
    name: `Event ${n}`,
    start: { dateTime: `2024-01-0${(n % 7) + 1}T10:00:00` },
    rrule: "FREQ=WEEKLY",
  }));
  many = folder.file("many.json", { zone: "America/New_York", events });
});
afterAll(() => folder.remove());

/** A digest of everything the store holds, once SQLite has found it sound. */
function digest(db: string): string {
  const connection = openConnection(db, "read");
  try {
    expect(connection.all("PRAGMA integrity_check")).toEqual([["ok"]]);
    const hash = createHash("sha256");
    for (const table of ["meta", "term", "event", "event_term", "instance", "uid"]) {
      hash.update(JSON.stringify(connection.all(`SELECT * FROM ${table} ORDER BY 1, 2`)));
    }
    return hash.digest("hex");
  } finally {
    connection.close();
  }
}

const walSize = (db: string) => statSync(`${db}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Runs a child that writes to `db` and kills it once the write-ahead log has grown to `limit` bytes.
 *
 * @returns whether it was killed, and how far the log grew
 */
async function runUntil(
  args: readonly string[],
  db: string,
  limit: number,
): Promise<{ killed: boolean; grown: number }> {
  const env = { ...process.env, FIELDPROBE_EVENTS_NOW: new Date(NOW * 1000).toISOString() };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], env });
  let grown = 0;
  const watcher = watch(dirname(db), () => {
    grown = Math.max(grown, walSize(db));
    if (grown >= limit) child.kill("SIGKILL");
  });
  const [code, signal] = await once(child, "exit");
  watcher.close();
  if (signal !== "SIGKILL") expect(code).toBe(0);
  return { killed: signal === "SIGKILL", grown };
}

describe.each([
  ["an import", (db: string) => [BIN, "events", "import", many, "--db", db], [EXAMPLE]],
  [
    "an extension",
    (db: string) => {
      const configured = { now: LATER, zone: null, site: null, source: null, fallbackSite: "http://127.0.0.1" };
      const task = JSON.stringify({ file: db, sample: null, configured });
      const code = `import { maintain } from ${JSON.stringify(MAINTAIN)}; maintain(${task});`;
      return ["--input-type=module", "-e", code];
    },
    null,
  ],
] as const)("killing %s", (name, args, files) => {
  it("leaves the store whole", { timeout: 60_000 }, async () => {
    const base = join(folder.path, `${name}.db`);
    load(base, files ?? [many], NOW);
    const copy = (suffix: string) => {
      const target = join(folder.path, `${name}-${suffix}.db`);
      copyFileSync(base, target);
      return target;
    };
    const before = digest(base);
    const whole = copy("whole");
    const { grown } = await runUntil(args(whole), whole, Number.POSITIVE_INFINITY);
    const after = digest(whole);
    expect(after).not.toBe(before);
    const seen = new Set<string>();
    let killed = 0;
    for (const fraction of [0, 0.4, 0.8]) {
      const db = copy(String(fraction));
      const outcome = await runUntil(args(db), db, Math.max(1, fraction * grown));
      killed += outcome.killed ? 1 : 0;
      const found = digest(db);
      expect([before, after]).toContain(found);
      seen.add(found);
    }
    expect(killed).toBeGreaterThanOrEqual(2);
    expect(seen).toContain(before);
    const again = join(folder.path, `${name}-0.4.db`);
    await runUntil(args(again), again, Number.POSITIVE_INFINITY);
    expect(digest(again)).toBe(after);
  });
});
