/** Queries for events and terms. */
import type { VocabularyName } from "./entities.js";

/** Upcoming: not yet over. Current: between start and end. */
export const EVENT_TYPES = ["upcoming", "past", "current", "all"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_ORDERS = ["end_date", "id", "list", "name", "publish_date", "start_date"] as const;
export type EventOrder = (typeof EVENT_ORDERS)[number];

export const TERM_ORDERS = ["id", "list", "name", "weight"] as const;
export type TermOrder = (typeof TERM_ORDERS)[number];

export interface Ordering<Field extends string> {
  readonly field: Field;
  readonly descending: boolean;
}

export interface Paging {
  readonly page: number;
  readonly perPage: number;
}

export interface TermFilter {
  readonly vocabulary: VocabularyName;
  readonly ids: readonly number[];
}

export interface EventQuery extends Paging {
  readonly single: boolean;
  readonly types: readonly EventType[];
  /** Null: no such filter. */
  readonly ids: readonly number[] | null;
  readonly excludedIds: readonly number[];
  readonly terms: readonly TermFilter[];
  /** Terms of `event_categories` and `locations` whose children count as themselves. */
  readonly includeSubterms: readonly number[];
  /** First and last day, both included. */
  readonly date: readonly [string, string] | null;
  readonly startDate: string | null;
  readonly audience: number;
  readonly sources: readonly string[] | null;
  readonly order: readonly Ordering<EventOrder>[];
}

export interface TermQuery extends Paging {
  readonly ids: readonly number[] | null;
  readonly excludedIds: readonly number[];
  readonly slugs: readonly string[] | null;
  readonly order: readonly Ordering<TermOrder>[];
}
