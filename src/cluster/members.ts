/**
 * The members of a cluster, known by announcements at their start, every second, and on changes. One that is silent for
 * three seconds owns nothing. Each takes a rank, the lowest that is free; regions belong to ranks, so a process that is
 * replaced moves nothing.
 */
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { z } from "zod";
import type { PeerStatus } from "../engine/contract/query.js";
import { ROOT } from "../shared/nats.js";

const SUBJECT = `${ROOT}.member`;
const HELLO = `${ROOT}.hello`;
const SILENT = "it is silent";
const BEAT_MS = 1_000;
const SILENCE_MS = 3_000;
/** Time in which others announce themselves before a process takes a rank, and between two announcements at a start. */
const MEETING_MS = 300;
/** Time without progress after which a process with pieces counts as stuck. */
const STUCK_MS = 3_000;
const SUSPENDED_MS = 30_000;
/** Time after which the process in the last rank moves to an empty one. */
const EMPTY_MS = 60_000;
const SHOWN_LOST_MS = 15 * 60_000;
/** Most ranks: an owner is stored in a byte. */
const MAX_RANKS = 250;

const COUNT = z.int().min(0);
const text = z.string().max(256);
const ANNOUNCEMENT = z.object({
  /** Id of a connection of a process; each new connection has a new one. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  name: text,
  since: z.number(),
  rank: COUNT.max(MAX_RANKS - 1).nullable(),
  state: z.enum(["ready", "draining", "gone"]),
  version: text,
  build: text,
  revision: COUNT,
  /** Dataset versions; null: unchanged since the last announcement. */
  generations: z.record(text, z.string().regex(/^[0-9a-f]{32}$/)).nullable(),
  unverified: z.array(text).nullable(),
  cores: COUNT,
  threads: COUNT,
  running: COUNT,
  queued: COUNT,
  datasets: COUNT,
  progress: COUNT,
  cache: z.object({ bytes: COUNT, used: COUNT, read: COUNT }),
  pieces: z.object({ own: COUNT, asked: COUNT, refused: COUNT, late: COUNT, answered: COUNT }),
});

export type Announcement = z.output<typeof ANNOUNCEMENT>;
/** The part of an announcement that `Members` does not know by itself. */
export type Report = Omit<Announcement, "id" | "name" | "since" | "rank" | "state">;

export function generationOfAll(generations: Readonly<Record<string, string>>): string {
  const all = Object.entries(generations).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 32);
}

/** A process has not answered; another one may. */
export class PeerError extends Error {}

export class Peer {
  notice: Announcement;
  generations: Readonly<Record<string, string>> = {};
  unverified: readonly string[] = [];
  outstanding = 0;
  lastNoticeAt = performance.now();
  progressAt = performance.now();
  suspendedUntil = 0;
  isLimited = false;
  readonly lost = new AbortController();

  constructor(notice: Announcement) {
    this.notice = notice;
  }

  get id(): string {
    return this.notice.id;
  }

  get load(): number {
    return (this.notice.running + this.notice.queued) / Math.max(1, this.notice.threads);
  }

  get isStuck(): boolean {
    return performance.now() - this.progressAt > STUCK_MS;
  }
}

export function listenToMembers(connection: NatsConnection, onNotice: (notice: Announcement) => void): void {
  connection.subscribe(SUBJECT, {
    callback: (error, message) => {
      if (error) return;
      let notice: Announcement;
      try {
        notice = ANNOUNCEMENT.parse(message.json());
      } catch {
        return;
      }
      onNotice(notice);
    },
  });
}

export function requestAnnouncements(connection: NatsConnection): void {
  connection.publish(HELLO);
}

export class Members {
  peersByRank: readonly (Peer | null)[] = [];
  arrangement = 0;
  self: Peer | null = null;
  readonly #report: () => Report;
  readonly #log: Logger;
  readonly #all = new Map<string, Peer>();
  readonly #lost = new Map<string, number>();
  readonly #name = `${hostname()}/${process.pid}`;
  readonly #since = Date.now() + Math.random();
  #heartbeat: NodeJS.Timeout | undefined;
  #connection: NatsConnection | null = null;
  #rank: number | null = null;
  #isRanked = false;
  #draining = false;
  #announced = -1;
  #announcedAt = 0;
  #requestedAt = 0;
  #beatAt = performance.now();
  #emptySince = Number.POSITIVE_INFINITY;

  constructor(report: () => Report, log: Logger) {
    this.#report = report;
    this.#log = log;
  }

  join(connection: NatsConnection): void {
    this.#connection = connection;
    this.#heartbeat ??= setInterval(() => this.#guarded(() => this.#beat()), BEAT_MS / 2).unref();
    this.self = new Peer(this.#announcement(randomBytes(8).toString("hex")));
    this.#all.set(this.self.id, this.self);
    listenToMembers(connection, (notice) => this.#guarded(() => this.#receive(notice)));
    connection.subscribe(HELLO, { callback: () => this.#guarded(() => this.#announce()) });
    requestAnnouncements(connection);
    setTimeout(() => this.#guarded(() => this.#takeRank()), MEETING_MS).unref();
  }

  /** Runs the work of a timer or a message, and logs its errors, which would end the process. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error }, "this process cannot be announced to its peers");
    }
  }

  leave(): void {
    this.#connection = null;
    for (const member of this.#all.values()) member.lost.abort(new PeerError("this process has lost NATS"));
    for (const { notice } of this.others) this.#lost.set(notice.name, performance.now());
    this.#all.clear();
    this.self = null;
    this.#isRanked = false;
    this.#assignRanks();
  }

  retire(state: "draining" | "gone"): void {
    this.#draining = true;
    this.#announce(true, state);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.retire("gone");
    this.leave();
  }

  get others(): Peer[] {
    return [...this.#all.values()].filter((member) => member !== this.self);
  }

  isUsable({ notice, suspendedUntil }: Peer): boolean {
    const same = notice.build === this.self?.notice.build;
    return same && notice.state === "ready" && notice.rank !== null && suspendedUntil === 0;
  }

  states(): PeerStatus[] {
    const own = Object.entries(this.self?.generations ?? {});
    const members = this.others.map((member) => {
      const both = own.filter(([dataset]) => member.generations[dataset] !== undefined);
      const shared = both.filter(([dataset, generation]) => member.generations[dataset] === generation).length;
      const usable = shared > 0 && this.isUsable(member);
      const { notice, outstanding } = member;
      return { name: notice.name, usable, shared, differing: both.length - shared, outstanding };
    });
    for (const [name, at] of this.#lost) if (performance.now() - at > SHOWN_LOST_MS) this.#lost.delete(name);
    const none = { usable: false, shared: 0, differing: 0, outstanding: 0 };
    return [...members, ...[...this.#lost.keys()].map((name) => ({ name, ...none }))];
  }

  hasGeneration(generation: string): boolean {
    return this.others.some(
      ({ generations, notice }) =>
        notice.state === "ready" &&
        (Object.values(generations).includes(generation) || generationOfAll(generations) === generation),
    );
  }

  suspend(member: Peer): void {
    member.suspendedUntil = performance.now() + SUSPENDED_MS;
    this.#log.warn({ peer: member.notice.name }, "peer makes no progress");
    this.arrangement++;
  }

  #resume(member: Peer): void {
    if (member.suspendedUntil > 0) this.arrangement++;
    member.suspendedUntil = 0;
  }

  #announcement(id: string, state: Announcement["state"] = "ready"): Announcement {
    const rank = this.#isRanked ? this.#rank : null;
    return { id, name: this.#name, since: this.#since, rank, ...this.#report(), state };
  }

  /** Announces this process; with its dataset versions if they have changed or someone has not received them. */
  #announce(withVersions = true, state: Announcement["state"] = this.#draining ? "draining" : "ready"): void {
    const { self } = this;
    if (self === null || this.#connection === null || this.#connection.isClosed()) return;
    const notice = this.#announcement(self.id, state);
    this.#announced = notice.revision;
    [this.#announcedAt, self.lastNoticeAt] = [performance.now(), performance.now()];
    this.#update(self, notice);
    const sent = withVersions ? notice : { ...notice, generations: null, unverified: null };
    this.#connection.publish(SUBJECT, JSON.stringify(sent));
  }

  /** Drops silent members, resumes suspended ones, and announces this process on changes or when it is time. */
  #beat(): void {
    const now = performance.now();
    // This process itself may have been stopped for a while.
    const asleep = Math.max(0, now - this.#beatAt - BEAT_MS / 2);
    this.#beatAt = now;
    for (const member of this.#all.values()) {
      member.lastNoticeAt += asleep;
      member.progressAt += asleep;
      if (now > member.suspendedUntil) this.#resume(member);
      if (member !== this.self && now - member.lastNoticeAt > SILENCE_MS) this.#lose(member, SILENT);
    }
    const changed = this.#report().revision !== this.#announced;
    if (changed || now - this.#announcedAt >= BEAT_MS - 100) this.#announce(changed);
    this.#fillRanks(now);
  }

  #receive(notice: Announcement): void {
    const { self } = this;
    if (self === null || notice.id === self.id) return;
    const known = this.#all.get(notice.id);
    if (notice.state === "gone") {
      if (known) this.#lose(known, "it has left");
      return;
    }
    const member = known ?? new Peer(notice.generations === null ? { ...notice, revision: -1 } : notice);
    if (known === undefined) {
      // A process that has lost its connection reconnects under another id.
      for (const one of this.others) if (one.notice.since === notice.since) this.#lose(one, "it has joined again");
      this.#all.set(notice.id, member);
      // A process that was restarted on the same machine replaces the previous one.
      const host = (name: string): string => name.slice(0, name.lastIndexOf("/"));
      for (const name of this.#lost.keys()) if (host(name) === host(notice.name)) this.#lost.delete(name);
      const { name: peer, version, build } = notice;
      this.#log.info({ peer, version, same: build === self.notice.build }, "peer heard");
    }
    if (notice.progress !== member.notice.progress) {
      member.progressAt = performance.now();
      this.#resume(member);
    }
    member.lastNoticeAt = performance.now();
    const before = member.notice;
    this.#update(member, notice, known === undefined);
    if (notice.generations === null && (known === undefined || before.revision !== notice.revision))
      this.#requestAnnouncements();
    if (notice.rank !== null && notice.rank === self.notice.rank && isBefore(notice, self.notice)) this.#takeRank();
  }

  #update(member: Peer, notice: Announcement, isNew = false): void {
    const before = member.notice;
    member.notice = notice.generations === null ? { ...notice, revision: before.revision } : notice;
    if (notice.generations !== null)
      [member.generations, member.unverified] = [notice.generations, notice.unverified ?? []];
    if (
      isNew ||
      before.revision !== member.notice.revision ||
      before.rank !== notice.rank ||
      before.state !== notice.state
    )
      this.#assignRanks();
  }

  #requestAnnouncements(): void {
    if (performance.now() - this.#requestedAt < MEETING_MS) return;
    this.#requestedAt = performance.now();
    if (this.#connection) requestAnnouncements(this.#connection);
  }

  #lose(member: Peer, reason: string): void {
    this.#all.delete(member.id);
    if (member.notice.state !== "draining" && reason === SILENT) this.#lost.set(member.notice.name, performance.now());
    this.#log.warn({ peer: member.notice.name, reason }, "peer lost");
    member.lost.abort(new PeerError(`${member.notice.name}: ${reason}`));
    this.#assignRanks();
  }

  #assignRanks(): void {
    const ranks: (Peer | null)[] = [];
    for (const member of this.#all.values()) {
      const { rank } = member.notice;
      if (rank === null) continue;
      while (ranks.length <= rank) ranks.push(null);
      const other = ranks[rank];
      if (other === null || isBefore(member.notice, other.notice)) ranks[rank] = member;
    }
    this.peersByRank = ranks;
    this.arrangement++;
  }

  /** Takes the lowest free rank, after leaving one for each process before this one that waits for a rank. */
  #takeRank(): void {
    const { self } = this;
    if (self === null) return;
    const others = this.others.map(({ notice }) => notice);
    const waiting = others.filter((notice) => notice.rank === null && isBefore(notice, self.notice)).length;
    const free = [...Array(MAX_RANKS).keys()].filter((rank) => others.every((notice) => notice.rank !== rank));
    const rank = this.#rank !== null && free.includes(this.#rank) ? this.#rank : free[waiting];
    if (rank === undefined) this.#log.error(`there are ${MAX_RANKS} processes: this one owns nothing`);
    this.#rank = rank ?? null;
    this.#isRanked = true;
    this.#announce();
  }

  #fillRanks(now: number): void {
    const empty = this.peersByRank.indexOf(null);
    if (empty < 0) this.#emptySince = now;
    if (empty < 0 || now - this.#emptySince < EMPTY_MS || this.peersByRank.at(-1) !== this.self) return;
    this.#rank = empty;
    this.#announce();
  }
}

function isBefore(one: Announcement, other: Announcement): boolean {
  return one.since < other.since || (one.since === other.since && one.id < other.id);
}
