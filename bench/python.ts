/** Finds a Python with the packages of a peer. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const INTERPRETERS = ["python3", "/usr/bin/python3"];

/** A Python that has some packages, e.g. `h5py`; null: there is none. */
export async function findPython(packages: string): Promise<string | null> {
  for (const each of INTERPRETERS) {
    const found = await promisify(execFile)(each, ["-c", `import ${packages}`]).then(
      () => true,
      () => false,
    );
    if (found) return each;
  }
  return null;
}
