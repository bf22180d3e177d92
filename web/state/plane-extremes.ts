/**
 * The plane extremes are the lowest and highest values of planes over all stored times. A plane is asked for on its own
 * first; the second one of its family brings those of all planes across the axis, so that moving a plane asks no more.
 * Those of all these planes together are the range of a plane that is moved in 3-D.
 */
import { extremesCall, type FieldMoments, familyCall, nodesAround } from "./analyses.js";
import type { ApiClient } from "./api.js";
import { axisOf, type DatasetFacts } from "./facts.js";
import { questionKey } from "./question-key.js";
import type { ValueRange } from "./shown-quantity.js";
import type { ViewState } from "./view-state.js";

/** The longest wait for a family. */
const LONGEST_MS = 60_000;

/** The extremes of each plane of nodes across an axis; null for one without values. */
interface PlaneFamily {
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  readonly coordinates: Readonly<Record<string, readonly number[]>>;
}

export class PlaneExtremes {
  readonly #api: ApiClient;
  /** Extremes by the call for a plane. */
  readonly #planes = new Map<string, ValueRange | null>();
  /** Extremes by the call for all planes of an axis; null while only one of them is known. */
  readonly #families = new Map<string, PlaneFamily | null>();
  readonly #running = new Map<string, Promise<void>>();
  /** Families that did not come: their planes are asked for one by one. */
  readonly #refused = new Set<string>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  clear(): void {
    this.#planes.clear();
    this.#families.clear();
    this.#refused.clear();
  }

  /**
   * The extremes of planes that are known; null if some are not. Planes without values have none.
   *
   * @param every takes all planes across the axis of a view in place of the one it shows
   */
  known(views: readonly ViewState[], facts: DatasetFacts, every = false): readonly ValueRange[] | null {
    const all = views.map((view) => this.#of(view, facts, every));
    return all.includes(undefined) ? null : all.filter((one) => one != null);
  }

  /**
   * Asks for the extremes of planes that are not known, in one request.
   *
   * @param views of which each has a call for its extremes
   * @param every as for `known`
   * @throws what the service refuses
   */
  async load(
    views: readonly ViewState[],
    facts: DatasetFacts,
    signal: AbortSignal,
    every = false,
  ): Promise<readonly ValueRange[]> {
    const missing = views.filter((view) => this.#of(view, facts, every) === undefined);
    const asksFamily = (view: ViewState) => {
      const key = questionKey(facts, [], familyCall(view, facts));
      return every || (this.#families.has(key) && !this.#refused.has(key));
    };
    const firsts = missing.filter((view) => !asksFamily(view));
    const families = Promise.allSettled(
      missing.filter(asksFamily).map((view) => this.#family(familyCall(view, facts) ?? {}, facts)),
    );
    const bodies = firsts.map((view) => extremesCall(view, facts) ?? {});
    const answers = bodies.length === 0 ? [] : await this.#api.statistics(facts.name, bodies, signal);
    for (const [i, view] of firsts.entries()) {
      const [moments] = (answers[i]?.results ?? []) as readonly FieldMoments[];
      const [min, max] = [moments?.min ?? null, moments?.max ?? null];
      this.#planes.set(questionKey(facts, [], bodies[i] ?? null), min === null || max === null ? null : [min, max]);
      const family = familyCall(view, facts);
      if (family !== null) this.#families.set(questionKey(facts, [], family), null);
    }
    const refusal = (await families).find((family) => family.status === "rejected");
    if (refusal === undefined) return this.known(views, facts, every) ?? [];
    if (every) throw refusal.reason;
    return this.load(views, facts, signal);
  }

  /** Asks for a family, once however often a plane moves meanwhile. */
  #family(body: object, facts: DatasetFacts): Promise<void> {
    const key = questionKey(facts, [], body);
    const running = this.#running.get(key) ?? this.#fetch(key, body, facts);
    this.#running.set(key, running);
    return running;
  }

  async #fetch(key: string, body: object, { name }: DatasetFacts): Promise<void> {
    try {
      const [answer] = await this.#api.statistics(name, [{ ...body }], AbortSignal.timeout(LONGEST_MS));
      this.#families.set(key, answer?.results?.[0] as PlaneFamily);
    } catch (error) {
      this.#refused.add(key);
      throw error;
    } finally {
      this.#running.delete(key);
    }
  }

  /** The extremes of a plane: null if it has no values, undefined if they are not known. */
  #of(view: ViewState, facts: DatasetFacts, every: boolean): ValueRange | null | undefined {
    const plane = every ? undefined : this.#planes.get(questionKey(facts, [], extremesCall(view, facts)));
    if (plane !== undefined) return plane;
    const family = this.#families.get(questionKey(facts, [], familyCall(view, facts)));
    if (family == null) return undefined;
    const [from, to] = every ? [-Infinity, Infinity] : nodesAround(axisOf(facts, view.axis), view.at);
    const near = (family.coordinates[view.axis] ?? []).flatMap((node, i) => {
      const [low, high] = [family.min[i] ?? null, family.max[i] ?? null];
      return node < from || node > to || low === null || high === null ? [] : [[low, high] as const];
    });
    if (near.length === 0) return null;
    return [Math.min(...near.map(([low]) => low)), Math.max(...near.map(([, high]) => high))];
  }
}
