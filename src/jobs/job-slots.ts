/** Slots for the tasks of jobs: how many run at once, and whose job gets the next slot. */
import type { Job } from "./job.js";

/** Number of slots: one task reads or writes while another computes. */
const SLOTS = 2;
/** Time after which a task frees its slot, while it continues to run. */
const SLOT_MS = 2_000;
/** Most running tasks, with or without a slot, and most points of all running tasks together. */
const MAX_TASKS = 8;
const MAX_POINTS = 3 * 2 ** 20;

interface RunningTask {
  readonly owner: string;
  readonly points: number;
  hasSlot: boolean;
}

/** A job without an owner counts as an owner. */
const ownerOf = ({ owner, id }: Job): string => owner ?? id;
const pointsOf = ({ cut }: Job): number => cut?.perTask ?? 0;

export class JobSlots {
  readonly #running = new Set<RunningTask>();

  /** Whether another task may start. */
  get areFree(): boolean {
    const withSlot = [...this.#running].filter(({ hasSlot }) => hasSlot).length;
    return withSlot < SLOTS && this.#running.size < MAX_TASKS;
  }

  /** Whether a task of a job may run: an owner has at most as many tasks as there are slots, slow ones included. */
  admits(job: Job, isFirst: boolean): boolean {
    const running = [...this.#running];
    const own = running.filter(({ owner }) => owner === ownerOf(job)).length;
    if (own >= (isFirst ? 1 : SLOTS)) return false;
    const points = running.reduce((sum, one) => sum + one.points, pointsOf(job));
    return points <= MAX_POINTS || running.length < SLOTS;
  }

  /** Gives a task a slot. `freed`: is called when it frees the slot before its end. Returns ends the task. */
  take(job: Job, freed: () => void): () => void {
    const task: RunningTask = { owner: ownerOf(job), points: pointsOf(job), hasSlot: true };
    this.#running.add(task);
    const timer = setTimeout(() => {
      task.hasSlot = false;
      freed();
    }, SLOT_MS);
    return () => {
      clearTimeout(timer);
      this.#running.delete(task);
    };
  }
}
