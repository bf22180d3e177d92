/**
 * `node scripts/mutations.mjs [--seed N] [--count N] [ROOM...]`: changes the source in places that a seed chooses, one at
 * a time, and says which changes the tests of the nearest folder notice. The tree must have no changes of its own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

const ROOMS = ["analysis", "cli", "client", "cluster", "engine", "events", "jobs", "kernels"];
ROOMS.push("server/ask", "server/http", "server/soap", "storage");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "57" }, count: { type: "string", default: "5" } },
});
/** Many times what the tests of a folder need: a mutant that loops for ever is noticed, and said to be late. */
const LONGEST_MS = 240_000;

function generator(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What is found in a line of code, and what takes its place. */
const CHANGES = [
  [/ \+ (?!["'`])/g, " - "],
  [/ - (?=[\w(])/g, " + "],
  [/ < (?=[\w(])/g, " <= "],
  [/ <= /g, " < "],
  [/ > (?=[\w(])/g, " >= "],
  [/ >= /g, " > "],
  [/ === /g, " !== "],
  [/ !== /g, " === "],
  [/ && /g, " || "],
  [/ \|\| /g, " && "],
  [/\bif \((.+)\) /g, "if (!($1)) "],
  [/(?<=[=([,:] )\d+(?![\w.]| \|)/g, (number) => `${Number(number) + 1}`],
  [/^\s+(?!return|throw|const|let|import|export|await use|\}|\))[\w.]+(\(.*\)| [-+*]?= .*);$/g, ""],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
];

/** Lines without code: comments, imports, types, and texts for people. */
const PASSED = /^\s*(\/\/|\/?\*|import |export (type|interface)|readonly |type |"|`)|`|"[^"]* [^"]*"/;

/** Every change that a line admits. */
function mutantsOf(line) {
  if (PASSED.test(line)) return [];
  return CHANGES.flatMap(([pattern, by]) =>
    [...line.matchAll(pattern)].map((found) => {
      const replaced = typeof by === "function" ? by(found[0]) : by.replace("$1", found[1] ?? "");
      return line.slice(0, found.index) + replaced + line.slice(found.index + found[0].length);
    }),
  );
}

function filesOf(room) {
  return readdirSync(join("src", room), { recursive: true })
    .filter((name) => name.endsWith(".ts") && !name.endsWith("spline-tables.ts") && !name.includes("assembly/"))
    .map((name) => join("src", room, name))
    .sort();
}

/** The folder of tests that is nearest to a file of the source. */
function nearest(file) {
  let folder = dirname(file).replace(/^src/, "test");
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

const runs = (command, ...words) => spawnSync(command, words, { encoding: "utf8", timeout: LONGEST_MS });

/** What becomes of a change, with the first test that fails: null if the source does not compile. */
function fateOf(file) {
  if (runs("node_modules/.bin/tsc", "-b").status !== 0) return null;
  const folder = nearest(file);
  // Worker threads run the build: no test imports what only they load, so that all of the folder runs then.
  const long = ["run", "--config", "vitest.long.config.ts"];
  for (const words of [["related", file, "--run", "--dir"], ["run"], long]) {
    const all = [...words, folder, "--bail", "1", "--passWithNoTests", "--no-color"];
    const { status, stdout } = runs("node_modules/.bin/vitest", ...all);
    if (status === null || /timed out in/.test(stdout)) return "late";
    if (status !== 0) return `caught by ${/ FAIL +(.*)/.exec(stdout)?.[1] ?? stdout.slice(-200)}`;
  }
  return "SURVIVED";
}

if (execFileSync("git", ["status", "--porcelain", "src"], { encoding: "utf8" }) !== "") throw new Error("commit first");
let [caught, all] = [0, 0];
for (const room of positionals.length > 0 ? positionals : ROOMS) {
  const random = generator(Number(values.seed) + [...room].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 0));
  const sites = filesOf(room).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, at) => (mutantsOf(line).length > 0 ? [[file, at]] : [])),
  );
  for (let done = 0; done < Number(values.count); ) {
    const [file, at] = sites[random(sites.length)];
    const before = readFileSync(file, "utf8");
    const lines = before.split("\n");
    const mutants = mutantsOf(lines[at]);
    const mutant = mutants[random(mutants.length)];
    try {
      writeFileSync(file, lines.with(at, mutant).join("\n"));
      const fate = fateOf(file);
      if (fate === null) continue;
      done += 1;
      all += 1;
      caught += Number(fate !== "SURVIVED");
      console.log(`${file}:${at + 1} ${fate}\n  - ${lines[at].trim()}\n  + ${mutant.trim()}`);
    } finally {
      writeFileSync(file, before);
    }
  }
}
console.log(`${caught} of ${all} caught (seed ${values.seed})`);
