/** Errors of workers as they come out of another thread: class, public members, and the cause in the log. */
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { failureOf, reviveError } from "../../../src/engine/contract/errors-as-data.js";
import {
  AuthError,
  BusyError,
  CancelledError,
  DataError,
  DeadlineError,
  type FieldprobeError,
  LimitError,
  NotFoundError,
  RequestError,
  WorkerError,
} from "../../../src/shared/errors.js";

const crossed = (error: FieldprobeError): FieldprobeError => reviveError(structuredClone(failureOf(error)));

const logged = (err: Error): string => {
  const lines: string[] = [];
  pino({ base: null }, { write: (line: string) => void lines.push(line) }).error({ err });
  return lines.join("");
};

describe("an error that crossed a thread", () => {
  it.each([
    new RequestError("OutOfRange", "time: 9 is after the last frame.", { member: "time" }),
    new LimitError("query.points", "Request size too large (3 > 2)"),
    new AuthError("too fast", "RateLimited", 7),
    new NotFoundError("Invalid set name: x"),
    new BusyError("full", 3),
    new DeadlineError(),
    new CancelledError(),
    new DataError("x: a file has changed.", undefined, { retryAfter: 1 }),
    new WorkerError(),
  ])("is what it was: $name", (error) => {
    const revived = crossed(error);
    expect(revived).toBeInstanceOf(error.constructor);
    const { code, message, context, cause } = revived;
    expect({ code, message, context, cause }).toEqual({
      code: error.code,
      message: error.message,
      context: error.context,
      cause: undefined,
    });
  });

  it.each([
    ["DataError", DataError],
    ["WorkerError", WorkerError],
  ])("tells the log why: %s", (_, Kind) => {
    const error = new Kind("It cannot be read.", new Error("u.h5: chunk 7\nfails its checksum"));
    const revived = crossed(error);
    expect(revived.message).toBe("It cannot be read.");
    expect(logged(revived)).toContain("u.h5: chunk 7\\nfails its checksum");
  });
});
