/** Answers that connections owe. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Pipelines } from "../../../src/server/http/pipelines.js";

const answerTo = (complete: boolean): ServerResponse =>
  Object.assign(new EventEmitter(), { req: { complete }, socket: null }) as unknown as ServerResponse;

describe("Pipelines", () => {
  it("lets the first refusal wait for the answers to whole requests, and no other after it", () => {
    const pipelines = new Pipelines();
    const socket = new EventEmitter() as Socket;
    const [whole, cut] = [answerTo(true), answerTo(false)];
    pipelines.add(socket, whole);
    pipelines.add(socket, cut);
    const done: string[] = [];
    pipelines.afterAnswers(socket, () => done.push("what cannot be read"));
    pipelines.afterAnswers(socket, () => done.push("what comes too late"));
    expect(done).toEqual([]);
    pipelines.drop(socket, whole);
    expect(done).toEqual(["what cannot be read"]);
  });
});
