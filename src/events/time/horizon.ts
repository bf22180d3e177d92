/** The publication horizon bounds the days whose instances are kept. */
import { Temporal } from "temporal-polyfill";
import { momentAt } from "./zone.js";

/** A horizon in the site zone. */
export interface Horizon {
  /** First and last day, both included, in the site zone. */
  readonly first: string;
  readonly last: string;
  /** Epoch seconds at which the instances of a long series are divided into upcoming and past. */
  readonly now: number;
}

/** Instances kept of one event. */
export const MOST_INSTANCES = 2000;

const BACK = Temporal.Duration.from({ years: 2 });
const AHEAD = Temporal.Duration.from({ months: 18 });

/** Two years back and eighteen months ahead of today in the site zone. */
export function horizonAt(now: number, zone: string): Horizon {
  const today = momentAt(now, zone).toPlainDate();
  return { first: today.subtract(BACK).toString(), last: today.add(AHEAD).toString(), now };
}
