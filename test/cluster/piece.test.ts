/** Messages between peers are read as if anybody could have written it. */
import { describe, expect, it } from "vitest";
import { type Piece, readFailure, readPiece, readReport, writePiece } from "../../src/cluster/piece.js";

const PIECE: Piece = {
  generation: "0123456789abcdef".repeat(4),
  query: {
    ...{
      operation: "GetPosition",
      dataset: "W\u00e4rme \u{1f4a7}",
      StartTime: Math.fround(0.1),
      dt: 0.001,
      nt: 7,
      recordEvery: 2,
    },
    spatialInterpolation: "Lag6",
  },
  ...{ box: null, points: 12, deadlineMs: 1000 },
};

describe("a piece", () => {
  it("comes back as it was, in ASCII", () => {
    expect(writePiece(PIECE)).toMatch(/^[ -~]+$/);
    expect(readPiece(writePiece(PIECE))).toEqual(PIECE);
  });

  it.each([
    ["no JSON", "{"],
    ["nothing", undefined],
    ["another generation", { ...PIECE, generation: "1" }],
    ["points that are no number", { ...PIECE, points: -1 }],
    ["a box without a corner", { ...PIECE, box: { from: [1, 2], count: [1, 1, 1] } }],
    ["a member too many", { ...PIECE, more: 1 }],
    ["no operation", { ...PIECE, query: { ...PIECE.query, operation: "toString" } }],
    ["no dataset", { ...PIECE, query: { operation: "GetPosition" } }],
    ["a member of another operation", { ...PIECE, query: { ...PIECE.query, filterlength: 1 } }],
    ["a number with a fraction", { ...PIECE, query: { ...PIECE.query, nt: 1.5 } }],
    ["an option that there is not", { ...PIECE, query: { ...PIECE.query, spatialInterpolation: "Lag5" } }],
    ["a text for a number", { ...PIECE, query: { ...PIECE.query, dt: "1" } }],
    ["a number for a text", { ...PIECE, query: { ...PIECE.query, dataset: 1 } }],
  ])("with %s is refused", (_, value) => {
    expect(() => readPiece(typeof value === "object" ? JSON.stringify(value) : value)).toThrow(/The piece/);
  });
});

it("an error or a status of another form is none", () => {
  const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  expect(readFailure(bytes({ code: "Busy", message: "m", context: { retryAfter: 1 }, detail: "d" }))).not.toBeNull();
  for (const wrong of [null, {}, { code: "Odd", message: "m", context: {}, detail: "d" }]) {
    expect(readFailure(bytes(wrong))).toBeNull();
    expect(readReport(bytes(wrong))).toBeNull();
  }
  expect(readFailure(new Uint8Array([123]))).toBeNull();
});
