/** Values of a query string, and the problems in them. */
import { isDay } from "../time/zone.js";
import { EventsError, type EventsErrorCode, type EventsErrorDetail } from "./events-error.js";

const LIST_VALUES = 200;
const ORDER_PAIRS = 5;
const ID = /^[0-9]{1,15}$/;

export class QueryString {
  readonly #values = new Map<string, string[]>();
  readonly #faults: { readonly code: EventsErrorCode; readonly detail: EventsErrorDetail }[] = [];

  constructor(raw: string) {
    for (const [name, value] of new URLSearchParams(raw)) {
      const known = this.#values.get(name);
      if (known) known.push(value);
      else this.#values.set(name, [value]);
    }
  }

  names(): IterableIterator<string> {
    return this.#values.keys();
  }

  raw(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  fault(
    parameter: string,
    reason: string,
    allowed?: readonly string[],
    code: EventsErrorCode = "invalid_parameter",
  ): void {
    this.#faults.push({ code, detail: { parameter, reason, ...(allowed ? { allowed } : {}) } });
  }

  /** @throws EventsError with all faults found so far */
  check(): void {
    const first = this.#faults[0];
    if (!first) return;
    const alike = this.#faults.every((fault) => fault.code === first.code);
    const details = this.#faults.map((fault) => fault.detail);
    throw new EventsError(400, alike ? first.code : "invalid_parameter", "Invalid query parameters.", details);
  }

  /** Null when absent, empty or given twice, which is a fault. */
  text(name: string): string | null {
    const values = this.#values.get(name);
    if (!values) return null;
    if (values.length > 1) {
      this.fault(name, "must be given once", undefined, "duplicate_parameter");
      return null;
    }
    return values[0] || null;
  }

  /** Items of a comma-separated list, trimmed, unique, not empty; null when there is none. */
  list(name: string): string[] | null {
    const text = this.text(name);
    if (text === null) return null;
    const items = [...new Set(text.split(",").map((item) => item.trim()))].filter((item) => item !== "");
    if (items.length > LIST_VALUES) {
      this.fault(name, `must have at most ${LIST_VALUES} values`, undefined, "too_many_values");
      return null;
    }
    return items.length === 0 ? null : items;
  }

  ids(name: string): number[] | null {
    const items = this.list(name);
    if (items === null) return null;
    if (items.every((item) => ID.test(item))) return [...new Set(items.map(Number))];
    this.fault(name, "must be a list of ids, which are whole numbers of at most 15 digits");
    return null;
  }

  /** Items of a closed set, in any letter case; `alias` gives other spellings. */
  choices<T extends string>(name: string, allowed: readonly T[], alias: Readonly<Record<string, T>> = {}): T[] | null {
    const items = this.list(name);
    if (items === null) return null;
    const known = items.map((item) => {
      const folded = item.toLowerCase();
      return Object.hasOwn(alias, folded) ? alias[folded] : allowed.find((value) => value === folded);
    });
    if (known.includes(undefined)) this.fault(name, "unknown value", allowed);
    return known.filter((value) => value !== undefined);
  }

  page(): number {
    const text = this.text("page");
    if (text === null || /^[1-9][0-9]{0,8}$/.test(text)) return Number(text ?? 1);
    const isLarge = /^[1-9][0-9]*$/.test(text);
    this.fault("page", isLarge ? "must be 999999999 or less" : "must be an integer of 1 or more");
    return 1;
  }

  perPage(byDefault: number, most: number, strict: boolean): number {
    const text = this.text("per_page");
    if (text === null) return byDefault;
    if (!/^[0-9]+$/.test(text) || /^0+$/.test(text)) {
      this.fault("per_page", "must be an integer of 1 or more");
      return byDefault;
    }
    const wanted = Number(text);
    if (wanted > most && strict) this.fault("per_page", `must be ${most} or less`);
    return Math.min(wanted, most);
  }

  /** Pairs `FIELD|ORDER`; a repeated field keeps its first place. `list` needs `ids`. */
  order<Field extends string>(
    fields: readonly Field[],
    byDefault: readonly { field: Field; descending: boolean }[],
  ): readonly { field: Field; descending: boolean }[] {
    const items = this.list("order_by");
    if (items === null) return byDefault;
    const order = new Map<Field, boolean>();
    const before = this.#faults.length;
    for (const item of items) {
      const [name = "", direction = "", ...more] = item.split("|").map((part) => part.trim().toLowerCase());
      const field = fields.find((known) => known === name);
      if (field === undefined) this.fault("order_by", "unknown field", fields);
      else if (more.length > 0 || !["", "asc", "desc"].includes(direction)) {
        this.fault("order_by", "unknown order", ["asc", "desc"]);
      } else if (field === "list" && this.list("ids") === null) {
        this.fault("order_by", "list needs the parameter ids");
      } else if (!order.has(field)) order.set(field, direction === "desc");
    }
    if (order.size > ORDER_PAIRS && this.#faults.length === before) {
      this.fault("order_by", `must have at most ${ORDER_PAIRS} pairs`, undefined, "too_many_values");
    }
    return [...order].map(([field, descending]) => ({ field, descending }));
  }

  day(name: string): string | null {
    const text = this.text(name);
    if (text === null || isDay(text)) return text;
    this.fault(name, "must be a calendar date YYYY-MM-DD");
    return null;
  }
}
