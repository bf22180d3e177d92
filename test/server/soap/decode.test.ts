/** The streaming decoder: any cut of the bytes gives the same answer, and no damaged document is misread. */
import { DOMParser } from "@xmldom/xmldom";
import { describe, expect, it } from "vitest";
import { EncodingFault, HeaderError, MustUnderstandFault, VersionFault } from "../../../src/server/soap/envelope.js";
import { FieldprobeError } from "../../../src/shared/errors.js";
import { decodeDocument } from "../../support/decode-document.js";
import { fc } from "../../support/property.js";
import { envelope, items, NAMESPACE, VERSIONS, type Version } from "../../support/soap-service.js";

const SAMPLE_POINTS =
  items([
    [1.5, -2, "3e-2"],
    [4, 5, 6],
  ]) +
  "\n  <Point3>\r\n <x> 0.12345678901234566 </x><y>-.5</y> <z>1E2</z></Point3>" +
  "<Point3><x>1<!-- a -->0</x><y><![CDATA[2]]></y><z>&#51;</z></Point3>" +
  "<Point3 ><x>7</x><y>8</y><z>9</z></Point3>" +
  items([[10, 11, 12]]);
const SAMPLE_VALUES = [1.5, -2, 0.03, 4, 5, 6, 0.12345678901234566, -0.5, 100, 10, 2, 3, 7, 8, 9, 10, 11, 12].map(
  Math.fround,
);
const sample = (version: Version): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${envelope(
    version,
    `<t:NullOp xmlns:t="${NAMESPACE}" xmlns="${NAMESPACE}"><t:authToken>h\u00e9\u{1f300}</t:authToken><t:points>${SAMPLE_POINTS}</t:points></t:NullOp>`,
    '<h:a xmlns:h="urn:h">caf\u00e9 <h:b c="&lt;"/></h:a>',
  )}<!-- end -->\n`;

describe.each(VERSIONS)("SOAP %s", (version) => {
  const bytes = Buffer.from(sample(version));

  it("reads the sample as a whole", async () => {
    expect(await decodeDocument([bytes], version)).toEqual(SAMPLE_VALUES);
  });

  it("reads the sample cut in two at every byte", async () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect([cut, await decodeDocument([bytes.subarray(0, cut), bytes.subarray(cut)], version)]).toEqual([
        cut,
        SAMPLE_VALUES,
      ]);
    }
  });

  it("reads the sample byte by byte, in UTF-8 and UTF-16", async () => {
    const each = (all: Buffer): Uint8Array[] => Array.from(all, (_byte, i) => all.subarray(i, i + 1));
    const wide = Buffer.from(`\ufeff${sample(version).replace("utf-8", "utf-16")}`, "utf16le");
    expect(await decodeDocument(each(bytes), version)).toEqual(SAMPLE_VALUES);
    expect(await decodeDocument(each(wide), version)).toEqual(SAMPLE_VALUES);
    expect(await decodeDocument(each(Buffer.from(wide).swap16()), version)).toEqual(SAMPLE_VALUES);
  });

  it("reads any points, written in any of the usual ways, in any chunks", async () => {
    const number = fc.float({ noNaN: true, noDefaultInfinity: true });
    const style = fc.record({
      digits: fc.constantFrom(9, 12, 17),
      exponent: fc.boolean(),
      prefix: fc.constantFrom("", "q:", "ns1:"),
      space: fc.constantFrom("", " ", "\n    ", "\r\n\t"),
    });
    const points = fc.array(fc.tuple(number, number, number), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        points,
        style,
        fc.infiniteStream(fc.integer({ min: 1, max: 200 })),
        async (all, { digits, exponent, prefix, space }, cuts) => {
          const write = (value: number): string => {
            const sign = Object.is(value, -0) ? "-" : "";
            return sign + (exponent ? value.toExponential(digits - 1) : value.toPrecision(digits));
          };
          const tag = (name: string, content: string): string =>
            `<${prefix}${name}>${content}</${prefix}${name}>${space}`;
          const list = all.map((point) =>
            tag(
              "Point3",
              space + ["x", "y", "z"].map((name, i) => tag(name, space + write(point[i] as number))).join(""),
            ),
          );
          const bind = prefix === "" ? `xmlns="${NAMESPACE}"` : `xmlns:${prefix.slice(0, -1)}="${NAMESPACE}"`;
          const body = tag("NullOp", space + tag("points", space + list.join(""))).replace(
            "NullOp>",
            `NullOp ${bind}>`,
          );
          const text = Buffer.from(envelope(version, body));
          const chunks: Buffer[] = [];
          for (let at = 0; at < text.length; ) {
            const size = cuts.next().value;
            chunks.push(text.subarray(at, at + size));
            at += size;
          }
          expect(await decodeDocument(chunks, version)).toEqual(all.flat());
        },
      ),
      { numRuns: 150 },
    );
  });
});

const SEEDS = VERSIONS.flatMap((version) =>
  [
    sample(version),
    envelope(
      version,
      `<NullOp xmlns="${NAMESPACE}"><points>${items([
        [1, 2, 3],
        [4.25, -5e-3, 6],
      ])}</points></NullOp>`,
    ),
  ].map((text) => [version, text.replace("\u{1f300}", "\u00fc")] as const),
);
const FRAGMENTS = [
  ..."< > </ /> & &amp; <!-- --> <![CDATA[ ]]> <?a?> \" ' = : xmlns: 1 e - . Point3 <x> </x> points \u00e9".split(" "),
  ...["<!DOCTYPE a>", " ", "\n", "\0", "\ufeff", 'xmlns=""'],
];

/**
 * What a parser of another make reads: the coordinates in order. It throws where it finds fault with the document; as
 * it takes an end tag with white space before its `>`, which is well-formed, for a missing one, it is not shown such
 * space.
 */
function oracle(text: string): number[] | undefined {
  const complain = (): never => {
    throw new Error("not well-formed");
  };
  const root = new DOMParser({
    errorHandler: { warning: complain, error: complain, fatalError: complain },
  }).parseFromString(text.replace(/(<\/[^\s<>]+)\s+>/g, "$1>"), "text/xml");
  const found = ["x", "y", "z"].map((name) => Array.from(root.getElementsByTagNameNS(NAMESPACE, name)));
  return (found[0] as Element[]).flatMap((_x, i) =>
    found.map((list) => Math.fround(Number((list[i]?.textContent ?? "x").trim()))),
  );
}

describe("damaged documents", () => {
  const known = [FieldprobeError, HeaderError, VersionFault, MustUnderstandFault, EncodingFault];
  it("give a fault or the right result, and never anything else", async () => {
    const edit = fc.record({
      at: fc.nat(),
      drop: fc.constantFrom(0, 0, 0, 1, 2, 5, 12),
      insert: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: "grapheme-ascii", maxLength: 3 })),
    });
    let served = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SEEDS),
        fc.array(edit, { minLength: 1, maxLength: 2 }),
        fc.integer({ min: 1, max: 300 }),
        async ([version, seed], edits, size) => {
          const damaged = edits.reduce((text, { at, drop, insert }) => {
            const i = at % text.length;
            return text.slice(0, i) + insert + text.slice(i + drop);
          }, seed);
          const bytes = Buffer.from(damaged);
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );
          const outcome = await decodeDocument(chunks, version).catch((error: unknown) => error);
          if (Array.isArray(outcome)) {
            served++;
            expect(outcome).toEqual(oracle(bytes.toString()));
          } else if (!known.some((type) => outcome instanceof type)) {
            expect(String(outcome)).toMatch(/^Error: no operation /);
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect(served).toBeGreaterThan(20);
  });
});
