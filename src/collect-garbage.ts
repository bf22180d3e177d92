/** Has the memory of a thread collected when much of it has been dropped and little else happens that would do so. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects the garbage of this thread, which takes some milliseconds of it. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: (options: object) => unknown = runInNewContext("gc");
  collect({ type: "major", execution: "async" });
}
