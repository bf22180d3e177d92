/** A function that keeps its last result for each object that it was called with first, until other arguments change. */
export function memoized<K extends object, More extends readonly unknown[], R>(
  make: (of: K, ...more: More) => R,
): (of: K, ...more: More) => R {
  const results = new WeakMap<K, { readonly more: More; readonly result: R }>();
  return (of, ...more) => {
    const known = results.get(of);
    if (known?.more.every((one, i) => one === more[i])) return known.result;
    const result = make(of, ...more);
    results.set(of, { more, result });
    return result;
  };
}
