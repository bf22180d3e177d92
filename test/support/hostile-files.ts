/** Damages HDF5 files in named ways by a seed, and may set the checksums of their structures right again. */
const SIGNED = ["\x89HDF", "OHDR", "OCHK", "FAHD", "FADB", "EAHD", "EAIB", "EASB", "EADB", "BTHD", "BTLF", "BTIN"];
const UNSIGNED = ["TREE", "SNOD", "HEAP", "GCOL"];
/** A structure of more bytes than these keeps its old checksum. */
const MAX_BYTES = 640;
const WORD = 8;

/** Jenkins's lookup3 of a range of bytes: the words a, b and c change one after the other. */
export function lookup3(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  const words = new Int32Array(3).fill(0xdeadbeef + length);
  const at = (i: number) => words[i % 3] as number;
  const turned = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits));
  const left = Buffer.concat([bytes.subarray(start, end), Buffer.alloc(12)]);
  let from = 0;
  const add = () => {
    for (let i = 0; i < 3; i++) words[i] = at(i) + left.readInt32LE(from + 4 * i);
  };
  if (length === 0) return at(2) >>> 0;
  for (; from < length - 12; from += 12) {
    add();
    for (const [i, bits] of [4, 6, 8, 16, 19, 4].entries()) {
      words[i % 3] = (at(i) - at(i + 2)) ^ turned(at(i + 2), bits);
      words[(i + 2) % 3] = at(i + 2) + at(i + 1);
    }
  }
  add();
  for (const [i, bits] of [14, 11, 25, 16, 4, 14, 24].entries())
    words[(i + 2) % 3] = (at(i + 2) ^ at(i + 1)) - turned(at(i + 1), bits);
  return at(2) >>> 0;
}

export interface Victim {
  readonly bytes: Buffer;
  readonly places: readonly number[];
  /** Structures with a checksum: their start, and its place. */
  readonly sums: readonly (readonly [number, number])[];
  readonly addresses: readonly number[];
}

export function victimOf(bytes: Buffer): Victim {
  const places: number[] = [];
  const sums: [number, number][] = [];
  for (let at = 0; at + 12 < bytes.length; at++) {
    const sign = bytes.toString("latin1", at, at + 4);
    if (SIGNED.includes(sign)) {
      const end = endOf(bytes, at);
      if (end !== null) sums.push([at, end]);
    } else if (!UNSIGNED.includes(sign)) continue;
    places.push(at);
  }
  const addresses: number[] = [];
  for (let at = 0; at + WORD <= bytes.length; at++)
    if (places.includes(Number(bytes.readBigUInt64LE(at)))) addresses.push(at);
  return { bytes, places, sums, addresses };
}

/** The place of the checksum of the structure at a place; null where there is none. */
function endOf(bytes: Buffer, start: number): number | null {
  for (let end = start + WORD; end < Math.min(start + MAX_BYTES, bytes.length - 3); end++)
    if (lookup3(bytes, start, end) === bytes.readUInt32LE(end)) return end;
  return null;
}

/** Gives the structures that a change has touched the checksums of what is now in them. */
export function withSums(victim: Victim, changed: Buffer): Buffer {
  for (const [start, end] of victim.sums)
    if (end + 4 <= changed.length && !changed.subarray(start, end).equals(victim.bytes.subarray(start, end)))
      changed.writeUInt32LE(lookup3(changed, start, end), end);
  return changed;
}

type Random = () => number;

/** The ways to damage a file, in place; by a number between 0 and 1 that is another at each call. */
const DAMAGES: Readonly<Record<string, (file: Buffer, victim: Victim, random: Random) => void>> = {
  "a bit turned": (file, victim, random) => {
    const at = placeIn(file, victim, random);
    file[at] = (file[at] as number) ^ (1 << below(random, 8));
  },
  "a byte changed": (file, victim, random) => {
    file[placeIn(file, victim, random)] = oneOf(random, [0, 1, 127, 128, 255, below(random, 256)]);
  },
  "bytes changed": (file, victim, random) => {
    const at = placeIn(file, victim, random);
    for (let i = at; i < Math.min(file.length, at + 2 + below(random, 14)); i++) file[i] = below(random, 256);
  },
  "bytes wiped": (file, victim, random) => {
    const at = placeIn(file, victim, random);
    file.fill(oneOf(random, [0, 255]), at, Math.min(file.length, at + 4 + below(random, 60)));
  },
  "a huge number": (file, victim, random) => {
    const at = Math.min(placeIn(file, victim, random), file.length - WORD);
    file.writeBigUInt64LE(2n ** BigInt(30 + below(random, 34)), at);
  },
  "addresses exchanged": (file, { addresses }, random) => {
    const [one, other] = [oneOf(random, addresses), oneOf(random, addresses)];
    const kept = file.readBigUInt64LE(one);
    file.writeBigUInt64LE(file.readBigUInt64LE(other), one);
    file.writeBigUInt64LE(kept, other);
  },
  "an address of itself": (file, { addresses, places }, random) => {
    const at = oneOf(random, addresses);
    file.writeBigUInt64LE(BigInt(places.findLast((place) => place <= at) ?? 0), at);
  },
  "bytes copied": (file, victim, random) => {
    const [from, to] = [placeIn(file, victim, random), placeIn(file, victim, random)];
    file.copy(file, to, from, Math.min(file.length, from + WORD * (1 + below(random, 8))));
  },
};

export const DAMAGE_NAMES = [...Object.keys(DAMAGES), "an early end"] as const;

const below = (random: Random, end: number): number => Math.floor(end * random());

function oneOf<T>(random: Random, all: readonly T[]): T {
  return all[below(random, all.length)] as T;
}

/** A place in a file: four times of five near the start of a structure. */
function placeIn(file: Buffer, { places }: Victim, random: Random): number {
  if (random() > 0.8) return below(random, file.length);
  return Math.min(file.length - 1, oneOf(random, places) + Math.floor(300 * random() ** 1.5));
}

export function damaged(victim: Victim, name: string, random: Random): Buffer {
  const file = Buffer.from(victim.bytes);
  const damage = DAMAGES[name];
  if (damage === undefined) return file.subarray(0, below(random, file.length));
  damage(file, victim, random);
  return file;
}
