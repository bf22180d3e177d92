/**
 * `bytesGrownOld` tells how many bytes of items outlive the collections of young objects, although each item is deleted
 * soon after it was added (docs/decisions/memory-of-queries.md).
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options?: { readonly type: "minor" }) => void;

/** An item of about 4 kB. */
export interface HeavyItem {
  readonly numbers: readonly number[];
}

const LIVE = 16;
export const ITEMS = 2_000;
const ITEM_NUMBERS = 500;
/** Bytes that all items take together. */
export const ALL_BYTES = 8 * ITEM_NUMBERS * ITEMS;
const COLLECT_EVERY = 50;

/**
 * @param add    adds an item to what is tested, and returns how to delete it
 * @returns bytes by which the old objects have grown; some per cent of `ALL_BYTES` where nothing outlives itself
 */
export function bytesGrownOld(add: (item: HeavyItem) => () => void): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  const live: (() => void)[] = [];
  const step = (): void => {
    live.push(add({ numbers: new Array<number>(ITEM_NUMBERS).fill(0.5) }));
    if (live.length > LIVE) live.shift()?.();
  };
  for (let i = 0; i < 4 * LIVE; i++) step();
  // What there is now becomes old, a table that is about to be replaced as well.
  collect();
  const before = oldBytes();
  for (let i = 0; i < ITEMS; i++) {
    step();
    if (i % COLLECT_EVERY === 0) collect({ type: "minor" });
  }
  collect({ type: "minor" });
  return oldBytes() - before;
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0;
}
