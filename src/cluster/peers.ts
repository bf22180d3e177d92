/**
 * `Peers` keeps the peers of this process, knows which of them are usable, and sends them requests over kept-alive
 * connections. A failure detector asks the peers that have pieces, and occasionally the others, for their status.
 */
import type { Logger } from "pino";
import type { PeerStatus } from "../engine/contract/query.js";
import type { Keys } from "./keys.js";
import { type PeerAnswer, PeerConnection, type PeerRequest, READ_BYTES } from "./peer-connection.js";
import { type PeerReport, readReport, STATUS_PATH } from "./piece.js";

/** Interval of the failure detector, and of questions to peers that have no pieces: usable ones, and others. */
const DETECT_MS = 250;
const IDLE_MS = 15_000;
const UNUSABLE_MS = 1_000;
/** Silence after which a peer that was asked counts as lost. */
const SILENCE_MS = 1_000;
/** Connections to a peer that are kept for later requests. */
const KEPT = 64;

/** The reason why a peer has not answered; another one, or this process, may. */
export class PeerError extends Error {}

/** A peer as this process sees it. */
export class Peer {
  /** Its address, which is its name. */
  readonly name: string;
  /** Its last statement; null while it is lost. */
  status: PeerReport | null = null;
  /** Pieces that it has been asked for and has not answered. */
  outstanding = 0;
  /** Connections that no request uses, and those that one does. */
  #idle: PeerConnection[] = [];
  readonly #busy = new Set<PeerConnection>();
  /** The time at which it was last asked for its status, on the clock of `performance`. */
  askedAt = Number.NEGATIVE_INFINITY;
  /** The time since which it has had pieces, or at which it answered the last one. */
  heardAt = Number.NEGATIVE_INFINITY;
  /** The time at which it last answered a piece or reported progress. */
  progressAt = Number.NEGATIVE_INFINITY;
  asking = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Sends a request and reads its answer whole. @throws the error of the connection, or the reason of the signal */
  async send(request: PeerRequest, keys: Keys | null, buffer: Uint8Array): Promise<PeerAnswer> {
    for (;;) {
      const kept = this.#idle.pop();
      const connection: PeerConnection =
        kept ?? new PeerConnection(this.name, keys, buffer, () => this.#closed(connection));
      this.#busy.add(connection);
      try {
        const answer = await connection.ask(request);
        if (connection.isFree && this.#idle.length < KEPT) this.#idle.push(connection);
        else connection.close();
        return answer;
      } catch (error) {
        connection.close();
        // The peer may have closed an idle connection just now.
        if (kept === undefined || request.signal.aborted || error instanceof PeerError) throw error;
      } finally {
        this.#busy.delete(connection);
      }
    }
  }

  /** A closed connection may mean that the peer is gone, so it is asked sooner than a silent one. */
  #closed(connection: PeerConnection): void {
    this.#idle = this.#idle.filter((one) => one !== connection);
    this.heardAt = Number.NEGATIVE_INFINITY;
    this.askedAt = Math.min(this.askedAt, performance.now() - IDLE_MS);
  }

  /** Closes the connections that no request uses. */
  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  /** Ends all connections, and the requests on them. */
  giveUp(reason: string): void {
    this.closeIdle();
    for (const connection of this.#busy) connection.close(new PeerError(reason));
  }
}

/** The peers of a process. */
export class Peers {
  /** In the order of their names, which all processes share. */
  list: readonly Peer[] = [];
  /** Changes with every change of what is usable. */
  version = 0;
  /** The identity of this process, and the digest of the code that computes here. */
  readonly #self: Pick<PeerReport, "id" | "build">;
  readonly #log: Logger;
  #keys: Keys | null;
  /** Receives what arrives, on any connection. */
  readonly #buffer = Buffer.alloc(READ_BYTES);
  readonly #detector: NodeJS.Timeout;
  #closed = false;

  /** @param names addresses, sorted */
  constructor(names: readonly string[], keys: Keys | null, self: Pick<PeerReport, "id" | "build">, log: Logger) {
    this.#self = self;
    this.#log = log;
    this.#keys = keys;
    this.replace(names);
    this.#detector = setInterval(() => this.#detect(), DETECT_MS).unref();
    this.#detect();
  }

  /** Takes another list over; peers in both stay as they are. */
  replace(names: readonly string[]): void {
    const known = new Map(this.list.map((peer) => [peer.name, peer]));
    this.list = names.map((name) => known.get(name) ?? new Peer(name));
    this.version++;
    for (const [name, peer] of known) if (!names.includes(name)) this.lose(peer, "it is no longer on the list");
  }

  /** Shows these keys from the next connection on. */
  rekey(keys: Keys | null): void {
    this.#keys = keys;
    for (const peer of this.list) peer.closeIdle();
  }

  /** Whether a peer is this process. */
  isSelf({ status }: Peer): boolean {
    return status?.id === this.#self.id;
  }

  /** Whether this process may send pieces to a peer: it answers, is not draining, and runs the same code. */
  isUsable({ status }: Peer): boolean {
    return status !== null && !status.draining && status.build === this.#self.build;
  }

  /** Whether there is a usable peer other than this process. */
  get hasOthers(): boolean {
    return this.list.some((peer) => this.isUsable(peer) && !this.isSelf(peer));
  }

  /** The states of all peers but this process. */
  states(): readonly PeerStatus[] {
    return this.list
      .filter((peer) => !this.isSelf(peer))
      .map((peer) => ({ name: peer.name, usable: this.isUsable(peer), outstanding: peer.outstanding }));
  }

  /**
   * Asks a peer for a piece; given up when the peer is lost meanwhile.
   *
   * @throws PeerError when it cannot be reached or is lost, or the reason of the signal
   */
  async ask(peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    if (peer.outstanding++ === 0) peer.heardAt = performance.now();
    try {
      const answer = await peer.send(request, this.#keys, this.#buffer);
      const now = performance.now();
      if (answer.status === 200) [peer.heardAt, peer.progressAt] = [now, now];
      // It may be draining: its new status decides whether others use it.
      else if (now - peer.askedAt > DETECT_MS) this.#question(peer);
      return answer;
    } catch (error) {
      request.signal.throwIfAborted();
      // It may have gone.
      if (!(error instanceof PeerError)) this.#question(peer);
      throw new PeerError(`${peer.name}: ${(error as Error).message}`, { cause: error });
    } finally {
      peer.outstanding--;
    }
  }

  /** Asks a peer for its status. @throws the error of the connection, or PeerError */
  async statusOf(peer: Peer, signal: AbortSignal): Promise<PeerReport> {
    const request = { method: "GET", path: STATUS_PATH, signal } as const;
    const { status, body } = await peer.send(request, this.#keys, this.#buffer);
    const read = status === 200 ? readReport(body) : null;
    if (read === null) throw new PeerError(`${peer.name} is not a peer`);
    return read;
  }

  /** Gives up the pieces of a peer. */
  lose(peer: Peer, reason: string): void {
    if (peer.status !== null && !this.#closed) {
      this.version++;
      this.#log.warn({ peer: peer.name, reason }, "peer lost");
    }
    peer.status = null;
    peer.giveUp(reason);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#detector);
    for (const peer of this.list) peer.giveUp("this process ends");
  }

  #detect(): void {
    const now = performance.now();
    for (const peer of this.list) {
      if (now - Math.max(peer.askedAt, peer.heardAt) > this.#patienceWith(peer)) this.#question(peer);
    }
  }

  /** How long after its last answer a peer is asked for its status: most pieces are answered sooner. */
  #patienceWith(peer: Peer): number {
    if (peer.status === null) return 0;
    if (peer.outstanding > 0) return DETECT_MS / 2;
    return this.isUsable(peer) ? IDLE_MS : UNUSABLE_MS;
  }

  /** Asks a peer for its status; a peer that does not answer in time is lost. */
  #question(peer: Peer): void {
    if (peer.asking || this.#closed) return;
    peer.asking = true;
    peer.askedAt = performance.now();
    const silence = new AbortController();
    // Data that arrived while this process was blocked is read before the peer counts as lost.
    const timer = setTimeout(() => setImmediate(() => silence.abort(new Error("it does not answer"))), SILENCE_MS);
    this.statusOf(peer, silence.signal)
      .then((status) => this.#hear(peer, status))
      .catch((error: Error) => this.lose(peer, (silence.signal.reason as Error | undefined)?.message ?? error.message))
      .finally(() => {
        clearTimeout(timer);
        peer.asking = false;
      });
  }

  #hear(peer: Peer, status: PeerReport): void {
    const before = this.isUsable(peer);
    const known = peer.status !== null;
    if (status.progress !== peer.status?.progress) peer.progressAt = performance.now();
    peer.status = status;
    if (known && before === this.isUsable(peer)) return;
    this.version++;
    const { version, draining } = status;
    const same = status.build === this.#self.build;
    this.#log.info({ peer: peer.name, version, draining, same }, "peer heard");
  }
}
