/** Mutants of bytes from a seed: how they are made, and what none of them may lead to. */
import { expect } from "vitest";
import { FieldprobeError } from "../../src/shared/errors.js";
import { generator } from "./run-query.js";

/** CPU that a mutant of some kilobytes may take. */
const MAX_CPU_MS = 5_000;
/** Values that documents do not expect. */
const ODD = ["-1", "0", "1e999", "4294967296", "9007199254740993", "0.5", "null", "[]", "{}", '"x"', "true", '"NaN"'];

export type Random = () => number;

/** Makes a mutant and looks at it. @returns whether it was read; otherwise it was refused */
export type LookAtMutant = (random: Random) => boolean | Promise<boolean>;

/** By the name of a kind of input: what begins to look at its mutants. */
export type MutantKinds = Readonly<Record<string, () => LookAtMutant | Promise<LookAtMutant>>>;

/** Bytes with one to three changes: flipped, cut, doubled, removed or, in documents, another value for a number. */
export function mutate(random: Random, bytes: Uint8Array, isDocument: boolean): Buffer {
  let out = Buffer.from(bytes);
  const below = (count: number) => Math.floor(random() * count);
  for (let change = 0; change <= below(3); change++) {
    const at = below(out.length);
    const to = at + below(Math.min(64, out.length - at));
    const span = out.subarray(at, to);
    const kind = below(isDocument ? 6 : 5);
    if (kind === 0 && out.length > 0) out.writeUInt8(out.readUInt8(at) ^ (1 << below(8)), at);
    else if (kind === 1) out = out.subarray(0, at);
    else if (kind === 2) out = Buffer.concat([out.subarray(0, to), span, out.subarray(to)]);
    else if (kind === 3) out = Buffer.concat([out.subarray(0, at), out.subarray(to)]);
    else if (kind === 4) span.fill(below(2) * 255);
    else {
      const numbers = [...out.toString("latin1").matchAll(/-?\d+(\.\d+)?/g)];
      const number = numbers[below(numbers.length)];
      if (number === undefined) continue;
      const text = ODD[below(ODD.length)] as string;
      const rest = out.subarray(number.index + number[0].length);
      out = Buffer.concat([out.subarray(0, number.index), Buffer.from(text), rest]);
    }
  }
  return out;
}

/** Fails unless a text is one line of at most 2000 characters, and no stack trace. */
export function expectLine(text: string): void {
  expect(text).toMatch(/^[^\n]{1,2000}$/);
  expect(text).not.toMatch(/(Range|Type|Reference)Error| at \S+:\d+:\d+/);
}

/** Fails unless an error is one line of ours, or another error whose thread goes on. */
export function expectRefusal(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  if (error instanceof FieldprobeError) expectLine(error.message);
  expect(error).not.toBeInstanceOf(WebAssembly.CompileError);
}

/** Makes mutants of one kind and looks at each. @returns how many were read, and how many refused */
export async function tryMutants(
  kinds: MutantKinds,
  kind: string,
  count: number,
  seed: number,
): Promise<{ read: number; refused: number }> {
  const random = generator(seed);
  const tally = { read: 0, refused: 0 };
  const look = await (kinds[kind] as MutantKinds[string])();
  for (let at = 0; at < count; at++) {
    const cpu = process.cpuUsage();
    try {
      (await look(random)) ? tally.read++ : tally.refused++;
    } catch (error) {
      throw new Error(`${kind}, seed ${seed}, mutant ${at}`, { cause: error });
    }
    const { user, system } = process.cpuUsage(cpu);
    expect((user + system) / 1000, `${kind}, seed ${seed}, mutant ${at}`).toBeLessThan(MAX_CPU_MS);
  }
  return tally;
}
