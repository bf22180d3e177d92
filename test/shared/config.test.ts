/** Settings: every problem is one clause that names the variable, what it takes and what it was. */
import { expect, it } from "vitest";
import { ConfigError, loadConfig } from "../../src/shared/config.js";

function problems(env: Record<string, string>, overrides: Record<string, string> = {}): readonly string[] {
  try {
    loadConfig(overrides, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const PROXIES = "must name addresses or networks, such as loopback or 10.0.0.0/8, separated by commas";
it.each([
  ...["abc", " ", "0x50", "65536"].map((n) => ["PORT", n, `must be a whole number from 0 to 65535, not ${n}`]),
  ["TOKEN_CONCURRENT", "1e3", "must be a whole number of at least 0, not 1e3"],
  ["WORKERS", "1.5", "must be a whole number from 1 to 64, not 1.5"],
  ["QUERY_POINTS", "0", "must be a whole number of at least 1, not 0"],
  ["QUERY_DEADLINE_MS", "2147483648", "must be a whole number from 1 to 2147483647, not 2147483648"],
  ["ANONYMOUS", "yes", "must be true, false, 1 or 0, not yes"],
  ["HTTP_GZIP", "always", "must be auto, on or off, not always"],
  ["BASE_URL", "fields.example.org", "must be an address that begins with http:// or https://, not fields.example.org"],
  ...["10.0.0.0/33", "loopback, cafe", ","].map((text) => ["TRUST_PROXY", text, `${PROXIES}, not ${text}`]),
  ["EVENTS_NOW", "today", "must be an instant like 2026-10-20T12:00:00Z, not today"],
  [
    "DATA",
    "https://me:secret@example.org/a",
    "must not hold a user name or a password in an address, not https://...@example.org/a",
  ],
  [
    "RESULTS",
    "az://runs/results",
    "must be a folder of this machine, or a place in a bucket such as s3://bucket/results, not az://runs/results",
  ],
  ["NAMESPACE", "http://example.org", "must be an absolute URI that ends in a slash, not http://example.org"],
])("FIELDPROBE_%s=%s is refused in words", (name, value, text) => {
  expect(problems({ [`FIELDPROBE_${name}`]: value })).toEqual([`FIELDPROBE_${name} ${text}`]);
});

it("lists all problems at once, unknown settings among them", () => {
  expect(problems({ FIELDPROBE_PROT: "1", FIELDPROBE_HTTP_GZIP: "king" }, { DATA: "", PORT: "" }).toSorted()).toEqual([
    "FIELDPROBE_DATA must name a folder",
    "FIELDPROBE_HTTP_GZIP must be auto, on or off, not king",
    "FIELDPROBE_PORT must be a whole number from 0 to 65535",
    "there is no setting FIELDPROBE_PROT",
  ]);
});

it("takes an empty variable for one that is not set", () => {
  expect(loadConfig({}, { FIELDPROBE_PORT: "" }).port).toBe(8080);
});
