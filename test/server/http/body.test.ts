/** The body of a request, as its reader and other work on the event loop take turns. */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { Body } from "../../../src/server/http/body.js";
import type { TimeSlices } from "../../../src/server/http/policies/time-slices.js";

it("is read on if the turn of its reader comes between two looks", async () => {
  const request = new PassThrough({ highWaterMark: 65_536 });
  const slices = { isOver: false, pause: () => null };
  const message = Object.assign(request, { headers: {}, complete: true }) as unknown as IncomingMessage;
  const body = new Body(message, 10_000, slices as unknown as TimeSlices);
  request.end(Buffer.alloc(5000));
  await setImmediate();
  slices.isOver = true;
  expect(body.take()).toBeUndefined();
  slices.isOver = false;
  await body.arrival();
  expect(body.take()).toHaveLength(5000);
});
