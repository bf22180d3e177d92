/** Group C of the conformance rules: the envelope. */
import { describe, expect, it } from "vitest";
import { expectFault } from "../support/faults.js";
import { child, children, ENVELOPES, envelope, nullOp, send, useService, VERSIONS } from "../support/soap-service.js";

const service = useService();

describe.each(VERSIONS)("SOAP %s", (version) => {
  const env = ENVELOPES[version];
  const other = ENVELOPES[version === "1.1" ? "1.2" : "1.1"];
  const good = envelope(version, nullOp());
  const invalid = async (document: string): Promise<void> => {
    expectFault(await send(service, version, document), version, "Caller", "InvalidEnvelope");
  };

  it.each([other, "http://example.org/envelope", env.slice(0, -1), ""])(
    "R36: an envelope in the namespace %j gives a Version fault",
    async (uri) => {
      const document = `<e:Envelope xmlns:e="${uri}"><e:Body>${nullOp()}</e:Body></e:Envelope>`;
      const unbound = `<Envelope><Body>${nullOp()}</Body></Envelope>`;
      const report = expectFault(await send(service, version, uri === "" ? unbound : document), version, "Version");
      expect(report.detail).toBeUndefined();
    },
  );

  it("R37: a Version fault in SOAP 1.2 form lists the envelopes served, in SOAP 1.1 form it does not", async () => {
    const report = expectFault(await send(service, version, good.replace(env, other)), version, "Version");
    if (version === "1.1") {
      expect(children(report.envelope).map((node) => node.localName)).toEqual(["Body"]);
      return;
    }
    const upgrade = child(child(report.envelope, "Header"), "Upgrade");
    const names = children(upgrade).map((node) => {
      expect(node.localName).toBe("SupportedEnvelope");
      const [prefix, local] = (node.getAttribute("qname") as string).split(":");
      return [node.getAttribute(`xmlns:${prefix}`), local];
    });
    expect(names).toEqual([
      [ENVELOPES["1.2"], "Envelope"],
      [ENVELOPES["1.1"], "Envelope"],
    ]);
  });

  it("R38, L8: a root named otherwise", async () => {
    const answer = await send(service, version, good.replaceAll("Envelope", "envelope"));
    if (version === "1.2") expectFault(answer, version, "Version");
    else expectFault(answer, version, "Caller", "InvalidEnvelope");
    const foreign = await send(service, version, "<html/>");
    if (version === "1.2") expectFault(foreign, version, "Version");
    else expectFault(foreign, version, "Caller", "InvalidEnvelope");
  });

  const body = `<s:Body>${nullOp()}</s:Body>`;
  const wrap = (content: string, attributes = ""): string =>
    `<s:Envelope xmlns:s="${env}"${attributes}>${content}</s:Envelope>`;
  it.each([
    ["no Body", wrap("")],
    ["a Header but no Body", wrap("<s:Header/>")],
    ["two Bodies", wrap(body + body)],
    ["Header after Body", wrap(`${body}<s:Header/>`)],
    ["two Headers", wrap(`<s:Header/><s:Header/>${body}`)],
    ["an element after Body", wrap(`${body}<a xmlns="u"/>`)],
    ["an element before Body", wrap(`<a xmlns="u"/>${body}`)],
    ["a Body in no namespace", wrap(`<Body>${nullOp()}</Body>`)],
    ["a Body in the other envelope's namespace", wrap(`<Body xmlns="${other}">${nullOp()}</Body>`)],
  ])("R39: %s is an invalid envelope", async (_what, document) => {
    await invalid(document);
  });

  it.each([
    ["Envelope", wrap(`x${body}`)],
    ["Envelope, after Body", wrap(`${body}x`)],
    ["Header", wrap(`<s:Header>x</s:Header>${body}`)],
    ["Body", wrap(`<s:Body>x${nullOp()}</s:Body>`)],
    ["Body, after the operation", wrap(`<s:Body>${nullOp()}&#120;</s:Body>`)],
    ["Body, as CDATA", wrap(`<s:Body><![CDATA[x]]>${nullOp()}</s:Body>`)],
  ])("R40: text directly inside %s is an invalid envelope", async (where, document) => {
    if (where === "Header" && version === "1.1") {
      const report = expectFault(await send(service, version, document), version, "Caller");
      expect(report.text).toMatch(/^InvalidEnvelope: /);
    } else await invalid(document);
  });

  it.each([
    ["another prefix", good.replace(/(<\/?)s:/g, "$1SOAP-ENV:").replace("xmlns:s=", "xmlns:SOAP-ENV=")],
    ["a default namespace", `<Envelope xmlns="${env}"><Body>${nullOp()}</Body></Envelope>`],
    ["unused declarations", wrap(body, ' xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:u="urn:u"')],
    ["white space and comments between the parts", wrap(`\r\n <!-- a --> <s:Header />\t${body}\n`)],
    [
      "namespaced attributes",
      wrap(`<s:Header u:a="1"/><s:Body u:a="1">${nullOp()}</s:Body>`, ' xmlns:u="urn:u" u:a="1" xml:lang="en"'),
    ],
    [
      "the prefix bound anew on every part",
      `<a:Envelope xmlns:a="${env}"><b:Body xmlns:b="${env}">${nullOp()}</b:Body></a:Envelope>`,
    ],
  ])("R41: %s is accepted", async (_what, document) => {
    expect((await send(service, version, document)).status).toBe(200);
  });

  const style = ` s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"`;
  const styled = {
    Envelope: wrap(body, style),
    Header: wrap(`<s:Header${style}/>${body}`),
    Body: wrap(body.replace("<s:Body", `<s:Body${style}`)),
    operation: wrap(body.replace("<NullOp", `<NullOp${style}`)),
  };
  if (version === "1.1") {
    it.each(["Envelope", "Body", "operation"] as const)("R42: encodingStyle on %s is ignored", async (where) => {
      expect((await send(service, version, styled[where])).status).toBe(200);
    });
  } else {
    it.each(["Envelope", "Header", "Body"] as const)(
      "R43: encodingStyle on %s is an invalid envelope",
      async (where) => {
        await invalid(styled[where]);
      },
    );
    it("R44, L10: encodingStyle on the operation gives a fault of its own, unless it is 'none'", async () => {
      expectFault(await send(service, version, styled.operation), version, "Encoding", "InvalidEnvelope");
      const none = styled.operation.replace("http://schemas.xmlsoap.org/soap/encoding/", `${env}/encoding/none`);
      expect((await send(service, version, none)).status).toBe(200);
    });
  }

  it.each([
    ["Envelope", wrap(body, ' a="1"')],
    ["Header", wrap(`<s:Header a="1"/>${body}`)],
    ["Body", wrap(body.replace("<s:Body", '<s:Body a="1"'))],
  ])("R45: an attribute in no namespace on %s is an invalid envelope", async (_where, document) => {
    await invalid(document);
  });
});
