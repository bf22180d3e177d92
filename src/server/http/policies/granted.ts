/** Waits for a resource that is granted in order. */

export interface Patience {
  readonly ms: number;
  readonly signal?: AbortSignal;
  readonly late: () => Error;
}

/**
 * Waits for the grant. @param begin joins the queue with a function that grants; returns one that leaves the queue
 * @throws the error of `late`, or the reason of the signal
 */
export function waitForGrant<T>(
  begin: (grant: (make: () => T) => void) => () => void,
  { ms, signal, late }: Patience,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      leave();
      then();
    };
    const abort = (): void => settle(() => reject(signal?.reason));
    const timer = setTimeout(() => settle(() => reject(late())), ms);
    signal?.addEventListener("abort", abort, { once: true });
    const leave = begin((make) => settle(() => resolve(make())));
  });
}
