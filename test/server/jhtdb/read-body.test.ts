/**
 * Large bodies whose points threads read: the same points and the same first error as without threads, wherever parts
 * are cut.
 */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Body } from "../../../src/server/http/body.js";
import { TimeSlices } from "../../../src/server/http/policies/time-slices.js";
import { TripleStore, TripleWriter } from "../../../src/server/http/triple-writer.js";
import { PointsReader } from "../../../src/server/jhtdb/points-reader.js";
import { readBody } from "../../../src/server/jhtdb/read-body.js";
import { FieldprobeError } from "../../../src/shared/errors.js";
import { type TextsHere, textsHere } from "../../support/texts-here.js";

const COUNT = 24_000;
const MAX_BYTES = 8 * 1024 * 1024;

type Point = readonly [string, string, string];
const point = (i: number): Point => [`${i / 1000}`, `-${(i * 7919) % 1_000_003}e-5`, `0.${1_000_000 + i}`];
const POINTS = Array.from({ length: COUNT }, (_, i) => point(i));

function withPoints(replaced: Readonly<Record<number, string>>, write: (numbers: Point) => string): string[] {
  return POINTS.map((numbers, i) => replaced[i] ?? write(numbers));
}

const line = (numbers: Point): string => numbers.join("\t");

const LINES = `${withPoints({}, line).join("\n")}\n`;

const BODIES: readonly (readonly [string, string])[] = [
  ["lines", LINES],
  ["lines with CR", withPoints({}, line).join("\r\n")],
  ["lines of both kinds", withPoints({ 9000: "1\t2\t3\r", 20000: " 1 2\t3 " }, line).join("\n")],
  ["an empty line", withPoints({ 9000: "" }, line).join("\n")],
  ["empty lines at the end", `${withPoints({}, line).join("\n")}\n\n\n`],
  ["a word in a line", withPoints({ 16000: "1\t2\tinf", 19000: "1\t2" }, line).join("\n")],
  ["a number that is not finite", withPoints({ 16000: "1\tINF\t3" }, line).join("\n")],
  ["a line of two numbers", withPoints({ 19000: "1\t2" }, line).join("\n")],
  ["a line that is too long", withPoints({ 19000: `1\t2\t${" ".repeat(300)}3` }, line).join("\n")],
];

/** The outcome of a body: its points, or the first error with its member. */
async function outcome(
  text: string,
  chunk: number,
  threads: TextsHere | null,
  most = 2 * COUNT,
  mostBytes = MAX_BYTES,
): Promise<string> {
  const bytes = Buffer.from(text);
  const request = Object.assign(new PassThrough({ highWaterMark: 4 * chunk }), {
    headers: { "content-length": String(bytes.length) },
    complete: false,
  });
  const store = new TripleStore();
  const reader = new PointsReader(new TripleWriter(store, { points: most, name: "query.points" }));
  const slices = new TimeSlices(() => null);
  const life = { openBody: () => new Body(request as unknown as IncomingMessage, mostBytes, slices) };
  const reading = readBody(reader, { admit: () => null, threads }, life);
  for (let at = 0; at < bytes.length; at += chunk) request.write(bytes.subarray(at, at + chunk));
  request.end();
  try {
    await reading;
  } catch (error) {
    if (!(error instanceof FieldprobeError)) throw error;
    return `${error.code} ${error.context.member ?? ""} ${error.message}`;
  }
  const numbers: number[] = [];
  const sink = {
    slab: new Float32Array(3000),
    commit(count: number) {
      numbers.push(...this.slab.subarray(0, 3 * count));
    },
  };
  store.replay(sink);
  return numbers.join(" ");
}

describe("bodies that threads read", () => {
  it.each(BODIES)("are read as without threads: %s", async (_name, text) => {
    const expected = await outcome(text, 65_536, null);
    for (const chunk of [65_536, 10_007]) {
      const threads = textsHere();
      expect((await outcome(text, chunk, threads)) === expected).toBe(true);
      if (text.length > 600_000) expect(threads.state.done).toBeGreaterThan(0);
      await expect.poll(() => threads.state.lent).toBe(0);
    }
  });

  it("have their limits, at the very point and byte", async () => {
    for (const most of [COUNT, COUNT - 1, 9_999]) {
      const refused = await outcome(LINES, 65_536, textsHere(), most);
      expect(refused === (await outcome(LINES, 65_536, null, most))).toBe(true);
    }
    const wrong = `${withPoints({ 17000: "1\t+-2\t3" }, line).join("\n")}\n`;
    const early = await outcome(wrong, 65_536, textsHere(), COUNT, wrong.length - 100_000);
    expect(early).toBe(await outcome(wrong, 65_536, null, COUNT));
  });

  it("survive lost threads and want of memory", async () => {
    const expected = await outcome(LINES, 65_536, null);
    for (const threads of [textsHere((task) => task % 2 === 1), textsHere(() => true), textsHere(undefined, 0)]) {
      expect((await outcome(LINES, 65_536, threads)) === expected).toBe(true);
      await expect.poll(() => threads.state.lent).toBe(0);
    }
  });
});
