/** The forms of an answer. */
import { expect, it } from "vitest";
import { WRITERS } from "../../../src/server/rest/write-answer.js";

it("writes each time of a long list once, whatever the length", () => {
  const count = 500;
  let looks = 0;
  const times = new Proxy(
    Array.from({ length: count }, (_, i) => i / 10),
    {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  const values = [Float32Array.from({ length: count }, (_, i) => i)];
  const result = { items: count, itemsPerPoint: 1, components: 1, values, release: () => undefined };
  const answer = { result, timeCount: count, times, components: ["p"], about: {} };
  const rows = Buffer.concat([...WRITERS["text/csv"].write(answer)])
    .toString()
    .trimEnd()
    .split("\r\n");
  expect(rows.slice(0, 3)).toEqual(["time,p", "0,0", "0.1,1"]);
  expect(rows.at(-1)).toBe("49.9,499");
  expect(looks).toBeLessThanOrEqual(3 * count);
});
