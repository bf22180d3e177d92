/** The command line: exit code 2 for misuse and 1 for failure. */
import { reasonOf } from "../shared/system.js";
import { runProgram } from "./program.js";

const words = process.argv.slice(2);

// A closed pipe (`| head`) ends the command silently; a service goes on.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (words[0] === "serve") return;
  if (error.code !== "EPIPE") process.stderr.write(`fieldprobe: the output cannot be written: ${reasonOf(error)}\n`);
  process.exit(1);
});
process.stderr.on("error", () => undefined);

await runProgram(words);
