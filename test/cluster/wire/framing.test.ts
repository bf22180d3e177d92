/** Whatever the reads, the client's parser sees what the server sent, and never a part of a message. */
import { type MsgArg, Parser, type ParserEvent, State } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import { Frames } from "../../../src/cluster/wire/framing.js";
import { fc } from "../../support/property.js";

/** What a server sends: lines, and messages whose bytes may look like lines. */
const anyOperation = fc.oneof(
  fc.constantFrom("PING\r\n", "PONG\r\n", "+OK\r\n", "-ERR 'Stale Connection'\r\n", 'INFO {"max_payload":1048576}\r\n'),
  fc
    .tuple(fc.constantFrom("a.b", "_FPG.x.1"), fc.constantFrom("", "_FPG.y.22 "), fc.string({ unit: "binary-ascii" }))
    .map(([subject, reply, text]) => `MSG ${subject} 12 ${reply}${text.length}\r\n${text}\r\n`),
  fc.constant("HMSG _FPG.x.1 1 29 31\r\nNATS/1.0 503 No Responder\r\n\r\nab\r\n"),
);

interface Told {
  readonly kind: number;
  readonly subject: string;
  readonly data: string;
}

function parserInto(told: Told[]): Parser {
  const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("latin1");
  return new Parser({
    push: ({ kind, msg, data }: ParserEvent & { msg?: MsgArg; data?: Uint8Array }) =>
      told.push({ kind, subject: text(msg?.subject), data: text(data) }),
  });
}

describe("frames", () => {
  it("are whole, however what was sent is read", () => {
    fc.assert(
      fc.property(
        fc.array(anyOperation),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        (sent, sizes) => {
          const bytes = Buffer.from(sent.join(""), "latin1");
          const expected: Told[] = [];
          parserInto(expected).parse(bytes);
          const found: Told[] = [];
          const parser = parserInto(found);
          const frames = new Frames();
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const end = at + (sizes[i % sizes.length] as number);
            for (const whole of frames.take(bytes.subarray(at, end))) {
              parser.parse(whole);
              expect(parser.state).toBe(State.OP_START);
            }
            at = end;
          }
          expect(found).toEqual(expected);
        },
      ),
    );
  });

  it("are what was read where that is whole, and use their memory again where it is not", () => {
    const frames = new Frames();
    const message = Buffer.from(`MSG a 1 5\r\nhello\r\n`);
    expect([...frames.take(message)]).toEqual([message]);
    expect([...frames.take(message)][0]?.buffer).toBe(message.buffer);
    const memory = [0, 1, 2].map(() => {
      expect([...frames.take(message.subarray(0, 12))]).toEqual([]);
      const [whole] = [...frames.take(message.subarray(12))];
      expect(Buffer.from(whole as Uint8Array).toString()).toBe(message.toString());
      return whole?.buffer;
    });
    expect(new Set(memory.slice(1)).size).toBe(1);
  });
});
