/**
 * `BatchScanner` finds the queries in the body of a batch: where each of them is, and its members `operation` and
 * `dataset`. It looks at each byte once and makes no other values, so that a body of a given length always takes the
 * same time.
 */

import type { RequestError } from "../../../shared/errors.js";
import { refuse } from "../parameters.js";
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./json-bytes.js";

/** A query of a batch. */
export interface BatchQuery {
  /** These members as strings; undefined if they are something else, or absent. */
  readonly operation: string | undefined;
  readonly dataset: string | undefined;
  /** The place of its object in the body. */
  readonly from: number;
  readonly to: number;
}

/** The next thing expected outside of strings. */
type ScanState =
  | "object"
  | "name"
  | "colon"
  | "list"
  | "first query"
  | "query"
  | "inside query"
  | "after query"
  | "after list"
  | "end";

/** The error of a body that is cut off or malformed. */
export function noJson(): RequestError {
  return refuse("queries", "The body is not a JSON document.");
}

function wrongForm(): RequestError {
  return refuse("queries", 'A batch is an object with the list "queries" and nothing else.');
}

/** Scans one body. Errors inside a query are left to the reader of that query. */
export class BatchScanner {
  /** The queries so far, as many as a batch may have. */
  readonly queries: BatchQuery[] = [];
  /** Number of queries so far. */
  count = 0;
  readonly #body: Buffer;
  readonly #most: number;
  #at = 0;
  #state: ScanState = "object";
  #inString = false;
  #escaped = false;
  /** The place where the last string, and the present query, begin. */
  #stringAt = 0;
  #queryAt = 0;
  /** Objects and lists that are open in the present query, itself included. */
  #depth = 0;
  /** Whether the next string of the query itself is the name of a member; the last such name. */
  #isName = true;
  #name: unknown = "";
  readonly #members = new Map<unknown, string>();

  /** @param most queries that a batch may have */
  constructor(body: Buffer, most: number) {
    this.#body = body;
    this.#most = most;
  }

  /** Looks at the bytes before `to`. @throws RequestError if the body is not a batch */
  advance(to: number): void {
    for (; this.#at < to; this.#at++) {
      const byte = this.#body[this.#at];
      if (this.#inString) this.#lookInString(byte);
      else if (byte === QUOTE) this.#beginString();
      else if (this.#state === "inside query") this.#lookInQuery(byte);
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) this.#lookAround(byte);
    }
  }

  /** Ends the scan. @throws RequestError if the body ends too early, or has no or too many queries */
  end(): readonly BatchQuery[] {
    if (this.#state !== "end") throw noJson();
    if (this.count === 0 || this.count > this.#most)
      throw refuse("queries", `A batch has 1 to ${this.#most} queries, not ${this.count}.`);
    return this.queries;
  }

  /** The bytes around the queries. */
  #lookAround(byte: number): void {
    const state = this.#state;
    if (state === "object" && byte === OPEN_OBJECT) this.#state = "name";
    else if (state === "colon" && byte === COLON) this.#state = "list";
    else if (state === "list" && byte === OPEN_LIST) this.#state = "first query";
    else if ((state === "first query" || state === "query") && byte === OPEN_OBJECT) this.#beginQuery();
    else if (state === "first query" && byte === CLOSE_LIST) this.#state = "after list";
    else if (state === "first query" || state === "query")
      throw refuse("queries", "Each query of a batch is an object.");
    else if (state === "after query" && byte === COMMA) this.#state = "query";
    else if (state === "after query" && byte === CLOSE_LIST) this.#state = "after list";
    else if (state === "after list" && byte === CLOSE_OBJECT) this.#state = "end";
    else throw wrongForm();
  }

  #beginQuery(): void {
    this.#state = "inside query";
    this.#queryAt = this.#at;
    this.#depth = 1;
    this.#isName = true;
    this.#members.clear();
  }

  #lookInQuery(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (--this.#depth === 0) this.#endQuery();
    } else if (this.#depth === 1 && (byte === COLON || byte === COMMA)) this.#isName = byte === COMMA;
  }

  #endQuery(): void {
    this.#state = "after query";
    if (this.count++ >= this.#most) return;
    this.queries.push({
      operation: this.#members.get("operation"),
      dataset: this.#members.get("dataset"),
      from: this.#queryAt,
      to: this.#at + 1,
    });
  }

  #beginString(): void {
    if (this.#state === "first query" || this.#state === "query")
      throw refuse("queries", "Each query of a batch is an object.");
    if (this.#state !== "name" && this.#state !== "inside query") throw wrongForm();
    this.#inString = true;
    this.#stringAt = this.#at;
  }

  #lookInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#endString();
  }

  #endString(): void {
    this.#inString = false;
    if (this.#state === "name") {
      if (this.#string() !== "queries") throw wrongForm();
      this.#state = "colon";
    } else if (this.#depth === 1) {
      if (this.#isName) this.#name = this.#string();
      else if (this.#name === "operation" || this.#name === "dataset") this.#members.set(this.#name, this.#string());
    }
  }

  #string(): string {
    try {
      return JSON.parse(this.#body.toString("utf8", this.#stringAt, this.#at + 1)) as string;
    } catch {
      throw noJson();
    }
  }
}
