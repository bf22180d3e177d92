import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { AccessLog } from "../../../src/server/http/access-log.js";
import type { RequestEnd } from "../../../src/server/life/metrics.js";
import { type EndedRequest, NO_FACTS } from "../../../src/server/life/request-facts.js";

const AT = Date.UTC(2026, 10, 22, 8, 30);
const ended = (id: string, more: Partial<EndedRequest> = {}): EndedRequest => ({
  facts: { ...NO_FACTS, operation: "GetVelocity", dataset: 'a "cube"', queueMs: 1.234, computeMs: 20, encodeMs: 0.5 },
  outcome: "ok",
  id,
  client: "127.0.0.1",
  bytes: 700,
  method: "POST",
  path: "/service/turbulence.asmx",
  status: 200,
  ms: 30.129,
  at: AT,
  ...more,
});

function logged(level: string) {
  const lines: string[] = [];
  const counted: RequestEnd[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  const metrics = { registry: undefined as never, observe: (facts: RequestEnd) => void counted.push(facts) };
  return { lines, counted, log, access: new AccessLog({ ...metrics, addJobs: () => undefined }, log) };
}

describe("AccessLog", () => {
  it("writes every member of a line, in the form of the log's other lines", () => {
    const { lines, log, access } = logged("info");
    access.add(ended("a"));
    expect(lines).toEqual([]);
    access.write();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: 30,
      time: "2026-11-22T08:30:00.000Z",
      reqId: "a",
      client: "127.0.0.1",
      method: "POST",
      path: "/service/turbulence.asmx",
      status: 200,
      interface: "http",
      operation: "GetVelocity",
      dataset: 'a "cube"',
      outcome: "ok",
      points: 0,
      token: null,
      bytes: 700,
      queueMs: 1.23,
      computeMs: 20,
      encodeMs: 0.5,
      ms: 30.13,
    });
    log.info({ reqId: "a" });
    expect(lines.map((line) => line.slice(0, 20))).toEqual(Array(2).fill('{"level":30,"time":"'));
    expect(lines[0]).toMatch(/\}\n$/);
  });

  it("writes by itself once many requests have ended, and then each once", () => {
    const { lines, counted, access } = logged("info");
    for (let i = 0; i < 1000; i++) access.add(ended(String(i)));
    expect(lines.length).toBeGreaterThanOrEqual(500);
    access.write();
    access.write();
    expect(lines.map((line) => JSON.parse(line).reqId)).toEqual(Array.from({ length: 1000 }, (_, i) => String(i)));
    expect(counted).toHaveLength(1000);
  });

  it("counts requests whose lines the level leaves out", () => {
    const { lines, counted, access } = logged("warn");
    access.add(ended("a"));
    access.write();
    expect([lines.length, counted.length]).toEqual([0, 1]);
  });
});
