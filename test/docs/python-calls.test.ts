/** The methods of the Python package are those of the table of calls; `vitest --update` writes them again. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { pythonCalls } from "../support/python-calls.js";

it("python/src/fieldprobe/calls.py is what the table of calls says", async () => {
  const file = fileURLToPath(new URL("../../python/src/fieldprobe/calls.py", import.meta.url));
  await expect(pythonCalls()).toMatchFileSnapshot(file);
});
