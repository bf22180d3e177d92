/** Bound of connections by the files that the system lets the process open. */
import { readFileSync } from "node:fs";

/** Files reserved for datasets, threads and the store of events, and part of all files. */
const KEPT = 96;
const KEPT_PART = 1 / 4;

/** Infinity if the system does not say. */
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
