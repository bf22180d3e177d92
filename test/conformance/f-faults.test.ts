/** Group F of the conformance rules: faults. `readFault` of the support file holds what is true of every fault. */
import { describe, expect, it } from "vitest";
import {
  BusyError,
  CALLER_CODES,
  DataError,
  DeadlineError,
  FieldprobeError,
  SERVER_CODES,
  WorkerError,
} from "../../src/shared/errors.js";
import { expectFault, readFault } from "../support/faults.js";
import {
  call,
  children,
  ENVELOPES,
  envelope,
  getVelocity,
  items,
  NAMESPACE,
  nullOp,
  send,
  TYPES,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const service = useService();

describe.each(VERSIONS)("SOAP %s", (version) => {
  it.each([...CALLER_CODES, ...SERVER_CODES])("R79, R84 to R86, R88: the code %s", async (code) => {
    service.engine.failure = new FieldprobeError(code, `about ${code}`, { member: "time", limit: "query.points" });
    const answer = await call(service, version, getVelocity());
    service.engine.failure = null;
    const kind = (SERVER_CODES as readonly string[]).includes(code) ? "Server" : "Caller";
    const report = expectFault(answer, version, kind, code, { member: "time", limit: "query.points" });
    expect(report.text).toBe(`about ${code}`);
    expect(answer.headers.get("x-request-id")).toBe(report.detail?.requestId);
  });

  it.each([
    ["Busy", new BusyError("busy", 7), "Server"],
    ["Deadline", new DeadlineError(), "Server"],
    ["DataError", new DataError("A file is damaged.", new Error("/secret/path: EIO")), "Server"],
    ["Internal", new WorkerError("A worker failed.", new Error("/secret/stack")), "Server"],
    ["Internal", new TypeError("Cannot read properties of undefined (reading '/secret/x')"), "Server"],
  ] as const)("R87: %s tells neither cause nor stack", async (code, failure, kind) => {
    service.engine.failure = failure;
    const answer = await call(service, version, getVelocity());
    service.engine.failure = null;
    expectFault(answer, version, kind, code);
    expect(answer.text).not.toMatch(/secret|undefined|node:|\.ts|\.js/);
    expect(answer.headers.get("retry-after")).toBe(code === "Busy" ? "7" : null);
  });

  it("R87: caller text is escaped and cut to 64 characters", async () => {
    const evil = `<&"'>${"\u{1f300}".repeat(100)}`;
    const escaped = evil.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const longName = "n".repeat(200);
    const faults = [
      await call(service, version, getVelocity({ time: escaped })),
      await call(service, version, nullOp(items([[escaped, 1, 2]]))),
      await call(service, version, `<${longName} xmlns="${NAMESPACE}"/>`),
      await call(service, version, nullOp().replace("<points>", `<${longName}/><points>`)),
      await send(
        service,
        version,
        envelope(version, nullOp()),
        version === "1.1"
          ? { soapaction: `"${longName}"` }
          : { "content-type": `${TYPES[version]}; action="${longName}"` },
      ),
    ];
    for (const answer of faults) {
      const { text, detail } = readFault(answer);
      expect(text).not.toContain("n".repeat(65));
      expect(text).not.toContain("\u{1f300}".repeat(65));
      expect((detail?.member ?? "").length).toBeLessThanOrEqual(64);
    }
    expect(readFault(faults[0] as (typeof faults)[0]).text).toContain("<&\"'>");
    for (const [name, shown] of [
      ["m".repeat(64), "m".repeat(64)],
      ["m".repeat(65), `${"m".repeat(63)}\u2026`],
    ]) {
      const { text } = readFault(await call(service, version, `<${name} xmlns="${NAMESPACE}"/>`));
      expect(text).toMatch(new RegExp(`\\b${shown}(?!m)`));
    }
  });

  it("R82, R83: SOAP 1.1 has detail for the body's errors and none for header blocks alone", async () => {
    const inBody = readFault(await call(service, version, nullOp("<a/>")));
    expect(inBody.detail?.code).toBe("InvalidRequest");
    const inHeader = readFault(await send(service, version, envelope(version, nullOp(), "<a/>")));
    expect(inHeader.detail?.code).toBe(version === "1.1" ? undefined : "InvalidEnvelope");
  });

  it("R80, R84: children of Fault in their order", async () => {
    const { fault } = readFault(await call(service, version, "<a/>"));
    const expected = version === "1.1" ? ["faultcode", "faultstring", "detail"] : ["Code", "Reason", "Detail"];
    expect(children(fault).map((node) => node.localName)).toEqual(expected);
  });

  const env = ENVELOPES[version];
  const mandatory = '<t:T xmlns:t="urn:t" s:mustUnderstand="1"/>';
  const wrong = getVelocity({ dataset: "none", time: "INF", points: items([["NaN", 0, 0]]) });
  it.each([
    ["envelope before headers", envelope(version, nullOp(), mandatory).replace(env, "urn:other"), "VersionMismatch"],
    ["headers before operation", envelope(version, "<a/>", mandatory), "MustUnderstand"],
    [
      "operation before content",
      envelope(version, `<Other xmlns="${NAMESPACE}"><points>x</points></Other>`),
      "UnknownOperation",
    ],
    ["content before dataset", envelope(version, wrong.replace("Lag8", "lag8")), "InvalidRequest"],
    ["malformed content before dataset", envelope(version, wrong.replace("</points>", "</point>")), "MalformedXml"],
    [
      "a trailing member before dataset",
      envelope(version, wrong.replace("</points>", "</points><more/>")),
      "InvalidRequest",
    ],
    ["text after the envelope before dataset", `${envelope(version, wrong)}x`, "MalformedXml"],
    ["dataset before time", envelope(version, wrong), "UnknownDataset"],
    ["time before coordinates", envelope(version, wrong.replace("none", "isotropic32")), "OutOfRange"],
    [
      "earlier content before later",
      envelope(version, getVelocity({ time: "x", points: items([["y", 0, 0]]) })),
      "InvalidRequest",
    ],
  ])("R89, L7: %s", async (_what, document, code) => {
    const report = readFault(await send(service, version, document));
    expect(report.detail?.code ?? report.code).toBe(code);
    if (code === "OutOfRange") expect(report.detail?.member).toBe("time");
  });
});
