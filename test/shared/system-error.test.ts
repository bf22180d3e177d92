import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeError, isFullDisk, reasonOf } from "../../src/shared/system.js";
import { scratchFolder } from "../support/scratch.js";

const folder = scratchFolder();

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

it("names the file and says why, without a code", () => {
  const [none, file] = [join(folder, "none"), join(folder, "file")];
  writeFileSync(file, "");
  expect(describeError(thrownBy(() => readFileSync(none)))).toBe(`${none}: no such file or folder`);
  expect(describeError(thrownBy(() => mkdirSync(file)))).toBe(`${file}: there is a file where a folder is needed`);
  expect(reasonOf(thrownBy(() => readFileSync(folder)))).toBe("it is a folder");
});

it("knows a full disk by the code of the system or of SQLite, and by what caused an error", () => {
  const full = ["ENOSPC", "EDQUOT", "SQLITE_FULL"].map((code) => Object.assign(new Error("full"), { code }));
  expect([...full, new Error("not written", { cause: full[0] })].map(isFullDisk)).toEqual([true, true, true, true]);
  expect([new Error("full"), "full", undefined].map(isFullDisk)).toEqual([false, false, false]);
});

it("names the address of a port that is in use", async () => {
  const first = createServer();
  const port = await new Promise<number>((resolve) => {
    first.listen(0, "127.0.0.1", () => resolve((first.address() as AddressInfo).port));
  });
  const error = await new Promise((resolve) => createServer().on("error", resolve).listen(port, "127.0.0.1"));
  expect(describeError(error)).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port}: the port is in use`));
  await new Promise((resolve) => first.close(resolve));
});

it("leaves other errors as they are", () => {
  expect(describeError(new Error("no token named bob"))).toBe("no token named bob");
  expect(describeError("a text")).toBe("a text");
});
