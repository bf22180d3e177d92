/** Slots of the tasks of jobs: how many run at once, and whose job gets the next one. */
import type { Job } from "./job.js";

/** Number of slots: one task reads or writes while another computes. */
const PLACES = 2;
/** Time after which a task frees its slot, while it continues to run. */
const PLACE_MS = 2_000;
/** Most tasks that run, with or without a slot, and most points of all of them together. */
const MOST_TASKS = 8;
const MOST_POINTS = 3 * 2 ** 20;

interface PlacedTask {
  readonly owner: string;
  readonly points: number;
  hasPlace: boolean;
}

/** A job without an owner counts as an owner. */
const ownerOf = ({ owner, id }: Job): string => owner ?? id;
const pointsOf = ({ cut }: Job): number => cut?.perTask ?? 0;

export class JobPlaces {
  readonly #running = new Set<PlacedTask>();

  /** Whether another task may start. */
  get areFree(): boolean {
    const placed = [...this.#running].filter(({ hasPlace }) => hasPlace).length;
    return placed < PLACES && this.#running.size < MOST_TASKS;
  }

  /** Whether a task of a job may run: an owner has at most as many tasks as there are slots, slow ones included. */
  admits(job: Job, isFirst: boolean): boolean {
    const running = [...this.#running];
    const own = running.filter(({ owner }) => owner === ownerOf(job)).length;
    if (own >= (isFirst ? 1 : PLACES)) return false;
    const points = running.reduce((sum, one) => sum + one.points, pointsOf(job));
    return points <= MOST_POINTS || running.length < PLACES;
  }

  /** Gives a task a slot. @param freed is called when it frees the slot before its end @returns ends the task */
  take(job: Job, freed: () => void): () => void {
    const task: PlacedTask = { owner: ownerOf(job), points: pointsOf(job), hasPlace: true };
    this.#running.add(task);
    const timer = setTimeout(() => {
      task.hasPlace = false;
      freed();
    }, PLACE_MS);
    return () => {
      clearTimeout(timer);
      this.#running.delete(task);
    };
  }
}
