/** The media type and the coding of an answer (RFC 9110, 12.5). */
import { describe, expect, it } from "vitest";
import { acceptsGzip, NotAcceptableError, names, negotiate, preferred } from "../../../src/server/http/negotiate.js";

const JSON_TYPE = "application/json";
const HAL = "application/hal+json";
const CSV = "text/csv";

describe("Accept", () => {
  it.each([
    [undefined, JSON_TYPE],
    ["", JSON_TYPE],
    ["*/*", JSON_TYPE],
    ["application/*", JSON_TYPE],
    [HAL, HAL],
    [`${HAL};q=0`, null],
    [`${HAL};q=0.4, application/json;q=0.3`, HAL],
    [`${HAL};q=0.3, */*;q=0.5`, JSON_TYPE],
    [`text/html, ${HAL.toUpperCase()} ; q=1.0, */*;q=0.1`, HAL],
    [`${HAL}, application/json`, JSON_TYPE],
    [`application/json, ${HAL}`, JSON_TYPE],
    [`${HAL};q=abc`, null],
    ["text/html", null],
    [";;,,", null],
  ])("%s prefers %s of JSON and HAL", (accept, expected) => {
    expect(preferred(accept, [JSON_TYPE, HAL])).toBe(expected);
  });

  it.each([
    [`${CSV}, ${HAL}, ${JSON_TYPE}`, JSON_TYPE],
    [`${CSV};q=0.5, ${HAL};q=0.9, ${JSON_TYPE};q=0.5`, HAL],
    [`text/*;q=0.9, ${JSON_TYPE};q=0.5, */*;q=0.1`, CSV],
    [`${JSON_TYPE};q=0, */*`, HAL],
  ])("%s chooses %s of three: equal weights leave the first offered", (accept, expected) => {
    expect(negotiate(accept, [JSON_TYPE, HAL, CSV])).toBe(expected);
  });

  it("that excludes everything is refused with what there is", () => {
    expect(() => negotiate("text/html", [JSON_TYPE, CSV])).toThrow(NotAcceptableError);
    expect(() => negotiate("text/html", [JSON_TYPE, CSV])).toThrow("application/json, text/csv");
  });

  it("names a type itself or by a wildcard", () => {
    expect(
      [undefined, "*/*", "application/*", `a/b, ${HAL.toUpperCase()}`].map((accept) => names(accept, HAL)),
    ).toEqual([false, false, false, true]);
  });
});

describe("Accept-Encoding", () => {
  it.each([
    [undefined, false],
    ["", false],
    ["identity", false],
    ["br, deflate", false],
    ["gzip", true],
    ["GZIP;q=0.1, br", true],
    ["gzip;q=0, *", false],
    ["br;q=0.2, *;q=0.1", true],
    ["*;q=0", false],
  ])("%s accepts gzip: %s", (header, expected) => {
    expect(acceptsGzip(header)).toBe(expected);
  });
});
