/** Documents that mean harm or are broken. */
import { document, type HostileCase } from "./hostile-case.js";
import { envelope, getVelocity, items, nullOp, type Version } from "./soap-service.js";

const good = (version: Version): string => envelope(version, nullOp());
/** A good document with something in the place of its first coordinate. */
const withX = (version: Version, x: string): string => good(version).replace("1.5", x);
/** A good document with something after the name of its operation. */
const withAttributes = (version: Version, attributes: string): string =>
  good(version).replace("<NullOp", `<NullOp ${attributes}`);
const many = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("");

/** Ten entities, each of ten of the one before: ten thousand million characters in the last. */
const LAUGHS = `<!ENTITY e0 "ha">${many(10, (i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)}`;

/** Bytes in the place of a dataset's name. */
function withBytes(version: Version, bytes: readonly number[]): Buffer {
  const [head, tail] = envelope(version, getVelocity({ dataset: "@" })).split("@") as [string, string];
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
}

export const HOSTILE_DOCUMENTS: readonly HostileCase[] = [
  document("entity expansion", (version) => `<!DOCTYPE a [${LAUGHS}]>${withX(version, "&e10;")}`),
  document(
    "quadratic entity expansion",
    (version) => `<!DOCTYPE a [<!ENTITY a "${"a".repeat(50_000)}">]>${withX(version, "&a;".repeat(1000))}`,
  ),
  document(
    "parameter entities",
    (version) => `<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/">%p;]>${good(version)}`,
  ),
  document("external entity", (version) => `<!DOCTYPE a SYSTEM "file:///etc/passwd">${good(version)}`),
  document("processing instruction", (version) => `<?php exit(); ?>${good(version)}`),
  document("undefined entity", (version) => withX(version, "&xxe;")),
  document("deep nesting in a header", (version) => envelope(version, nullOp(), `<a xmlns="u">${"<a>".repeat(5000)}`)),
  document("deep nesting in points", (version) => envelope(version, nullOp("<Point3>".repeat(50_000)))),
  document("a thousand attributes", (version) =>
    withAttributes(
      version,
      many(1000, (i) => `a${i}="" `),
    ),
  ),
  document("a thousand prefixes", (version) =>
    withAttributes(
      version,
      many(1000, (i) => `xmlns:a${i}="u${i}" `),
    ),
  ),
  document("an attribute of half a megabyte", (version) => withAttributes(version, `xmlns:a="${"x".repeat(500_000)}"`)),
  document("an attribute that never ends", (version) => withAttributes(version, `xmlns:a="${"&amp;".repeat(50_000)}`)),
  document("a name of 64 KiB", (version) => envelope(version, `<${"n".repeat(65_536)}/>`)),
  document("a tag that never ends", (version) => withAttributes(version, " ".repeat(200_000)).split(">", 1).join("")),
  document("a value of 64 KiB", (version) => envelope(version, getVelocity({ dataset: "x".repeat(65_536) }))),
  document("a comment that never ends", (version) =>
    good(version).replace("<NullOp", `<!-- ${"x".repeat(50_000)}<NullOp`),
  ),
  document("a CDATA section that never ends", (version) => withX(version, `<![CDATA[${"]".repeat(3000)}`)),
  document("ten thousand empty CDATA sections in a number", (version) =>
    withX(version, `${"<![CDATA[]]>".repeat(10_000)}x`),
  ),
  document("a number of 4000 digits and more", (version) => withX(version, `${"9".repeat(4000)}x`)),
  document("an exponent of 3000 digits", (version) => withX(version, `1e${"9".repeat(3000)}`)),
  document("control characters", (version) => withX(version, "\u0000\u0001")),
  document("an overlong form of UTF-8", (version) => withBytes(version, [0xc0, 0xaf])),
  document("a surrogate in UTF-8", (version) => withBytes(version, [0xed, 0xa0, 0x80])),
  document("a character cut by the end", (version) =>
    Buffer.concat([Buffer.from(good(version).slice(0, 200)), Buffer.from([0xf0, 0x9f])]),
  ),
  document("an unpaired surrogate in UTF-16", (version) =>
    Buffer.from(`\ufeff${envelope(version, getVelocity({ dataset: "\ud800" }))}`, "utf16le"),
  ),
  document("UTF-16 of an odd length", (version) =>
    Buffer.concat([Buffer.from(`\ufeff${good(version)}`, "utf16le"), Buffer.from([0x20])]),
  ),
  document("names of Object.prototype", (version) =>
    envelope(version, nullOp("<__proto__><constructor/></__proto__>")),
  ),
  document("a mandatory header", (version) => envelope(version, nullOp(), '<a xmlns="u" s:mustUnderstand="1"/>')),
  document("a hundred header blocks", (version) => envelope(version, nullOp(), '<a xmlns="u"/>'.repeat(100))),
  document("the other SOAP version", (version) => good(version === "1.1" ? "1.2" : "1.1")),
  document("two operations", (version) => envelope(version, nullOp() + nullOp())),
  document("NaN", (version) => envelope(version, nullOp(items([["NaN", "INF", "-INF"]])))),
  document("a token of 4000 characters, and no such dataset", (version) =>
    envelope(version, getVelocity({ authToken: "t".repeat(4000), dataset: "none" })),
  ),
  document("an odd item in each of a thousand", (version) =>
    envelope(version, nullOp(`${items([["<!-- -->1", 1, 2]]).repeat(1000)}<x/>`)),
  ),
  document("points by the thousand, the last one broken", (version) =>
    envelope(version, nullOp(`${items([[1, 2, 3]]).repeat(5000)}<Point3><x>1</x>`)),
  ),
  document("an envelope that ends early", (version) => good(version).slice(0, -12)),
  document("nothing", () => ""),
];
