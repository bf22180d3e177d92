/** Every operation of the table by its flags, on a running service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FLAG_ENTRIES, readRequest, takesPoints } from "../../../src/cli/input/query-request.js";
import { arrange } from "../../../src/cli/query/arrange.js";
import { queryService } from "../../../src/cli/query/remote.js";
import type { RunningService } from "../../../src/main.js";
import { ALL_OPERATIONS, type OperationRow } from "../../../src/shared/operations.js";
import { laterChoices, serveLaterFields } from "../../support/later.js";

let service: RunningService;
beforeAll(async () => {
  service = await serveLaterFields();
});
afterAll(() => service.close());

/** Flags of a request that the datasets answer, by their camel-case names. */
function givenTo(row: OperationRow): Record<string, string> {
  const values: Readonly<Record<string, string>> = {
    ...laterChoices(row),
    ...{ time: "0.1", startTime: "0", endTime: "0.2", dt: "0.1", nt: "2", tp: "0.1", frame: "1", threshold: "0.1" },
    ...{ filterLength: "1", filterWidth: "1", spacing: "0.8", points: "-" },
    ...{ xStart: "1", yStart: "2", zStart: "3", xEnd: "4", yEnd: "4", zEnd: "5", xStep: "2" },
    ...{ x: "0", y: "1", z: "2", xWidth: "2", yWidth: "3", zWidth: "3" },
  };
  const taken = new Set<string>(row.request.map(({ name }) => name));
  const flags = FLAG_ENTRIES.filter(([member]) => taken.has(member)).map(([, { name }]) =>
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  );
  return Object.fromEntries(flags.flatMap((flag) => (values[flag] === undefined ? [] : [[flag, values[flag]]])));
}

describe("queryService", () => {
  it.each(ALL_OPERATIONS.map((row) => [row.name, row as OperationRow] as const))("%s", async (name, row) => {
    const { authToken: _, ...members } = readRequest(name, givenTo(row));
    const points = takesPoints(row) ? Float32Array.of(1, 2, 3, 4, 5, 6) : new Float32Array();
    const asked = { operation: name, members, points, velocities: null };
    const answer = await queryService(service.url, undefined, asked, false, () => undefined);
    const { components, recordsPerPoint, points: places, values } = arrange(asked, answer);
    expect(values.length).toBeGreaterThan(0);
    expect(values.every(Number.isFinite)).toBe(true);
    if (places !== null) expect(values.length).toBe((places.length / 3) * recordsPerPoint * components.length);
    if (row.family === "cutout") {
      const [first, second] =
        name === "GetAnyCutoutWeb"
          ? [
              [1, 2, 3],
              [3, 2, 3],
            ]
          : [
              [0, 1, 2],
              [1, 1, 2],
            ];
      expect([...(places ?? [])].slice(0, 6)).toEqual([first, second].flat());
      expect(places).toHaveLength(3 * 18);
    }
  });
});
