/** Defines queries for events and terms, as the parameters of a request state them. */
import type { VocabularyName } from "./entities.js";

/** Values of `type`: an instance is upcoming until it is over, and current between its start and its end. */
export const EVENT_TYPES = ["upcoming", "past", "current", "all"] as const;
/** One value of `type`. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Fields of `order_by` on events. */
export const EVENT_ORDERS = ["end_date", "id", "list", "name", "publish_date", "start_date"] as const;
/** One field of `order_by` on events. */
export type EventOrder = (typeof EVENT_ORDERS)[number];

/** Fields of `order_by` on terms. */
export const TERM_ORDERS = ["id", "list", "name", "weight"] as const;
/** One field of `order_by` on terms. */
export type TermOrder = (typeof TERM_ORDERS)[number];

/** One step of an order. */
export interface Ordering<Field extends string> {
  readonly field: Field;
  readonly descending: boolean;
}

/** The page of a collection. */
export interface Paging {
  readonly page: number;
  readonly perPage: number;
}

/** An event must have one of the terms. */
export interface TermFilter {
  readonly vocabulary: VocabularyName;
  readonly ids: readonly number[];
}

/** A query for events or their instances. */
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
  /** Null: every source. */
  readonly sources: readonly string[] | null;
  readonly order: readonly Ordering<EventOrder>[];
}

/** A query for terms of one vocabulary. */
export interface TermQuery extends Paging {
  readonly ids: readonly number[] | null;
  readonly excludedIds: readonly number[];
  readonly slugs: readonly string[] | null;
  readonly order: readonly Ordering<TermOrder>[];
}
