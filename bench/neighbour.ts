/** Runs a neighbour: a process that reads as much memory, over and over, as the last-level cache holds. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** MiB that a neighbour reads. */
export const NEIGHBOUR_MIB = 32;

const SWEEP = `
const values = new Float64Array(${NEIGHBOUR_MIB} * 2 ** 17).fill(1);
process.stdout.write("ready");
for (let sum = 0; ; values[0] = sum) for (let i = 0; i < values.length; i += 8) sum += values[i];
`;

/** Starts a neighbour, on the other core if there are two. @returns what ends it */
export async function startNeighbour(): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["-e", SWEEP], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
}
