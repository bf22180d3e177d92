/** Looks at all addresses of a scan at once, with a bounded wait for each host. */
import { BusyError, DataError } from "../../shared/errors.js";
import { DESCRIPTOR_NAME } from "../dataset/folder-names.js";
import { isReferences, isRemoteHdf5 } from "../zarr/kinds.js";
import type { FolderContents } from "./protocol.js";
import { StoreClient } from "./store-client.js";

/** Time for which a scan waits for a silent host: for new addresses, and for those it can serve as before. */
const NEW_MS = 10_000;
const KNOWN_MS = 1_000;
/** Least wait for each: others may have kept the store thread busy. */
const MIN_MS = 100;

type PendingLook = (timeoutMs: number) => { readonly digest: string; readonly newestMs: number };

export class StoreStates {
  readonly #start = performance.now();
  readonly #folders = new Map<string, (timeoutMs: number) => FolderContents>();
  readonly #looks = new Map<string, PendingLook>();
  readonly #versions = new Map<string, string>();
  readonly #problems = new Map<string, string>();
  readonly #named = new Map<string, string>();
  readonly #heard = new Map<string, number>();
  readonly #end: () => void = () => {};

  constructor(addresses: readonly string[]) {
    if (addresses.length === 0) return;
    const client = StoreClient.ofThread();
    client.beginScan();
    this.#end = () => client.endScan();
    for (const address of addresses) {
      if (isFile(address)) this.#look(address);
      else this.#folders.set(address, client.send({ kind: "folder", store: address }));
    }
  }

  /** Runs a use of states of stores, which ends with it. */
  static with<T>(addresses: readonly string[], use: (states: StoreStates) => T): T {
    const states = new StoreStates(addresses);
    try {
      return use(states);
    } finally {
      states.#end();
    }
  }

  /** Finds possible datasets at or below a named address; the results of earlier scans if its host does not answer. */
  placesAt(address: string, known: ReadonlyMap<string, string>): readonly string[] {
    const folder = this.#folders.get(address);
    if (folder === undefined) return [address];
    const before = [...known.keys()].filter(
      (location) => location === address || location.startsWith(`${address.replace(/\/+$/, "")}/`),
    );
    try {
      const { places, versions, problems } = folder(this.#left(address, before.length > 0));
      this.#heard.set(address, performance.now());
      for (const { location, message } of problems) this.#problems.set(location, message);
      for (const [location, version] of versions) this.#versions.set(location, version);
      for (const location of places) this.#expect(location, address, known);
      return [...places, ...problems.map(({ location }) => location)];
    } catch (error) {
      if (error instanceof DataError) {
        this.#problems.set(address, error.message);
        return [address];
      }
      if (!(error instanceof BusyError)) throw error;
      const places = before.length > 0 ? before : [address];
      const fail = () => {
        throw error;
      };
      for (const location of places) this.#looks.set(location, fail);
      return places;
    }
  }

  #expect(location: string, address: string, known: ReadonlyMap<string, string>): void {
    this.#named.set(location, address);
    const version = this.#versions.get(location);
    if (version === undefined) this.#look(location);
    else if (version !== known.get(location) && !location.endsWith(`/${DESCRIPTOR_NAME}`))
      StoreClient.ofThread().post({ kind: "file", store: location, named: true });
  }

  #look(location: string): PendingLook {
    const client = StoreClient.ofThread();
    const kind = isFile(location) && !isReferences(location) ? "file" : "open";
    const look = client.send({ kind, store: location, named: true });
    this.#looks.set(location, look);
    return look;
  }

  /** The version of a store or file. Throws DataError, or BusyError when its host does not answer in time. */
  of(location: string, isKnown: boolean): string {
    const listed = this.#versions.get(location);
    if (listed !== undefined) return listed;
    const address = this.#named.get(location) ?? location;
    const look = this.#looks.get(location) ?? this.#look(location);
    this.#looks.delete(location);
    const { digest, newestMs } = look(this.#left(address, isKnown));
    this.#heard.set(address, performance.now());
    return `${digest} ${newestMs}`;
  }

  problemAt(location: string): string | null {
    return this.#problems.get(location) ?? null;
  }

  listedIn(folder: string): readonly string[] {
    const isIn = (location: string) => location.slice(0, location.lastIndexOf("/")) === folder;
    return [...this.#versions].filter(([location]) => isIn(location)).map((entry) => entry.join(" "));
  }

  /** Changes found by reads in stores whose addresses have one of these prefixes. */
  changes(beginnings: readonly string[]): readonly string[] {
    if (beginnings.length === 0) return [];
    return StoreClient.ofThread().ask({ kind: "changes", store: beginnings[0], beginnings });
  }

  #left(address: string, isKnown: boolean): number {
    const since = this.#heard.get(address) ?? this.#start;
    return Math.max(since + (isKnown ? KNOWN_MS : NEW_MS) - performance.now(), MIN_MS);
  }
}

function isFile(address: string): boolean {
  return isRemoteHdf5(address) || isReferences(address) || address.endsWith(`/${DESCRIPTOR_NAME}`);
}
