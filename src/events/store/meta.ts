/** Facts the store keeps about itself: settings from the heads of imported files, and what the instances were made for. */
import type { Connection } from "./database.js";

export type MetaName = "zone" | "site" | "primarySource" | "instanceZone" | "horizonFirst";

export function readMeta(db: Connection): ReadonlyMap<string, string> {
  return new Map(db.all("SELECT name, value FROM meta").map(([name, value]) => [String(name), String(value)]));
}

export function writeMeta(db: Connection, name: MetaName, value: string): void {
  db.run("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [
    name,
    value,
  ]);
}
