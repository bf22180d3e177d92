/** Versions of stores and remote files for a scan: all are asked for at the same time, and none is waited for beyond a bound. */
import { isRemoteHdf5 } from "./kinds.js";
import { StoreClient } from "./store-client.js";

/** Time for which a scan waits for stores that it has never seen, and for those that it can serve as they were. */
const NEW_MS = 10_000;
const KNOWN_MS = 1_000;

export class StoreStates {
  readonly #start = performance.now();

  /** @param addresses that `of` will be asked for */
  constructor(addresses: readonly string[]) {
    for (const store of addresses)
      StoreClient.ofThread().announce({ kind: isRemoteHdf5(store) ? "file" : "open", store, named: true });
  }

  /**
   * The version of a store or file.
   *
   * @param isKnown whether an earlier scan has seen it
   * @throws DataError, or BusyError when its host does not answer in time
   */
  of(store: string, isKnown: boolean): string {
    const left = this.#start + (isKnown ? KNOWN_MS : NEW_MS) - performance.now();
    const client = StoreClient.ofThread();
    const request = { store, named: true };
    const { digest, newestMs } = isRemoteHdf5(store)
      ? client.ask({ kind: "file", ...request }, Math.max(left, 1))
      : client.ask({ kind: "open", ...request }, Math.max(left, 1));
    return `${digest} ${newestMs}`;
  }

  /** The changes that were found in stores whose addresses begin in one of these ways, since they were opened. */
  changes(beginnings: readonly string[]): readonly string[] {
    if (beginnings.length === 0) return [];
    return StoreClient.ofThread().ask({ kind: "changes", store: beginnings[0] as string, beginnings });
  }
}
