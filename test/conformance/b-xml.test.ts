/** Group B of the conformance rules: bytes and XML. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { expectFault } from "../support/faults.js";
import {
  call,
  envelope,
  expectAlive,
  items,
  NAMESPACE,
  nullOp,
  readRecords,
  send,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const service = useService();

const MARK = "\ufeff";
const utf16le = (text: string): Buffer => Buffer.from(text, "utf16le");
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

describe.each(VERSIONS)("SOAP %s", (version) => {
  const bare = version === "1.1" ? "text/xml" : "application/soap+xml";
  const good = envelope(version, nullOp());
  const sendAs = (bytes: Buffer | string, charset = "") =>
    send(service, version, bytes, { "content-type": charset === "" ? bare : `${bare}; charset=${charset}` });
  const malformed = async (document: string | Buffer, charset = "utf-8"): Promise<void> => {
    expectFault(await sendAs(document, charset), version, "Caller", "MalformedXml");
  };
  /** A NullOp whose first coordinate has this source text. */
  const withX = (x: string): string => envelope(version, nullOp(items([[x, 2, 3]])));

  it("R22: UTF-8 and UTF-16 with byte order marks give identical results", async () => {
    const expected = (await sendAs(good)).text;
    expect(expected).toContain("<x>1.5</x>");
    const forms: [Buffer, string][] = [
      [Buffer.from(good), "utf-8"],
      [Buffer.from(MARK + good), ""],
      [Buffer.from(MARK + good), "utf-8"],
      [utf16le(MARK + good), "utf-16"],
      [utf16le(MARK + good), ""],
      [utf16be(MARK + good), "utf-16"],
      [utf16be(MARK + good), ""],
    ];
    for (const [bytes, charset] of forms) expect((await sendAs(bytes, charset)).text).toBe(expected);
  });

  it("R23: utf-16le and utf-16be without a mark", async () => {
    expect((await sendAs(utf16le(good), "utf-16le")).status).toBe(200);
    expect((await sendAs(utf16be(good), "utf-16be")).status).toBe(200);
    await malformed(utf16be(good), "utf-16le");
  });

  it.each(["iso-8859-15", "utf-7", "utf-32", "us-ascii", "windows-1252"])(
    "R24: charset %s gives 415",
    async (charset) => {
      expect((await sendAs(good, charset)).status).toBe(415);
    },
  );

  it("R24, L13: a declared encoding must be the one the bytes are in, unless a charset says it", async () => {
    for (const name of ["iso-8859-1", "utf-16", "us-ascii"])
      await malformed(`<?xml version="1.0" encoding="${name}"?>${good}`, "");
    await malformed(`${MARK}<?xml version="1.0" encoding="utf-16"?>${good}`, "");
    await malformed(utf16le(`${MARK}<?xml version="1.0" encoding="utf-8"?>${good}`), "utf-16");
    expect((await sendAs(`<?xml version="1.0" encoding="utf-16"?>${good}`, "utf-8")).status).toBe(200);
    expect((await sendAs(utf16le(`${MARK}<?xml version="1.0" encoding="UTF-16"?>${good}`))).status).toBe(200);
    await malformed(good, "utf-16");
  });

  it.each(["", "utf 8", "8-utf", "\u00fctf-8", "utf-8;"])(
    "R24: the encoding name %j is none, with a charset or without",
    async (name) => {
      const document = `<?xml version="1.0" encoding="${name}"?>${good}`;
      await malformed(document, "");
      await malformed(document, "utf-8");
    },
  );

  it("R24: ISO-8859-1, as NuSOAP sends it, is read if the charset names it", async () => {
    const text = `<?xml version="1.0" encoding="ISO-8859-1"?>${envelope(version, getDataset("\u00e9tal\u00e9"))}`;
    expect((await sendAs(Buffer.from(text, "latin1"), "ISO-8859-1")).text).toContain("\u00e9tal\u00e9");
    expect((await sendAs(good, "iso-8859-1")).status).toBe(200);
  });

  it("R25: a byte order mark decides over the charset", async () => {
    expect((await sendAs(utf16be(MARK + good), "utf-8")).status).toBe(200);
    expect((await sendAs(Buffer.from(MARK + good), "utf-16")).status).toBe(200);
  });

  it.each([
    ["an overlong form", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a truncated character", [0xe2, 0x82]],
    ["a stray continuation", [0x80]],
    ["a byte that UTF-8 never holds", [0xff]],
    ["a code point past the last", [0xf4, 0x90, 0x80, 0x80]],
  ])("R26: %s is malformed", async (_what, bytes) => {
    const [head, tail] = envelope(version, getDataset("@")).split("@") as [string, string];
    await malformed(Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]));
    await malformed(Buffer.concat([Buffer.from(good), Buffer.from(bytes)]));
  });

  it("R26: an unpaired UTF-16 surrogate is malformed", async () => {
    for (const unit of ["\ud800", "\udc00", "\ud800\ud800"]) {
      await malformed(utf16le(MARK + envelope(version, getDataset(unit))), "utf-16");
      await malformed(utf16be(MARK + envelope(version, getDataset(unit))), "utf-16");
    }
    await malformed(Buffer.concat([utf16le(MARK + good), Buffer.from([0x20])]), "utf-16");
  });

  it.each([
    '<?xml version="1.0"?>',
    "<?xml version='1.0' standalone='yes'?>",
    '<?xml version="1.0" encoding="UTF-8" standalone="no" ?>\r\n',
    "",
  ])("R27: the declaration %s is accepted", async (declaration) => {
    expect((await sendAs(declaration + good)).status).toBe(200);
  });

  it.each([
    ['<?xml version="1.1"?>'],
    [' <?xml version="1.0"?>'],
    ['\n<?xml version="1.0"?>'],
    ["<?xml?>"],
    ['<?xml encoding="utf-8"?>'],
    ['<?xml version="1.0" standalone="maybe"?>'],
    ['<?xml standalone="yes" version="1.0"?>'],
    ['<?xml version="1.0" version="1.0"?>'],
    ['<?xml version="1.0">'],
  ])("R28: the declaration %s is malformed", async (declaration) => {
    await malformed(declaration + good);
  });

  it.each([
    ["empty", (text: string) => `<!DOCTYPE a>${text}`],
    ["with an entity", (text: string) => `<!DOCTYPE a [<!ENTITY b "c">]>${text.replace("1.5", "&b;")}`],
    ["external", (text: string) => `<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd">${text}`],
    ["after the declaration and a comment", (text: string) => `<?xml version="1.0"?><!-- a --><!DOCTYPE a>${text}`],
    ["after the root", (text: string) => `${text}<!DOCTYPE a>`],
    ["inside a member", (text: string) => text.replace("1.5", "<!DOCTYPE a>1.5")],
    ["alone, with nothing behind it", () => "<!DOCTYPE"],
  ])("R29: a document type declaration %s is malformed", async (_where, change) => {
    await malformed(change(good));
  });

  it("R29, R67, R68: nothing that a document names is fetched", async () => {
    let visits = 0;
    const trap = createServer((socket) => {
      visits++;
      socket.destroy();
    });
    await once(trap.listen(0, "127.0.0.1"), "listening");
    const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/x`;
    const xsi = "http://www.w3.org/2001/XMLSchema-instance";
    const addressing = `<ReplyTo xmlns="http://www.w3.org/2005/08/addressing"><Address>${address}</Address></ReplyTo>`;
    for (const document of [
      `<!DOCTYPE a SYSTEM "${address}">${good}`,
      `<!DOCTYPE a PUBLIC "p" "${address}">${good}`,
      `<!DOCTYPE a [<!ENTITY b SYSTEM "${address}">]>${withX("&b;")}`,
      `<!DOCTYPE a [<!ENTITY % b SYSTEM "${address}">%b;]>${good}`,
      `<?xml-stylesheet href="${address}"?>${good}`,
      good.replace("<points", `<points href="${address}"`),
      good.replace("<points", `<points xmlns:xsi="${xsi}" xsi:schemaLocation="${NAMESPACE} ${address}"`),
      good.replace("<Point3>", `<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="${address}"/><Point3>`),
      envelope(version, nullOp(), addressing),
    ]) {
      await send(service, version, document);
    }
    await expectAlive(service);
    expect(visits).toBe(0);
    trap.close();
  });

  it("R29: reading stops at <!DOCTYPE", async () => {
    const document = `<!DOCTYPE a [${'<!ENTITY b "&b;&b;">'.repeat(100_000)}]>${good}`;
    await malformed(document);
  });

  it.each([
    ["before the root", (text: string) => `<?a b?>${text}`],
    ["in the body", (text: string) => text.replace("<NullOp", "<?a?><NullOp")],
    ["in a value", (text: string) => text.replace("1.5", "1<?a?>.5")],
    ["after the root", (text: string) => `${text}<?xml-stylesheet href="a"?>`],
    ["a second declaration", (text: string) => `<?xml version="1.0"?><?xml version="1.0"?>${text}`],
  ])("R30: a processing instruction %s is malformed", async (_where, change) => {
    await malformed(change(good));
  });

  it.each(["&nbsp;", "&b;", "&;", "& ", "&#;", "&#x;", "&#xG;", "&#1a;", "&LT;", "&lt", "&#-1;", "&amp"])(
    "R31: %s is malformed",
    async (reference) => {
      await malformed(withX(`1${reference}`));
      await malformed(good.replace("<points", `<points a="${reference}"`));
    },
  );

  it("R31: the five entities and character references mean their characters", async () => {
    const answer = await call(service, version, nullOp(items([["&#49;", "&#x2D;2", "&#x00000033;&#46;5"]])));
    expect(readRecords(answer, "NullOp")[0]?.values).toEqual([1, -2, 3.5]);
    const fault = await call(service, version, getDataset("&lt;&gt;&amp;&apos;&quot;"));
    expect(expectFault(fault, version, "Caller", "UnknownDataset", { member: "dataset" }).text).toContain("<>&'\"");
  });

  it.each("&#0; &#x1F; &#xD800; &#xFFFE; &#xFFFF; &#x110000; \u0001 \u001f \u0000 \ufffe \uffff".split(" "))(
    "R32: the character %j is malformed",
    async (character) => {
      await malformed(withX(`1${character}`));
      await malformed(good.replace("<points", `<points xmlns:a="${character}"`));
      if (!character.startsWith("&")) await malformed(good.replace("<points", `<!-- ${character} --><points`));
    },
  );

  it.each([
    ["an unclosed element", (text: string) => text.replace("</points>", "")],
    ["crossed elements", (text: string) => text.replace("</NullOp></s:Body>", "</s:Body></NullOp>")],
    ["a wrong end tag", (text: string) => text.replace("</points>", "</Points>")],
    ["two roots", (text: string) => text + text],
    ["text after the root", (text: string) => `${text}x`],
    ["text before the root", (text: string) => `x${text}`],
    ["CDATA after the root", (text: string) => `${text}<![CDATA[ ]]>`],
    ["a reference after the root", (text: string) => `${text}&#32;`],
    ["a repeated attribute", (text: string) => text.replace("<points", '<points a="1" a="1"')],
    [
      "an attribute repeated by namespace",
      (text: string) => text.replace("<points", '<points xmlns:p="u" xmlns:q="u" p:a="1" q:a="1"'),
    ],
    ["an unquoted attribute", (text: string) => text.replace("<points", "<points a=1")],
    ["an attribute without value", (text: string) => text.replace("<points", "<points a")],
    ["attributes without space", (text: string) => text.replace("<points", '<points a="1"b="2"')],
    ["< in an attribute", (text: string) => text.replace("<points", '<points a="<"')],
    ["]]> in text", (text: string) => text.replace("1.5", "1]]>.5")],
    ["-- in a comment", (text: string) => text.replace("1.5", "<!-- a -- b -->1.5")],
    ["a comment that ends in --->", (text: string) => text.replace("1.5", "<!-- a --->1.5")],
    ["an open comment", (text: string) => text.replace("1.5", "<!-- a ")],
    ["an open CDATA section", (text: string) => text.replace("1.5", "<![CDATA[ a ")],
    ["a space before a name", (text: string) => text.replace("<points", "< points")],
    ["an empty tag", (text: string) => text.replace("<points>", "<points><>")],
    ["a name that starts with a digit", (text: string) => text.replace("<points>", "<points><1a/>")],
    ["nothing but white space", () => "  \n"],
  ])("R33: %s is malformed", async (_what, change) => {
    await malformed(change(good));
  });

  it.each([
    ["an undeclared prefix", (text: string) => text.replace("<points>", "<points><p:a/>")],
    ["an undeclared prefix of an attribute", (text: string) => text.replace("<points", '<points p:a="1"')],
    ["a prefix bound to an empty name", (text: string) => text.replace("<points", '<points xmlns:p=""')],
    ["xml bound to another name", (text: string) => text.replace("<points", '<points xmlns:xml="u"')],
    [
      "another prefix bound to the name of xml",
      (text: string) => text.replace("<points", '<points xmlns:p="http://www.w3.org/XML/1998/namespace"'),
    ],
    ["xmlns bound", (text: string) => text.replace("<points", '<points xmlns:xmlns="u"')],
    [
      "the name of xmlns bound",
      (text: string) => text.replace("<points", '<points xmlns:p="http://www.w3.org/2000/xmlns/"'),
    ],
    [
      "the name of xmlns as default",
      (text: string) => text.replace("<points", '<points xmlns="http://www.w3.org/2000/xmlns/"'),
    ],
    ["a name with two colons", (text: string) => text.replace("<points>", "<points><s:a:b/>")],
    ["an attribute with two colons", (text: string) => text.replace("<points", '<points s:a:b="1"')],
    ["a name that starts with a colon", (text: string) => text.replace("<points>", "<points><:a/>")],
    ["a name that ends with a colon", (text: string) => text.replace("<points>", "<points><s:/>")],
    ["an element of prefix xmlns", (text: string) => text.replace("<points>", "<points><xmlns:a/>")],
  ])("R34: %s is malformed", async (_what, change) => {
    await malformed(change(good));
  });

  it("R35: comments and CDATA sections inside a value do not cut it", async () => {
    const forms = [
      "1<!-- a -->2",
      "<![CDATA[12]]>",
      "1<![CDATA[2]]>",
      "<![CDATA[1]]><!----><![CDATA[2]]>",
      "<!-- a -->12<!-- <b> & -->",
      "1<![CDATA[]]>2",
      "&#49;<!-- -->2",
    ];
    const answer = await call(service, version, nullOp(items(forms.map((x) => [x, 2, 3]))));
    expect(readRecords(answer, "NullOp").map(({ values }) => values[0])).toEqual(forms.map(() => 12));
    const joined = await call(service, version, getDataset("iso<!-- a -->tro<![CDATA[pic]]>3<!---->2"));
    expect(joined.status).toBe(200);
  });
});

function getDataset(dataset: string): string {
  return `<GetVelocity xmlns="http://turbulence.pha.jhu.edu/"><dataset>${dataset}</dataset><time>0</time><spatialInterpolation>None</spatialInterpolation><temporalInterpolation>None</temporalInterpolation></GetVelocity>`;
}
