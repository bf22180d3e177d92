/**
 * What comes and goes with every request is freed with the young objects
 * (docs/decisions/memory-of-queries.md).
 */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { InProgress } from "../../../src/engine/main/drain.js";
import { Admission } from "../../../src/server/http/policies/admission.js";
import { Connections, type PendingAnswer } from "../../../src/server/http/policies/connections.js";
import { ALL_BYTES, bytesGrownOld } from "../../support/old-objects.js";

const LIMITS = {
  "engine.inflight": 64,
  "engine.queue": 2,
  "engine.pointsInFlight": 1000,
  "http.requestTimeoutMs": 60_000,
};

describe("items that come and go do not outlive themselves", () => {
  it("in a list of those in progress", () => {
    const items = new InProgress<object>();
    const grown = bytesGrownOld((item) => {
      const place = items.add(item);
      return () => items.delete(place);
    });
    expect(grown).toBeLessThan(ALL_BYTES / 10);
  });

  it("among the answers that are pending on a connection", () => {
    const connections = new Connections();
    const socket = new EventEmitter() as unknown as Socket;
    const grown = bytesGrownOld((item) => {
      const answer = Object.assign(new EventEmitter(), { item }) as unknown as PendingAnswer;
      connections.add(socket, answer);
      return () => answer.emit("close");
    });
    expect(connections.unanswered).toBe(16);
    expect(grown).toBeLessThan(ALL_BYTES / 10);
  });

  it("among the accounts of points", () => {
    const admission = new Admission(LIMITS);
    const grown = bytesGrownOld((item) => {
      const hold = Object.assign(admission.points.hold(), { item });
      hold.add(1);
      return () => hold.release();
    });
    expect(admission.points.held).toBe(16);
    expect(grown).toBeLessThan(ALL_BYTES / 10);
  });

  it("but they do in a Set, which this test therefore can tell", () => {
    const items = new Set<object>();
    const grown = bytesGrownOld((item) => {
      items.add(item);
      return () => items.delete(item);
    });
    expect(grown).toBeGreaterThan(ALL_BYTES / 2);
  });
});
