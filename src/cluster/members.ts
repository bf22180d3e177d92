/**
 * The members of a cluster. Each announces itself at its start, every second, and when something changes; one that is
 * silent for three seconds owns nothing. Each takes the lowest free rank. Regions belong to ranks, so a process that is
 * replaced moves nothing.
 */
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { z } from "zod";
import type { PeerStatus } from "../engine/contract/query.js";
import { orElse } from "../shared/errors.js";
import { ROOT } from "../shared/nats.js";

const SUBJECT = `${ROOT}.member`;
const HELLO = `${ROOT}.hello`;
const BEAT_MS = 1_000;
const SILENCE_MS = 3_000;
/** Wait before taking a rank, so that the others are known; least time between two requests for announcements. */
const MEETING_MS = 300;
/** Time without progress after which a process with pieces counts as stuck. */
const STUCK_MS = 3_000;
/** Time for which a stuck process gets no pieces. */
const SUSPENDED_MS = 30_000;
/** Time after which the process in the last rank moves to an empty one. */
const EMPTY_MS = 60_000;
/** Time for which lost peers are still listed. */
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
  const sorted = Object.entries(generations).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 32);
}

/** A peer has failed; another one may succeed. */
export class PeerError extends Error {}

export class Peer {
  announcement: Announcement;
  /** Dataset versions of the last announcement that had them. */
  generations: Readonly<Record<string, string>> = {};
  unverified: readonly string[] = [];
  /** Requested pieces that have not been answered. */
  outstanding = 0;
  heardAt = performance.now();
  progressAt = performance.now();
  suspendedUntil = 0; // 0: it is not.
  /** Whether it has refused a piece because its limits are lower than those of this process. */
  isLimited = false;
  readonly lost = new AbortController();

  constructor(announcement: Announcement) {
    this.announcement = announcement;
  }

  get id(): string {
    return this.announcement.id;
  }

  get load(): number {
    return (this.announcement.running + this.announcement.queued) / Math.max(1, this.announcement.threads);
  }

  get isStuck(): boolean {
    return performance.now() - this.progressAt > STUCK_MS;
  }
}

export function listenToMembers(connection: NatsConnection, receive: (announcement: Announcement) => void): void {
  connection.subscribe(SUBJECT, {
    callback: (error, message) => {
      const announcement = error ? null : orElse(() => ANNOUNCEMENT.parse(message.json()), null);
      if (announcement !== null) receive(announcement);
    },
  });
}

export function requestAnnouncements(connection: NatsConnection): void {
  connection.publish(HELLO);
}

export class Members {
  peersByRank: readonly (Peer | null)[] = [];
  /** Changes whenever the owners of regions may change. */
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
  #announcedRevision = -1;
  #announcedAt = 0;
  #requestedAt = 0;
  #beatAt = performance.now();
  /** Start of the time in which a rank below others has been empty; null if none is. */
  #emptySince: number | null = null;

  constructor(report: () => Report, log: Logger) {
    this.#report = report;
    this.#log = log;
  }

  join(connection: NatsConnection): void {
    this.#connection = connection;
    this.#heartbeat ??= setInterval(() => this.#guarded(() => this.#beat()), BEAT_MS / 2).unref();
    this.self = new Peer(this.#announcement(randomBytes(8).toString("hex")));
    this.#all.set(this.self.id, this.self);
    listenToMembers(connection, (announcement) => this.#guarded(() => this.#receive(announcement)));
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
    for (const { announcement } of this.others) this.#lost.set(announcement.name, performance.now());
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

  isUsable({ announcement, suspendedUntil }: Peer): boolean {
    const { build, state, rank } = announcement;
    return build === this.self?.announcement.build && state === "ready" && rank !== null && suspendedUntil === 0;
  }

  states(): PeerStatus[] {
    const ownGenerations = Object.entries(this.self?.generations ?? {});
    const members = this.others.map((member) => {
      const both = ownGenerations.filter(([dataset]) => member.generations[dataset] !== undefined);
      const shared = both.filter(([dataset, generation]) => member.generations[dataset] === generation).length;
      const usable = shared > 0 && this.isUsable(member);
      const { announcement, outstanding } = member;
      return { name: announcement.name, usable, shared, differing: both.length - shared, outstanding };
    });
    for (const [name, at] of this.#lost) if (performance.now() - at > SHOWN_LOST_MS) this.#lost.delete(name);
    const lostStatus = { usable: false, shared: 0, differing: 0, outstanding: 0 };
    return [...members, ...[...this.#lost.keys()].map((name) => ({ name, ...lostStatus }))];
  }

  hasGeneration(generation: string): boolean {
    return this.others.some(
      ({ generations, announcement }) =>
        announcement.state === "ready" &&
        (Object.values(generations).includes(generation) || generationOfAll(generations) === generation),
    );
  }

  suspend(member: Peer): void {
    member.suspendedUntil = performance.now() + SUSPENDED_MS;
    this.#log.warn({ peer: member.announcement.name }, "peer makes no progress");
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
    const announcement = this.#announcement(self.id, state);
    this.#announcedRevision = announcement.revision;
    this.#announcedAt = performance.now();
    self.heardAt = this.#announcedAt;
    this.#update(self, announcement);
    const sent = withVersions ? announcement : { ...announcement, generations: null, unverified: null };
    this.#connection.publish(SUBJECT, JSON.stringify(sent));
  }

  /** Drops silent members, resumes suspended ones, and announces this process on changes or when it is time. */
  #beat(): void {
    const now = performance.now();
    // This process itself may have been stopped for a while.
    const stoppedMs = Math.max(0, now - this.#beatAt - BEAT_MS / 2);
    this.#beatAt = now;
    for (const member of this.#all.values()) {
      member.heardAt += stoppedMs;
      member.progressAt += stoppedMs;
      if (now > member.suspendedUntil) this.#resume(member);
      if (member === this.self || now - member.heardAt <= SILENCE_MS) continue;
      if (member.announcement.state !== "draining") this.#lost.set(member.announcement.name, now);
      this.#lose(member, "it is silent");
    }
    const changed = this.#report().revision !== this.#announcedRevision;
    if (changed || now - this.#announcedAt >= BEAT_MS - 100) this.#announce(changed);
    this.#fillRanks(now);
  }

  #receive(announcement: Announcement): void {
    const { self } = this;
    const { id, name, since, state, rank, generations, revision, version, build } = announcement;
    if (self === null || id === self.id) return;
    const earlier = this.#all.get(id);
    if (state === "gone") return void (earlier && this.#lose(earlier, "it has left"));
    // An unknown revision: the versions are requested below.
    const member = earlier ?? new Peer(generations === null ? { ...announcement, revision: -1 } : announcement);
    if (earlier === undefined) {
      // A process that has lost its connection reconnects under another id.
      for (const peer of this.others) if (peer.announcement.since === since) this.#lose(peer, "it has joined again");
      this.#all.set(id, member);
      // A process that was restarted on the same machine replaces the previous one.
      const hostOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
      for (const lost of this.#lost.keys()) if (hostOf(lost) === hostOf(name)) this.#lost.delete(lost);
      this.#log.info({ peer: name, version, same: build === self.announcement.build }, "peer heard");
    }
    member.heardAt = performance.now();
    const before = member.announcement;
    if (announcement.progress !== before.progress) {
      member.progressAt = member.heardAt;
      this.#resume(member);
    }
    this.#update(member, announcement, earlier === undefined);
    if (generations === null && (earlier === undefined || before.revision !== revision)) this.#requestAnnouncements();
    if (rank !== null && rank === self.announcement.rank && isBefore(announcement, self.announcement)) this.#takeRank();
  }

  #update(member: Peer, announcement: Announcement, isNew = false): void {
    const { revision, rank, state } = member.announcement;
    const { generations, unverified } = announcement;
    member.announcement = generations === null ? { ...announcement, revision } : announcement;
    if (generations !== null) member.generations = generations;
    if (generations !== null) member.unverified = unverified ?? [];
    const isOther = revision !== member.announcement.revision || rank !== announcement.rank;
    if (isNew || isOther || state !== announcement.state) this.#assignRanks();
  }

  #requestAnnouncements(): void {
    if (performance.now() - this.#requestedAt < MEETING_MS) return;
    this.#requestedAt = performance.now();
    if (this.#connection) requestAnnouncements(this.#connection);
  }

  #lose(member: Peer, reason: string): void {
    this.#all.delete(member.id);
    this.#log.warn({ peer: member.announcement.name, reason }, "peer lost");
    member.lost.abort(new PeerError(`${member.announcement.name}: ${reason}`));
    this.#assignRanks();
  }

  #assignRanks(): void {
    const ranks: (Peer | null)[] = [];
    for (const member of this.#all.values()) {
      const { rank } = member.announcement;
      if (rank === null) continue;
      while (ranks.length <= rank) ranks.push(null);
      const other = ranks[rank];
      if (other === null || isBefore(member.announcement, other.announcement)) ranks[rank] = member;
    }
    this.peersByRank = ranks;
    this.arrangement++;
  }

  /** Takes the lowest free rank, after leaving one for each process before this one that waits for a rank. */
  #takeRank(): void {
    const { self } = this;
    if (self === null) return;
    const others = this.others.map(({ announcement }) => announcement);
    const waiting = others.filter((other) => other.rank === null && isBefore(other, self.announcement)).length;
    const free = [...Array(MAX_RANKS).keys()].filter((rank) => others.every((other) => other.rank !== rank));
    const rank = this.#rank !== null && free.includes(this.#rank) ? this.#rank : free[waiting];
    if (rank === undefined) this.#log.error(`there are ${MAX_RANKS} processes: this one owns nothing`);
    this.#rank = rank ?? null;
    this.#isRanked = true;
    this.#announce();
  }

  #fillRanks(now: number): void {
    const emptyRank = this.peersByRank.indexOf(null);
    this.#emptySince = emptyRank < 0 ? null : (this.#emptySince ?? now);
    if (this.#emptySince === null || now - this.#emptySince < EMPTY_MS || this.peersByRank.at(-1) !== this.self) return;
    this.#rank = emptyRank;
    this.#announce();
  }
}

function isBefore(one: Announcement, other: Announcement): boolean {
  return one.since < other.since || (one.since === other.since && one.id < other.id);
}
