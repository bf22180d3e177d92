/** Every operation of the later interface by the client, which reads its WSDL, in both SOAPs, on known fields. */
import { afterAll, describe, expect, it } from "vitest";
import { type Answer, connect } from "../../src/client/index.js";
import { type OperationRow, operationsIn, RECORDS } from "../../src/shared/operations.js";
import { laterRequest, serveLaterFields } from "../support/later.js";

const service = await serveLaterFields();
afterAll(() => service.close());

/** The request as the client takes it: without token, and points of an array form as lists of x, y and z. */
function requestFor(row: OperationRow): Record<string, unknown> {
  const { authToken: _, ...members } = laterRequest(row);
  const points = members.points as number[][] | undefined;
  if (row.family !== "arrays" || points === undefined) return members;
  return { ...members, points: [0, 1, 2].map((axis) => points.map((point) => point[axis])) };
}

describe.each(["1.1", "1.2"] as const)("SOAP %s", (version) => {
  it("answers all 48 operations", { timeout: 120_000 }, async () => {
    const client = (await connect(service.url, { version })) as unknown as Record<
      string,
      (request: object) => Promise<Answer>
    >;
    for (const row of operationsIn("later")) {
      const answer = await (client[row.name] as (request: object) => Promise<Answer>)(requestFor(row));
      expect(answer.values.length, row.name).toBeGreaterThan(0);
      expect(answer.values.length % RECORDS[row.result].length, row.name).toBe(0);
      expect(answer.values.every(Number.isFinite), row.name).toBe(true);
    }
  });
});
