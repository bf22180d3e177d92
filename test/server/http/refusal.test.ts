/** What the operating system cannot give for a moment is Busy in every interface. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { apiPlugin } from "../../../src/server/ask/plugin.js";
import { logFailure } from "../../../src/server/http/refusal.js";
import { DataError, RequestError } from "../../../src/shared/errors.js";
import { expectFault } from "../../support/faults.js";
import { call, getVelocity, useService, VERSIONS } from "../../support/soap-service.js";

const service = useService({}, {}, { plugins: [apiPlugin] });
const failure = (code: string): Error => Object.assign(new Error(`${code}: open '/secret/file.h5'`), { code });
const QUERY = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"time":0.1,"points":[[1,2,3]]}',
};

afterEach(() => void vi.restoreAllMocks());

describe.each([
  ["EMFILE", "The service has too many files open.", "1"],
  ["ENFILE", "The service has too many files open.", "1"],
  ["ENOSPC", "The service has no room left on its disk.", "60"],
])("%s on the main thread", (code, text, seconds) => {
  it.each(VERSIONS)("is Busy in SOAP %s", async (version) => {
    service.engine.failure = new Error("a step failed", { cause: failure(code) });
    const answer = await call(service, version, getVelocity());
    expect(expectFault(answer, version, "Server", "Busy")).toMatchObject({ text });
    expect(answer.headers.get("retry-after")).toBe(seconds);
  });

  it("is 503 in /api", async () => {
    vi.spyOn(service.engine, "find").mockImplementation(() => {
      throw failure(code);
    });
    const answer = await fetch(new URL("/api/datasets/isotropic32/values", service.url), QUERY);
    expect(await answer.json()).toMatchObject({ status: 503, code: "Busy", detail: text });
    expect(answer.headers.get("retry-after")).toBe(seconds);
  });
});

it("is logged with its stack only where the service fails, and not where data cannot be read or a question is wrong", () => {
  const logged: object[] = [];
  const request = { id: "a", log: { error: (said: object) => void logged.push(said) } };
  const [data, bug] = [new DataError("u cannot be read.", new Error("/u has no chunk 0.")), new Error("bug")];
  logFailure(data, "DataError", request);
  logFailure(new RequestError("InvalidRequest", "no"), "InvalidRequest", request);
  logFailure(bug, "Internal", request);
  expect(logged).toEqual([
    { reqId: "a", reason: "u cannot be read. /u has no chunk 0." },
    { reqId: "a", err: bug },
  ]);
});
