/** Bound on connections, from the number of files that the system allows the process to open. */
import { readFileSync } from "node:fs";

/** Files reserved for datasets, threads and the store of events, and the fraction of all files for connections. */
const KEPT = 96;
const KEPT_PART = 1 / 4;

/** Most open files of the process; infinite if the system does not say. */
export function mostOpenFiles(): number {
  try {
    const [, most] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return most === undefined ? Number.POSITIVE_INFINITY : Number(most);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param wanted `http.connections` @param openFiles what `mostOpenFiles` returns */
export function connectionsAllowed(wanted: number, openFiles: number): number {
  const kept = Math.max(KEPT, Math.ceil(openFiles * KEPT_PART));
  return openFiles === Number.POSITIVE_INFINITY ? wanted : Math.max(1, Math.min(wanted, openFiles - kept));
}
