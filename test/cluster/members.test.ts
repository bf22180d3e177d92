/** Processes of a cluster, as they know each other by announcements over a bus in memory, on a clock of the test. */
import type { NatsConnection } from "@nats-io/transport-node";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Members, type Report } from "../../src/cluster/members.js";

type Callback = (error: null, message: { json(): unknown }) => void;

let listeners: (readonly [subject: string, callback: Callback])[];
let lines: { readonly msg: string; readonly same?: boolean }[];
let open: Members[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance", "Date"] });
  [listeners, lines, open] = [[], [], []];
});
afterEach(() => {
  for (const members of open) members.close();
  vi.useRealTimers();
});

const DIGESTS = ["a", "b"].map((digit) => digit.repeat(32)) as [string, string];
const REPORT: Report = {
  ...{ version: "2.0.0", build: "one", revision: 1, generations: { cube: DIGESTS[0] }, unverified: [] },
  ...{ cores: 2, threads: 2, running: 0, queued: 0, datasets: 1, progress: 0 },
  cache: { bytes: 1, used: 0, read: 0 },
  pieces: { own: 0, asked: 0, refused: 0, late: 0, answered: 0 },
};

/** A process on the bus, with what it says of itself. */
type Process = { readonly members: Members; report: Report };

function join(own: Partial<Report> = {}): Process {
  const connection = {
    isClosed: () => false,
    subscribe: (subject: string, { callback }: { callback: Callback }) => void listeners.push([subject, callback]),
    publish: (subject: string, text?: string) => {
      for (const [own, callback] of [...listeners])
        if (own === subject) callback(null, { json: () => JSON.parse(text ?? "null") });
    },
  } as unknown as NatsConnection;
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const made: Process = { report: { ...REPORT, ...own }, members: new Members(() => made.report, log) };
  made.members.join(connection);
  open.push(made.members);
  return made;
}

it.each(["one", "another"])("says whether a peer that it hears runs the same build: %s", (build) => {
  join();
  join({ build });
  vi.advanceTimersByTime(500);
  const same = lines.flatMap((line) => (line.msg === "peer heard" ? [line.same] : []));
  expect(same).toEqual([build === "one", build === "one"]);
});

it("hears of another version of a dataset within a second", () => {
  const [one, other] = [join(), join()];
  vi.advanceTimersByTime(2_000);
  expect(one.members.others[0]?.generations).toEqual({ cube: DIGESTS[0] });
  other.report = { ...other.report, revision: 2, generations: { cube: DIGESTS[1] } };
  vi.advanceTimersByTime(999);
  expect(one.members.others[0]?.generations).toEqual({ cube: DIGESTS[1] });
});

it("gives each process the lowest rank that is free, and loses one that is silent", () => {
  const all = [join(), join(), join()];
  vi.advanceTimersByTime(3_000);
  expect(all.map(({ members }) => members.self?.announcement.rank).toSorted()).toEqual([0, 1, 2]);
  const [first, ...rest] = all as [Process, Process, Process];
  first.members.leave();
  vi.advanceTimersByTime(2_000);
  expect(rest.map(({ members }) => members.others.length)).toEqual([2, 2]);
  vi.advanceTimersByTime(2_500);
  expect(rest.map(({ members }) => members.others.length)).toEqual([1, 1]);
});

it("moves the last process to a rank that has been empty since it came", () => {
  const first = join();
  vi.advanceTimersByTime(1_000);
  const [last] = [join(), vi.advanceTimersByTime(400), first.members.close(), vi.advanceTimersByTime(61_000)];
  expect(last.members.self?.announcement.rank).toBe(0);
});
