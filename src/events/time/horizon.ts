/** Publication horizon: the days whose instances are kept. */
import { Temporal } from "temporal-polyfill";
import { momentAt } from "./zone.js";

export interface Horizon {
  /** First and last day, both included, in the site zone. */
  readonly first: string;
  readonly last: string;
  /** Divides a long series into upcoming and past, epoch seconds. */
  readonly now: number;
}

export const MOST_INSTANCES = 2000;

const BACK = Temporal.Duration.from({ years: 2 });
const AHEAD = Temporal.Duration.from({ months: 18 });

export function horizonAt(now: number, zone: string): Horizon {
  const today = momentAt(now, zone).toPlainDate();
  return { first: today.subtract(BACK).toString(), last: today.add(AHEAD).toString(), now };
}
