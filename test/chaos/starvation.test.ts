/**
 * Callers who take all they can from the program as it ships, in small: others are answered meanwhile, every bit as
 * alone.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";
import { expectIdle, PATH } from "../support/soap-service.js";
import {
  type Crowd,
  crowd,
  largest,
  longAnswers,
  pipelined,
  silence,
  timeLists,
  witness,
} from "../support/starvation.js";

const SETTINGS = {
  DATA: fileURLToPath(new URL("../../data", import.meta.url)),
  STATE: scratchFolder(),
  EVENTS: "off",
  WORKERS: "1",
  ENGINE_INFLIGHT: "4",
  ENGINE_QUEUE: "64",
  HTTP_CONNECTIONS: "64",
};
/** Questions that the witness asks of a service under attack. */
const QUESTIONS = 12;
const MIB = 2 ** 20;

let program: Program;
let attackers: Crowd | null = null;
beforeAll(async () => {
  program = await startProgram(SETTINGS);
  await witness(program.port, { questions: 2 });
});
afterEach(async () => {
  attackers?.leave();
  await vi.waitFor(() => expectIdle({ url: `${program.url}${PATH}` }), { timeout: 60_000 });
}, 90_000);
afterAll(() => program.stop("SIGTERM"));

const resident = (): number =>
  1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1]);

it("pipelined requests behind one that is read slowly", async () => {
  attackers = await crowd(program.port, pipelined(3, 40, 50_000), true);
  expect(await witness(program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});

it("long lists of times", async () => {
  const before = resident();
  attackers = await crowd(program.port, timeLists(8, 32_000), true);
  expect(await witness(program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
  expect(resident() - before).toBeLessThan(500 * MIB);
});

it("the largest requests of every kind, more of them than slots", async () => {
  attackers = await crowd(program.port, largest(14, 0.05), true);
  expect(await witness(program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
  expect(attackers.answered).toBeLessThan(14);
});

it("readers who do not read", async () => {
  attackers = await crowd(program.port, longAnswers(8, 20_000), false);
  expect(await witness(program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});

it("callers who only connect", async () => {
  attackers = await crowd(program.port, silence(200), true);
  expect(await witness(program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});
