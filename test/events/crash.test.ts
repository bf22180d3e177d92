/** A process killed during an import leaves the calendar as before or as after, never between, and hinders no other. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { EXAMPLE, load, scratch } from "./support.js";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));

it.each(["calendar.json.lock", ".partial"])("killed when there is a %s", { timeout: 60_000 }, async (trace) => {
  const folder = scratch();
  onTestFinished(() => folder.remove());
  const events = Array.from({ length: 3_000 }, (_, n) => ({
    id: 5000 + n,
    name: `Event ${n}`,
    start: { dateTime: `2026-11-0${(n % 7) + 1}T10:00:00` },
  }));
  const many = folder.file("many.json", { events });
  const file = join(folder.path, "calendar.json");
  load(file, [EXAMPLE]);
  const before = readFileSync(file, "utf8");
  const args = [BIN, "events", "import", many, "--file", file];
  const env = { ...process.env, FIELDPROBE_EVENTS_NOW: "2026-10-20T12:00:00Z" };
  const child = spawn(process.execPath, args, { stdio: "ignore", env });
  const watcher = watch(folder.path, (_event, name) => {
    if (name?.endsWith(trace)) child.kill("SIGKILL");
  });
  await once(child, "exit");
  watcher.close();
  const found = readFileSync(file, "utf8");
  expect(spawnSync(process.execPath, args, { encoding: "utf8", env })).toMatchObject({ status: 0, stderr: "" });
  const after = readFileSync(file, "utf8");
  expect(after).not.toBe(before);
  expect([before, after]).toContain(found);
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".lock"))).toEqual([]);
});
