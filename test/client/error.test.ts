/** Failures of the soap package become errors with a code, and with what the service said. */
import { expect, it } from "vitest";
import { clientError } from "../../src/client/error.js";

const status = (code: number, headers: Record<string, string> = {}) => ({ response: { status: code, headers } });

it.each([
  [413, { code: "LimitExceeded", detail: { limit: "http.bodyBytes", status: 413 } }],
  [503, { code: "Busy", message: "The service is busy.", detail: { status: 503, retryAfter: 5 } }],
  [504, { code: "Http", message: "The service answered with status 504." }],
])("status %i without a fault", (code, expected) => {
  expect(clientError(status(code, { "retry-after": "5" }))).toMatchObject(expected);
});

it("an answer that is cut off is a broken connection, whatever its status", () => {
  const cut = { ...status(200), code: "ECONNABORTED", message: "maxContentLength size\n aborted" };
  expect(clientError(cut)).toMatchObject({ code: "Network", message: "maxContentLength size aborted" });
  expect(clientError({ code: "ECONNREFUSED", message: "" })).toMatchObject({
    code: "Network",
    message: "ECONNREFUSED",
  });
});

it("a fault has the code, the member and the limit of its detail, in either version", () => {
  const FaultDetail = { code: { $value: "LimitExceeded" }, member: "points", limit: "query.points", requestId: "r1" };
  const older = { faultstring: "Too many.", detail: { FaultDetail } };
  const newer = { Reason: { Text: { $value: "Too many." } }, Detail: { FaultDetail } };
  for (const Fault of [older, newer])
    expect(clientError({ ...status(500), root: { Envelope: { Body: { Fault } } } })).toMatchObject({
      code: "LimitExceeded",
      message: "Too many.",
      detail: { member: "points", limit: "query.points", requestId: "r1", status: 500 },
    });
});
