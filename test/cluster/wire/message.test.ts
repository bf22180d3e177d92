import { describe, expect, it } from "vitest";
import {
  decodeMessage,
  encodeHeader,
  type Header,
  inputBytes,
  KINDS,
  MAX_MESSAGE_BYTES,
  MessageError,
  NO_DEADLINE,
} from "../../../src/cluster/wire/message.js";
import { ALL_OPERATIONS, SPATIAL_INTERPOLATION, TEMPORAL_INTERPOLATION } from "../../../src/operations.js";
import { fc } from "../../support/property.js";
import { messageOf } from "../memory-bus.js";

const word = fc.nat(0xffff_ffff);
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((data) => Buffer.from(data).toString("hex"));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const number = maybe(fc.double({ noNaN: true }));

/** A query with any members, absent ones left out. */
const ask = fc
  .record({
    operation: fc.constantFrom(...ALL_OPERATIONS.map(({ name }) => name)),
    spatialInterpolation: maybe(fc.constantFrom(...SPATIAL_INTERPOLATION)),
    temporalInterpolation: maybe(fc.constantFrom(...TEMPORAL_INTERPOLATION)),
    time: number,
    StartTime: number,
    EndTime: number,
    dt: number,
    nt: number,
    Tp: number,
    filterlength: number,
    nlayers: number,
    recordEvery: number,
    filterwidth: number,
    spacing: number,
    field: maybe(fc.constantFrom("u", "t", "up", "ba", "tt")),
  })
  .map(
    (query) =>
      Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never as Header["ask"],
  );

const anyHeader: fc.Arbitrary<Header> = fc.record({
  kind: fc.constantFrom(...KINDS),
  count: fc.integer({ min: 1, max: 50 }),
  components: word,
  query: hex(8),
  batch: word,
  attempt: word,
  generation: hex(32),
  deadlineMs: word,
  ask,
  velocities: fc.boolean(),
  from: fc.nat(100),
  to: fc.integer({ min: 100, max: 0xffff_ffff }),
  offset: fc.nat(1000),
  total: fc.integer({ min: 10_000, max: 0xffff_ffff }),
});

const HEADER: Header = {
  kind: "evaluate",
  count: 3,
  components: 3,
  query: "0123456789abcdef",
  batch: 7,
  attempt: 1,
  generation: "ab".repeat(32),
  deadlineMs: NO_DEADLINE,
  ask: { operation: "GetVelocity", time: 0.5, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP" },
  velocities: false,
  from: 0,
  to: 0,
  offset: 0,
  total: 0,
};

describe("messages", () => {
  it("come back as they were sent, from any alignment", () => {
    fc.assert(
      fc.property(anyHeader, fc.nat(7), (header, shift) => {
        const bytes = header.kind === "evaluate" ? inputBytes(header) : 24;
        const message = messageOf(header, new Uint8Array(bytes).fill(0x5a));
        const moved = new Uint8Array(message.length + shift);
        moved.set(message, shift);
        const { header: found, values } = decodeMessage(moved.subarray(shift));
        expect(found).toEqual(header);
        expect(values.length).toBe(bytes);
        expect(values.every((byte) => byte === 0x5a)).toBe(true);
      }),
    );
  });

  it("have the documented layout", () => {
    const message = encodeHeader({ ...HEADER, velocities: true, from: 5, to: 9, total: 11 });
    const view = new DataView(message.buffer);
    expect(Buffer.from(message.subarray(0, 4)).toString("latin1")).toBe("FPQ1");
    expect([view.getUint16(4, true), view.getUint8(6), view.getUint8(7)]).toEqual([2, 0, 1]);
    expect([8, 12, 24, 28, 64, 80, 84, 88, 92].map((at) => view.getUint32(at, true))).toEqual([
      3, 3, 7, 1, 0xffff_ffff, 5, 9, 0, 11,
    ]);
    expect(Buffer.from(message.subarray(16, 24)).toString("hex")).toBe(HEADER.query);
    expect(Buffer.from(message.subarray(32, 64)).toString("hex")).toBe(HEADER.generation);
    expect([68, 69, 70].map((at) => view.getUint8(at))).toEqual([0, 7, 1]);
    expect(view.getUint32(72, true)).toBe(1);
    expect(view.getFloat64(96, true)).toBe(0.5);
  });

  it("are refused when truncated anywhere", () => {
    const message = messageOf(HEADER, inputBytes(HEADER));
    for (let length = 0; length < message.length; length++)
      expect(() => decodeMessage(message.subarray(0, length))).toThrow(MessageError);
    expect(decodeMessage(message).header).toEqual(HEADER);
  });

  it("are refused when they have more than they say, or more than any may", () => {
    const message = messageOf(HEADER, inputBytes(HEADER) + 4);
    expect(() => decodeMessage(message)).toThrow("3 points take 36 bytes, not 40");
    expect(() => decodeMessage(new Uint8Array(MAX_MESSAGE_BYTES + 1))).toThrow(MessageError);
    const answer = messageOf({ ...HEADER, kind: "answer", offset: 8, total: 12 }, 8);
    expect(() => decodeMessage(answer)).toThrow("no part that ends at 16");
  });

  it("are refused when foreign", () => {
    const change = (at: number, value: number): Uint8Array => {
      const message = messageOf(HEADER, inputBytes(HEADER));
      message[at] = value;
      return message;
    };
    expect(() => decodeMessage(change(0, 0x47))).toThrow("not a message of this service");
    expect(() => decodeMessage(change(4, 3))).toThrow("version 3");
    expect(() => decodeMessage(change(6, 99))).toThrow("kind");
    expect(() => decodeMessage(change(68, 99))).toThrow("no operation");
    expect(() => decodeMessage(change(69, 99))).toThrow("no spatial option");
    expect(() => decodeMessage(change(70, 99))).toThrow("no temporal option");
    expect(() => decodeMessage(change(8, 0))).toThrow("without points");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => {
        expect(() => decodeMessage(noise)).toThrow(MessageError);
      }),
    );
  });
});
