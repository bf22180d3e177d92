/** Open stores and remote files of the store thread, and the reads under way. */
import { setTimeout as pause } from "node:timers/promises";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { copyToShared, LentResult, ReadMemory } from "../../shared/read-memory.js";
import { isReferences } from "../zarr/kinds.js";
import type { StoreTree } from "../zarr/store-tree.js";
import { ChunkCache } from "./chunk-cache.js";
import { LocalStore } from "./local-store.js";
import type { ObjectStore, VersionName } from "./object-store.js";
import { Hosts } from "./objects/hosts.js";
import { HttpConnections } from "./objects/http-connections.js";
import { type Fetching, PinnedObjects } from "./objects/pinned-objects.js";
import { RemoteBytes } from "./objects/remote-bytes.js";
import type { RemoteObjects } from "./objects/remote-objects.js";
import type { StoreStatus } from "./objects/store-status.js";
import { type Decoded, ELEMENT_BYTES, OpenStore } from "./open-store.js";
import {
  type BoxRequest,
  type BytesRequest,
  type Elements,
  FILE_BLOCK_BYTES,
  type FileState,
  type FolderContents,
  type OpenRequest,
  type RangeRequest,
  type StoreRead,
  type TextsRequest,
} from "./protocol.js";
import { ReadAhead, readKey } from "./read-ahead.js";
import { ReferenceStore } from "./reference-store.js";
import { RemoteFolder } from "./remote-folder.js";
import { RemoteStore } from "./remote-store.js";
import { type FindVersion, type OpenVersion, type ReportVersion, Versioned } from "./versioned.js";

interface PinnedFile {
  readonly state: FileState;
  readonly objects: RemoteBytes;
}

/** Longest wait of `ready` for a first read: the requesting thread has other work. */
const MOMENT_MS = 15;
const SHORT_MOMENT_MS = 1;
/** Most bytes of cached chunks, of ranges and of blocks: several boxes may need one. */
const CACHE_BYTES = 64 * 1024 * 1024;
type ReadData = Elements | Uint8Array;

export class Stores {
  readonly #fetching: Fetching;
  readonly #hosts: Hosts;
  readonly #stores: Versioned<OpenStore>;
  readonly #files: Versioned<PinnedFile>;
  /** Hosts by named address, which may be private and is shared by everything below it. */
  readonly #hostsByAddress = new Map<string, RemoteObjects>();
  readonly #storeAddresses = new Set<string>();
  readonly #listings = new Map<string, Promise<FolderContents>>();
  /** Stores and files that did not answer in time. */
  readonly #slow = new Set<string>();
  readonly #chunks = new ChunkCache<Decoded>(
    CACHE_BYTES,
    ({ data }) => data.length * ELEMENT_BYTES,
    ({ data }) => data as Elements,
  );
  readonly #ranges = rangeCache();
  readonly #blocks = rangeCache();
  /** Reads under way, or done and not yet requested; by `readKey`, the oldest first. */
  readonly #reads = new Map<string, LentResult<ReadData>>();
  readonly #ahead: ReadAhead;

  /**
   * @param hosts refuses private hosts that were not named
   * @param earlier versions by location, found by an earlier thread
   * @param reportVersion receives each new version
   */
  constructor(
    fetching: Fetching,
    hosts = new Hosts(),
    clock: () => number = () => performance.now(),
    earlier: ReadonlyMap<string, VersionName> = new Map(),
    reportVersion: ReportVersion = () => undefined,
  ) {
    this.#hosts = hosts;
    const versioned = <T extends OpenVersion>(find: FindVersion<T>): Versioned<T> => {
      const findAllowed: FindVersion<T> = async (location, ...versions) => {
        if (isAddress(location)) await hosts.check(location);
        return find(location, ...versions);
      };
      return new Versioned(findAllowed, clock, earlier, reportVersion);
    };
    this.#stores = versioned(this.#openStore.bind(this));
    this.#files = versioned(this.#openFile.bind(this));
    const network = { buckets: new HttpConnections(), others: new HttpConnections(hosts.lookup) };
    this.#fetching = { network, ...fetching };
    this.#ahead = new ReadAhead(
      fetching.settings.aheadBytes,
      (read) => this.#begin(read).settled,
      (name) => this.#forget(name, this.#reads.get(name)),
    );
  }

  /** Finds possible datasets at a named address or below it. Throws DataError, BusyError. */
  async folder(address: string): Promise<FolderContents> {
    this.#hosts.allow(address);
    if (this.#storeAddresses.has(address)) return { places: [address], versions: new Map(), problems: [] };
    const looking = this.#listings.get(address) ?? this.#listFolder(address);
    this.#listings.set(address, looking);
    return looking.finally(() => this.#listings.delete(address));
  }

  async #listFolder(address: string): Promise<FolderContents> {
    const objects = new PinnedObjects(address, this.#fetching, this.#hostsByAddress.get(address));
    this.#hostsByAddress.set(address, objects.host);
    const contents = await new RemoteFolder(address, objects).contents();
    if (contents.places.length === 1 && contents.places[0] === address) this.#storeAddresses.add(address);
    return contents;
  }

  #hostAbove(location: string): RemoteObjects | undefined {
    for (let place = location; place.includes("/"); place = place.slice(0, place.lastIndexOf("/"))) {
      const shared = this.#hostsByAddress.get(place) ?? this.#hostsByAddress.get(`${place}/`);
      if (shared !== undefined) return shared;
    }
    return undefined;
  }

  /** The tree of a store: of the version `newestMs`, or of the present one. */
  async open(request: OpenRequest): Promise<StoreTree> {
    return (await this.#version(this.#stores, request)).state;
  }

  /** The state of a file, of the version that `open` would choose. */
  async file(request: OpenRequest): Promise<FileState> {
    const { store: location, newestMs, scan } = request;
    const known = this.#files.known(location);
    const file = await this.#version(this.#files, request);
    // The scan will read the beginning of the file next.
    if (newestMs === undefined && scan !== undefined && file !== known && file.state.size > 0)
      this.#range(beginningOf(location, file.state)).catch(() => undefined);
    return file.state;
  }

  async #version<T extends OpenVersion>(
    versions: Versioned<T>,
    { store: location, newestMs, named, scan }: OpenRequest,
  ): Promise<T> {
    if (named === true && isAddress(location)) this.#hosts.allow(location);
    return newestMs === undefined ? versions.now(location, scan) : versions.verified(location, newestMs);
  }

  async #openStore(location: string, known: OpenStore | null, last: VersionName | null): Promise<OpenStore> {
    const store = this.#storeAt(location, known);
    const changedMs = known?.objects.changedMs ?? 0;
    const opening = OpenStore.open(location, store, changedMs, this.#fetching.settings, last);
    // A named store that cannot be opened may have become a folder: the next look at the address finds out.
    opening.catch((error: unknown) => error instanceof DataError && this.#storeAddresses.delete(location));
    const opened = await opening;
    return known?.state.digest === opened.state.digest && changedMs === 0 ? known : opened;
  }

  #storeAt(location: string, known: OpenStore | null): ObjectStore {
    if (isReferences(location)) {
      const before = known?.objects instanceof ReferenceStore ? known.objects : null;
      return new ReferenceStore(location, this.#hosts, this.#fetching, before);
    }
    return isAddress(location)
      ? new RemoteStore(location, this.#fetching, this.#hostAbove(location))
      : new LocalStore(location, this.#fetching.settings.metadataBytes);
  }

  async #openFile(location: string, known: PinnedFile | null, last: VersionName | null): Promise<PinnedFile> {
    const objects = new RemoteBytes(location, this.#fetching, this.#hostAbove(location));
    const present = await objects.open();
    if (known?.state.digest === present.digest && known.objects.changedMs === 0) return known;
    // The time identifies a version: versions get different times, even if the host counts in seconds.
    const isSame = known === null && last?.digest === present.digest;
    const newestMs = isSame ? last.newestMs : Math.max(present.newestMs, (last?.newestMs ?? 0) + 1);
    return { state: { ...present, newestMs }, objects };
  }

  /** Versions of open stores and files at these addresses that reads have found changed. */
  async changes(beginnings: readonly string[]): Promise<readonly string[]> {
    return [...this.#stores.changes(beginnings), ...this.#files.changes(beginnings)];
  }

  keep(locations: ReadonlySet<string>): void {
    this.#slow.clear();
    for (const versions of [this.#stores, this.#files]) versions.keep(locations);
  }

  /** Counts of fetches by named address, and for stores and files elsewhere. */
  status(): StoreStatus[] {
    const statuses = [...this.#hostsByAddress].map(([address, objects]) => statusOf(address, [objects]));
    const shared = new Set(this.#hostsByAddress.values());
    for (const [store, hosts] of [...this.#stores.hosts(), ...this.#files.hosts()]) {
      const own = hosts.filter((host) => !shared.has(host));
      if (own.length > 0) statuses.push(statusOf(store, own));
    }
    return statuses;
  }

  /**
   * Starts reads, within the bound of memory. If none is done, waits for MOMENT_MS, or less if the store is slow.
   * @returns for each read, whether it is done or has failed; all true if none could be started (only requests free memory)
   * @throws what a block of metadata failed with
   */
  async ready(reads: readonly StoreRead[]): Promise<readonly boolean[]> {
    const started = this.#start(reads);
    const isDone = reads.map(() => false);
    let failure: unknown = null;
    const areNoneUnderWay = () => started.every((reading, at) => reading === undefined || isDone[at]);
    const settling = started.map(async (reading, at) => {
      // A failed block of metadata fails the whole call; a failed value only its own points.
      await reading?.catch((error: unknown) => {
        if ((reads[at] as RangeRequest).isBlock) failure ??= error;
      });
      isDone[at] = reading !== undefined;
    });
    // Reads that are done have settled by the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    const store = reads[0]?.store ?? "";
    if (!isDone.some(Boolean) && !areNoneUnderWay()) await this.#waitBriefly(store, settling);
    if (failure !== null) throw failure;
    if (isDone.some(Boolean) || areNoneUnderWay()) this.#slow.delete(store);
    else this.#slow.add(store);
    return areNoneUnderWay() ? reads.map(() => true) : isDone;
  }

  #start(reads: readonly StoreRead[]): (Promise<unknown> | undefined)[] {
    const isBlock = (read: StoreRead): read is RangeRequest => "isBlock" in read && read.isBlock;
    this.#ahead.add(reads.filter((read) => !isBlock(read)));
    return reads.map((read) => (isBlock(read) ? this.#range(read) : this.#reads.get(readKey(read))?.settled));
  }

  async #waitBriefly(store: string, settling: readonly Promise<void>[]): Promise<void> {
    const end = new AbortController();
    const ms = this.#slow.has(store) ? SHORT_MOMENT_MS : MOMENT_MS;
    const moment = pause(ms, undefined, { signal: end.signal }).catch(() => undefined);
    await Promise.race([Promise.all(settling), moment]);
    end.abort();
  }

  async read(box: BoxRequest): Promise<Elements> {
    return (await this.#take(box)) as Elements;
  }

  async texts({ store, newestMs, path }: TextsRequest): Promise<readonly string[]> {
    return (await this.#stores.verified(store, newestMs)).texts(path);
  }

  /**
   * Reads ranges of a file at once; the caller then holds each range.
   * @returns null if one is still under way and `ifThere`
   * @throws DataError, BusyError
   */
  async bytes({ ranges, ifThere }: BytesRequest): Promise<readonly Uint8Array[] | null> {
    const reading = Promise.all(ranges.map((range) => this.#take(range) as Promise<Uint8Array>));
    if (!ifThere) return reading;
    reading.catch(() => undefined);
    const tick = new Promise<null>((resolve) => setImmediate(resolve, null));
    return Promise.race([reading, tick]);
  }

  /** Waits for a read, which it starts if necessary; a read is forgotten once it has been taken. */
  async #take(read: StoreRead): Promise<ReadData> {
    const reading = this.#begin(read);
    try {
      return await reading.ask();
    } finally {
      this.#forget(readKey(read), reading);
      this.#ahead.requested(readKey(read));
    }
  }

  #forget(name: string, reading: LentResult<ReadData> | undefined): void {
    this.#reads.delete(name);
    reading?.drop();
  }

  #begin(read: StoreRead): LentResult<ReadData> {
    const name = readKey(read);
    const underWay = this.#reads.get(name);
    if (underWay !== undefined) return underWay;
    const data: Promise<ReadData> = "position" in read ? this.#range(read) : this.#readBox(read);
    const reading = new LentResult(data, (value) => value);
    this.#reads.set(name, reading);
    return reading;
  }

  #range(range: RangeRequest): Promise<Uint8Array> {
    const cache = range.isBlock ? this.#blocks : this.#ranges;
    return cache.get(readKey(range), async () => {
      const { objects } = await this.#files.verified(range.store, range.newestMs);
      return inSharedMemory(await objects.read(range.position, range.length));
    });
  }

  async #readBox(box: BoxRequest): Promise<Elements> {
    return (await this.#stores.verified(box.store, box.newestMs)).read(box, this.#chunks);
  }
}

function rangeCache(): ChunkCache<Uint8Array> {
  return new ChunkCache<Uint8Array>(
    CACHE_BYTES,
    ({ length }) => length,
    (range) => range,
  );
}

function inSharedMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const shared = ReadMemory.ofThread().allocate(bytes.length);
  copyToShared(bytes, shared, 0);
  return shared;
}

function statusOf(store: string, hosts: ObjectStore["hosts"]): StoreStatus {
  const sum = (of: (host: ObjectStore["hosts"][number]) => number) =>
    hosts.reduce((total, host) => total + of(host), 0);
  return {
    store,
    requests: sum(({ counts }) => counts.requests),
    retries: sum(({ counts }) => counts.retries),
    failures: sum(({ counts }) => counts.failures),
    bytes: sum(({ counts }) => counts.bytes),
    seconds: sum(({ counts }) => counts.busyMs) / 1000,
    answers: hosts.every(({ answers }) => answers),
  };
}

function beginningOf(store: string, { newestMs, size }: FileState): RangeRequest {
  return { store, newestMs, position: 0, length: Math.min(FILE_BLOCK_BYTES, size), isBlock: true };
}
