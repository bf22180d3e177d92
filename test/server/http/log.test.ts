/** The log as a terminal shows it. */
import { expect, it } from "vitest";
import { readableLine } from "../../../src/server/http/log.js";

it("shows time, level, message and members in one line", () => {
  const line = JSON.stringify({
    level: 40,
    time: "2026-10-20T12:34:56.789Z",
    dataset: "channel",
    ms: 2.5,
    msg: "a remark",
  });
  expect(readableLine(line)).toBe("12:34:56.789 WARN  a remark dataset=channel ms=2.5");
});

it("shows an error by its message, and lines without a message by their members", () => {
  const failed = {
    level: 50,
    time: "2026-10-20T00:00:00.000Z",
    err: { type: "Error", message: "no", stack: "x" },
    msg: "failed",
  };
  expect(readableLine(JSON.stringify(failed))).toBe("00:00:00.000 ERROR failed: no");
  const access = { level: 30, time: "2026-10-20T00:00:00.000Z", reqId: "a-1", token: null, status: 200 };
  expect(readableLine(JSON.stringify(access))).toBe("00:00:00.000 info  reqId=a-1 status=200");
});
