/** `RepeatedCall` serves a SOAP request that differs from an earlier one only in its points. */
import { type Query, writeTriples } from "../../engine/contract/query.js";
import type { TripleScanner } from "../../float32/triples.js";
import { tooManyPoints } from "../../shared/errors.js";
import type { OperationRow } from "../../shared/operations.js";
import type { SmallTexts } from "../../text/small-texts.js";
import { HttpRefusal, plainRefusal } from "../life/refusal.js";
import type { Repeat } from "../life/repeats/repeat.js";
import { RequestLife } from "../life/request-life.js";
import type { Service } from "../life/service.js";
import type { ResponseEncoder } from "./encode.js";
import { CONTENT_TYPES, faultFor } from "./fault.js";
import type { MediaType } from "./media-type.js";

/** Largest number of points of a request that is read here: the first slab of a query. */
const MOST_POINTS = 512;
/** Most bytes of an answer: longer ones may be compressed. */
const MOST_BYTES = 64 * 1024;

/** The parts that all requests share that repeat the same one. */
export interface CallPattern {
  /** The body before the first item of `points`, and after the last one. */
  readonly before: Buffer;
  readonly after: Buffer;
  readonly scanner: TripleScanner;
  readonly row: OperationRow;
  readonly media: MediaType;
  /** Null if the request has none. */
  readonly token: string | null;
  readonly query: Query;
  /** Records of the answer for a point. */
  readonly itemsPerPoint: number;
}

/** One for each request that is remembered. */
export class RepeatedCall {
  readonly #pattern: CallPattern;
  readonly #service: Service;
  readonly #encoder: ResponseEncoder;
  readonly #texts: SmallTexts;
  /** Points whose answers are short. */
  readonly #most: number;

  constructor(pattern: CallPattern, service: Service, encoder: ResponseEncoder, texts: SmallTexts) {
    this.#pattern = pattern;
    this.#service = service;
    this.#encoder = encoder;
    this.#texts = texts;
    const { row, media, itemsPerPoint } = pattern;
    this.#most = Math.min(MOST_POINTS, Math.floor(encoder.itemsWithin(MOST_BYTES, row, media.version) / itemsPerPoint));
  }

  /** Reads the points of a body; null if it differs in more than its points, or has too many. */
  readonly read = (body: Buffer): ((repeat: Repeat) => Promise<void>) | null => {
    const { before, after, scanner } = this.#pattern;
    const from = before.length;
    const to = body.length - after.length;
    if (to < from || before.compare(body, 0, from) !== 0 || after.compare(body, to) !== 0) return null;
    const points = new Float32Array(3 * Math.min(this.#most, Math.ceil((to - from) / shortestItem(scanner))));
    this.#texts.scan(scanner, body, from, to, points, 0, points.length / 3);
    const { count, position } = this.#texts;
    if (position !== to) return null;
    return (repeat) => this.#serve(repeat, points.subarray(0, 3 * count));
  };

  /** Serves one request in the same steps as the route. */
  async #serve(repeat: Repeat, points: Float32Array): Promise<void> {
    const { media } = this.#pattern;
    try {
      const life = RequestLife.begin(this.#service, repeat, repeat, `soap ${media.version}`);
      try {
        await this.#answer(repeat, life, points);
      } catch (error) {
        if (life.giveUp(error)) return;
        if (error instanceof HttpRefusal) throw error;
        const { status, headers, body } = faultFor(error, repeat, media.version, this.#service.config.namespace);
        repeat.answer(status, headers, Buffer.from(body));
      }
    } catch (error) {
      const { status, headers, body } = plainRefusal(error, repeat);
      repeat.answer(status, headers, Buffer.from(body));
    }
  }

  async #answer(repeat: Repeat, life: RequestLife, points: Float32Array): Promise<void> {
    const { row, media, token, query } = this.#pattern;
    const count = points.length / 3;
    repeat.facts.operation = row.name;
    life.authorise(token);
    const evaluation = life.start({ ...query, singleTimes: true });
    const { points: most, name } = life.limit(evaluation.limit);
    const wait = life.admit(Math.min(count, most));
    if (wait !== null) await wait;
    if (count > most) throw tooManyPoints(name, most + 1, most);
    writeTriples(evaluation.points, points);
    await life.enter();
    const result = await evaluation.finish();
    try {
      await life.computed([result]);
      const since = performance.now();
      const passages = [...this.#encoder.encode(row, media.version, result)];
      const body = passages.length === 1 ? passages[0] : Buffer.concat(passages);
      life.encoded(performance.now() - since);
      repeat.answer(200, { "content-type": CONTENT_TYPES[media.version] }, body);
      if (repeat.socket.writableLength > 0) life.handOver(body.length);
    } finally {
      result.release();
    }
  }
}

/** Bytes of the shortest item: its tags, and numbers of one digit. */
function shortestItem({ tags }: TripleScanner): number {
  return tags.reduce((sum, tag) => sum + tag.length, 3);
}
