/** What a command says when it fails: the error and the reasons behind it. */
import { expect, it } from "vitest";
import { failureText } from "../../../src/cli/output/failure.js";
import { BusyError, DataError } from "../../../src/shared/errors.js";

const gone = Object.assign(new Error("ENOENT: open"), { code: "ENOENT", path: "/data/u.h5" });

it.each([
  [
    new DataError("c: u of frame 0 cannot be read.", new DataError("/data/u.h5 has changed.")),
    "c: u of frame 0 cannot be read. /data/u.h5 has changed.",
  ],
  [new DataError("A.", new DataError("B.", gone)), "A. B. /data/u.h5: no such file or folder"],
  [new DataError("A (B).", new DataError("B")), "A (B)."],
  [new DataError("A: B.", new DataError("C")), "A: B."],
  [new DataError("A.", new Error("parser: 0x1f")), "A."],
  [new BusyError("Busy.", 1, new DataError("B.")), "Busy."],
  [gone, "/data/u.h5: no such file or folder"],
  ["text", "text"],
])("%s", (error, text) => expect(failureText(error)).toBe(text));
