/** The placement says which peers cache which shards: rendezvous hashing with bounded loads over a fixed number of slots. */

/** Number of slots that shards are hashed to: 32 or more a peer up to 128 peers. */
export const SLOTS = 4096;
/** No peer holds more than this many times the mean. */
const BOUND = 1.2;

/** Slot -> the numbers of its peers, best first: entries `replicas * slot ..`. */
export interface Placement {
  readonly replicas: number;
  readonly peers: readonly string[];
  readonly table: Uint16Array;
}

/** FNV-1a over the UTF-16 units of a text. */
export function hashText(text: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return scramble(hash);
}

/** The finaliser of MurmurHash3: every bit of the input reaches every bit of the output. */
function scramble(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Slot of a shard: a range of bricks of a dataset's generation in a chunk of its frames. */
export function slotOf(generation: number, chunk: number, range: number): number {
  return scramble(scramble(generation ^ Math.imul(chunk + 1, 0x9e37_79b1)) ^ Math.imul(range + 1, 0x85eb_ca77)) % SLOTS;
}

/**
 * Places every slot on `replicas` peers, or on all when there are fewer.
 *
 * Each slot prefers peers by a hash of both; a peer at its bound is passed over. A peer that comes or goes moves the slots
 * it wins or had, and few others.
 */
export function place(peers: readonly string[], replicas: number): Placement {
  const names = peers.toSorted();
  const width = Math.min(replicas, names.length);
  const seeds = names.map(hashText);
  const most = Math.max(
    Math.ceil((SLOTS * width) / Math.max(1, names.length)),
    Math.floor((BOUND * SLOTS * width) / names.length),
  );
  const loads = new Uint32Array(names.length);
  const table = new Uint16Array(SLOTS * width);
  for (let copy = 0; copy < width; copy++) {
    for (let slot = 0; slot < SLOTS; slot++) {
      const taken = table.subarray(slot * width, slot * width + copy);
      const bounded = bestPeer(seeds, slot, (peer) => loads[peer] < most && !taken.includes(peer));
      // Only peers that have the slot already may be left below the bound.
      const best = bounded >= 0 ? bounded : bestPeer(seeds, slot, (peer) => !taken.includes(peer));
      table[slot * width + copy] = best;
      loads[best]++;
    }
  }
  return { replicas: width, peers: names, table };
}

function bestPeer(seeds: readonly number[], slot: number, free: (peer: number) => boolean): number {
  let best = -1;
  let highest = -1;
  const mark = Math.imul(slot + 1, 0x9e37_79b1);
  for (let peer = 0; peer < seeds.length; peer++) {
    const score = scramble(seeds[peer] ^ mark);
    if (score > highest && free(peer)) {
      best = peer;
      highest = score;
    }
  }
  return best;
}

/** Names of the peers of a slot, best first. */
export function holders({ peers, replicas, table }: Placement, slot: number): readonly string[] {
  return Array.from(table.subarray(slot * replicas, (slot + 1) * replicas), (peer) => peers[peer]);
}

/** Counts the slots of each peer. */
export function shares({ peers, table }: Placement): ReadonlyMap<string, number> {
  const loads = new Map(peers.map((name) => [name, 0]));
  for (const peer of table) {
    const name = peers[peer];
    loads.set(name, (loads.get(name) as number) + 1);
  }
  return loads;
}
