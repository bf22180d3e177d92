/** Group D of the conformance rules: header blocks. */
import { describe, expect, it } from "vitest";
import { expectFault } from "../support/faults.js";
import {
  type Answer,
  child,
  children,
  ENVELOPES,
  envelope,
  NAMESPACE,
  nullOp,
  send,
  useService,
  VERSIONS,
  type Version,
} from "../support/soap-service.js";

const service = useService();

/** An error of header blocks alone: SOAP 1.1 gives no detail, but its text starts with the code (R83, L1). */
function expectHeaderFault(answer: Answer, version: Version, code: string): void {
  const report = expectFault(answer, version, "Caller");
  if (version === "1.1") {
    expect(report.detail).toBeUndefined();
    expect(report.text).toMatch(new RegExp(`^${code}: `));
  } else expect(report.detail?.code).toBe(code);
}

describe.each(VERSIONS)("SOAP %s", (version) => {
  const env = ENVELOPES[version];
  const role = version === "1.1" ? "actor" : "role";
  const next = version === "1.1" ? "http://schemas.xmlsoap.org/soap/actor/next" : `${env}/role/next`;
  const block = (attributes: string, content = ""): string =>
    `<t:Trace xmlns:t="urn:trace" ${attributes}>${content}</t:Trace>`;
  const sendWith = (header: string, body = nullOp()): Promise<Answer> =>
    send(service, version, envelope(version, body, header));

  it.each(["", 's:mustUnderstand="0"', ...(version === "1.2" ? ['s:mustUnderstand="false"'] : [])])(
    "R46: a block with %j is ignored",
    async (attributes) => {
      expect((await sendWith(block(attributes, "<t:a>any <b xmlns=''/> content</t:a>"))).status).toBe(200);
    },
  );

  it.each(["1", ...(version === "1.2" ? ["true"] : [])])(
    "R47, R50, R83: mustUnderstand %s gives a Must fault that names the block",
    async (value) => {
      const report = expectFault(await sendWith(block(`s:mustUnderstand="${value}"`)), version, "Must");
      expect(report.detail).toBeUndefined();
      if (version === "1.1") {
        expect(report.text).toMatch(/^MustUnderstand: /);
        return;
      }
      const blocks = children(child(report.envelope, "Header"));
      expect(blocks.map((node) => [node.localName, node.namespaceURI])).toEqual([["NotUnderstood", env]]);
      const [prefix, local] = (blocks[0]?.getAttribute("qname") ?? "").split(":");
      expect([blocks[0]?.getAttribute(`xmlns:${prefix}`), local]).toEqual(["urn:trace", "Trace"]);
    },
  );

  it("R50: one NotUnderstood per block", async () => {
    const other = '<Other xmlns="urn:o" s:mustUnderstand="1"/>';
    const three = [block('s:mustUnderstand="1"'), block(""), other].join("");
    const report = expectFault(await sendWith(three), version, "Must");
    const header = children(report.envelope).find((node) => node.localName === "Header");
    expect(header === undefined ? 0 : children(header).length).toBe(version === "1.1" ? 0 : 2);
  });

  it("R50, R79: names that need care are reported as they are", async () => {
    const xml = expectFault(await sendWith('<xml:Trace s:mustUnderstand="1"/>'), version, "Must");
    const spaced = '<t:Trace xmlns:t="urn:a&#9;b&#10;&#13;c" s:mustUnderstand="1"/>';
    const odd = expectFault(await sendWith(spaced), version, "Must");
    if (version === "1.1") return;
    const [own, other] = [xml, odd].map((report) => children(child(report.envelope, "Header"))[0]);
    expect(own?.getAttribute("qname")).toBe("xml:Trace");
    expect(other?.getAttribute("xmlns:b")).toBe("urn:a\tb\n\rc");
  });

  it.each([next, "", ...(version === "1.2" ? [`${env}/role/ultimateReceiver`] : [])])(
    "R48: a mandatory block for %j gives a Must fault",
    async (uri) => {
      expectFault(await sendWith(block(`s:mustUnderstand="1" s:${role}="${uri}"`)), version, "Must");
    },
  );

  it.each(["http://example.org/other", ...(version === "1.2" ? [`${env}/role/none`] : [])])(
    "R49: a mandatory block for %s is ignored",
    async (uri) => {
      expect((await sendWith(block(`s:mustUnderstand="1" s:${role}="${uri}"`))).status).toBe(200);
    },
  );

  it("R51: mandatory blocks are judged before the operation and its token", async () => {
    const mandatory = block('s:mustUnderstand="1"');
    expectFault(await sendWith(mandatory, `<Unknown xmlns="${NAMESPACE}"/>`), version, "Must");
    expectFault(await sendWith(mandatory, ""), version, "Must");
    expectFault(
      await send(service, version, envelope(version, nullOp(), mandatory), { soapaction: '"urn:other"' }),
      version,
      "Must",
    );
  });

  it.each(["yes", "2", "TRUE", "", ...(version === "1.1" ? ["true", "false"] : [])])(
    "R52, R83: mustUnderstand %j is an invalid envelope",
    async (value) => {
      expectHeaderFault(await sendWith(block(`s:mustUnderstand="${value}"`)), version, "InvalidEnvelope");
      expectHeaderFault(
        await sendWith(block(`s:mustUnderstand="${value}" s:${role}="http://example.org/other"`)),
        version,
        "InvalidEnvelope",
      );
    },
  );

  it("R53: a block without a namespace is an invalid envelope", async () => {
    expectHeaderFault(await sendWith("<Trace/>"), version, "InvalidEnvelope");
  });

  it("R54: attributes of these names in no namespace or a foreign one mean nothing", async () => {
    const foreign = ENVELOPES[version === "1.1" ? "1.2" : "1.1"];
    for (const attributes of [
      'mustUnderstand="1"',
      `xmlns:f="${foreign}" f:mustUnderstand="1"`,
      'xmlns:f="urn:f" f:mustUnderstand="yes"',
    ]) {
      expect((await sendWith(block(attributes))).status).toBe(200);
    }
    expectFault(await sendWith(block(`s:mustUnderstand="1" ${role}="http://example.org/other"`)), version, "Must");
  });

  it("L9: well-formedness and limits hold inside blocks that are ignored", async () => {
    expectFault(await sendWith(block("", "<t:a></t:b>")), version, "Caller", "MalformedXml");
    expectFault(await sendWith(block("", "&undefined;")), version, "Caller", "MalformedXml");
    expectHeaderFault(await sendWith(block("", "<t:a>".repeat(20) + "</t:a>".repeat(20))), version, "LimitExceeded");
    expectHeaderFault(await sendWith(block("", "x".repeat(5000))), version, "LimitExceeded");
  });
});
