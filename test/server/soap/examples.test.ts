/** The examples that need nothing but Node; those in other languages run in `npm run test:clients`. */
import { readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { fakeValue } from "../../support/fake-engine.js";
import { readRecords, send, startService } from "../../support/soap-service.js";

const argv = [...process.argv];
afterEach(() => {
  process.argv = argv;
  vi.restoreAllMocks();
});

const EXPECTED = [0, 1, 2].map((component) => fakeValue("GetVelocity", 1, 0, component));

it("examples/typescript.ts prints the velocity", async () => {
  const service = await startService();
  process.argv = [...argv.slice(0, 2), `${service.url}?wsdl`];
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await import("../../../examples/typescript.js");
  expect(log.mock.calls.map((words) => words.map(Number))).toEqual([EXPECTED]);
  await service.stop();
});

it("the request that examples/matlab.m builds is answered, and its expression reads the answer", async () => {
  const source = readFileSync(new URL("../../../examples/matlab.m", import.meta.url), "utf8");
  const literals = /body = \[([\s\S]*?)\];/.exec(source)?.[1]?.replace(/\.\.\.\n/g, "") ?? "";
  const item =
    /sprintf\('([^']*)'/.exec(source)?.[1]?.replace("%.9g", "1").replace("%.9g", "2").replace("%.9g", "3") ?? "";
  const body = literals.replace(
    /'([^']*)'|(\bitems\b)|\s+/g,
    (_all, text?: string, items?: string) => text ?? (items ? item : ""),
  );
  const expression = /regexp\(answer, '([^']*)'/.exec(source)?.[1] ?? "";
  const service = await startService();
  const answer = await send(service, "1.1", body);
  expect(readRecords(answer, "GetVelocity")).toHaveLength(1);
  expect([...answer.text.matchAll(new RegExp(expression, "g"))].map((match) => Number(match[1]))).toEqual(EXPECTED);
  await service.stop();
});
