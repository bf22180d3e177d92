/** Callers who take all they can from the program as it ships, in small: others are answered, bit by bit as alone. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  cheap,
  largest,
  longAnswers,
  pipelined,
  silence,
  timeLists,
  useAttacked,
  witness,
} from "../support/starvation.js";

/** Questions that the witness asks of a service under attack. */
const QUESTIONS = 12;
const MIB = 2 ** 20;
const attacked = useAttacked({ WORKERS: "1", ENGINE_INFLIGHT: "4", ENGINE_QUEUE: "64", HTTP_CONNECTIONS: "64" });

const resident = (): number =>
  1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${attacked.program.pid}/status`, "utf8"))?.[1]);

it("pipelined requests behind one that is read slowly", async () => {
  await attacked.attack(pipelined(3, 40, 50_000), true);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});

it("cheap requests by the hundred behind each other", async () => {
  await attacked.attack(cheap(12, 400), true);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});

it("long lists of times", async () => {
  const before = resident();
  await attacked.attack(timeLists(8, 32_000), true);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
  expect(resident() - before).toBeLessThan(500 * MIB);
});

it("the largest requests of every kind, more of them than slots", async () => {
  const attackers = await attacked.attack(largest(14, 0.05), true);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
  expect(attackers.answered).toBeLessThan(14);
});

it("readers who do not read", async () => {
  await attacked.attack(longAnswers(8, 20_000), false);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});

it("callers who only connect", async () => {
  await attacked.attack(silence(200), true);
  expect(await witness(attacked.program.port, { questions: QUESTIONS })).toMatchObject({ asked: QUESTIONS, wrong: 0 });
});
