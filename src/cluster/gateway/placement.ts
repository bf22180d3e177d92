/** Which nodes keep which shards in their caches: rendezvous hashing with bounded loads over a fixed number of slots. */

/** Shards are hashed to so many slots: 32 or more a node up to 128 nodes. */
export const SLOTS = 4096;
/** No node holds more than this many times the mean. */
const BOUND = 1.2;

/** For each slot the numbers of its nodes, best first: entries `replicas * slot ..`. */
export interface Placement {
  readonly replicas: number;
  readonly nodes: readonly string[];
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
 * Places every slot on `replicas` nodes, or on all when there are fewer.
 *
 * Each slot prefers nodes by a hash of both; a node at its bound is passed over. A node that comes or goes moves the slots
 * it wins or had, and few others.
 */
export function place(nodes: readonly string[], replicas: number): Placement {
  const names = nodes.toSorted();
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
      const bounded = bestNode(seeds, slot, (node) => loads[node] < most && !taken.includes(node));
      // Only nodes that have the slot already may be left below the bound.
      const best = bounded >= 0 ? bounded : bestNode(seeds, slot, (node) => !taken.includes(node));
      table[slot * width + copy] = best;
      loads[best]++;
    }
  }
  return { replicas: width, nodes: names, table };
}

function bestNode(seeds: readonly number[], slot: number, free: (node: number) => boolean): number {
  let best = -1;
  let highest = -1;
  const mark = Math.imul(slot + 1, 0x9e37_79b1);
  for (let node = 0; node < seeds.length; node++) {
    const score = scramble(seeds[node] ^ mark);
    if (score > highest && free(node)) {
      best = node;
      highest = score;
    }
  }
  return best;
}

/** Names of the nodes of a slot, best first. */
export function holders({ nodes, replicas, table }: Placement, slot: number): readonly string[] {
  return Array.from(table.subarray(slot * replicas, (slot + 1) * replicas), (node) => nodes[node]);
}

/** How many slots each node has. */
export function shares({ nodes, table }: Placement): ReadonlyMap<string, number> {
  const loads = new Map(nodes.map((name) => [name, 0]));
  for (const node of table) {
    const name = nodes[node];
    loads.set(name, (loads.get(name) as number) + 1);
  }
  return loads;
}
