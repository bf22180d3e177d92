/** Defines the messages between the threads that compute and the thread that reads stores. */

import type { RawValues } from "../dataset/stored.js";
import type { StoreTree } from "../zarr/store-tree.js";

/** Size of the blocks in which the description of a file's values is read. */
export const FILE_BLOCK_BYTES = 64 * 1024;

/** A box of elements of an array. */
export interface BoxRequest {
  readonly store: string;
  /** `newestMs` of the tree that the caller has verified. */
  readonly newestMs: number;
  readonly path: string;
  readonly offset: readonly number[];
  readonly count: readonly number[];
}

/** A request for a store or a file: its present state, or the version that the caller has verified. */
export interface OpenRequest {
  readonly store: string;
  /** `newestMs` of the tree that the caller has verified; absent: the store as it is now. */
  readonly newestMs?: number | undefined;
  /** Whether the settings or the command line name the store: its host may then be in a private network. */
  readonly named?: boolean | undefined;
  /** The scan that asks: what it has seen once is not looked at again. */
  readonly scan?: string | undefined;
}

/** Findings at an address and below it. */
export interface FolderContents {
  /** Addresses of stores, files and descriptors. */
  readonly places: readonly string[];
  /** Versions of files by their addresses, if lists tell them, as digest and time of a `FileState`. */
  readonly versions: ReadonlyMap<string, string>;
  readonly problems: readonly { readonly location: string; readonly message: string }[];
}

/** A request for the texts of a small array. */
export interface TextsRequest {
  readonly store: string;
  /** `newestMs` of the tree that the caller has verified. */
  readonly newestMs: number;
  readonly path: string;
}

/** A range of bytes of a file. */
export interface RangeRequest {
  readonly store: string;
  /** `newestMs` of the file that the caller has verified. */
  readonly newestMs: number;
  readonly position: number;
  readonly length: number;
  /** Whether it is a block of what describes the values, which is kept for longer. */
  readonly isBlock: boolean;
}

/** A read for a thread: elements of an array, or bytes of a file. */
export type StoreRead = BoxRequest | RangeRequest;

/** Ranges of a file. */
export interface BytesRequest {
  readonly store: string;
  readonly ranges: readonly RangeRequest[];
  /** Whether the answer is null if one of them is not there yet. */
  readonly ifThere: boolean;
}

/** A file that is read by ranges. */
export interface FileState {
  readonly size: number;
  readonly digest: string;
  /** Time of its last change, by the clock of its host. */
  readonly newestMs: number;
}

/** A request to the thread of stores; the answer is the member of `StoreReplies` of the same name. */
export type StoreRequest =
  /** The datasets at an address that the settings or the command line name. */
  | { readonly kind: "folder"; readonly store: string }
  | ({ readonly kind: "open" } & OpenRequest)
  | ({ readonly kind: "file" } & OpenRequest)
  | ({ readonly kind: "read" } & BoxRequest)
  | ({ readonly kind: "texts" } & TextsRequest)
  | ({ readonly kind: "bytes" } & BytesRequest)
  /** Changed stores whose addresses begin in one of these ways. */
  | { readonly kind: "changes"; readonly store: string; readonly beginnings: readonly string[] }
  /** Reads that will be asked for soon. */
  | { readonly kind: "ready"; readonly store: string; readonly reads: readonly StoreRead[] };

/** Elements in C order, in shared memory. */
export type Elements = RawValues | BigInt64Array | BigUint64Array;

/** The answers, by the kind of the request. */
export interface StoreReplies {
  readonly folder: FolderContents;
  readonly open: StoreTree;
  readonly file: FileState;
  readonly read: Elements;
  readonly texts: readonly string[];
  /** In shared memory; null if a range is not there yet. */
  readonly bytes: readonly Uint8Array[] | null;
  /** Versions of those that have changed since. */
  readonly changes: readonly string[];
  readonly ready: readonly boolean[];
}

/** A message of a thread: a request with a number. */
export interface StoreMessage {
  readonly id: number;
  readonly request: StoreRequest;
}

/** The answer to the message with that number: a value of `StoreReplies`, or an error. */
export type StoreAnswer =
  | {
      readonly id: number;
      readonly value: unknown;
      /** Memory of the value that the caller gives back. */
      readonly lent: readonly ArrayBufferView[];
    }
  /**
   * `retryAfter`: seconds after which to ask again, as the store did not answer in time; null if it is not readable, or
   * has changed.
   */
  | { readonly id: number; readonly message: string; readonly retryAfter: number | null };
