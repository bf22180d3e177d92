/** Questions as texts of other programs: what a shell or Python reads is the question again. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commandOf, curlOf, pythonOf } from "../export/code.js";

const BASE = "http://127.0.0.1:8080";
const QUESTIONS = [
  { dataset: "isotropic64", call: "values", what: ["norm(omega)"], points: [[1, 2.5, -3]], time: 0.5, method: "Lag8" },
  { dataset: "it's", call: "statistics", reduce: [{ histogram: "u.x", bins: 20, range: [-2, 2] }], over: ["x", "z"] },
  { dataset: "a", call: "flow_map", what: "ftle", z: -3, time: "0.4:0.6", last: true },
] as const;

/** The words that a shell makes of a line. */
const words = (line: string) =>
  JSON.parse(
    execFileSync("bash", ["-c", `f() { node -p 'JSON.stringify(process.argv.slice(1))' -- "$@"; }; f ${line}`], {
      encoding: "utf8",
    }),
  ) as string[];

describe("code of questions", () => {
  it.each(QUESTIONS)("sends $call by curl as it is", (question) => {
    const [curl, quiet, flag, body, url] = words(curlOf(question, BASE));
    expect([curl, quiet, flag, url]).toEqual(["curl", "-s", "--json", `${BASE}/api/ask`]);
    expect(JSON.parse(body as string)).toEqual(question);
  });

  it("writes members of a command line as text", () => {
    expect(words(commandOf(QUESTIONS[0], BASE))).toEqual(
      ["fieldprobe", "values", "isotropic64", "norm(omega)", "--points", "1,2.5,-3", "--time", "0.5"].concat([
        "--method",
        "Lag8",
        "--url",
        BASE,
      ]),
    );
    const [, call, set, reduce, list, over, axes] = words(commandOf(QUESTIONS[1], BASE));
    expect([call, set, reduce, over, axes]).toEqual(["statistics", "it's", "--reduce", "--over", "x,z"]);
    expect(JSON.parse(list as string)).toEqual(QUESTIONS[1].reduce);
    expect(words(commandOf(QUESTIONS[2], BASE)).slice(0, 8)).toEqual(
      ["fieldprobe", "flow-map", "a", "ftle", "--z", "-3", "--time", "0.4:0.6"].slice(0, 8),
    );
  });

  it("puts a quantity that begins with a minus behind the flags", () => {
    for (const what of ["-u.x", "-u.x - 2*p"]) {
      const line = words(commandOf({ dataset: "a", call: "values", what: [what], time: -1 }, BASE));
      expect(line).toEqual(["fieldprobe", "values", "a", "--time", "-1", "--url", BASE, "--", what]);
    }
  });

  it("writes literals of Python", () => {
    expect(pythonOf(QUESTIONS[2], BASE)).toBe(
      `import fieldprobe\n\nds = fieldprobe.connect("${BASE}")["a"]\nanswer = ds.flow_map(what="ftle", z=-3, time="0.4:0.6", last=True)`,
    );
  });
});
