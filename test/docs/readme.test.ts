/** README.md has the two set-up commands, one answer in three languages and the flags of a bare file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { answersOf, withAnswers } from "../../src/cli/input/answer-flags.js";
import { type Descriptor, openQuestions } from "../../src/storage/dataset/descriptor.js";
import { recognise } from "../../src/storage/recognise/recognise.js";
import { writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";

const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

describe("README", () => {
  it("has exactly the two set-up commands", () => {
    const blocks = [...text.matchAll(/```\n(npm ci[^`]*)```/g)].map((block) => block[1]);
    expect(blocks).toEqual(["npm ci && npm start\n", "npm ci && npm test\n"]);
  });

  it("shows the same numbers from curl, the command line and Python", () => {
    const python = /```python\n[^`]*```\n```text\n\[([^`]*)\]\n```/.exec(text)?.[1]?.trim().split(/\s+/);
    const tables = [...text.matchAll(/```csv\n.*\n(.*)\n```/g)].map(([, row = ""]) => row.split(",").slice(3, 6));
    expect(tables).toEqual([python, python]);
  });

  it("gives flags with which a bare file of a periodic cube leaves no question open", async () => {
    const path = await writeHdf5(join(scratchFolder(), "u.h5"), (file) => {
      file.create_dataset({ name: "u", data: new Float32Array(3 * 16 ** 3), shape: [16, 16, 16, 3] });
    });
    const questions = (flags: readonly string[]) => {
      const answers = answersOf(withAnswers(new Command()).parse(flags, { from: "user" }).opts());
      return openQuestions(recognise(path, answers)?.descriptor as Descriptor);
    };
    const [, flags = ""] = /such as `(--[^`]+)`/.exec(text) ?? [];
    expect(questions([]).length).toBeGreaterThan(2);
    expect(questions(flags.split(" "))).toEqual([]);
  });
});
