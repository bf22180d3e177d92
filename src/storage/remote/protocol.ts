/** Messages between the threads that compute and the thread that reads stores. */
import type { ErrorContext } from "../../shared/errors.js";
import type { RawValues } from "../dataset/stored.js";
import type { StoreTree } from "../zarr/store-tree.js";

/** Size of the blocks in which the metadata of a file are read. */
export const FILE_BLOCK_BYTES = 64 * 1024;

export interface BoxRequest {
  readonly store: string;
  readonly newestMs: number;
  readonly path: string;
  readonly offset: readonly number[];
  readonly count: readonly number[];
}

/** A request to open a store or a file: in its present state, or in the version that the caller has verified. */
export interface OpenRequest {
  readonly store: string;
  /** `newestMs` of the tree that the caller has verified; absent: the store as it is now. */
  readonly newestMs?: number | undefined;
  /** Whether the settings or the command line name the store: its host may then be in a private network. */
  readonly named?: boolean | undefined;
  /** Identifies a scan, which looks at each store or file only once. */
  readonly scan?: string | undefined;
}

export interface FolderContents {
  readonly places: readonly string[];
  /** Versions of files by address, if lists state them, as digest and time of a `FileState`. */
  readonly versions: ReadonlyMap<string, string>;
  readonly problems: readonly { readonly location: string; readonly message: string }[];
}

export interface TextsRequest {
  readonly store: string;
  readonly newestMs: number;
  readonly path: string;
}

export interface RangeRequest {
  readonly store: string;
  readonly newestMs: number;
  readonly position: number;
  readonly length: number;
  /** Whether it is a block of metadata, which is cached for longer. */
  readonly isBlock: boolean;
}

export type StoreRead = BoxRequest | RangeRequest;

export interface BytesRequest {
  readonly store: string;
  readonly ranges: readonly RangeRequest[];
  /** Whether the answer is null if a range has not arrived yet. */
  readonly ifThere: boolean;
}

export interface FileState {
  readonly size: number;
  readonly digest: string;
  /** Time of its last change, by the clock of its host. */
  readonly newestMs: number;
}

/** A request to the store thread; the answer is the member of `StoreReplies` of the same name. */
export type StoreRequest =
  /** Datasets at an address that the settings or the command line name. */
  | { readonly kind: "folder"; readonly store: string }
  | ({ readonly kind: "open" } & OpenRequest)
  | ({ readonly kind: "file" } & OpenRequest)
  | ({ readonly kind: "read" } & BoxRequest)
  | ({ readonly kind: "texts" } & TextsRequest)
  | ({ readonly kind: "bytes" } & BytesRequest)
  | { readonly kind: "changes"; readonly store: string; readonly beginnings: readonly string[] }
  | { readonly kind: "ready"; readonly store: string; readonly reads: readonly StoreRead[] };

export type Elements = RawValues | BigInt64Array | BigUint64Array;

export interface StoreReplies {
  readonly folder: FolderContents;
  readonly open: StoreTree;
  readonly file: FileState;
  readonly read: Elements;
  readonly texts: readonly string[];
  /** Bytes in shared memory; null if a range has not arrived yet. */
  readonly bytes: readonly Uint8Array[] | null;
  readonly changes: readonly string[];
  readonly ready: readonly boolean[];
}

export interface StoreMessage {
  readonly id: number;
  readonly request: StoreRequest;
}

/** The answer to a message: a value of `StoreReplies`, or an error. */
export type StoreAnswer =
  | {
      readonly id: number;
      readonly value: unknown;
      /** Memory of the value that the caller gives back. */
      readonly lent: readonly ArrayBufferView[];
    }
  | { readonly id: number; readonly message: string; readonly isBusy: boolean; readonly context: ErrorContext };
