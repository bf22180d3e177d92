/** Clock of fetches, which tests replace. */
export interface FetchClock {
  now(): number;
  /** Runs a function after a time. Returns cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: FetchClock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function pause(clock: FetchClock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
