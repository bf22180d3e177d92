/** Media types of requests: version, encoding and action, in any spelling that the grammar admits. */
import { describe, expect, it } from "vitest";
import { MediaTypes, readSoapAction } from "../../../src/server/soap/media-type.js";

const types = new MediaTypes();

describe("Content-Type", () => {
  it.each([
    ["text/xml", "1.1", null, null],
    ['Text/XML; Charset="UTF-8"', "1.1", "utf-8", null],
    ["application/soap+xml;charset=utf16;", null, null, null],
    ['application/soap+xml; charset=utf-16le; action="urn:a\\"b"', "1.2", "utf-16le", 'urn:a"b'],
    ["application/soap+xml ; ; action=", null, null, null],
    ['application/soap+xml; action=""', "1.2", null, null],
  ])("%s", (header, version, charset, action) => {
    if (version === null) expect(() => types.read(header)).toThrow();
    else for (let i = 0; i < 2; i++) expect(types.read(header)).toEqual({ version, charset, action });
  });

  it.each([
    [undefined, "required"],
    ["text/html", "must be text/xml"],
    ["text/xml; charset=utf-8; CHARSET=utf-8", "must be text/xml"],
    ["text/xml; charset=latin1", "charset must be"],
    ["text/xml charset=utf-8", "must be text/xml"],
  ])("%s is refused", (header, message) => {
    expect(() => types.read(header)).toThrow(message);
  });
});

it.each([
  [undefined, null],
  ['""', null],
  ['"', '"'],
  [' "urn:a" ', "urn:a"],
  ["urn:a", "urn:a"],
])("SOAPAction %s", (header, action) => expect(readSoapAction(header)).toBe(action));
