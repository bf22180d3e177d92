/** All operations over a real socket, both SOAP versions, against the engine in process. */
import { describe, expect, it } from "vitest";
import type { Query } from "../../src/engine/contract/query.js";
import { OLDER_OPERATIONS, type Operation, RECORDS, type WireMember } from "../../src/shared/operations.js";
import { generator, runQuery } from "../support/run-query.js";
import { useTestData } from "../support/service.js";
import { callOperation, VERSIONS } from "../support/soap-service.js";

function memberValue(operation: Operation, { name }: WireMember): string | number {
  const values: Readonly<Record<string, string | number>> = {
    dataset: "isotropic32",
    time: Math.fround(0.37),
    StartTime: Math.fround(0.1),
    EndTime: Math.fround(0.14),
    dt: Math.fround(0.02),
    nt: 3,
    Tp: Math.fround(0.05),
    filterlength: Math.fround(0.5),
    nlayers: 2,
    spatialInterpolation: operation.spatial.at(-1) ?? "None",
    temporalInterpolation: "PCHIP",
  };
  return values[name] as string | number;
}

function textOf(points: Float32Array): string {
  let text = "";
  for (let i = 0; i < points.length; i += 3) {
    text += `<Point3><x>${points[i]}</x><y>${points[i + 1]}</y><z>${points[i + 2]}</z></Point3>`;
  }
  return text;
}

const service = await useTestData();

describe("every operation over SOAP", () => {
  const cases = OLDER_OPERATIONS.flatMap((operation) =>
    [0, 1, 600].map((count) => [operation.name, count, operation] as const),
  );
  it.each(cases)(
    "R74, R77, R92: %s answers %i points alike in both versions, and as the engine does",
    async (name, count, operation) => {
      const random = generator(count + 1);
      const points = Float32Array.from({ length: 3 * count }, () => (random() - 0.5) * 20);
      const members: readonly WireMember[] = operation.request;
      const given = members.filter(({ name }) => !["authToken", "points", "InitialV"].includes(name));
      const values = Object.fromEntries(given.map((member) => [member.name, memberValue(operation, member)]));
      const results: string[] = [];
      for (const version of VERSIONS) {
        const sent = `<points>${textOf(points)}</points>`;
        const { status, text } = await callOperation(service, version, name, values, sent);
        expect(status, text.slice(0, 500)).toBe(200);
        results.push(text.slice(text.indexOf("<soap:Body>")));
      }
      expect(results[1]).toBe(results[0]);
      const record = operation.result;
      const numbers = [...(results[0] as string).matchAll(/>([^<>]+)</g)].map(([, number]) =>
        Math.fround(Number(number)),
      );
      const query = { operation: name, ...values };
      const expected = await runQuery(service.engine, query as Query, points);
      expect(numbers.length).toBe(expected.length);
      expect(Float32Array.from(numbers)).toEqual(expected);
      const opened = (results[0] as string).split(`<${record}>`).length - 1;
      expect(opened * RECORDS[record].length).toBe(expected.length);
    },
  );
});
